"""Balanced query recommendation: candidates, objectives, fronts, and what else a user could be given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError
from rerankers._base.files import write_text
from rerankers._base.progress import steps
from rerankers.llm.account import in_words
from rerankers.queries.contest import contest
from rerankers.queries.contest_pairs import ContestOptions
from rerankers.queries.gathering import gather
from rerankers.stages.config_parts import command_line
from rerankers.stages.output import claimed
from rerankers.stages.recommend_baselines import baselines, expanded
from rerankers.stages.recommend_ground import ground_of
from rerankers.stages.recommend_job import job_of, plain
from rerankers.stages.recommend_others import add_alternatives, add_held_out, evaluated, search_held_out
from rerankers.stages.recommend_rows import axis_row, named_shares, points_by_generator, topic_rows
from rerankers.stages.recommend_summary import summary_of
from rerankers.stages.recommend_text import show
from rerankers.stages.recommend_topics import chosen_queries
from rerankers.stages.recommend_warnings import warnings_of

if TYPE_CHECKING:
    from rerankers.llm import Session
    from rerankers.queries.gathering import Gathered
    from rerankers.queries.generators.base import Query
    from rerankers.queries.scored import Candidate
    from rerankers.queries.scoring import Evaluated
    from rerankers.stages.recommend_ground import Ground
    from rerankers.stages.recommend_job import RecommendJob
    from rerankers.values import Collection

JSON_FILE, REPORT = "recommendations.json", "report.html"
FINDS_NOTHING = "original_finds_nothing"


def recommend_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/recommend.yaml``'s form, print its tables and write its files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    from rerankers.report.recommendations import recommendation_report

    job, spare = job_of(config)
    if spare:
        print(f"note: without effect here, since about ranking: {', '.join(spare)}")
    if getattr(job.llm, "dry_run", False):
        print(f"dry run: {_dry(job)}")
        return
    with claimed(folder) as staging:
        found = {"command": command_line("recommend", words), **recommend(job, plain(config))}
        write_text(staging / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
        write_text(staging / REPORT, recommendation_report(found))
    show(found)
    print(f"recommendations: {folder / 'report.html'}, {folder / JSON_FILE}")


def recommend(job: RecommendJob, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return recommendations for every query of a job, as in ``recommendations.json``.

    What is searched, learnt and said by language models is kept in the cache by its content, so a job that was killed
    goes on from the last batch of queries that was finished. No query's candidates, objectives or ranks depend on
    the other queries or their order.

    Parameters
    ----------
    job
        the parts.
    options
        the config as it was, for the results.

    Raises
    ------
    InputError
        when no query of the job finds a document; and as the parts.
    """
    with job.opened() as session:
        work = _Work.of(job, session)
        gathered = work.gathered()
        topics, points = work.topics(gathered)
        account = None if session is None else dict(session.account)
    return work.results(gathered, topics, points, account, options)


def _dry(job: RecommendJob) -> str:
    """Return what a job would ask a language model: candidates are looked for, nothing is scored."""
    with job.opened() as session:
        _Work.of(job, session).gathered()
        return "no generator asks a model" if session is None else in_words(session.account)


@dataclass(frozen=True, slots=True)
class _Work:
    """The steps of a job, with what all of them need."""

    job: RecommendJob
    collection: Collection
    ground: Ground
    queries: Sequence[Query]

    @classmethod
    def of(cls, job: RecommendJob, session: Session | None) -> _Work:
        collection = job.collection.load()
        queries = chosen_queries(collection, job.query, job.topics)
        ground = ground_of(job, collection, session)
        ground.context.topics = tuple(queries)
        return cls(job, collection, ground, queries)

    def gathered(self) -> Gathered:
        job, context = self.job, self.ground.context
        context.searcher.search(query.text for query in self.queries)
        nothing = [query for query in self.queries if not len(context.searcher.hits(query.text).docs)]
        if len(nothing) == len(self.queries):
            shown = ", ".join(repr(query.text) for query in nothing[:3])
            raise InputError.one(
                "query", f"{shown}, which finds no document of {self.collection.name!r}", "words of the collection"
            )
        return gather(
            self.queries,
            job.generators,
            context,
            job.budget,
            job.seed,
            job.exploring,
            self.ground.scorer.relevance,
            _progress,
        )

    def topics(self, gathered: Gathered) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the results of each topic, and the points of each generator there."""
        scored = {
            query.id: self.ground.scorer.score(query, gathered.candidates[query.id])
            for query in _progress(self.queries, "score")
        }
        ids, aligned = self.collection.docs, {axis.name: axis.alignment for axis in self.ground.scorer.axes}
        rows = {query.id: topic_rows(scored[query.id], aligned, ids, self.job.shown) for query in self.queries}
        search_held_out(self.queries, {qid: _kept(scored[qid], rows[qid]["candidates"]) for qid in rows}, self.ground)
        texts = expanded(self.queries, self.ground)
        names = [generator.name for generator in self.job.generators]
        out = {
            query.id: self._topic(query, scored[query.id], rows[query.id], texts)
            for query in _progress(self.queries, "compare")
        }
        return out, {qid: points_by_generator(found, names) for qid, found in scored.items()}

    def _topic(
        self, query: Query, found: Sequence[Evaluated], told: dict[str, Any], texts: Mapping[str, tuple[str, str]]
    ) -> dict[str, Any]:
        rows = told["candidates"]
        finds = bool(len(found[0].scored.docs))
        offered = finds and any(row["shown"] for row in rows)  # else there is nothing to hold rerankings against
        add_held_out(query, found, rows, self.ground)
        return {
            "query": query.text,
            "reason": "" if finds else FINDS_NOTHING,
            "targets": {axis.name: named_shares(axis, query) for axis in self.ground.scorer.axes},
            **told,
            "alternatives": add_alternatives(query, found, rows, self.job, self.ground) if offered else [],
            "baselines": baselines(query, texts, self.job, self.ground) if finds else [],
        }

    def results(
        self,
        gathered: Gathered,
        topics: Mapping[str, Any],
        points: Mapping[str, Mapping[str, Any]],
        account: Mapping[str, Any] | None,
        options: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        job, ground, collection = self.job, self.ground, self.collection
        lost = sum(topic["reason"] == FINDS_NOTHING for topic in topics.values())
        warnings = [
            *ground.warnings,
            *warnings_of(lost, ground.scorer.axes, self.queries, ground.context.counts, gathered.by_generator),
        ]
        return {
            "seed": job.seed,
            "collection": {
                "name": collection.name,
                "fingerprint": collection.fingerprint,
                "documents": len(collection.docs),
            },
            "options": {**(options or {}), "topics_asked": [query.id for query in self.queries]},
            "generators": {
                name: {
                    "candidates": sum(numbers.values()),
                    "counts": ground.context.counts.get(name, {}),
                    "notes": ground.context.notes.get(name, {}),
                }
                for name, numbers in gathered.by_generator.items()
            },
            "axes": [axis_row(axis) for axis in ground.scorer.axes],
            "objectives": list(ground.scorer.objectives),
            "counts": {
                "collection": dict(collection.counts),
                "groups": dict(ground.counts),
                "recommend": {"queries_that_find_nothing": lost, "queries_searched": ground.context.searcher.searched},
            },
            "warnings": warnings,
            "llm": account,
            "topics": topics,
            "comparison": self._contest(points),
            "summary": summary_of(topics, [axis.name for axis in ground.scorer.axes], ground.scorer.objectives),
            "evaluation": evaluated(job, topics, ground),
        }

    def _contest(self, points: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
        if len(self.job.generators) < 2:
            return None
        job = self.job
        return contest(points, ContestOptions(resamples=job.resamples, level=job.confidence, seed=job.seed))


def _kept(found: Sequence[Evaluated], rows: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    return [
        one.scored.candidate
        for place, (one, row) in enumerate(zip(found, rows, strict=True))
        if place == 0 or row["on_front"]
    ]


def _progress(items: Sequence[Any], name: str) -> Iterator[Any]:
    return steps(items, name, "query")

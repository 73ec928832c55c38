"""Beside the candidates of a topic: fair rerankings of the original query, clicks, and evaluation by held-out means."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.queries.alternatives import Judge, alternatives
from rerankers.queries.click_cost import click_cost
from rerankers.queries.distributions import rank_weights
from rerankers.queries.held_out import Judged, Setting, TopicSystems, held_out
from rerankers.queries.relevance_of_lists import cosine_f1

if TYPE_CHECKING:
    from rerankers.queries.axis_scores import Axis as AxisOfQuery
    from rerankers.queries.generators.base import Query
    from rerankers.queries.scored import Candidate
    from rerankers.queries.scoring import Evaluated, Scorer
    from rerankers.queries.searching import Searcher
    from rerankers.stages.recommend_ground import Ground
    from rerankers.stages.recommend_job import RecommendJob

OF_EVALUATION = ("objectives", "reasons", "judged")


def search_held_out(queries: Sequence[Query], kept: Mapping[str, Sequence[Candidate]], ground: Ground) -> None:
    """Search, in one go, what is evaluated by the held-out means."""
    texts = [query.text for query in queries]
    ground.held_out_searcher.search([*texts, *(one.text for own in kept.values() for one in own)])


def add_held_out(query: Query, found: Sequence[Evaluated], rows: Sequence[dict[str, Any]], ground: Ground) -> None:
    """Put ``evaluation`` into the rows of the original and of the front: values by the held-out means."""
    kept = [place for place, row in enumerate(rows) if place == 0 or row["on_front"]]
    scored = ground.held_out.score(query, [found[place].scored.candidate for place in kept])
    for place, one in zip(kept, scored, strict=True):
        rows[place]["evaluation"] = {
            "objectives": dict(one.scored.objectives),
            "reasons": dict(one.scored.reasons),
            "judged": dict(one.scored.judged),
        }


def add_alternatives(
    query: Query, found: Sequence[Evaluated], rows: Sequence[dict[str, Any]], job: RecommendJob, ground: Ground
) -> list[dict[str, Any]]:
    """Return the fair rerankings of a query, each with an ``evaluation``; put ``click`` into rows that are shown."""
    aims = _of_query(ground.scorer, query)
    judge = judge_of(query, job, ground.scorer, ground.context.searcher, ground)
    hits = ground.context.searcher.hits(query.text)
    docs, scores = hits.docs[: job.pool], hits.scores[: job.pool]
    methods = job.alternatives
    selected = alternatives(query.id, docs, scores, judge, methods, aims) if methods.methods else []
    apart = judge_of(query, job, ground.held_out, ground.held_out_searcher, ground)
    other = ground.held_out_searcher.hits(query.text)
    if selected and len(other.docs):
        again = alternatives(query.id, other.docs[: job.pool], other.scores[: job.pool], apart, methods, aims)
        for one, told in zip(selected, again, strict=True):
            one["evaluation"] = {key: told[key] for key in OF_EVALUATION}
    for row, of in zip(rows, found, strict=True):
        if row["shown"] and judge.axes:
            row["click"] = click_cost(
                of.scored.docs, row["relevance"][ground.scorer.options.relevance], judge, selected
            )
    return selected


def evaluated(job: RecommendJob, topics: Mapping[str, Any], ground: Ground) -> dict[str, Any]:
    """Return what was selected, by what it was not selected on (`rerankers.queries.held_out.held_out`)."""
    systems = {
        qid: TopicSystems(
            _judged(topic["candidates"][0], "text"),
            [_judged(row, "text") for row in topic["candidates"] if row["shown"]],
            [_judged(row, "name") for row in topic["alternatives"]],
        )
        for qid, topic in topics.items()
        if not topic["reason"]
    }
    apart = job.held_out.changed(job.retriever)
    found = held_out(
        systems,
        _setting(job.retriever, ground.scorer),
        _setting(apart, ground.held_out),
        seed=job.seed,
        resamples=job.resamples,
        level=job.confidence,
    )
    return {**found, "statement": _statement(found)}


def _judged(row: Mapping[str, Any], name: str) -> Judged:
    """Return a candidate or reranking under both means; axes are looked up by their names."""
    told = row.get("evaluation") or {"objectives": {}, "judged": {}}
    values = {**told["objectives"], **told["judged"]}
    selected = {**row.get("closeness", {}), **row["objectives"]}
    return Judged(row[name], selected, values)


def judge_of(query: Query, job: RecommendJob, scorer: Scorer, searcher: Searcher, ground: Ground) -> Judge:
    """Return what lists and policies of a query are judged by, by one of the two means."""
    options, original = scorer.options, searcher.hits(query.text).docs
    first = original[: options.depth]

    def near(lists: Sequence[Any]) -> Any:
        return cosine_f1(first, lists, scorer.vectors)

    return Judge(
        original[: job.pool],
        _of_query(scorer, query),
        rank_weights(options.weights, options.depth, options.patience),
        near if options.relevance == "cosine" else None,
        ground.judged.get(query.id),
    )


def _of_query(scorer: Scorer, query: Query) -> list[AxisOfQuery]:
    least = scorer.options.least_coverage
    return [one for axis in scorer.axes if (one := axis.of_query(query.id, least)) is not None]


def _setting(retriever: Any, scorer: Scorer) -> Setting:
    options = scorer.options
    weights = f"{options.weights}({options.patience:g})" if options.weights == "rbp" else options.weights
    targets = {axis.name: _told_target(axis) for axis in scorer.axes}
    return Setting(_told(retriever), f"{weights}@{options.depth}", targets)


def _told_target(axis: Any) -> dict[str, float] | None:
    """Return all targets of an axis in one mapping; those of single queries under ``query:group``."""
    if not axis.targets:
        return None
    one = len(axis.targets) == 1
    return {
        (group if one else f"{qid}:{group}"): share
        for qid, vector in axis.targets.items()
        for group, share in zip(axis.groups, vector.tolist(), strict=True)
    }


def _told(retriever: Any) -> str:
    name = type(retriever).__name__
    if not dataclasses.is_dataclass(retriever):
        return name
    skipped = ("k", "threads", "heap", "runs", "pool", "fields")
    fields = [f"{one.name}={getattr(retriever, one.name)}" for one in dataclasses.fields(retriever)]
    return f"{name}({', '.join(one for one in fields if one.partition('=')[0] not in skipped)})"


def _statement(found: Mapping[str, Any]) -> str:
    same = found["same"]
    of = {"the retriever": same["retriever"], "the weights of ranks": same["weights"]}
    shared, differ = ([name for name, equal in of.items() if equal is wanted] for wanted in (True, False))
    for names, wanted in ((shared, True), (differ, False)):
        axes = [axis for axis, equal in same["targets"].items() if equal is wanted]
        names += [f"the targets of {', '.join(axes)}"] if axes else []
    text = f"evaluation and selection differ in {' and '.join(differ) or 'nothing'}"
    return text + (f"; they share {' and '.join(shared)}, which is circular" if shared else "")

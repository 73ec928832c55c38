"""Judge run files: runs, qrels and groups in, measures and report out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.progress import busy, steps
from rerankers._base.streams import query_streams
from rerankers.collections.trec_samples import is_sample, read_sample
from rerankers.execution import block_bounds
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.anchors import anchors
from rerankers.measures.coverage import cover
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.runs import read_run
from rerankers.stages.block import BlockResult, collect
from rerankers.stages.metadata import Stopwatch
from rerankers.stages.output import claimed
from rerankers.stages.report_run import told_of_evaluate
from rerankers.stages.results import Account, MeasureOptions, Results, check_max_grade, publish
from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Ragged, Rankings, outer_join
from rerankers.values.qrels import read_qrels

if TYPE_CHECKING:
    from rerankers.collections import FileGroups
    from rerankers.collections.annotation_groups import AnnotationGroups
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.labels.groups import LabelFileGroups
    from rerankers.policies import Policy
    from rerankers.report import ReportData
    from rerankers.runs import Run


@dataclass(frozen=True, slots=True)
class EvaluateJob:
    """The parts of an ``evaluate``; see ``conf/evaluate.yaml`` for what each is."""

    runs: Sequence[Path]
    qrels: Path
    groups: FileGroups | AnnotationGroups | LabelFileGroups | None
    missing_query: str
    universe: str
    browsing: BrowsingModel
    measures: MeasureOptions
    samples: int
    seed: int
    config: Mapping[str, Any]
    command: str


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Everything under one coding: query ids (those of the qrels first), documents, runs by name."""

    queries: Ids
    docs: Ids
    judgments: Judgments
    runs: Mapping[str, Rankings]
    groups: Mapping[str, GroupAlignment]
    companions: Mapping[str, GroupAlignment] = field(default_factory=dict)


def evaluate(job: EvaluateJob, folder: Path) -> ReportData:
    """Judge the runs of a job and leave the results in ``folder``.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    watch = Stopwatch()
    check_output(job.runs, folder)
    with claimed(folder) as staging:
        with busy("runs"):
            runs = read_runs(job.runs)
        watch.lap("runs")
        judged, counts = bind_runs(job, runs)
        watch.lap("judgments and groups")
        check_max_grade(job.browsing, judged.judgments)
        options = Options(
            browsing=job.browsing,
            universe=job.universe,
            cutoff=job.measures.cutoff,
            samples=job.samples,
            seed=job.seed,
            max_grade=max(1, int(judged.judgments.grade.max(initial=0))),
            permutations=job.measures.permutations,
        )
        results = Results()
        for block in steps(_blocks(judged, options, job.measures), "measures", "block"):
            results.add(block)
        watch.lap("measure")
        told = told_of_evaluate(job, judged, _pool(list(judged.runs.values())), options, staging)
        watch.lap("fronts")
        names = ", ".join(runs)
        account = Account(
            title=f"{names} judged by {job.qrels.name}",
            summary={
                "runs": ", ".join(f"{name} ({_size(run)})" for name, run in runs.items()),
                "judgments": f"{job.qrels.name}: {judged.judgments.nnz:,} of {len(judged.judgments):,} queries",
                "browsing model": str(job.browsing),
                "universe": f"{job.universe}: "
                + ("ranked and judged documents" if job.universe == "union" else "judged documents only"),
                "groups": ", ".join(f"{name} ({', '.join(a.groups)})" for name, a in judged.groups.items()) or "none",
            },
            tier="unknown: the runs do not say what they used",
            counts={**counts, "measures": results.counts},
            warnings=_left_out(counts),
            single=[name for name, rankings in judged.runs.items() if np.all(rankings.counts <= 1)],
            config=job.config,
            command=job.command,
            data={"qrels": job.qrels.name, "runs": list(runs)},
            told=told,
        )
        with busy("intervals and report"):
            return publish(staging, results, account, job.measures, options, watch)


def check_output(runs: Sequence[Path], folder: Path) -> None:
    """Raise `ConfigError` when results would replace those of a job that left one of the runs."""
    for path in runs:
        if folder.resolve() in (path.resolve(), path.resolve().parent) and (folder / "run.parquet").exists():
            raise ConfigError(
                f"output: {folder} holds the run {path}, whose own results would be replaced; choose another"
            )


def _left_out(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a sentence for every run that lacks judged queries."""
    return [
        f"{part}: {found['queries_missing_from_run']:,} judged queries have no ranking; see missing_query"
        for part, found in counts.items()
        if "queries_missing_from_run" in found
    ]


def read_runs(paths: Sequence[Path]) -> dict[str, Run]:
    """Read runs by name; ConfigError where there is none, two share a name, or one is called like an anchor."""
    if not paths:
        raise ConfigError("run: found an empty list; expected one run file or more")
    runs: dict[str, Run] = {}
    for path in paths:
        run = read_run(path)
        if run.name.startswith(ANCHOR):
            raise ConfigError(f"run: {run.name!r} is the name of an anchor; rename the file")
        if run.name in runs:
            raise ConfigError(f"run: two runs are called {run.name!r}; expected different file (or folder) names")
        runs[run.name] = run
    return runs


def bind_runs(job: EvaluateJob, runs: Mapping[str, Run]) -> tuple[Judged, dict[str, Mapping[str, int]]]:
    """Code everything alike, and count what does not fit together."""
    table = read_sample(job.qrels).qrels() if is_sample(job.qrels) else read_qrels(job.qrels)
    asked = list(dict.fromkeys(table.qid.to_pylist()))
    judged_only = set(asked)
    queries = Ids.of([*asked, *dict.fromkeys(q for run in runs.values() for q in run.qids if q not in judged_only)])
    docs = Ids.union(table.docno, *(run.docs for run in runs.values()))
    judgments, found = table.bind(queries, docs)
    counts: dict[str, Mapping[str, int]] = {"qrels": {**table.counts, **found}}
    covered: dict[str, Rankings] = {}
    for name, run in runs.items():
        rankings = _recode(run, queries, docs)
        rankings, missing = cover(rankings, judgments, queries, job.missing_query, name)
        covered[name] = rankings.take(np.argsort(rankings.over.query, kind="stable"))
        unjudged = sum(q not in judged_only for q in run.qids)
        counts[f"run {name}"] = {**run.counts, **missing, "queries_not_judged": unjudged}
    groups: Mapping[str, GroupAlignment] = {}
    companions: Mapping[str, GroupAlignment] = {}
    if job.groups is not None:
        aligned = job.groups.align_documents(docs)
        groups, companions, counts["groups"] = aligned.alignments, aligned.companions, aligned.counts
    return Judged(queries, docs, judgments, covered, groups, companions), counts


def _recode(run: Run, queries: Ids, docs: Ids) -> Rankings:
    """Return a run's rankings under the common codes."""
    rankings, over = run.rankings, run.rankings.over
    code = queries.codes(run.qids)[over.query]
    return replace(rankings, over=Ragged(code, over.indptr, run.docs.recoder(docs)[over.doc], over.columns))


def _blocks(judged: Judged, options: Options, measures: MeasureOptions) -> Iterator[BlockResult]:
    """Measure all runs, and the anchors over what any of them ranks, block by block."""
    parsed = measures.chosen(list(judged.groups))
    pool = _pool(list(judged.runs.values()))
    draws = max((int(rankings.counts.max(initial=1)) for rankings in judged.runs.values()), default=1)
    for start, stop in block_bounds(pool.lengths, draws):
        part = pool.rows(start, stop)
        mine = judged.judgments.take(np.flatnonzero(np.isin(judged.judgments.query, part.query)))
        sources: dict[str, Policy | Rankings] = {
            name: rankings.take(np.flatnonzero(np.isin(rankings.over.query, part.query)))
            for name, rankings in judged.runs.items()
        }
        sources |= anchors(part, mine, query_streams(judged.queries.take(part.query)), options.universe)
        evaluations = {
            name: Evaluation(source, mine, judged.groups, options, judged.companions)
            for name, source in sources.items()
        }
        yield collect(evaluations, judged.queries, parsed)


def _pool(runs: Sequence[Rankings]) -> Candidates:
    """Return the documents that any run ranks, by query; with scores where there is a single run that has them."""
    first = runs[0].over
    pool = Candidates(first.query, first.indptr, first.doc, first.columns if len(runs) == 1 else {})
    for rankings in runs[1:]:
        over = outer_join(pool, rankings.over, queries="both").over
        pool = Candidates(over.query, over.indptr, over.doc)
    return pool.take(np.argsort(pool.query, kind="stable"))


def _size(run: Run) -> str:
    return f"{len(run.qids):,} queries, {len(run.rankings):,} rankings"

"""The whole road: collection, first stage, method, drawn rankings, measures, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.execution import block_bounds
from rerankers.measures.evaluation import Options
from rerankers.measures.universe import UNIVERSES, Universe
from rerankers.methods import check_method
from rerankers.runs import PolicyWriter, RunWriter
from rerankers.stages.aim import aims_at_target, ready_target
from rerankers.stages.block import RerankBlock, Reranked
from rerankers.stages.estimates import Estimates, higher_tier, model_estimates
from rerankers.stages.metadata import Stopwatch
from rerankers.stages.output import claimed
from rerankers.stages.pool import Pool, make_pool
from rerankers.stages.relevance_quality import Judged, Quality, relevance_quality
from rerankers.stages.results import Account, MeasureOptions, Results, check_max_grade, publish

if TYPE_CHECKING:
    from rerankers.execution import Executor
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.report import ReportData
    from rerankers.retrieval import Retriever
    from rerankers.values import Candidates, Collection, Counts, GroupAlignment


MOST_SAMPLES = 10_000_000
MOST_ITEMS = 1 << 28  # drawn for one query, which is drawn in one piece: about 8 GB at the peak


@dataclass(frozen=True, slots=True)
class RunJob:
    """The parts of a ``run``, already built from the config; see ``conf/run.yaml`` for what each is.

    ``collection`` and ``groups`` are the config dataclasses of `rerankers.collections` (``load`` and ``align``),
    ``name`` is the method's name in results, ``config`` the resolved config and ``command`` what repeats the job.
    ``model`` is the folder of a trained model whose estimates the method takes, ``allowed`` the packages whose
    functions that model's features may call.
    """

    name: str
    collection: Any
    retriever: Retriever
    method: Method
    target: Target
    browsing: BrowsingModel
    groups: Any
    measures: MeasureOptions
    execution: Executor
    cache: Path
    samples: int
    seed: int
    universe: str
    config: Mapping[str, Any]
    command: str
    model: Path | None = None
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choose("universe", self.universe, UNIVERSES)
        check_method(self.method)
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise ConfigError(f"samples: found {self.samples}; expected 1 to {MOST_SAMPLES:,} rankings per query")


def run(job: RunJob, folder: Path) -> ReportData:
    """Run a job and leave its results in ``folder``; the README lists the files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    watch = Stopwatch()
    with claimed(folder) as staging:
        collection: Collection = job.collection.load()
        watch.lap("collection")
        retrieved = job.retriever.retrieve(collection, job.cache)
        watch.lap("retrieval")
        # A run may name documents that the collection lacks: they are there, with unknown groups.
        known = collection.over(retrieved.docs)
        aligned = job.groups.align(known)
        pool = make_pool(known.docs, known.topics, retrieved.candidates, known.judgments, aligned.alignments)
        watch.lap("groups")
        target = ready_target(job.target, job.method, job.collection, job.groups, known.topics)
        estimates = _estimates(job, known, retrieved.candidates, aligned.alignments)
        if estimates is not None:
            pool = pool.with_estimates(estimates.relevance)
            watch.lap("estimates")
        results = Results()
        _rerank(job, target, pool, staging, results, watch)
        watch.add("retrieval", retrieved.seconds)
        quality = _quality(job, pool)
        if quality is not None:
            write_text(staging / "relevance.json", quality.json)
        account = Account(
            title=f"{job.name} on {collection.name}",
            summary=_summary(job, collection, pool, estimates),
            tier=_tier(job, target, estimates),
            counts={
                "collection": collection.counts,
                "retrieval": retrieved.counts,
                "groups": aligned.counts,
                **({} if estimates is None else {"estimates": estimates.counts}),
                "method": results.method_counts,
                "measures": results.counts,
            },
            warnings=_warnings(collection, pool, retrieved.counts, aligned.counts),
            config=job.config,
            command=job.command,
            data={
                "test collection": {"name": collection.name, "fingerprint": collection.fingerprint},
                "documents": len(collection.docs),
                "topics": len(collection.topics),
                "judged pairs": collection.judgments.nnz,
                "candidate pairs": pool.candidates.nnz,
            },
            tables=() if quality is None else quality.tables,
            pictures=() if quality is None else quality.pictures,
        )
        return publish(staging, results, account, job.measures, _options(job, pool), watch)


def _warnings(collection: Collection, pool: Pool, counts: Counts, groups: Counts) -> list[str]:
    """Return what is strange about the input, before any measure."""
    found = []
    if not pool.judgments.nnz:
        found.append(f"{collection.name} has no judgments (a jsonl folder has them in qrels.txt)")
    strangers = counts.get("run_documents_unknown_to_the_collection", 0)
    if strangers:
        found.append(f"{strangers:,} documents of the run are not in {collection.name}: is it the run's collection?")
    empty = int(np.sum(pool.candidates.lengths == 0))
    if empty:
        found.append(f"{empty:,} of {len(pool.topics):,} queries have no candidates: they count with zero exposure")
    unknown = {name: groups.get(f"{name}_documents_without_group", 0) / len(collection.docs) for name in pool.groups}
    shares = ", ".join(f"{name} {share:.0%}" for name, share in unknown.items() if share)
    if shares:
        found.append(f"documents whose group is not known: {shares}; groups.unknown says how they count")
    return found


def _estimates(
    job: RunJob, collection: Collection, candidates: Candidates, groups: Mapping[str, GroupAlignment]
) -> Estimates | None:
    if job.model is None:
        return None
    return model_estimates(job.model, collection, candidates, groups, job.groups, job.browsing, job.cache, job.allowed)


def _quality(job: RunJob, pool: Pool) -> Quality | None:
    """Judge the estimates of a model on the judged queries; None without a model, or without such queries."""
    if pool.estimates is None:
        return None
    universe = Universe(pool.candidates, pool.judgments, "union")
    rows = np.nonzero(universe.query_judged & (pool.candidates.lengths > 0))[0]
    if not len(rows):
        return None
    place = pool.candidates.with_columns(place=np.arange(pool.candidates.nnz)).take(rows)
    pick = place.columns["place"]
    pairs = Judged(
        place,
        pool.topics.ids.take(place.query),
        pool.topics.topic[place.query],
        pool.estimates.at(pick),
        universe.candidate_grade[pick] > 0,
    )
    measures = job.measures
    return relevance_quality(pairs, pool.groups, seed=job.seed, resamples=measures.resamples, level=measures.confidence)


def _options(job: RunJob, pool: Pool) -> Options:
    check_max_grade(job.browsing, pool.judgments)
    return Options(
        browsing=job.browsing,
        universe=job.universe,
        cutoff=job.measures.cutoff,
        samples=job.samples,
        seed=job.seed,
        force_draws=job.measures.exposure == "draws",
        max_grade=max(1, int(pool.judgments.grade.max(initial=0))),
    )


def _tier(job: RunJob, target: Target | None, estimates: Estimates | None) -> str:
    """Return the tier of the job: the highest of what its method, its target and its model take."""
    tier = job.method.tier
    for other in (target, estimates):
        tier = tier if other is None else higher_tier(tier, other.tier)
    return tier


def _rerank(job: RunJob, target: Target | None, pool: Pool, folder: Path, results: Results, watch: Stopwatch) -> None:
    measures = job.measures.chosen(list(pool.groups))
    task = RerankBlock(job.name, job.method, pool.topics.ids, measures, _options(job, pool), pool.groups, target)
    bounds = block_bounds(pool.candidates.lengths, job.samples, job.execution.block)
    longest = int(pool.candidates.lengths.max(initial=0))
    if longest * job.samples > MOST_ITEMS:
        raise ConfigError(
            f"samples: found {job.samples} rankings of up to {longest} documents; expected at most {MOST_ITEMS:,} "
            "documents drawn for a query. Lower samples or retriever.k"
        )
    qids = pool.topics.ids.names.to_pylist()
    parts = (pool.part(start, stop) for start, stop in bounds)
    with ExitStack() as stack:
        runs = [
            stack.enter_context(RunWriter(folder / "run.parquet", tag=job.name)),
            stack.enter_context(RunWriter(folder / "run.trec.gz", tag=job.name)),
        ]
        policies = stack.enter_context(PolicyWriter(folder / "policy.parquet", seed=job.seed, samples=job.samples))
        for block in _progress(job.execution.map(task, parts), len(bounds)):
            watch.lap("blocks")
            watch.add("blocks", block.seconds)
            results.add(block.result)
            results.add_counts(block.counts)
            for writer in runs:
                writer.write(block.rankings, qids, pool.docs)
            policies.write(block.policy, qids, pool.docs)
            watch.lap("write runs and policy")
    watch.lap("write runs and policy")


def _progress(blocks: Iterator[Reranked], total: int) -> Iterator[Reranked]:
    """Show a bar on a terminal, nothing elsewhere."""
    yield from tqdm(blocks, total=total, unit="block", disable=None, leave=False)


def _summary(job: RunJob, collection: Collection, pool: Pool, estimates: Estimates | None) -> dict[str, str]:
    groups = ", ".join(f"{name} ({', '.join(a.groups)})" for name, a in pool.groups.items())
    return {
        "collection": f"{collection.name}: {len(collection.docs):,} documents, {len(collection.topics):,} queries, "
        f"{collection.judgments.nnz:,} judgments",
        "first stage": f"{job.retriever}",
        "method": f"{job.name}: {job.method}",
        **({} if estimates is None else {"estimates": estimates.words}),
        "rankings drawn": f"{job.samples} per query, seed {job.seed}",
        **({"target": str(job.target)} if aims_at_target(job.method) else {}),
        "browsing model": str(job.browsing),
        "universe": f"{job.universe}: "
        + ("candidates and judged documents" if job.universe == "union" else "judged documents only"),
        "groups": groups or "none",
    }

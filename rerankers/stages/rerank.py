"""The blocks of a run: reranked and measured, or taken from where an interrupted job left them, and written in order.

What a block leaves is bounded by its size, and so is what is held of all of them: results go to spools, policies and
rankings to their files.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.progress import steps
from rerankers.execution import block_bounds
from rerankers.policies import Mixture
from rerankers.runs import PARQUET_FILE, POLICY_FILE, TREC_FILE, PolicyWriter, RunWriter
from rerankers.stages.block import RerankBlock
from rerankers.stages.ground import judging

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.targets import Target
    from rerankers.policies import Policy
    from rerankers.stages.block import BlockResult, Reranked
    from rerankers.stages.block_store import BlockPlace, BlockStore, Kept
    from rerankers.stages.block_sums import Results
    from rerankers.stages.metadata import Stopwatch
    from rerankers.stages.pool import Pool
    from rerankers.stages.run import RunJob
    from rerankers.values import Ids, Rankings

MOST_ITEMS = 1 << 28  # drawn for one query, which is drawn in one piece: about 8 GB at the peak
SERVED = 0  # the samples of a stored policy from which nothing was drawn: its own rankings are the published ones
AUTO = "auto"
MOST_WRITTEN = 1 << 28
"""Documents in all drawn rankings that ``drawn_runs=auto`` writes: about 2 GB on disk, four minutes."""


@dataclass(frozen=True, slots=True, eq=False)
class _Done:
    """A block to be written: names belong to its own codes."""

    policy: Policy
    rankings: Rankings | None
    result: BlockResult
    counts: Mapping[str, int]
    qids: Sequence[str]
    docs: Ids
    seconds: Mapping[str, float]


def check_drawn_runs(wanted: object) -> None:
    """Raise `ConfigError` for anything but true, false and ``auto``."""
    if not isinstance(wanted, bool):
        choose("drawn_runs", str(wanted), (AUTO, "true", "false"))


def rerank(
    job: RunJob,
    target: Target | None,
    pool: Pool,
    folder: Path,
    results: Results,
    place: BlockPlace,
    watch: Stopwatch,
) -> bool:
    """Rerank and measure block by block; return whether each query is shown one ranking, always the same.

    Raises
    ------
    ConfigError
        where a query has more documents to draw than fit into memory.
    """
    served = pool.served
    times = np.full(len(pool.candidates), job.samples) if served is None else served.counts
    items = pool.candidates.lengths * times
    _check_items(job, pool, items)
    written = writes_rankings(job.drawn_runs, items)
    task = _task(job, target, pool, written)
    # Anchors are drawn as often as rankings of policies are, also beside rankings that were served.
    drawn = pool.candidates.lengths * np.maximum(times, job.samples)
    bounds = block_bounds(drawn, 1, job.execution.block)
    store = place.store(job.config, len(bounds))
    single = True
    with ExitStack() as stack:
        names = (PARQUET_FILE, TREC_FILE) if written else ()
        runs = [stack.enter_context(RunWriter(folder / name, tag=job.name)) for name in names]
        samples = job.samples if served is None else SERVED
        policies = stack.enter_context(PolicyWriter(folder / POLICY_FILE, seed=job.seed, samples=samples))
        # Closed here, whatever a writer raises: workers end now, and not when somebody collects what is left.
        blocks = stack.enter_context(closing(_blocks(job, pool, task, bounds, store, samples)))
        for block in steps(blocks, f"{job.name} and measures", "block", len(bounds)):
            watch.lap("blocks")
            watch.add("blocks", block.seconds)
            results.add(block.result)
            results.add_counts(block.counts)
            single &= isinstance(block.policy, Mixture) and bool(np.all(block.policy.rankings.counts == 1))
            if block.rankings is not None:
                for writer in runs:
                    writer.write(block.rankings, block.qids, block.docs)
            policies.write(block.policy, block.qids, block.docs)
            watch.lap("write runs and policy")
    watch.lap("write runs and policy")
    return single


def writes_rankings(wanted: bool | str, items: NDArray[np.int64]) -> bool:
    """Return whether drawn rankings are written besides their policy.

    Parameters
    ----------
    wanted
        the option ``drawn_runs``.
    items
        int64 (B,), documents in the rankings of each query.
    """
    return int(items.sum()) <= MOST_WRITTEN if wanted == AUTO else bool(wanted)


def _check_items(job: RunJob, pool: Pool, items: NDArray[np.int64]) -> None:
    if int(items.max(initial=0)) > MOST_ITEMS:
        longest = int(pool.candidates.lengths.max(initial=0))
        raise ConfigError(
            f"samples: found {job.samples} rankings of up to {longest} documents; expected at most {MOST_ITEMS:,} "
            "documents drawn for a query. Lower samples or retriever.k"
        )


def _task(job: RunJob, target: Target | None, pool: Pool, written: bool) -> RerankBlock:
    return RerankBlock(
        job.name,
        job.method,
        pool.topics.ids,
        job.measures.chosen(list(pool.groups)),
        judging(job, pool),
        pool.groups,
        target,
        pool.authors,
        pool.predicted,
        pool.companions,
        written,
    )


def _blocks(
    job: RunJob,
    pool: Pool,
    task: RerankBlock,
    bounds: Sequence[tuple[int, int]],
    store: BlockStore,
    samples: int,
) -> Generator[_Done, None, None]:
    """Yield the blocks in order; those that an earlier job of the same kind finished are not done again."""
    qids = pool.topics.ids.names.to_pylist()
    there = {place for place in bounds if store.holds(pool.part(*place))}
    if there:
        print(f"{len(there):,} of {len(bounds):,} blocks were there, from a job that was interrupted", flush=True)
    todo = (pool.part(*place) for place in bounds if place not in there)
    with ExitStack() as stack:
        computed = job.execution.map(task, todo, pool.named)
        stack.callback(getattr(computed, "close", lambda: None))
        for place in bounds:
            kept = store.load(pool.part(*place)) if place in there else None
            if kept is not None:
                yield _taken(kept, task.published)
                continue
            block = task(pool.part(*place)) if place in there else next(computed)
            store.save(pool.part(*place), block, qids, pool.docs, job.seed, samples)
            yield _done(block, qids, pool.docs)


def _taken(kept: Kept, published: bool) -> _Done:
    stored = kept.policy
    rankings = stored.rankings() if published else None
    return _Done(stored.policy, rankings, kept.result, kept.counts, stored.qids, stored.docs, {})


def _done(block: Reranked, qids: Sequence[str], docs: Ids) -> _Done:
    return _Done(block.policy, block.rankings, block.result, block.counts, qids, docs, block.seconds)

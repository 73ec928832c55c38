"""Serving a sequence of queries with a ledger: whole sequences by executor where none sees another, else in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rerankers._base.progress import bar, steps
from rerankers.execution import block_bounds
from rerankers.ledger import Impressions, Memory, Served, SQLite, canonical
from rerankers.stages.block import seen_by
from rerankers.stages.pool import Pool
from rerankers.values import Block, Relevance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.execution import Executor
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.values import Candidates, GroupAlignment


class ServingMethod(Protocol):
    """A method with a ledger; see `rerankers.methods.amortised.Amortised`."""

    @property
    def tier(self) -> str:
        """One of `rerankers.methods.TIERS`."""
        ...

    @property
    def scope(self) -> str:
        """One of `rerankers.ledger.SCOPES`."""
        ...

    def serve(self, block: Block, impressions: Impressions, ledger: Any, docs: Any, progress: Any) -> Any:
        """Return `Served` and the `Ledger`."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What was served.

    Attributes
    ----------
    served
        the rankings of all impressions.
    counts
        impressions, sequences, accounts, and impressions that the ledger had from earlier jobs.
    loss
        mean over accounts of the squared distance of what entities were served and due an impression.
    """

    served: Served
    counts: Mapping[str, int]
    loss: float


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Whole sequences, with the rows that they ask."""

    candidates: Candidates
    stream: NDArray[np.uint64]
    estimates: Relevance | None
    impressions: Impressions


@dataclass(frozen=True, slots=True, eq=False)
class ServeShard:
    """The function that is mapped over shards; every shard keeps a ledger of its own, in memory."""

    method: ServingMethod
    groups: Mapping[str, GroupAlignment]
    browsing: BrowsingModel
    seed: int
    ledger: Memory

    def __call__(self, shard: Shard) -> tuple[NDArray[np.int64], NDArray[np.int32], int, float]:
        """Return the lengths and items of the rankings, the number of accounts, and the sum of their losses."""
        block = Block(
            shard.candidates, shard.stream, self.groups, shard.estimates, browsing=self.browsing, seed=self.seed
        )
        served, ledger = self.method.serve(block, shard.impressions, self.ledger, None, None)
        return np.diff(served.start), served.item, len(ledger.accounts), ledger.loss * len(ledger.accounts)


def serve(
    method: ServingMethod,
    pool: Pool,
    impressions: Impressions,
    ledger: Memory | SQLite,
    browsing: BrowsingModel,
    seed: int,
    execution: Executor,
) -> Outcome:
    """Serve impressions over the candidates of a pool.

    In memory, sequences that share no account are served apart, by the executor; the rankings are the same bits for
    any number of workers. A ledger in a file, and one that all sequences share, is served in this process: its turns
    follow one another anyway.

    Raises
    ------
    InputError
        for a ledger of another configuration, of other candidates, authors or groups, or of another sequence, all
        before anything is served; and for one that cannot be written.
    """
    seen = seen_by(method, pool.shown, pool.authors)
    if isinstance(ledger, Memory) and impressions.apart(method.scope):
        task = ServeShard(method, seen, browsing, seed, ledger)
        return _apart(task, pool, impressions, method.scope, execution)
    block = Block(
        pool.candidates, pool.stream, seen, estimates=pool.estimates, browsing=browsing, seed=seed
    )  # methods with a ledger aim at no target=
    with bar("serving", "impression", len(impressions)) as shown:
        added: list[int] = []

        def tell(number: int) -> None:
            added.append(number)
            shown.update(number)

        served, book = method.serve(block, impressions, ledger, pool.docs, tell)
    return Outcome(served, _counts(impressions, len(book.accounts), len(impressions) - sum(added)), book.loss)


def _apart(task: ServeShard, pool: Pool, impressions: Impressions, scope: str, execution: Executor) -> Outcome:
    order = canonical(scope, impressions)
    asked = impressions.take(order)
    ends = np.cumsum(np.bincount(asked.sequence, minlength=len(asked.sequences)))
    begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    lengths = pool.candidates.lengths[asked.row]
    work = np.bincount(asked.sequence, weights=lengths, minlength=len(asked.sequences)).astype(np.int64)
    bounds = block_bounds(work, 1, execution.block)
    places = [np.arange(begins[low], ends[high - 1]) for low, high in bounds]
    shards = (_shard(pool, asked.take(one)) for one in places)
    parts = list(steps(execution.map(task, shards), "serving", "block", len(bounds)))
    start = np.concatenate([[0], *[part[0] for part in parts]]).cumsum().astype(np.int64)
    item = np.concatenate([np.empty(0, np.int32), *[part[1] for part in parts]])
    served = Served(pool.candidates, asked, start, item, {}).reordered(order, impressions)
    accounts = sum(part[2] for part in parts)
    loss = sum(part[3] for part in parts) / max(accounts, 1)
    return Outcome(served, _counts(impressions, accounts, 0), loss)


def _shard(pool: Pool, impressions: Impressions) -> Shard:
    """Return some impressions with the rows of the pool that they need."""
    rows = np.unique(impressions.row)
    own = pool.rows(rows)
    names = tuple(impressions.queries[row] for row in rows.tolist())
    here = replace(impressions, row=np.searchsorted(rows, impressions.row), queries=names)
    return Shard(own.candidates, own.stream, own.estimates, here)


def _counts(impressions: Impressions, accounts: int, before: int) -> dict[str, int]:
    counts = {"impressions": len(impressions), "sequences": len(np.unique(impressions.sequence)), "accounts": accounts}
    return counts | ({"impressions_served_before": before} if before else {})

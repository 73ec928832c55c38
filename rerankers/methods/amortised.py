"""What methods with a ledger share: their options, the policy of a block, and serving a sequence of queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure import GERR
from rerankers.ledger import (
    AUTHORS,
    DOCUMENTS,
    MISSING,
    SCOPES,
    TARGETS,
    UNITS,
    Controller,
    Entities,
    Impressions,
    Job,
    Ledger,
    Memory,
    Served,
    SQLite,
    canonical,
    drive,
    make_rows,
)
from rerankers.ledger.fixed import overflow
from rerankers.methods.belief import probabilities
from rerankers.policies import Mixture
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from rerankers.exposure import BrowsingModel
    from rerankers.ledger import Rows
    from rerankers.values import Block, Ids

FORM = 1  # of what ledgers book: raised whenever the same impressions would leave other balances


@dataclass(frozen=True, slots=True)
class Amortised:
    """Share out exposure over repeated impressions, with a ledger of what every entity was served and is due.

    Attributes
    ----------
    impressions
        how often each query is asked where no sequence says it: the policy is the mixture of so many rankings.
    entities
        who is given accounts: ``documents``, ``authors``, or the groups of an attribute.
    missing
        a document without an entity has no account (``ignore``), shares one with all such documents (``shared``), or
        has its ``own``.
    target
        what documents are due: ``equal``, ``merit`` or ``relevance``; see `rerankers.ledger.make_rows`.
    unit
        ``exposure``, or ``share``: every impression brings an exposure of 1 in all.
    scope
        an account a ``query``, a ``sequence``, or one for the whole ``corpus``.
    decay
        what an impression leaves of older balances, in (0, 1]. Below 1 the balances are still a function of the
        impressions of an account alone, but no longer exact sums: such ledgers are never merged.
    """

    impressions: int = 150
    entities: str = DOCUMENTS
    missing: str = "ignore"
    target: str = "equal"
    unit: str = "exposure"
    scope: str = "query"
    decay: float = 1.0

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        """Raise `ConfigError` for values of the shared options that are out of range."""
        if not 1 <= self.impressions <= 1_000_000:
            raise ConfigError(f"method.impressions: found {self.impressions}; expected 1 to 1,000,000")
        for name, words in (("missing", MISSING), ("target", TARGETS), ("unit", UNITS), ("scope", SCOPES)):
            choose(f"method.{name}", getattr(self, name), words)
        if not 0 < self.decay <= 1:
            raise ConfigError(f"method.decay: found {self.decay}; expected a number above 0 and at most 1")

    @property
    def tier(self) -> str:
        """``blind`` with accounts of documents, ``metadata`` with authors', ``given_groups`` with groups'."""
        return {DOCUMENTS: "blind", AUTHORS: "metadata"}.get(self.entities, "given_groups")

    @abstractmethod
    def controller(self) -> Controller:
        """Return what chooses the rankings."""

    def browsing(self, block: Block) -> BrowsingModel:
        """Return how users browse: as the block says, else GERR with patience and satisfaction 0.5."""
        model: BrowsingModel = GERR() if block.browsing is None else block.browsing
        return model

    def policy(self, block: Block) -> Mixture:
        """Return the mixture of ``impressions`` rankings of each query, in order, each query with a fresh ledger.

        Raises
        ------
        ConfigError
            where queries share accounts (``scope``): then rankings depend on a sequence, see `serve`.
        """
        if self.scope != "query":
            raise ConfigError(
                f"method.scope: found {self.scope}; expected query, unless a sequence says which query is asked when"
            )
        over, times = block.candidates, self.impressions
        names = tuple(str(row) for row in range(len(over)))
        entities = self.accounted(block)
        asked = Impressions.repeated(over, times, names)
        job = Job.of(over, self._rows(block, entities), asked, block.stream, self.scope, block.seed)
        failed = self.controller().serve(job, np.arange(len(asked), dtype=np.int64), entities)
        if failed >= 0:
            raise overflow("method.impressions")
        query_ptr = np.arange(len(over) + 1, dtype=np.int64) * times
        label = np.tile(np.arange(times, dtype=np.int32), len(over))
        weight = np.full(len(over) * times, 1.0 / times)
        return Mixture(Rankings(over, query_ptr, job.start, job.item, weight, label), block.stream)

    def serve(
        self,
        block: Block,
        impressions: Impressions,
        ledger: Memory | SQLite | None = None,
        docs: Ids | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Served, Ledger]:
        """Rank a sequence of queries with the ledger in view, a turn at a time.

        Parameters
        ----------
        block
            the candidates of the queries, and beliefs about them.
        impressions
            which query is asked when, over the rows of the block.
        ledger
            where it is kept; None keeps it in memory. What it has served already is not served again.
        docs
            names behind document codes, for a ledger of documents that outlives the job.
        progress
            called after each commit with the number of impressions it has added.

        Returns
        -------
        The rankings of all impressions, in their order, and the ledger.

        Raises
        ------
        InputError
            for a ledger of another configuration, one that cannot be written, and impressions that do not continue it.
        """
        kept = Memory() if ledger is None else ledger
        entities = self.accounted(block, docs)
        rows = self._rows(block, entities)
        order = canonical(self.scope, impressions)
        job = Job.of(block.candidates, rows, impressions.take(order), block.stream, self.scope, block.seed)
        store = kept.open(self.configuration(block))
        try:
            served = drive(self.controller(), job, entities, store, kept.chunk, progress)
            return served.reordered(order, impressions), store.ledger()
        finally:
            store.close()

    def configuration(self, block: Block) -> dict[str, Any]:
        """Return what a ledger of this method is kept with: options, browsing model and seed, not beliefs."""
        options = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "impressions"}
        model = {"browsing": str(self.browsing(block)), "seed": block.seed, "form": FORM}
        return {"method": type(self).__name__, **options, **model}

    def accounted(self, block: Block, docs: Ids | None = None) -> Entities:
        """Return who has accounts.

        Raises
        ------
        ConfigError
            when the block has no such groups.
        """
        if self.entities == DOCUMENTS:
            return Entities(DOCUMENTS, docs=docs)
        if self.entities not in block.groups:
            known = ", ".join([DOCUMENTS, *block.groups])
            raise ConfigError(f"method.entities: found {self.entities}; expected one of {known}, which the job has")
        return Entities(self.entities, block.groups[self.entities], self.missing, docs)

    def _rows(self, block: Block, entities: Entities) -> Rows:
        belief = probabilities(block)
        return make_rows(block.candidates, belief, self.browsing(block), entities, self.target, self.unit)


def check_number(name: str, value: float, low: float, high: float, *, above: bool = False) -> None:
    """Raise `ConfigError` unless an option is a finite number from ``low`` (or above it) to ``high``."""
    if not (low <= value <= high and np.isfinite(value)) or (above and value == low):
        least = f"above {low:g}" if above else f"of at least {low:g}"
        most = "" if np.isinf(high) else f" and at most {high:g}"
        raise ConfigError(f"method.{name}: found {value}; expected a number {least}{most}")

"""Where a ledger is kept: in memory here, in a file in `sqlite_store`. Everything is written in whole turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.ledger.ledger import Config, Ledger, Row, join_spans
from rerankers.ledger.marks import Mark, Marks

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 5000


class Stretch(NamedTuple):
    """Rankings of consecutive impressions of one sequence.

    Attributes
    ----------
    sequence, first
        its name, and the number of the first impression.
    query
        the query of each impression.
    length, item
        int32 (impressions,) and (items,): how long each ranking is, and all of them one after the other, as positions
        within their row of candidates.
    """

    sequence: str
    first: int
    query: Sequence[str]
    length: NDArray[np.int32]
    item: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """What one turn writes: the new values of what it has changed, and the marks of the queries that it has asked."""

    balances: Mapping[tuple[str, str], Row]
    counts: Mapping[str, int]
    stretches: Sequence[Stretch]
    marks: Marks


class Store(Protocol):
    """One ledger, to which any number of processes may write in turns."""

    def begin(self) -> bool:
        """Wait for one's turn; return whether somebody else has written since one's own last turn."""
        ...

    def positions(self) -> dict[str, int]:
        """Return sequence -> the number of its next impression."""
        ...

    def marks(self) -> dict[str, Mark]:
        """Return the marks of all queries that were served."""
        ...

    def asked(self, sequence: str, since: int) -> Iterable[tuple[int, list[str]]]:
        """Return (number of the first impression, queries) of stretches of a sequence that end after ``since``.

        They ascend.
        """
        ...

    def balances(self, accounts: Sequence[str]) -> tuple[dict[tuple[str, str], Row], dict[str, int]]:
        """Return (account, entity) -> balance and account -> impressions, of some accounts."""
        ...

    def commit(self, turn: Turn) -> None:
        """Write a turn, whole or not at all, and end it."""
        ...

    def rollback(self) -> None:
        """End the turn without writing."""
        ...

    def stretches(self, sequences: Sequence[str]) -> Iterable[Stretch]:
        """Return the rankings served in some sequences, ascending by first impression within each."""
        ...

    def ledger(self) -> Ledger:
        """Return the whole ledger as a value."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


@dataclass(slots=True, eq=False)
class MemoryStore:
    """A ledger that lives as long as the process. One thread serves it at a time.

    Attributes
    ----------
    config
        what it is kept with.
    """

    config: Config
    _balances: dict[tuple[str, str], Row] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _spans: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    _stretches: list[Stretch] = field(default_factory=list)
    _marks: dict[str, Mark] = field(default_factory=dict)
    _fresh: bool = True

    def begin(self) -> bool:
        """Return whether there may be something to read: at the first turn only."""
        fresh, self._fresh = self._fresh, False
        return fresh

    def positions(self) -> dict[str, int]:
        """See `Store`."""
        return {name: spans[-1][1] for name, spans in self._spans.items()}

    def marks(self) -> dict[str, Mark]:
        """See `Store`."""
        return self._marks

    def asked(self, sequence: str, since: int) -> Iterable[tuple[int, list[str]]]:
        """See `Store`."""
        late = (s for s in self.stretches([sequence]) if s.first + len(s.query) > since)
        return [(stretch.first, list(stretch.query)) for stretch in late]

    def balances(self, accounts: Sequence[str]) -> tuple[dict[tuple[str, str], Row], dict[str, int]]:
        """See `Store`."""
        wanted = set(accounts)
        balances = {key: row for key, row in self._balances.items() if key[0] in wanted}
        return balances, {name: number for name, number in self._counts.items() if name in wanted}

    def commit(self, turn: Turn) -> None:
        """See `Store`."""
        self._spans = join_spans([self._spans, spans_of(turn.stretches)])
        self._balances.update(turn.balances)
        self._counts.update(turn.counts)
        self._stretches.extend(turn.stretches)
        self._marks.update(turn.marks)

    def rollback(self) -> None:
        """See `Store`; what was computed is read anew in the next turn."""
        self._fresh = True

    def stretches(self, sequences: Sequence[str]) -> Iterable[Stretch]:
        """See `Store`."""
        wanted = set(sequences)
        return sorted((s for s in self._stretches if s.sequence in wanted), key=lambda s: (s.sequence, s.first))

    def ledger(self) -> Ledger:
        """See `Store`."""
        return Ledger.of(self.config, self._balances, self._counts, self._spans, self._marks)

    def close(self) -> None:
        """Do nothing: the ledger stays."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Keep the ledger in memory: it ends with the job.

    Attributes
    ----------
    chunk
        impressions between two commits. No ranking depends on it.
    """

    chunk: int = CHUNK

    def __post_init__(self) -> None:
        check_chunk(self.chunk)

    def open(self, config: Config) -> MemoryStore:
        """Return an empty ledger."""
        return MemoryStore(config)


def check_chunk(chunk: int) -> None:
    """Raise `ConfigError` unless there is an impression or more in a chunk."""
    if chunk < 1:
        raise ConfigError(f"ledger.chunk: found {chunk}; expected 1 or more impressions")


def spans_of(stretches: Sequence[Stretch]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the impressions that stretches cover."""
    return join_spans({s.sequence: ((s.first, s.first + len(s.length)),)} for s in stretches)

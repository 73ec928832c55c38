"""Which query is asked when: the impressions that a ledger is kept over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.ids import Ids
    from rerankers.values.ragged import Ragged

_SHOWN = 20


@dataclass(frozen=True, slots=True, eq=False)
class Impressions:
    """Impressions in the order in which they are served.

    Attributes
    ----------
    sequences
        names of the sequences.
    sequence
        int32 (N,), codes of sequences.
    number
        int64 (N,), 0-based place within the whole sequence; consecutive, ascending.
    row
        int64 (N,), rows of the candidates.
    queries
        query ids by row of the candidates.
    """

    sequences: tuple[str, ...]
    sequence: NDArray[np.int32]
    number: NDArray[np.int64]
    row: NDArray[np.int64]
    queries: tuple[str, ...]

    def __post_init__(self) -> None:
        order = np.argsort(self.sequence, kind="stable")
        same = self.sequence[order][1:] == self.sequence[order][:-1]
        wrong = np.flatnonzero(same & (np.diff(self.number[order]) != 1))
        if len(wrong):
            place = order[int(wrong[0]) + 1]
            found = f"impression {self.number[place]} of sequence {self.sequences[self.sequence[place]]} out of turn"
            raise InputError.one("sequence", found, "numbers that ascend by one within a sequence")

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def of(
        cls,
        sequences: Sequence[str],
        sequence: NDArray[np.integer],
        query: NDArray[np.integer],
        qids: Sequence[str],
        ids: Ids,
        over: Ragged,
        first: int = 0,
    ) -> Impressions:
        """Find the candidates of each impression.

        Parameters
        ----------
        sequences, sequence
            names, and int (N,) the sequence of each impression as a position in them.
        query, qids
            int (N,) the query of each impression as a position in ``qids``.
        ids, over
            query ids behind the query codes of the candidates, and the candidates.
        first
            the number of each sequence's first impression here: above 0 where a sequence is continued.

        Raises
        ------
        InputError
            naming every query without a row of candidates (one error, the first 20 by name).
        """
        place = np.full(len(ids) + 1, -1, dtype=np.int64)
        place[over.query] = np.arange(len(over))
        row_of = place[ids.codes(qids)]  # an unknown query has code -1, the last place
        row = row_of[query]
        if np.any(row < 0):
            lost = [qids[code] for code in np.unique(query[row < 0]).tolist()]
            shown = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
            found = f"{len(lost)} queries that have no candidates ({shown}), {int(np.sum(row < 0))} impressions of them"
            raise InputError.one("sequence", found, "queries of the collection, each with a row of candidates")
        number = first + _occurrence(np.asarray(sequence), len(sequences))
        names = tuple(ids.take(over.query))
        return cls(tuple(sequences), np.asarray(sequence, dtype=np.int32), number, row, names)

    @classmethod
    def repeated(cls, over: Ragged, times: int, queries: tuple[str, ...]) -> Impressions:
        """Ask every query so many times in a row, each in a sequence of its own that has the query's name."""
        rows = np.arange(len(over), dtype=np.int64)
        number = np.tile(np.arange(times, dtype=np.int64), len(over))
        row = np.repeat(rows, times)
        return cls(queries, row.astype(np.int32), number, row, queries)

    def apart(self, scope: str) -> bool:
        """Say whether no account has impressions of two sequences, so that sequences do not see each other."""
        if scope != "query":
            return scope == "sequence"
        width = max(len(self.queries), 1)
        return len(np.unique(self.sequence * np.int64(width) + self.row)) == len(np.unique(self.row))

    def take(self, places: NDArray[np.integer]) -> Impressions:
        """Return some impressions, in the order given: a shard, for instance."""
        return Impressions(self.sequences, self.sequence[places], self.number[places], self.row[places], self.queries)


def _occurrence(code: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Return how often each code has occurred before: int64 (N,)."""
    order = np.argsort(code, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(code, minlength=size))])
    out = np.empty(len(code), dtype=np.int64)
    out[order] = np.arange(len(code)) - start[code[order]]
    return out

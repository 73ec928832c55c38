"""Rankings and a browsing model as the compiled loops take them, and their rows shared among threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rerankers._base.arrays import read_only
from rerankers._base.errors import InputError
from rerankers.execution import thread_count, thread_map
from rerankers.exposure._binding import check_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.values.rankings import Rankings

WORTH_THREADS = 1 << 20  # items of a block from which on its rows are shared among threads: some milliseconds
PIECES = 4  # for each thread, since rows differ in their work


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The arguments that all loops of `_ranking_loops` share; see `Rankings` and `Browsing`.

    ``position`` is float64 (longest row,), ones where ranks have no weights.
    """

    query_ptr: NDArray[np.int64]
    item_ptr: NDArray[np.int64]
    item: NDArray[np.int32]
    indptr: NDArray[np.int64]
    continuation: NDArray[np.float64]
    position: NDArray[np.float64]

    @classmethod
    def of(cls, rankings: Rankings, browsing: Browsing) -> Self:
        """Return the walk over rankings of rows that ``browsing`` is bound to."""
        longest = int(np.diff(rankings.over.indptr).max(initial=0))
        return cls.over(rankings.query_ptr, rankings.item_ptr, rankings.item, rankings.over.indptr, longest, browsing)

    @classmethod
    def over(
        cls,
        query_ptr: NDArray[np.int64],
        item_ptr: NDArray[np.int64],
        item: NDArray[np.integer],
        indptr: NDArray[np.int64],
        longest: int,
        browsing: Browsing,
    ) -> Self:
        """Return the walk over rankings given as arrays, none of more than ``longest`` documents.

        Raises
        ------
        ValueError
            for a browsing model bound to other rows.
        """
        check_bound(browsing, int(indptr[-1]))
        position = np.ones(longest) if browsing.position is None else browsing.position
        return cls(
            read_only(query_ptr, np.int64),
            read_only(item_ptr, np.int64),
            read_only(item, np.int32),
            read_only(indptr, np.int64),
            read_only(browsing.continuation, np.float64),
            read_only(position[:longest], np.float64),
        )

    def run(self, loop: Callable[..., int], *arguments: Any) -> None:
        """Run a loop over all rows.

        Every row writes its own places only, so that threads change nothing but the time.

        Raises
        ------
        ValueError
            for a ranking with a document that its row does not have, or longer than any row.
        """
        shared = (self.query_ptr, self.item_ptr, self.item, self.indptr, self.continuation, self.position)

        def piece(rows: tuple[int, int]) -> int:
            return loop(*rows, *shared, *arguments)

        threads = thread_count() if len(self.item) >= WORTH_THREADS else 1
        wrong = [ranking for ranking in thread_map(piece, self._pieces(threads), threads) if ranking >= 0]
        if wrong:
            found = f"ranking {min(wrong)} with a document that its row does not have, or too many of them"
            raise InputError.one("rankings", found, "positions within the row from 0, each at most once")

    def _pieces(self, threads: int) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about equally many items."""
        rows = len(self.query_ptr) - 1
        pieces = PIECES * threads if threads > 1 else 1
        done = self.item_ptr[self.query_ptr]
        cuts = np.searchsorted(done, np.arange(1, pieces) * (len(self.item) / pieces))
        bounds = np.unique(np.concatenate([[0], cuts, [rows]])).tolist()
        return list(pairwise(bounds))

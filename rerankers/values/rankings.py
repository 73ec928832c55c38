"""Drawn or published rankings over ragged rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """Any number of rankings a query, each any length up to its row. Ranks are 0-based here, 1-based in files.

    Attributes
    ----------
    over
        the rows whose documents are ranked (B rows).
    query_ptr
        int64 (B + 1,), the rankings of row i are query_ptr[i]:query_ptr[i + 1].
    item_ptr
        int64 (R + 1,), the items of ranking r are item_ptr[r]:item_ptr[r + 1], best first.
    item
        int32 (number of items,), the document's position *within its row* of ``over``.
    weight
        float64 (R,), the probability of a ranking; the weights of a row sum to 1.
    label
        int32 (R,), the sample number that files carry, from 0.
    """

    over: Ragged
    query_ptr: NDArray[np.int64]
    item_ptr: NDArray[np.int64]
    item: NDArray[np.int32]
    weight: NDArray[np.float64]
    label: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of rankings over all queries."""
        return len(self.item_ptr) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64 (B,), rankings a row."""
        return self.query_ptr[1:] - self.query_ptr[:-1]

    @property
    def row_of_ranking(self) -> NDArray[np.int64]:
        """int64 (R,), the row of each ranking."""
        return np.repeat(np.arange(len(self.over), dtype=np.int64), self.counts)

    @property
    def ranking_of_item(self) -> NDArray[np.int64]:
        """int64 (items,), the ranking of each item."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.item_ptr))

    @property
    def rank(self) -> NDArray[np.int64]:
        """int64 (items,), the 0-based rank of each item."""
        return np.arange(len(self.item), dtype=np.int64) - self.item_ptr[self.ranking_of_item]

    @property
    def flat(self) -> NDArray[np.int64]:
        """int64 (items,), the position of each item in arrays of length ``over.nnz``."""
        return self.over.indptr[self.row_of_ranking][self.ranking_of_item] + self.item

    def take(self, order: NDArray[np.integer]) -> Rankings:
        """Return the rankings of the rows ``order``, copied, in that order."""
        ranking, query_ptr = _gather(self.query_ptr, order)
        item, item_ptr = _gather(self.item_ptr, ranking)
        return Rankings(
            self.over.take(order), query_ptr, item_ptr, self.item[item], self.weight[ranking], self.label[ranking]
        )

    @classmethod
    def of_matrix(cls, over: Ragged, orders: list[NDArray[np.integer]], first: int = 0) -> Rankings:
        """Build from one (draws, k) matrix of within-row positions a row, equally weighted, labels from ``first``.

        Raises
        ------
        ValueError
            when there is not one matrix a row.
        """
        if len(orders) != len(over):
            raise ValueError(f"{len(orders)} matrices for {len(over)} rows; expected one a row")
        draws = np.array([len(matrix) for matrix in orders], dtype=np.int64)
        depth = np.array([matrix.shape[1] for matrix in orders], dtype=np.int64)
        lengths = np.repeat(depth, draws)
        flat = [matrix.astype(np.int32, copy=False).ravel() for matrix in orders]
        return cls(
            over,
            np.concatenate([[0], np.cumsum(draws)]).astype(np.int64),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate(flat) if flat else np.empty(0, np.int32),
            np.repeat(1.0 / np.maximum(draws, 1), draws),
            np.concatenate([np.arange(first, first + n) for n in draws]).astype(np.int32)
            if len(draws)
            else np.empty(0, np.int32),
        )


def _gather(indptr: NDArray[np.int64], order: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of the segments ``order`` and the bounds of these segments one after another."""
    lengths = np.diff(indptr)[order]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.repeat(indptr[:-1][order] - bounds[:-1], lengths) + np.arange(bounds[-1], dtype=np.int64), bounds

"""Ragged rows of documents, one row a query: the base of everything that is known per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """B rows over documents, row i belonging to query ``query[i]``. Empty rows and B = 0 are allowed.

    Attributes
    ----------
    query
        int32 (B,), codes of the queries.
    indptr
        int64 (B + 1,), row i is the range indptr[i]:indptr[i + 1].
    doc
        int32 (nnz,), document codes, unique within a row.
    columns
        name -> array of length nnz.
    """

    query: NDArray[np.int32]
    indptr: NDArray[np.int64]
    doc: NDArray[np.int32]
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", np.ascontiguousarray(self.query, dtype=np.int32))
        object.__setattr__(self, "indptr", np.ascontiguousarray(self.indptr, dtype=np.int64))
        object.__setattr__(self, "doc", np.ascontiguousarray(self.doc, dtype=np.int32))
        if self.indptr.shape != (len(self.query) + 1,):
            raise ValueError(f"indptr has shape {self.indptr.shape}; expected ({len(self.query) + 1},)")
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.doc) or np.any(self.lengths < 0):
            raise ValueError("indptr must start at 0, not descend and end at the number of documents")
        for name, column in self.columns.items():
            if len(column) != len(self.doc):
                raise ValueError(f"column {name!r} has {len(column)} entries; expected {len(self.doc)}")

    @classmethod
    def empty(cls) -> Self:
        """Return the value with no rows."""
        return cls(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))

    def __len__(self) -> int:
        return len(self.query)

    @property
    def nnz(self) -> int:
        """Number of (query, document) pairs."""
        return len(self.doc)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64 (B,), documents a row."""
        return self.indptr[1:] - self.indptr[:-1]

    @property
    def row_index(self) -> NDArray[np.int64]:
        """int64 (nnz,), the row of each pair."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def row(self, index: int) -> slice:
        """Return the range of one row, to slice any array of length nnz."""
        return slice(int(self.indptr[index]), int(self.indptr[index + 1]))

    def rows(self, start: int, stop: int) -> Self:
        """Return rows start:stop. Documents and columns are views, not copies."""
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        return type(self)(
            self.query[start:stop],
            self.indptr[start : stop + 1] - low,
            self.doc[low:high],
            {name: column[low:high] for name, column in self.columns.items()},
        )

    def take(self, order: NDArray[np.integer]) -> Self:
        """Return the rows ``order``, copied, in that order."""
        indptr = np.concatenate([[0], np.cumsum(self.lengths[order])]).astype(np.int64)
        pick = np.repeat(self.indptr[:-1][order] - indptr[:-1], np.diff(indptr)) + np.arange(indptr[-1])
        return type(self)(
            self.query[order],
            indptr,
            self.doc[pick],
            {name: column[pick] for name, column in self.columns.items()},
        )

    def with_columns(self, **columns: NDArray[Any]) -> Self:
        """Return the same rows with columns added or replaced."""
        return type(self)(self.query, self.indptr, self.doc, {**self.columns, **columns})

    def recode(self, recoder: NDArray[np.int32]) -> Self:
        """Return the same rows under other document codes; ``recoder`` maps every old code to its new one.

        Raises
        ------
        ValueError
            when a document of these rows has no new code (-1).
        """
        doc = recoder[self.doc]
        if doc.min(initial=0) < 0:
            raise ValueError(f"{int((doc < 0).sum())} documents have no new code; join the ids before recoding")
        return type(self)(self.query, self.indptr, doc, self.columns)


class Candidates(Ragged):
    """The documents to be ranked, in first-stage order: score descending, then docno ascending.

    Columns: ``score`` float64 (finite), later ``features`` and ``estimates``.
    """

    __slots__ = ()

    @property
    def score(self) -> NDArray[np.float64]:
        """float64 (nnz,), the first-stage score; KeyError where a run carried none."""
        return self.columns["score"].astype(np.float64, copy=False)


class Judgments(Ragged):
    """Judged documents. A missing pair is unjudged, never grade 0. Column ``grade`` int16, maybe negative."""

    __slots__ = ()

    @property
    def grade(self) -> NDArray[np.int16]:
        """int16 (nnz,), the grade as judged; measures count negative grades as 0."""
        return self.columns["grade"].astype(np.int16, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The outer join of two ragged values: its rows, and where each pair of either side landed.

    Attributes
    ----------
    over
        the joined rows, documents ascending by code within a row; queries in the left's order, then the right's own.
    left, right
        int64 (nnz of that side,), positions in ``over``.
    """

    over: Ragged
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def from_left(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Spread a column of the left side over the joined rows, ``fill`` elsewhere."""
        out = np.full(self.over.nnz, fill, dtype=values.dtype)
        out[self.left] = values
        return out

    def from_right(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Spread a column of the right side over the joined rows, ``fill`` elsewhere; pairs that are not in them go."""
        out = np.full(self.over.nnz, fill, dtype=values.dtype)
        inside = self.right >= 0
        if inside.all():
            out[self.right] = values
        else:
            out[self.right[inside]] = values[inside]
        return out


def outer_join(left: Ragged, right: Ragged, queries: str = "left") -> Join:
    """Join two ragged values by query and document.

    Parameters
    ----------
    left, right
        coded under the same `Ids`; each query at most once a side.
    queries
        ``"left"``: the left's queries only (pairs of other queries on the right land at -1);
        ``"both"``: the left's, then those that only the right has.

    Raises
    ------
    ValueError
        when a query has two rows on one side, or ``queries`` is another word.
    """
    if queries not in ("left", "both"):
        raise ValueError(f"queries is {queries!r}; expected 'left' or 'both'")
    if any(len(np.unique(side.query)) != len(side) for side in (left, right)):
        raise ValueError("a query has two rows on one side of the join; expected one row a query")
    query = left.query
    if queries == "both":
        query = np.concatenate([query, right.query[~np.isin(right.query, query)]])
    right_row = _rows_of(query, right.query)
    width = 1 + max(int(left.doc.max(initial=0)), int(right.doc.max(initial=0)))
    left_key = left.row_index * width + left.doc
    row = right_row[right.row_index]
    right_key, inside = row * width + right.doc, row >= 0
    place = _places(left_key, right_key) if inside.all() else None
    if place is not None:  # the left has all that the right has
        indptr = np.append(left.indptr, np.repeat(left.indptr[-1:], len(query) - len(left)))
        return Join(Ragged(query, indptr, left.doc), np.arange(left.nnz, dtype=np.int64), place)
    keys, position = np.unique(np.concatenate([left_key, right_key[inside]]), return_inverse=True)
    landed = np.full(right.nnz, -1, dtype=np.int64)
    landed[inside] = position[len(left_key) :]
    indptr = np.searchsorted(keys, np.arange(len(query) + 1, dtype=np.int64) * width)
    over = Ragged(query, indptr.astype(np.int64), (keys % width).astype(np.int32))
    return Join(over, position[: len(left_key)].astype(np.int64), landed)


def _rows_of(query: NDArray[np.int32], wanted: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the row of each wanted query, -1 where there is none."""
    if np.array_equal(query, wanted):
        return np.arange(len(query), dtype=np.int64)
    order = np.append(np.argsort(query), -1)
    place = np.searchsorted(query[order[:-1]], wanted)
    row: NDArray[np.int64] = np.where(np.append(query[order[:-1]], -1)[place] == wanted, order[place], -1)
    return row


def _places(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return where each wanted key (at least 0) is; None where one is not there, or where keys do not ascend."""
    if np.any(keys[1:] <= keys[:-1]):
        return None
    if np.array_equal(keys, wanted):
        return np.arange(len(keys), dtype=np.int64)
    place = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[place] == wanted
    return place if found.all() else None

"""Queries with features, grades and groups: what learners fit on and objectives are bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.values import GroupAlignment, Ids, Ragged

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class LearningRows:
    """B queries over nnz (query, document) pairs.

    Attributes
    ----------
    over
        the pairs: row i is the range over.indptr[i]:over.indptr[i + 1], ``over.doc`` codes of documents.
    qids
        B query ids, the names behind the rows.
    features
        float64 (nnz, F); NaN where a value is missing.
    names
        the F names of the features.
    grade
        float64 (nnz,), at least 0: negative grades and pairs that nobody judged are 0 here.
    topic
        int64 (B,), variants of one topic share its number: no split separates them.
    stream
        uint64 (B, 2), digests of the query ids: the root of every random draw.
    groups
        the resolved alignment, over document codes, of the attribute whose exposure an objective or a monitor looks
        at; None where there is none.
    """

    over: Ragged
    qids: tuple[str, ...]
    features: NDArray[np.float64]
    names: tuple[str, ...]
    grade: NDArray[np.float64]
    topic: NDArray[np.int64]
    stream: NDArray[np.uint64]
    groups: GroupAlignment | None = None

    def __post_init__(self) -> None:
        rows, pairs = len(self.over), self.over.nnz
        for name, found, expected in (
            ("qids", (len(self.qids),), (rows,)),
            ("features", self.features.shape, (pairs, len(self.names))),
            ("grade", self.grade.shape, (pairs,)),
            ("topic", self.topic.shape, (rows,)),
            ("stream", self.stream.shape, (rows, 2)),
        ):
            if found != expected:
                raise InputError.one(name, f"shape {found}", f"shape {expected}")
        if not np.all(np.isfinite(self.grade)) or self.grade.min(initial=0.0) < 0:
            raise InputError.one("grade", "grades that are negative or not finite", "numbers of at least 0")
        if np.isinf(self.features).any():
            raise InputError.one("features", "infinite values", "finite numbers, or NaN where one is missing")

    @classmethod
    def of(
        cls,
        indptr: ArrayLike,
        features: ArrayLike,
        grade: ArrayLike,
        groups: Sequence[str | None] | None = None,
        qids: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> LearningRows:
        """Build from arrays; every pair is a document of its own.

        Parameters
        ----------
        indptr
            (B + 1,), the rows.
        features
            (nnz, F) or (nnz,).
        grade
            (nnz,), negative ones count as 0.
        groups
            (nnz,), the group of each document, None where it is not known (it counts as a group of its own).
        qids, names
            of queries and features; "1", "2", … and "f1", "f2", … if None.

        Raises
        ------
        InputError
            for shapes that do not fit, a query id that occurs twice, and numbers that are not finite.
        """
        bounds = np.asarray(indptr, dtype=np.int64)
        if bounds.ndim != 1 or not len(bounds) or bounds[0] != 0 or np.any(np.diff(bounds) < 0):
            raise InputError.one("indptr", str(bounds.tolist())[:80], "whole numbers from 0 up, never falling")
        values = np.asarray(features, dtype=np.float64)
        values = values[:, None] if values.ndim == 1 else values
        size, count = len(bounds) - 1, int(bounds[-1])
        ids = tuple(str(row + 1) for row in range(size)) if qids is None else tuple(qids)
        Ids.of(list(ids), "query id")
        over = Ragged(np.arange(size, dtype=np.int32), bounds, np.arange(count, dtype=np.int32))
        return cls(
            over,
            ids,
            values,
            tuple(f"f{column + 1}" for column in range(values.shape[1])) if names is None else tuple(names),
            np.maximum(np.asarray(grade, dtype=np.float64), 0.0),
            np.arange(size, dtype=np.int64),
            query_streams(ids),
            None if groups is None else _alignment(groups, count),
        )

    def __len__(self) -> int:
        return len(self.over)

    @property
    def indptr(self) -> NDArray[np.int64]:
        """int64 (B + 1,), the rows."""
        return self.over.indptr

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows ``rows``, copied, in that order."""
        place = self.over.with_columns(place=np.arange(self.over.nnz)).take(rows)
        pick = place.columns["place"]
        return replace(
            self,
            over=Ragged(place.query, place.indptr, place.doc),
            qids=tuple(self.qids[row] for row in rows),
            features=self.features[pick],
            grade=self.grade[pick],
            topic=self.topic[rows],
            stream=self.stream[rows],
        )


def _alignment(groups: Sequence[str | None], size: int) -> GroupAlignment:
    if len(groups) != size:
        raise InputError.one("groups", f"{len(groups)} labels", f"{size}, one a document")
    names = tuple(sorted({str(label) for label in groups if label is not None}))
    code = {name: number for number, name in enumerate(names)}
    known = np.array([place for place, label in enumerate(groups) if label is not None], dtype=np.int64)
    group = np.array([code[str(label)] for label in groups if label is not None], dtype=np.int64)
    entries = GroupAlignment.of_entries("group", names, known, group, np.ones(len(known)), size)
    return entries.resolve("count")

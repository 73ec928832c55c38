r"""What a measure of groups would be if the group labels had nothing to do with the ranking: its placebo.

Group exposure enters EEL, EED, EER and EET of groups as \sum_g (\sum_i x_i A_ig)(\sum_j y_j A_jg), with an alignment A
of n documents by groups and x, y among exposure, target and their difference. Shuffle the rows of A, that is which
document has which labels, uniformly. E[x_i y_i] over documents is (\sum x_i y_i) / n and E[x_i y_j] of two different
ones (S_x S_y - \sum x_i y_i) / (n (n - 1)), so that the mean is

    \sum_g [ \sum_i x_i y_i · \sum_i A_ig^2 / n + (S_x S_y - \sum x_i y_i) · (S(A_g)^2 - \sum_i A_ig^2) / (n (n - 1)) ],

without the second term for n = 1. It holds for documents of one group, of several, of shares of groups, or of none.
For hard groups of n_g documents A_ig^2 sums to n_g and the second factor is n_g (n_g - 1) / (n (n - 1)).
The moments are those of quadratic assignment statistics (Mantel 1967, Hubert & Schultz 1976).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import check_bounded
from rerankers.exposure.rows import row_sums
from rerankers.values import GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Bilinear:
    """A measure of groups that is bilinear in two values of documents, by query.

    Attributes
    ----------
    alignment
        resolved.
    indptr
        int64 (B + 1,), the documents of each query.
    docs
        int (nnz,), the alignment's row of each document.
    x, y
        float64 (nnz,), the values.
    product, sums
        float64 (B,): sum of x y, and product of the sums of x and of y. Unbiased where x is estimated from draws, so
        that they differ from those of the arrays.
    """

    alignment: GroupAlignment
    indptr: NDArray[np.int64]
    docs: NDArray[np.integer]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    product: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        alignment: GroupAlignment,
        indptr: NDArray[np.int64],
        docs: NDArray[np.integer],
        x: NDArray[np.float64],
        y: NDArray[np.float64] | None = None,
    ) -> Bilinear:
        """Build from exact values; without ``y`` the square of ``x``."""
        other = x if y is None else y
        product, sums = row_sums(x * other, indptr), row_sums(x, indptr) * row_sums(other, indptr)
        return cls(alignment, indptr, docs, x, other, product, sums)

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (nnz,), the query of each document."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return (document, group, weight) with each group of a document once."""
        item, group, weight = self.alignment.entries(self.docs)
        key = item * len(self.alignment.groups) + group
        first = np.flatnonzero(np.diff(key, prepend=-1) != 0)  # a document's entries are sorted by group
        if len(first) < len(key):
            item, group, weight = item[first], group[first], np.add.reduceat(weight, first)
        return item, group.astype(np.int64), weight

    def placebo(self) -> NDArray[np.float64]:
        """Return the mean over all ways to give the documents of a query its labels, float64 (B,)."""
        item, _, weight = self.entries()
        rows = len(self.indptr) - 1
        squares = np.bincount(self.row[item], weights=weight * weight, minlength=rows).astype(np.float64, copy=False)
        totals = self.alignment.totals(self.row, self.docs, np.ones(len(self.docs)), rows)
        pairs = np.sum(totals * totals, axis=1) - squares
        n = np.diff(self.indptr).astype(np.float64)
        own = squares / np.maximum(n, 1)
        apart = np.where(n > 1, pairs / np.maximum(n * (n - 1), 1), 0.0)
        value: NDArray[np.float64] = own * self.product + apart * (self.sums - self.product)
        return value

    def actual(self) -> NDArray[np.float64]:
        """Return the value under the real labels, of the arrays as they are: float64 (B,)."""
        rows = len(self.indptr) - 1
        mine = self.alignment.totals(self.row, self.docs, self.x, rows)
        theirs = mine if self.y is self.x else self.alignment.totals(self.row, self.docs, self.y, rows)
        value: NDArray[np.float64] = np.sum(mine * theirs, axis=1)
        return value


def group_exposure_placebo(difference: ArrayLike, groups: Sequence[Any] | NDArray[Any]) -> float:
    """Return the expected group loss of one query if its labels were shuffled among its documents.

    Parameters
    ----------
    difference
        (n,), exposure minus target of each document that counts, ranked or not.
    groups
        (n,), the label of each document, where None is a group of its own as any other label is; or the alignment
        (n, G) of documents and groups, finite and at least 0, for documents of several groups or of shares of them.

    Returns
    -------
    float
        the mean over all n! ways, in closed form; 0 for n = 0. The group loss minus this is its excess: what the
        groups, and not the losses of single documents, explain.

    Raises
    ------
    InputError
        for shapes that do not fit, values that are not finite, and products of a difference and a weight beyond 1e150.
    """
    gap = np.asarray(difference, dtype=np.float64)
    if gap.ndim != 1 or not np.all(np.isfinite(gap)):
        raise InputError.one("difference", f"shape {gap.shape}", "a vector of finite numbers")
    alignment = _alignment(groups, len(gap))
    check_bounded("difference", gap * max(1.0, float(alignment.weight.max(initial=0.0))))
    indptr = np.array([0, len(gap)], dtype=np.int64)
    return float(Bilinear.of(alignment, indptr, np.arange(len(gap)), gap).placebo()[0])


def _alignment(groups: Sequence[Any] | NDArray[Any], n: int) -> GroupAlignment:
    labels = list(groups)
    whole = all(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in labels)
    if len(labels) != n:
        raise InputError.one("groups", f"{len(labels)} documents", f"one label or row for each of {n}")
    if labels and whole:
        matrix = _matrix(labels)
        doc, group = np.nonzero(matrix)
        weight, size = matrix[doc, group], matrix.shape[1]
    else:
        group = _codes(labels)
        doc, weight, size = np.arange(n), np.ones(n), int(group.max(initial=-1)) + 1
    names = tuple(str(number) for number in range(size))
    return GroupAlignment.of_entries("group", names, doc, group, weight, n, "value").resolve("drop")


def _matrix(rows: Sequence[Any]) -> NDArray[np.float64]:
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2:
        raise InputError.one("groups", "rows of different lengths or of text", "labels, or a matrix of numbers (n, G)")
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise InputError.one("groups", "a weight that is negative or not finite", "finite numbers of at least 0")
    check_bounded("groups", matrix)
    return matrix


def _codes(labels: Sequence[Any]) -> NDArray[np.int64]:
    """Return 0 for the first label, 1 for the next one that differs, …: int64 (n,)."""
    try:
        code = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    except TypeError:
        raise InputError.one("groups", "labels that are no single values", "labels, or a matrix (n, G)") from None
    if any(label != label for label in code):
        raise InputError.one("groups", "the label NaN", "None for documents of unknown group")
    return np.array([code[label] for label in labels], dtype=np.int64)

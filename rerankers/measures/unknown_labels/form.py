r"""Group measures as products of group sums, which is all that bounds, flips and estimates need to know of them.

With two values a and c of every document, and A_g, C_g their sums over the documents of group g, a measure of a query
is \sum_g A_g C_g. For exposure E and target T: EEL has a = c = E - T, EED a = c = E, EET a = c = T, EER a = E and c = T
(Diaz et al. 2020). The difference of the EEL of two systems is of this form too, since x^2 - y^2 = (x - y)(x + y).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment

MEASURES = ("group_EEL", "group_EED", "group_EER", "group_EET")


@dataclass(frozen=True, slots=True, eq=False)
class GroupForm:
    """Two values of every document of Q queries, one or more.

    Attributes
    ----------
    indptr
        int64 (Q + 1,), the rows of documents.
    doc
        int (nnz,), document codes, each once in a row.
    left, right
        float64 (nnz,), the values a and c; the same array where the measure is a sum of squares.
    """

    indptr: NDArray[np.int64]
    doc: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.indptr) < 2:
            raise InputError.one("queries", "none", "one or more")
        shapes = {np.shape(self.doc), np.shape(self.left), np.shape(self.right), (int(self.indptr[-1]),)}
        if len(shapes) > 1:
            found = f"shapes {sorted(map(str, shapes))} of rows, documents and values"
            raise InputError.one("exposure", found, "one value a document")
        if not (np.all(np.isfinite(self.left)) and np.all(np.isfinite(self.right))):
            raise InputError.one("exposure", "values that are not finite", "finite ones")

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def squares(self) -> bool:
        """Whether the measure is a sum of squares."""
        return self.left is self.right

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (nnz,), the query of each document."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.indptr))

    def sums(self, alignment: GroupAlignment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A and C, float64 (Q, G) each, of the entries that an alignment has."""
        row = self.row
        left = alignment.totals(row, self.doc, self.left, len(self))
        return left, left if self.squares else alignment.totals(row, self.doc, self.right, len(self))

    def value(self, alignment: GroupAlignment) -> NDArray[np.float64]:
        """Return the measure of every query, float64 (Q,), an unknown part belonging to no group."""
        left, right = self.sums(alignment)
        total: NDArray[np.float64] = np.sum(left * right, axis=1)
        return total


def group_form(
    measure: str,
    indptr: NDArray[np.int64],
    doc: NDArray[np.integer],
    exposure: NDArray[np.float64],
    target: NDArray[np.float64],
) -> GroupForm:
    """Return a measure of `MEASURES` as a form.

    Parameters
    ----------
    measure
        ``group_EEL``, ``group_EED``, ``group_EER`` or ``group_EET``.
    indptr, doc
        the rows, see `GroupForm`.
    exposure, target
        float64 (nnz,).

    Raises
    ------
    ConfigError
        for another measure.
    InputError
        for shapes that do not fit, or values that are not finite.
    """
    choose("measure", measure, MEASURES)
    code = np.asarray(doc, dtype=np.int64)
    got, due = np.asarray(exposure, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if got.shape != due.shape:
        raise InputError.one("target", f"shape {due.shape}", f"that of the exposure, {got.shape}")
    if measure == "group_EER":
        return GroupForm(indptr, code, got, due)
    value = {"group_EEL": got - due, "group_EED": got, "group_EET": due}[measure]
    return GroupForm(indptr, code, value, value)


def difference_form(one: GroupForm, two: GroupForm) -> GroupForm:
    """Return the form whose value is that of ``one`` less that of ``two``, both sums of squares over the same queries.

    Documents that only one of them has count 0 in the other.

    Raises
    ------
    InputError
        where a form is no sum of squares, or they have other queries.
    """
    if not (one.squares and two.squares):
        raise InputError.one("measure", "a product of two sums", "a sum of squares, such as group_EEL")
    if len(one) != len(two):
        raise InputError.one("queries", f"{len(one)} and {len(two)}", "the same")
    width = 1 + max(int(one.doc.max(initial=0)), int(two.doc.max(initial=0)))
    key, place = np.unique(np.concatenate([form.row * width + form.doc for form in (one, two)]), return_inverse=True)
    first, second = np.zeros(len(key)), np.zeros(len(key))
    first[place[: len(one.doc)]] = one.left
    second[place[len(one.doc) :]] = two.left
    indptr = np.searchsorted(key, np.arange(len(one) + 1, dtype=np.int64) * width).astype(np.int64)
    return GroupForm(indptr, key % width, first - second, first + second)

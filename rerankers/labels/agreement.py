"""Agreement of two annotators, and of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ONE_LABEL = "one_label_only"
NO_DOCUMENTS = "no_documents"


class Value(NamedTuple):
    """A number, or None with the reason why there is none."""

    value: float | None
    reason: str | None = None


class Share(NamedTuple):
    """Precision and recall of one label; None where nothing was given that label, or nothing has it."""

    precision: float | None
    recall: float | None


def codes_of(labels: Sequence[str | None], order: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each label in a fixed order, int64 (n,), -1 for None.

    Raises
    ------
    InputError
        for a label that is not in the order, or an order with a label twice.
    """
    place: dict[str | None, int] = {label: number for number, label in enumerate(order)}
    if len(place) < len(order):
        raise InputError.one("order", f"{list(order)}", "each label once")
    place[None] = -1
    strange = next((label for label in labels if label not in place), None)
    if strange is not None:
        raise InputError.one("labels", f"{strange!r}", f"None or one of {', '.join(order)}")
    return np.fromiter((place[label] for label in labels), dtype=np.int64, count=len(labels))


def confusion(first: NDArray[np.int64], second: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return how often the first annotator says i where the second says j, int64 (size, size).

    Documents that one of them gave no label (-1) are left out.
    """
    if first.shape != second.shape:
        raise InputError.one("second", f"shape {second.shape}", f"shape {first.shape}, that of the first annotator")
    both = (first >= 0) & (second >= 0)
    pairs = first[both] * size + second[both]
    return np.bincount(pairs, minlength=size * size).reshape(size, size)


def cohen_kappa(table: ArrayLike) -> Value:
    r"""Return Cohen's kappa (1960) of a confusion matrix.

    .. math:: \kappa = (p_o - p_e) / (1 - p_e),\quad p_e = \sum_i p_{i\cdot} p_{\cdot i}

    Undefined, not 1, where both annotators give all documents one and the same label (p_e = 1).

    Raises
    ------
    InputError
        for no square matrix of counts.
    """
    counts = _square(table)
    if not counts.sum():
        return Value(None, NO_DOCUMENTS)
    value = float(kappas(counts[np.newaxis])[0])
    return Value(None, ONE_LABEL) if np.isnan(value) else Value(value)


def kappas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Cohen's kappa of many confusion matrices, float64 (R, L, L) -> (R,), NaN where it is undefined.

    With n documents: (n Σ n_ii - Σ n_i. n_.i) / (n² - Σ n_i. n_.i), which is exact up to the division.
    """
    total = tables.sum(axis=(1, 2))
    same = np.einsum("rii->r", tables)
    chance = np.einsum("ri,ri->r", tables.sum(axis=2), tables.sum(axis=1))
    rest = total * total - chance
    found: NDArray[np.float64] = np.where(rest > 0, (total * same - chance) / np.where(rest > 0, rest, 1), np.nan)
    return found


def accuracy(table: ArrayLike) -> Value:
    """Return the share of documents that both annotators gave the same label; `InputError` for no square matrix."""
    counts = _square(table)
    total = counts.sum()
    return Value(float(np.trace(counts) / total)) if total else Value(None, NO_DOCUMENTS)


def shares(table: ArrayLike, order: Sequence[str]) -> dict[str, Share]:
    """Return precision and recall of each label, with the first annotator (rows) as the truth."""
    counts = _square(table)
    given, true, right = counts.sum(axis=0), counts.sum(axis=1), np.diag(counts)
    return {
        label: Share(
            float(right[i] / given[i]) if given[i] else None,
            float(right[i] / true[i]) if true[i] else None,
        )
        for i, label in enumerate(order)
    }


def krippendorff_alpha(codes: NDArray[np.int64]) -> Value:
    r"""Return Krippendorff's alpha (1970, nominal) of any number of annotators, some of whose labels may be missing.

    .. math:: \alpha = 1 - D_o / D_e

    With the coincidences o_ck (each pair of labels of a document that m annotators labelled counts 1 / (m - 1)), their
    margins n_c and sum n: D_o = Σ_{c≠k} o_ck / n, D_e = Σ_{c≠k} n_c n_k / (n (n - 1)).

    Parameters
    ----------
    codes
        int64 (n documents, annotators), -1 where there is no label.

    Returns
    -------
    Value
        None where no document has two labels, or all labels that could be compared are one and the same.
    """
    if codes.ndim != 2:
        raise InputError.one("codes", f"shape {codes.shape}", "(documents, annotators)")
    size = int(codes.max(initial=-1)) + 1
    number = np.zeros((len(codes), size))
    for label in range(size):
        number[:, label] = (codes == label).sum(axis=1)
    raters = number.sum(axis=1)
    number, raters = number[raters > 1], raters[raters > 1]
    if not len(number):
        return Value(None, NO_DOCUMENTS)
    pairs = number.T @ (number / (raters - 1)[:, np.newaxis])
    same = np.diag(pairs) - (number / (raters - 1)[:, np.newaxis]).sum(axis=0)  # no label is paired with itself
    margin = number.sum(axis=0)
    total = margin.sum()
    apart, expected = total - same.sum(), total * total - np.sum(margin * margin)
    return Value(None, ONE_LABEL) if expected == 0 else Value(float(1 - (total - 1) * apart / expected))


def _square(table: ArrayLike) -> NDArray[np.float64]:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError.one("table", f"shape {counts.shape}", "a square matrix")
    if not np.all(np.isfinite(counts)) or np.any(counts < 0):
        raise InputError.one("table", "a negative or non-finite number", "counts of at least 0")
    return counts

"""Gains of grades and discounts of ranks, as NDCG has them (Järvelin & Kekäläinen 2002; Burges et al. 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.rows import row_maxima

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows


def gains(rows: LearningRows, label_gain: Sequence[float] | None) -> NDArray[np.float64]:
    """Return the gain of each pair, up to a factor that its row shares: float64 (nnz,), at least 0.

    Parameters
    ----------
    rows
        with grades.
    label_gain
        the gains of grades 0, 1, …; None for 2^grade - 1, divided by 2^(highest grade of the row).

    Raises
    ------
    InputError
        for a grade that is no whole number or has no gain, naming the query.
    """
    if label_gain is None:
        highest = np.repeat(np.maximum(row_maxima(rows.grade, rows.indptr), 0.0), rows.over.lengths)
        gain: NDArray[np.float64] = np.exp2(rows.grade - highest) - np.exp2(-highest)
        return gain
    code = rows.grade.astype(np.int64)
    wrong = (code != rows.grade) | (code >= len(label_gain))
    if wrong.any():
        place = int(np.argmax(wrong))
        qid = rows.qids[int(np.searchsorted(rows.indptr, place, side="right")) - 1]
        expected = f"a whole number from 0 to {len(label_gain) - 1}, for which label_gain has a gain"
        raise InputError.one("grade", f"{rows.grade[place]:g} in query {qid!r}", expected)
    table: NDArray[np.float64] = np.asarray(label_gain, dtype=np.float64)[code]
    return table


def discounts(ranks: int) -> NDArray[np.float64]:
    """Return 1 / log2(r + 2) of the ranks from 0: float64 (ranks,)."""
    discount: NDArray[np.float64] = 1.0 / np.log2(np.arange(ranks) + 2.0)
    return discount

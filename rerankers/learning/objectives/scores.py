"""What objectives check about scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows


def check_scores(scores: NDArray[np.float64], rows: LearningRows) -> NDArray[np.float64]:
    """Return scores as float64 (nnz,).

    Raises
    ------
    InputError
        for another shape, and scores that are not finite, naming the query.
    """
    value = np.asarray(scores, dtype=np.float64)
    if value.shape != (rows.over.nnz,):
        raise InputError.one("scores", f"shape {value.shape}", f"({rows.over.nnz},), one a pair")
    finite = np.isfinite(value)
    if not finite.all():
        place = int(np.argmin(finite))
        qid = rows.qids[int(np.searchsorted(rows.indptr, place, side="right")) - 1]
        mend = "The fit has run away: lower the learning rate, and look for extreme features."
        raise InputError.one("scores", f"{value[place]} in query {qid!r}", "finite numbers", mend=mend)
    return value

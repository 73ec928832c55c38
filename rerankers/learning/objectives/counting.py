"""What objectives count about the rows that they are bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima

if TYPE_CHECKING:
    from rerankers.learning.rows import LearningRows

NO_RELEVANT, ONE_GRADE = "queries_without_relevant", "queries_of_one_grade"


def grade_counts(rows: LearningRows) -> dict[str, int]:
    """Return how many queries have no relevant document, and how many (these among them) only one grade.

    Empty rows count as neither.
    """
    filled = rows.over.lengths > 0
    highest = row_maxima(rows.grade, rows.indptr)
    lowest = -row_maxima(-rows.grade, rows.indptr)
    return {
        NO_RELEVANT: int(np.sum(filled & (highest == 0))),
        ONE_GRADE: int(np.sum(filled & (highest == lowest))),
    }

r"""DELTR (Zehlike & Castillo 2020): ListNet, and a penalty where the protected group is seen less at the first rank.

With P and p the softmax of grades and scores, the loss of a query of n documents is

    -\sum_d P_d log p_d / log n + \gamma max(0, X_N - X_P)^2,   X_g = mean over g of p_d / log 2,

P the protected group and N all others. Documents whose group is not known are in neither mean, and counted; queries
that lack one of the two have no penalty, and are counted. A query of one document has no loss. The authors' program
divides by the log of the documents of all queries together: ``log_of_all`` does so, and makes losses depend on the
other queries.

Slopes are those of the loss as it stands. The curvature is p (1 - p) / log n for the first part (the diagonal of its
Hessian), and for the penalty 2 \gamma times the squared slope of the gap plus a fifth of \sum_d |derivative of the
penalty by p_d| |dp_d / ds_m|, as for other losses of exposure (see `policy`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.exposure.rows import row_sums
from rerankers.learning.objectives.base import Loss
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.curvature import held
from rerankers.learning.objectives.policy import REACH
from rerankers.learning.objectives.scores import check_scores
from rerankers.learning.objectives.softmax import log_softmax
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows

UNKNOWN_DOCUMENTS, ONE_SIDED = "documents_of_unknown_group", "queries_of_one_side"


@dataclass(frozen=True, slots=True)
class DELTR:
    """ListNet with a penalty on the exposure of a protected group at the first rank.

    Attributes
    ----------
    protected
        name of the protected group.
    gamma
        weight of the penalty, at least 0.
    log_of_all
        divide by the log of the documents of all queries, as the authors' program does, not of the query.
    """

    protected: str = ""
    gamma: float = 1.0
    log_of_all: bool = False
    scores: ClassVar[str] = "logit"
    needs_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.gamma) and self.gamma >= 0):
            raise ConfigError(f"objective.gamma: found {self.gamma}; expected a number of at least 0")

    def bind(self, rows: LearningRows, seed: int = 0) -> DELTRBound:
        """Return the loss as a function of scores for these rows.

        Raises
        ------
        InputError
            for rows without groups.
        ConfigError
            for a protected group that there is not.
        """
        return DELTRBound(rows, self)


class DELTRBound:
    """The loss of rows; ``counts``: those of `grade_counts`, documents of unknown group, queries without a penalty."""

    def __init__(self, rows: LearningRows, spec: DELTR) -> None:
        self._rows, self._gamma = rows, spec.gamma
        lengths = rows.over.lengths
        size = np.full(len(rows), rows.over.nnz) if spec.log_of_all else lengths
        self._scale = np.where((lengths > 1) & (size > 1), 1.0 / np.log(np.maximum(size, 2)), 0.0)
        self._target = np.exp(log_softmax(rows.indptr, rows.grade))
        protected, other = _sides(rows, spec.protected)
        inside, outside = row_sums(protected, rows.indptr), row_sums(other, rows.indptr)
        both = (inside > 0) & (outside > 0)
        counted = np.repeat(both, lengths)
        means = other / np.repeat(np.where(both, outside, 1.0), lengths)
        means -= protected / np.repeat(np.where(both, inside, 1.0), lengths)
        self._gap = np.where(counted, means, 0.0) / math.log(2.0)  # X_N - X_P is the sum of these times p
        self.counts = grade_counts(rows) | {
            UNKNOWN_DOCUMENTS: int(np.sum((protected == 0) & (other == 0))),
            ONE_SIDED: int(np.sum(~both & (lengths > 0))),
        }

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,); `InputError` for another shape and scores that are not finite."""
        indptr, lengths = self._rows.indptr, self._rows.over.lengths
        log_chance = log_softmax(indptr, check_scores(scores, self._rows))
        chance, scale = np.exp(log_chance), np.repeat(self._scale, lengths)
        excess = np.maximum(row_sums(self._gap * chance, indptr), 0.0)
        value = -self._scale * row_sums(self._target * log_chance, indptr) + self._gamma * excess**2
        mean = np.repeat(row_sums(self._gap * chance, indptr), lengths)
        moved = chance * (self._gap - mean)  # the slope of the gap
        push = 2.0 * self._gamma * np.repeat(excess, lengths)
        slope = scale * (chance - self._target) + push * moved
        size = np.abs(self._gap)
        others = np.repeat(row_sums(size * chance, indptr), lengths)
        curvature = scale * chance * (1.0 - chance)
        curvature += np.where(push > 0, 2.0 * self._gamma * moved**2, 0.0)
        curvature += push * chance * np.maximum(size + others - 2.0 * size * chance, 0.0) / REACH
        return Loss(value, slope, held(curvature, slope))


def _sides(rows: LearningRows, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much each document is in the protected group, and in the others: float64 (nnz,) both."""
    if rows.groups is None:
        raise InputError.one("groups", "none", "groups of documents, one of which is protected")
    choose("objective.protected", name, [group for group in rows.groups.groups if group != UNKNOWN])
    item, group, weight = rows.groups.entries(rows.over.doc)
    known = np.array([group != UNKNOWN for group in rows.groups.groups])[group]
    its_own = group == rows.groups.groups.index(name)
    nnz = rows.over.nnz
    protected = np.minimum(np.bincount(item, weights=np.where(its_own, weight, 0.0), minlength=nnz), 1.0)
    any_group = np.minimum(np.bincount(item, weights=np.where(known, weight, 0.0), minlength=nnz), 1.0)
    return protected, np.maximum(any_group - protected, 0.0)

r"""LambdaLoss (Wang et al. 2018): pairwise logistic losses, weighted by what a swap would change in NDCG.

The loss of a query is \sum_{y_i > y_j} w_{ij} log_2(1 + e^{-\sigma (s_i - s_j)}), over the pairs of which one is among
the first k of the ranking by scores (ties in the order of the row). With G the gains over the highest possible DCG@k
and D the discount factors log_2(1 + rank), w is |G_i - G_j| times

    lambdarank       |1 / D_i - 1 / D_j|                                          (Burges et al. 2006)
    ndcg_loss_2      |1 / D_{|i-j|} - 1 / D_{|i-j|+1}|, |i-j| the distance of ranks
    ndcg_loss_2pp    the first plus \mu times the second.

The weights belong to the ranking of the moment and are held while differentiating, as the method's expectation step has
it: slopes are those of the value wherever no two scores are equal. The curvature is the diagonal of the Hessian of
that convex loss, \sum_j w_{ij} \sigma^2 p (1 - p) / log 2, held at a twentieth of the slope. Queries without two grades
have neither loss nor slope, and are counted. Time is of order n^2 a query, or n k, in a compiled loop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.arrays import read_only
from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.rows import buckets, row_sums
from rerankers.learning.objectives.base import Loss
from rerankers.learning.objectives.counting import grade_counts
from rerankers.learning.objectives.curvature import held
from rerankers.learning.objectives.gains import discounts, gains
from rerankers.learning.objectives.scores import check_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows

WEIGHTS = ("ndcg_loss_2pp", "ndcg_loss_2", "lambdarank")


@dataclass(frozen=True, slots=True)
class LambdaLoss:
    """Pairwise logistic losses, weighted by what a swap would change in NDCG.

    Attributes
    ----------
    weights
        ``ndcg_loss_2pp``, ``ndcg_loss_2`` or ``lambdarank``.
    k
        pairs of which neither is among the first k do not count; None for all.
    sigma
        steepness of the logistic loss, above 0.
    mu
        what distances of ranks count for in ``ndcg_loss_2pp``, at least 0; the authors take 10.
    label_gain
        gains of grades 0, 1, …; None for 2^grade - 1.
    """

    weights: str = "ndcg_loss_2pp"
    k: int | None = None
    sigma: float = 1.0
    mu: float = 10.0
    label_gain: list[float] | None = None
    scores: ClassVar[str] = "score"
    needs_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        choose("objective.weights", self.weights, WEIGHTS)
        if self.k is not None and self.k < 1:
            raise ConfigError(f"objective.k: found {self.k}; expected at least 1, or null for all ranks")
        if not (math.isfinite(self.sigma) and self.sigma > 0 and math.isfinite(self.mu) and self.mu >= 0):
            raise ConfigError(f"objective.sigma, mu: found {self.sigma}, {self.mu}; expected sigma > 0 and mu >= 0")
        check_label_gain(self.label_gain)

    def bind(self, rows: LearningRows, seed: int = 0) -> LambdaLossBound:
        """Return the loss as a function of scores for these rows.

        Raises
        ------
        InputError
            for a grade without a gain, where gains are given.
        """
        return LambdaLossBound(rows, self)


def check_label_gain(label_gain: list[float] | None) -> None:
    """Raise `ConfigError` unless gains are None, or finite, at least 0 and not descending."""
    if label_gain is None:
        return
    table = np.asarray(label_gain, dtype=np.float64)
    if not (len(table) and np.all(np.isfinite(table)) and table[0] >= 0 and np.all(np.diff(table) >= 0)):
        raise ConfigError(f"objective.label_gain: found {label_gain}; expected gains of at least 0 that do not descend")


class LambdaLossBound:
    """The loss of rows; ``counts`` are those of `grade_counts`."""

    def __init__(self, rows: LearningRows, spec: LambdaLoss) -> None:
        self._rows, self._spec = rows, spec
        self._share = self._shares()
        self.counts = grade_counts(rows)

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,); `InputError` for another shape and scores that are not finite."""
        from rerankers.learning.objectives.lambda_loops import add_pairs

        score, spec = check_scores(scores, self._rows), self._spec
        indptr = self._rows.indptr
        value, slope, curvature = np.zeros(len(self._rows)), np.zeros(len(score)), np.zeros(len(score))
        order = ranked(indptr, score)
        first = 0.0 if spec.weights == "ndcg_loss_2" else 1.0
        second = {"lambdarank": 0.0, "ndcg_loss_2": 1.0, "ndcg_loss_2pp": spec.mu}[spec.weights]
        longest = int(np.diff(indptr).max(initial=0))
        add_pairs(
            read_only(indptr),
            read_only(order),
            read_only(score),
            read_only(self._rows.grade, np.float64),
            read_only(self._share),
            read_only(discounts(longest + 1)),
            (longest if spec.k is None else spec.k),
            first,
            second,
            float(spec.sigma),
            value,
            slope,
            curvature,
        )
        return Loss(value, slope, held(curvature, slope))

    def _shares(self) -> NDArray[np.float64]:
        """Return gains over the highest possible DCG@k: float64 (nnz,)."""
        indptr, gain = self._rows.indptr, gains(self._rows, self._spec.label_gain)
        ideal = gain[ranked(indptr, gain)]
        rank = np.arange(len(gain)) - np.repeat(indptr[:-1], np.diff(indptr))
        seen = discounts(int(rank.max(initial=0)) + 1)[rank]
        if self._spec.k is not None:
            seen[rank >= self._spec.k] = 0.0
        best = row_sums(ideal * seen, indptr)
        share: NDArray[np.float64] = gain / np.repeat(np.where(best > 0, best, 1.0), np.diff(indptr))
        return share


def ranked(indptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the pairs of each row by descending value, ties in the order of the row: int64 (nnz,)."""
    order = np.arange(len(values), dtype=np.int64)
    for length, rows in buckets(np.diff(indptr)):
        place = indptr[rows][:, None] + np.arange(length)
        order[place] = np.argsort(-values[place], axis=1, kind="stable") + indptr[rows][:, None]
    return order

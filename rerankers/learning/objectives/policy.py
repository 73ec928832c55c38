r"""A Plackett-Luce policy at some scores: its exposure, what pulls at it, and second-order terms that converge.

Newton steps of boosting need one positive number a score. For a loss L of the exposures E, with J = \partial E /
\partial s, the Hessian by the scores is the sum of J^T L'' J and of L'_d times the second derivatives of E_d. Their
diagonals as they are do not do: the first vanishes with the square of J where the policy is almost certain, which
makes steps infinitely long, and the second may be negative. What is used is

    h_m = max((J^T L'' J)_{mm}, B_m / 3) + \sum_d |L'_d| |J_{dm}| / 5.

The first part is the Gauss-Newton diagonal, exact. For squared distances of cells (documents or groups), whose
derivatives by the scores are G, it is 2 \sum_g G_{gm}^2. Where all documents of a group move at once, steps along it
overshoot by their number; B_m = 2 \sum_g |G_{gm}| \sum_l |G_{gl}| bounds the curvature in every direction (the matrix
diag(B) - 2 G^T G has no negative eigenvalue, by Cauchy and Schwarz). With a third of it, steps along that part converge
at any learning rate below 2/3, and never rise up to 1/3.

The second part stands for the other: where documents are almost certain to come in one order, the second derivatives
of an exposure are as large as its first ones, as those of a logistic function. It is at least a fifth of the size of
the slope: no Newton step is longer than five nats, and one of boosting at a learning rate of 0.3 no longer than 1.5.

Time stays linear in the documents: a document is a cell of its own for which B_m is 2 \sum_d |J_{dm}| 2 J_{dd}, and the
diagonal is taken to be 2 J_{mm}^2; rows of many groups, small ones therefore, take |G| to be the sum of |J| over their
documents.

Where ranks have weights, J in these terms is that of a geometric sequence that falls at least as fast from the first
rank to the second, see `geometric_weights`: second-order terms may be approximate, slopes are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.closed_form.levels import Levels
from rerankers.exposure.closed_form.plackett_luce import ordered_levels, plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.exposure.rows import buckets
from rerankers.learning.objectives.arrivals import COARSE, FINE, SHARE, Arrivals
from rerankers.learning.objectives.curvature import FLOOR, held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing
    from rerankers.learning.objectives.cells import Cells

REACH = 5.0  # nats that no Newton step exceeds
MANY = 32  # cells of a row from which on a bound is taken whose time does not grow with them

__all__ = ["FLOOR", "REACH", "PolicyAt", "geometric_weights"]


class PolicyAt:
    """A Plackett-Luce policy at scores.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    scores
        float64 (nnz,), finite logits.
    browsing
        bound to the rows.
    surrogate
        float64 (B,) and float64 (B,), the geometric sequences that stand for the weights of ranks in curvatures
        (`geometric_weights`); None where ranks have no weights.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        scores: NDArray[np.float64],
        browsing: Browsing,
        surrogate: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    ) -> None:
        self._indptr, self._scores, self._browsing = indptr, scores, browsing
        continuation, first = browsing.continuation, np.ones(len(scores))
        if surrogate is not None:
            lengths = np.diff(indptr)
            continuation = continuation * np.repeat(surrogate[1], lengths)
            first = np.repeat(surrogate[0], lengths)
        self._exact = surrogate is None
        levels, ordered = ordered_levels(indptr, scores, continuation)
        self._levels = levels
        # where the logits leave a gap, a level is reached with the same chance whatever they are
        self._reached = levels.spread(levels.before(ordered)) * first[levels.order]
        self._parts = list(self._arrivals(levels, ordered, FINE if self._exact else COARSE))

    def _arrivals(self, levels: Levels, ordered: NDArray[np.float64], step: float) -> list[Arrivals]:
        logit = self._scores[levels.order]
        found: list[Arrivals] = []
        for length, rows in buckets(levels.size):
            found += Arrivals.of(levels.indptr[rows][:, None] + np.arange(length), logit, ordered, step)
        return found

    def exposure(self) -> NDArray[np.float64]:
        """Return the exact expected exposure: float64 (nnz,)."""
        if not self._exact:
            return plackett_luce_exposure(self._indptr, self._scores, self._browsing)
        return self._gathered([part.exposure for part in self._parts], self._reached)

    def gradient(self, pull: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact derivatives of the sum of pull (nnz,) times exposure by the scores: float64 (nnz,)."""
        if not self._exact:
            return plackett_luce_gradient(self._indptr, self._scores, self._browsing, pull)
        reached = self._reached * pull[self._levels.order]
        return self._gathered([part.gradient(reached[part.place]) for part in self._parts])

    def curvature(
        self, pull: NDArray[np.float64], slope: NDArray[np.float64], squares: Sequence[tuple[float, Cells]]
    ) -> NDArray[np.float64]:
        """Return the second-order term of each score, as the module says: float64 (nnz,), at least `FLOOR`.

        Parameters
        ----------
        pull
            float64 (nnz,), the derivatives of the loss by the exposures.
        slope
            float64 (nnz,), those by the scores.
        squares
            weights of squared distances between the exposure of cells and something fixed.
        """
        reached = self._reached * np.abs(pull[self._levels.order])
        bent = [part.reach(reached[part.place]) / REACH for part in self._parts]
        total = self._gathered(bent)
        for weight, cells in squares:
            total += 2.0 * weight * self._squared(cells)
        return held(total, slope, REACH)

    def _squared(self, cells: Cells) -> NDArray[np.float64]:
        """Return max(sum of G_gm^2, `SHARE` of the sum of |G_gm| times that of |G_gl|), G of cells: float64 (nnz,)."""
        many = cells.widths > (0 if cells.single else MANY)
        spread = np.repeat(many, np.diff(self._indptr))
        result = np.zeros(len(spread))
        if many.any():
            # |G| is at most the sum over documents, of which each row of J adds up to twice its diagonal
            own = self._gathered([part.sums[1] for part in self._parts], self._reached)
            pull = self._reached * cells.back(cells.totals(2.0 * own))[self._levels.order]
            bound = SHARE * self._gathered([part.reach(pull[part.place]) for part in self._parts])
            result = np.where(spread, np.maximum(bound, own**2) if cells.single else bound, 0.0)
        if not many.all():
            near = self._gathered([self._near(part, cells, many) for part in self._parts])
            result += np.where(spread, 0.0, near)
        return result

    def _near(self, part: Arrivals, cells: Cells, many: NDArray[np.bool_]) -> NDArray[np.float64]:
        pairs = self._levels.order[part.place]
        row = np.searchsorted(self._indptr, pairs[:, 0], side="right") - 1
        rows = np.flatnonzero(~many[row])
        every = round(COARSE / FINE) if self._exact else 1
        result = np.zeros(pairs.shape)
        if len(rows):
            chosen = part if len(rows) == len(row) else part.rows(rows)
            squares = chosen.squares(every, pairs[rows], cells.widths[row[rows]], cells)
            result[rows] = squares * self._reached[chosen.place] ** 2
        return result

    def _gathered(
        self, values: list[NDArray[np.float64]], factor: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Put values of the parts in the order of the pairs, times a factor in the order of the levels."""
        ordered = np.zeros(len(self._scores))
        for part, value in zip(self._parts, values, strict=True):
            ordered[part.place] = value
        result = np.empty(len(ordered))
        result[self._levels.order] = ordered if factor is None else factor * ordered
        return result


def geometric_weights(browsing: Browsing, indptr: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return factor and ratio of geometric sequences that stand for the weights v of each row's ranks in curvatures.

    The ratio is v_1 / v_0, or that of the sequence v_0 ratio^r which has the sum of the weights over the row's ranks,
    whichever is less: the first where weights fall fastest at the first ranks (DCG), the second for cutoffs. The factor
    is v_0, or where that is more, what makes a logit move the exposure as much as with the weights, at equal scores.

    Returns
    -------
    float64 (B,) and float64 (B,), 0 where no rank weighs anything; ratios are at most 1.

    Raises
    ------
    InputError
        for a model whose ranks have no weights.
    """
    if browsing.position is None:
        raise InputError.one("browsing", "a model without weights of ranks", "one with weights")
    lengths = np.diff(indptr)
    first = np.zeros(len(lengths))
    ratio = np.zeros(len(lengths))
    for length, rows in buckets(lengths):
        weight = browsing.position[:length]
        if weight[0] > 0:
            near = float(weight[1] / weight[0]) if length > 1 else 1.0
            ratio[rows] = min(near, _ratio(float(weight.sum() / weight[0]), length))
            moved = _moved(ratio[rows[0]] ** np.arange(length))
            first[rows] = max(float(weight[0]), _moved(weight) / moved if moved > 0 else 0.0)
    return first, ratio


def _ratio(total: float, length: int) -> float:
    low, high, ranks = 0.0, 1.0, np.arange(length)
    for _ in range(40):  # the sum of powers rises with the ratio
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sum(middle**ranks) < total else (low, middle)
    return high


def _moved(weight: NDArray[np.float64]) -> float:
    r"""Return the derivative of a document's exposure by its logit where all scores are equal, of weights (n,).

    A document of weight w among n - 1 of weight 1 is not among the first r + 1 with chance \prod_{i<=r} (n - 1 - i) /
    (n - 1 - i + w), whose derivative at w = 1 is -(n - 1 - r) / n \sum_{i<=r} 1 / (n - i).
    """
    n = len(weight)
    rank = np.arange(n)
    later = -(n - 1 - rank) / n * np.cumsum(1.0 / (n - rank))
    return float(weight @ (np.concatenate([[0.0], later[:-1]]) - later))

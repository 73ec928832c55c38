r"""Fairness of exposure for two groups (Singh & Joachims 2018), without the linear program over matrices.

Utility and constraint depend on a policy through its expected exposures e only, so the problem is: maximise u . e
subject to f . e = 0 over the permutahedron of the position weights. Its dual, the minimum over mu of
g(mu) = max_e (u + mu f) . e, is a convex piecewise linear function of one number, each value a sort. Two rankings
between which f . e changes sign give two lines below g; where they cross, either g touches them and their mixture
with f . e = 0 is optimal, or the ranking found there replaces one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InfeasibleError, InputError
from rerankers.exposure.checks import chosen, plain_array, shown
from rerankers.exposure.optimal.permutahedron import document_array, padded_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CONSTRAINTS = ("parity", "treatment", "impact")
_STEPS = 1000  # crossings at most; some ten are usual
_ROUNDING = 4e-16  # of a bound on the terms that were added up


class FairExposure(NamedTuple):
    """The policy of greatest utility under a constraint on the exposure of two groups.

    Attributes
    ----------
    exposure
        float64 (n,), expected exposure of documents.
    rankings
        int64 (m, n), m at most 2: 0-based documents, best first.
    weights
        float64 (m,), their probabilities.
    utility
        the product of relevance and exposure.
    """

    exposure: NDArray[np.float64]
    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]
    utility: float


def foeir(relevance: ArrayLike, groups: ArrayLike, position_weights: ArrayLike, constraint: str) -> FairExposure:
    """Maximise utility where two groups get fair shares of exposure (Singh & Joachims 2018).

    Parameters
    ----------
    relevance
        (n,), the merit u of documents, finite.
    groups
        (n,), 0 or 1; both occur.
    position_weights
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at n.
    constraint
        ``"parity"``: equal mean exposure of the groups; ``"treatment"``: mean exposure in proportion to mean merit;
        ``"impact"``: mean of exposure times merit in proportion to mean merit.

    Returns
    -------
    FairExposure
        The constraint holds to about 1e-15 of the exposures it adds up.

    Raises
    ------
    InfeasibleError
        when no policy meets the constraint, as may be under treatment: ranks cannot make exposure as unequal as merit
        may be. The text says how near one comes.
    ValueError
        for an unknown constraint, a group without documents, a mean merit of 0 or below under treatment or impact,
        numbers that are not finite, or shapes that differ.
    """
    merit = document_array("relevance", relevance)
    weight = padded_weights(position_weights, len(merit))
    second = _members(groups, len(merit))
    side = _constraint(merit, second, chosen("constraint", constraint, _CONSTRAINTS))
    problem = _Problem(merit, side, weight)
    high, low = problem.at_zero(1.0), problem.at_zero(-1.0)
    if low.excess > 0.0:
        low = problem.extreme(-1.0)
    elif high.excess < 0.0:
        high = problem.extreme(1.0)
    if low.excess > 0.0 or high.excess < 0.0:
        nearest = low if low.excess > 0.0 else high
        raise InfeasibleError(_impossible(constraint, nearest, problem, second))
    high, low = problem.crossing(high, low)
    share = 1.0 if high.excess == low.excess else -low.excess / (high.excess - low.excess)
    pairs = [(point, part) for point, part in ((high, share), (low, 1.0 - share)) if part > 0.0]
    rankings = np.stack([point.order for point, _ in pairs])
    weights = np.array([part for _, part in pairs])
    exposure = weights @ np.stack([problem.exposure(point) for point, _ in pairs])
    return FairExposure(exposure, rankings, weights, float(merit @ exposure))


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """A vertex: its order of documents, utility u . e and excess f . e."""

    order: NDArray[np.int64]
    utility: float
    excess: float


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Maximise u . e where f . e = 0."""

    u: NDArray[np.float64]
    f: NDArray[np.float64]
    weight: NDArray[np.float64]

    def ranking(self, order: NDArray[np.int64]) -> _Ranking:
        excess = float(self.f[order] @ self.weight)
        if abs(excess) <= _ROUNDING * float(self.weight.sum()):  # the largest of f is 1
            excess = 0.0
        return _Ranking(order, float(self.u[order] @ self.weight), excess)

    def at_zero(self, sign: float) -> _Ranking:
        """Return the ranking of greatest utility that, among ties, has the greatest sign * f . e."""
        return self.ranking(np.lexsort((-sign * self.f, -self.u)))

    def extreme(self, sign: float) -> _Ranking:
        """Return the ranking of greatest sign * f . e that, among ties, has the greatest utility."""
        return self.ranking(np.lexsort((-self.u, -sign * self.f)))

    def crossing(self, high: _Ranking, low: _Ranking) -> tuple[_Ranking, _Ranking]:
        """Return the two rankings with f . e >= 0 and <= 0 whose mixture with f . e = 0 is optimal."""
        for _ in range(_STEPS):
            if high.excess == 0.0 or low.excess == 0.0 or high.excess == low.excess:
                break
            mu = (low.utility - high.utility) / (high.excess - low.excess)
            worth = self.u + mu * self.f
            found = self.ranking(np.argsort(-worth, kind="stable"))
            scale = float(np.abs(self.u).max() + abs(mu) * np.abs(self.f).max()) * float(self.weight.sum())
            if found.utility - high.utility + mu * (found.excess - high.excess) <= _ROUNDING * scale:
                break
            high, low = (found, low) if found.excess > 0.0 else (high, found)
        if high.excess == 0.0 or low.excess == 0.0:  # one alone meets the constraint
            alone = high if high.excess == 0.0 else low
            return alone, alone
        return high, low

    def exposure(self, ranking: _Ranking) -> NDArray[np.float64]:
        exposure = np.empty(len(self.u))
        exposure[ranking.order] = self.weight
        return exposure


def _members(groups: ArrayLike, size: int) -> NDArray[np.bool_]:
    """Return which documents are of group 1: bool (n,)."""
    label = plain_array("groups", groups)
    if label.shape != (size,):
        raise InputError.one("groups", f"an array of shape {label.shape}", f"({size},), one a document")
    first, second = label == 0, label == 1
    if not np.all(first | second):
        at = int(np.argmin(first | second))
        raise InputError.one("groups", f"{shown(label[at])} at {at}", "0 or 1")
    for group, inside in enumerate((first, second)):
        if not np.any(inside):
            raise InputError.one("groups", f"no document of group {group}", "documents of both groups")
    members: NDArray[np.bool_] = second
    return members


def _constraint(merit: NDArray[np.float64], second: NDArray[np.bool_], constraint: str) -> NDArray[np.float64]:
    """Return f, so that f . e = 0 says that the constraint holds: float64 (n,), the largest at 1."""
    f = np.where(second, -1.0 / second.sum(), 1.0 / (~second).sum())
    if constraint != "parity":
        for group, inside in enumerate((~second, second)):
            mean = float(merit[inside].mean())
            if not mean > 0.0:
                mend = "Use constraint 'parity', which does not divide by merit."
                raise InputError.one("relevance", f"mean {mean:g} in group {group}", "a positive mean", mend=mend)
            f[inside] /= mean
    if constraint == "impact":
        f *= merit
    scaled: NDArray[np.float64] = f / np.abs(f).max()
    return scaled


def _impossible(constraint: str, point: _Ranking, problem: _Problem, second: NDArray[np.bool_]) -> str:
    """Say how near the policies come to the constraint: ``point`` is the nearest."""
    what = {"parity": "exposure", "treatment": "exposure per merit", "impact": "exposure of merit per merit"}
    part = problem.f * problem.exposure(point)
    amounts = float(part[~second].sum()), -float(part[second].sum())
    ratio = amounts[0] / amounts[1] if amounts[1] > 0.0 else np.inf
    return (
        f"constraint: found that under every policy the {what[constraint]} of group 0 is at "
        f"{'least' if point.excess > 0.0 else 'most'} {ratio:.6g} times that of group 1; expected that it can be equal"
    )

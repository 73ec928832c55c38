"""What a recommended query does for users who have to click it first.

A reranking reaches everybody who asks; a recommendation reaches those who take it, and all others see the results of
the original query. With a click rate c the expected weight of a document is (1 - c) of its weight in the original list
plus c of its weight in the recommended one, since expectations are linear. The distribution over groups of that mixture
is what the users see together; its closeness to a target is not linear in c, but concave for every kind of closeness
here, so the least rate at which it equals that of a reranking is found by bisection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.alternatives import best_on
from rerankers.queries.looks import ListLook
from rerankers.queries.scored import RELEVANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.alternatives import Judge
    from rerankers.queries.axis_scores import Axis

RATES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
_STEPS = 60  # halvings: the rate is found to the last bits of a double
_GOLDEN = 0.3819660112501051  # (3 - sqrt 5) / 2
_EQUAL = 1e-12


def click_cost(
    recommended: NDArray[np.integer],
    relevance: float | None,
    judge: Judge,
    found: Sequence[Mapping[str, Any]],
    rates: Sequence[float] = RATES,
) -> dict[str, Any]:
    """Return what a recommendation does at several click rates, and when it does as much as the best reranking.

    Parameters
    ----------
    recommended
        int (m,), documents of the recommended query, best first.
    relevance
        of its list to that of the original, None where there is none.
    judge
        of the topic, with the original list.
    found
        answers of `rerankers.queries.alternatives.alternatives`.
    rates
        click rates in [0, 1].

    Returns
    -------
    dict
        ``rates``; ``objectives``: `RELEVANCE` (the mean over users; 1 for those who do not click) and each axis ->
        values at the rates, of what all users together see; ``equals_best_reranking``: axis -> comparison with the
        reranking nearest to the target; ``equals_as_relevant``: axis -> with the nearest one among those that are at
        least as relevant as the recommendation, the comparison at equal cost in relevance; ``dominated_by``: ``name``
        and ``axis`` of the rerankings that are nowhere worse and somewhere better, even if everybody clicks.

        A comparison has ``alternative`` with its ``axis_of_groups``, ``closeness`` and ``relevance``; the least
        ``rate`` at which the mixture is as close to the target, None where no rate is enough; ``relevance_at_rate``,
        the mean over users; ``reason`` where the rate is None: ``out_of_reach``, ``no_reranking`` or ``not_defined``;
        and ``single``: ``closeness`` and ``rate`` of the mean over users of the one ranking that each sees.

    Raises
    ------
    InputError
        for rates outside of [0, 1].
    """
    wrong = [rate for rate in rates if not 0 <= rate <= 1]
    if wrong:
        raise InputError.one("rates", str(wrong[0]), "click rates between 0 and 1")
    objectives: dict[str, list[float | None]] = {
        RELEVANCE: [None if relevance is None else 1.0 - rate + rate * relevance for rate in rates]
    }
    after = judge.score(ListLook(recommended))["objectives"] | {RELEVANCE: relevance}
    as_relevant = [one for one in found if relevance is not None and _at_least(one, relevance)]
    best: dict[str, Any] = {}
    fair: dict[str, Any] = {}
    for axis in judge.axes:
        mixture = Mixed(axis, judge, recommended)
        objectives[axis.name] = [mixture(rate) for rate in rates]
        best[axis.name] = _equality(mixture, axis.name, found, relevance)
        fair[axis.name] = _equality(mixture, axis.name, as_relevant, relevance)
    return {
        "rates": list(rates),
        "objectives": objectives,
        "equals_best_reranking": best,
        "equals_as_relevant": fair,
        "dominated_by": [
            {"name": one["name"], "axis": one["axis"]} for one in found if _dominates(one["objectives"], after)
        ],
    }


def _at_least(one: Mapping[str, Any], relevance: float) -> bool:
    value = one["objectives"][RELEVANCE]
    return value is not None and value >= relevance - _EQUAL


def _dominates(one: Mapping[str, float | None], other: Mapping[str, float | None]) -> bool:
    """Whether values are nowhere lower and somewhere higher; False where one of them is not defined."""
    pairs = [(one[name], other[name]) for name in other]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return len(known) == len(pairs) and all(a >= b for a, b in known) and any(a > b for a, b in known)


class Mixed:
    """The closeness of what users see together on an axis, by click rate."""

    def __init__(self, axis: Axis, judge: Judge, recommended: NDArray[np.integer]) -> None:
        looks = [ListLook(judge.original[: judge.n]), ListLook(recommended[: judge.n])]
        self._axis = axis
        self._docs = np.concatenate([look.docs for look in looks])
        self._before, self._after = (look.weights(judge.by_rank) for look in looks)

    def __call__(self, rate: float) -> float | None:
        """Return the closeness at a rate, None where no weight is known."""
        weights = np.concatenate([(1.0 - rate) * self._before, rate * self._after])
        return self._axis.stand(self._docs, weights).closeness

    def least_rate(self, wanted: float) -> float | None:
        """Return the least rate in [0, 1] with at least some closeness, None where there is none."""
        start = self(0.0)
        if start is not None and start >= wanted - _EQUAL:
            return 0.0
        high = self._highest()
        if self._value(high) < wanted - _EQUAL:
            return None
        low = 0.0
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            if self._value(middle) >= wanted - _EQUAL:
                high = middle
            else:
                low = middle
        return high

    def rate_of_single(self, wanted: float | None) -> float | None:
        """Return the least rate at which what one user sees is as close on average; that is linear in the rate."""
        before, after = self(0.0), self(1.0)
        if wanted is None or before is None or after is None:
            return None
        if before >= wanted - _EQUAL:
            return 0.0
        return (wanted - before) / (after - before) if after >= wanted - _EQUAL else None

    def _highest(self) -> float:
        """Return the rate with the highest closeness; a concave function has one (golden section)."""
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            first, second = low + _GOLDEN * (high - low), high - _GOLDEN * (high - low)
            if self._value(first) < self._value(second):
                low = first
            else:
                high = second
        return max((1.0, low, high), key=self._value)

    def _value(self, rate: float) -> float:
        value = self(rate)
        return -1.0 if value is None else value


def _equality(mixture: Mixed, axis: str, found: Sequence[Mapping[str, Any]], relevance: float | None) -> dict[str, Any]:
    place = best_on(axis, found)
    if place is None:
        return {"rate": None, "reason": "no_reranking"}
    best = found[place]
    out: dict[str, Any] = {
        "alternative": best["name"],
        "axis_of_groups": best["axis"],
        "closeness": best["objectives"][axis],
        "relevance": best["objectives"][RELEVANCE],
        "single": {"closeness": best["single"][axis], "rate": mixture.rate_of_single(best["single"][axis])},
    }
    if mixture(1.0) is None:
        return {**out, "rate": None, "reason": "not_defined"}
    rate = mixture.least_rate(best["objectives"][axis])
    if rate is None:
        return {**out, "rate": None, "reason": "out_of_reach"}
    return {**out, "rate": rate, "relevance_at_rate": None if relevance is None else 1.0 - rate + rate * relevance}

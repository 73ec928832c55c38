"""What a recommended query does for users who have to click it first.

A reranking reaches everybody who asks; a recommendation reaches those who take it, and all others see the results of
the original query. With a click rate c the expected weight of a document is (1 - c) of its weight in the original list
plus c of its weight in the recommended one, since expectations are linear. The distribution over groups of that mixture
is what the users see together; its closeness to a target is not linear in c, but concave for every kind of closeness
here, so the least rate at which it equals that of a reranking is found by narrowing it down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
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

    Floats = NDArray[np.float64]

RATES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
_POINTS, _ROUNDS = 33, 11  # rates looked at in a round, each 16 or 32 times as fine as the one before: to 1e-13
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
        lists = [np.asarray(one).astype(np.int64) for one in (judge.original, recommended)]
        self._axis = axis
        self._mass, self._lost, self._total = axis.masses(lists, judge.by_rank)

    def __call__(self, rate: float) -> float | None:
        """Return the closeness at a rate, None where no weight is known or too little."""
        value = float(self._at(np.array([rate]))[0])
        return None if np.isnan(value) else value

    def least_rate(self, wanted: float) -> float | None:
        """Return the least rate in [0, 1] with at least some closeness, None where there is none."""
        low, high = 0.0, self._highest
        if self._values(np.array([high]))[0] < wanted - _EQUAL:
            return None
        for _ in range(_ROUNDS):
            rates = np.linspace(low, high, _POINTS)
            first = int(np.argmax(self._values(rates) >= wanted - _EQUAL))  # the last one is enough
            if first == 0:
                return float(rates[0])
            low, high = float(rates[first - 1]), float(rates[first])
        return high

    def rate_of_single(self, wanted: float | None) -> float | None:
        """Return the least rate at which what one user sees is as close on average; that is linear in the rate."""
        before, after = self(0.0), self(1.0)
        if wanted is None or before is None or after is None:
            return None
        if before >= wanted - _EQUAL:
            return 0.0
        return (wanted - before) / (after - before) if after >= wanted - _EQUAL else None

    @cached_property
    def _highest(self) -> float:
        """Return the rate with the highest closeness, the least of them: between the neighbours of the best point."""
        low, high, best = 0.0, 1.0, 1.0
        for _ in range(_ROUNDS):
            rates = np.linspace(low, high, _POINTS)
            place = int(np.argmax(self._values(rates)))
            best, low, high = (float(rates[at]) for at in (place, max(place - 1, 0), min(place + 1, _POINTS - 1)))
        return best

    def _values(self, rates: Floats) -> Floats:
        """Return the closeness at rates, -1 where there is none."""
        return np.nan_to_num(self._at(rates), nan=-1.0)

    def _at(self, rates: Floats) -> Floats:
        """Return the closeness at rates, float64 (rates,), NaN without one: masses are linear in the rate."""
        share = np.stack([1.0 - rates, rates], axis=1)
        # sums of two terms, not products of matrices: these may round a rate differently with the number of rates
        mass, lost, total = (np.einsum("rl,l...->r...", share, part) for part in (self._mass, self._lost, self._total))
        return self._axis.stands_of(mass, lost, total)


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

"""The share that a group has of the first k positions, or of their exposure, over the rankings that users meet.

A policy may give a group its share on average and none at all in half of its rankings. The mean stands beside
quantiles here, and beside the probability that a ranking breaks a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.browsing import TopKSet
from rerankers.exposure.rankings import item_exposure
from rerankers.measures import over_draws
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.group_measure import has_groups
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

ATTRIBUTE = Parameter("group", str, "attribute the group is of; the first unless given", aliases=("attribute",))
CELL = Parameter("cell", str, "name of the group", aliases=("member",))
OF = Parameter(
    "of", str, "what is shared: the ranks up to k, or the exposure there", "positions", ("positions", "exposure")
)
_SLACK = 1e-9  # bounds that are met up to rounding are met


class Share(Definition):
    """The share of one group in the rankings of a policy: its mean, or a quantile over rankings."""

    name: ClassVar[str] = "share"
    description = (
        "share of the first k positions (or of=exposure) that the documents of a group (cell) have: the mean over "
        "rankings, or their quantile q; at least 0, at most 1 where weights are"
    )
    parameters = (
        ATTRIBUTE,
        CELL,
        Parameter("q", float, "quantile over rankings; the mean unless given", low=0.0, high=1.0),
        OF,
        *PARAMETERS,
    )
    cutoff = "required"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the share of every query; rankings without documents are left out."""
        attribute = attribute_of(measure, evaluation)
        if attribute is None:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_groups", True))
        cell = cell_of(measure, evaluation, attribute)
        part = members(evaluation, attribute, cell, evaluation.source.over.doc)
        q, few = dict(measure.params).get("q"), False
        if q is None:
            value = _mean_share(measure, evaluation, part)
        else:
            few = over_draws.draws_below(evaluation, draws_for(float(q)))
            rankings = evaluation.rankings
            value = over_draws.quantile(rankings, shares(measure, evaluation, part), float(q))
        return _scores(evaluation, value, ("too_few_draws", few))


class GroupShare(Share):
    """The same of the one attribute that was chosen; `rerankers.measures.plan` renames it where there are several."""

    name = "group_share"


class OutOfBounds(Definition):
    """The probability that a ranking gives a group, or any group of an attribute, a share outside of bounds."""

    name: ClassVar[str] = "out_of_bounds"
    description = (
        "probability that the share of a group (cell; without one, of any group) among the first k positions is "
        "below low or above high; without both, further than the tolerance from its share of the candidates; 0 to 1"
    )
    parameters = (
        ATTRIBUTE,
        CELL,
        Parameter("low", float, "lower bound on the share", low=0.0),
        Parameter("high", float, "upper bound on the share", low=0.0),
        Parameter("tolerance", float, "distance from the share of the candidates that is allowed", 0.1, low=0.0),
        OF,
        *PARAMETERS,
    )
    cutoff = "required"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the probability for every query; rankings without documents are left out."""
        attribute = attribute_of(measure, evaluation)
        if attribute is None:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_groups", True))
        looks, alignment = _looks(measure, evaluation), evaluation.groups[attribute]
        docs, over = evaluation.source.over.doc, evaluation.source.over
        mine = alignment.totals(looks.ranking, docs[looks.pair], looks.weight, len(looks.total))
        share = np.divide(mine, looks.total[:, None], out=np.full(mine.shape, np.nan), where=looks.total[:, None] > 0)
        usual = alignment.totals(over.row_index, docs, np.ones(len(docs)), len(over))
        usual /= np.maximum(over.lengths, 1)[:, None]
        low, high = _bounds(measure, usual[evaluation.rankings.row_of_ranking])
        broken = (share < low - _SLACK) | (share > high + _SLACK)
        if dict(measure.params).get("cell") is not None:
            broken = broken[:, [alignment.groups.index(cell_of(measure, evaluation, attribute))]]
        chance = np.where(looks.total > 0, broken.any(axis=1), np.nan)
        value = over_draws.mean(evaluation.rankings, chance)
        return _scores(evaluation, value)


class GroupOutOfBounds(OutOfBounds):
    """The same of the one attribute that was chosen."""

    name = "group_out_of_bounds"


def _scores(evaluation: Evaluation, value: NDArray[np.float64], *more: tuple[str, NDArray[np.bool_] | bool]) -> Scores:
    unjudged = ("query_not_judged", ~evaluation.query_judged)
    return Scores.of(value, unjudged, ("no_ranked_document", np.isnan(value)), *more)


def attribute_of(measure: Measure, evaluation: Evaluation) -> str | None:
    """Return the attribute that a measure is about, None where there is none, or none of its groups."""
    asked = dict(measure.params).get("group", next(iter(evaluation.groups), None))
    return str(asked) if has_groups(evaluation, asked) else None


def members(evaluation: Evaluation, attribute: str, cell: str, docs: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the weight of each document, int (m,), in a group: float64 (m,)."""
    alignment = evaluation.groups[attribute]
    item, group, weight = alignment.entries(docs)
    mine = group == alignment.groups.index(cell)
    return np.bincount(item[mine], weights=weight[mine], minlength=len(docs)).astype(np.float64, copy=False)


def shares(measure: Measure, evaluation: Evaluation, part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a group's share of every ranking, float64 (R,); NaN where nothing is shown (or seen) within k."""
    looks = _looks(measure, evaluation)
    mine = np.bincount(looks.ranking, weights=looks.weight * part[looks.pair], minlength=len(looks.total))
    share = np.full(len(mine), np.nan)
    np.divide(mine, looks.total, out=share, where=looks.total > 0)
    return share


@dataclass(frozen=True, slots=True, eq=False)
class _Looks:
    """What counts in the first k ranks of R rankings.

    ``pair`` (place in the rows), ``ranking`` and ``weight`` of every item, and the ``total`` of every ranking, (R,).
    """

    pair: NDArray[np.int64]
    ranking: NDArray[np.int64]
    weight: NDArray[np.float64]
    total: NDArray[np.float64]


def _looks(measure: Measure, evaluation: Evaluation) -> _Looks:
    base = over_draws.before_shuffling(evaluation)
    key = ("looks", measure.cutoff, measure.get("of"), *(measure.get(one.name) for one in PARAMETERS))
    return base.once(key, lambda: _first_ranks(measure, base))


def _first_ranks(measure: Measure, evaluation: Evaluation) -> _Looks:
    rankings, k = evaluation.rankings, measure.cutoff or 0
    shown = np.minimum(np.diff(rankings.item_ptr), k)
    ranking = np.repeat(np.arange(len(rankings)), shown)
    item = np.arange(len(ranking)) + (rankings.item_ptr[:-1] - np.cumsum(shown) + shown)[ranking]
    pair = rankings.over.indptr[rankings.row_of_ranking][ranking] + rankings.item[item]
    weight = np.ones(len(item))
    if measure.get("of") == "exposure":
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        seen = item_exposure(rankings, model.bind(evaluation.universe.candidate_grade, rankings.over.indptr))
        weight = seen[item]
    total = np.bincount(ranking, weights=weight, minlength=len(rankings))
    return _Looks(pair, ranking, weight, total.astype(np.float64, copy=False))


def _mean_share(measure: Measure, evaluation: Evaluation, part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean share, from the exact exposure where all rankings have the same total: float64 (B,)."""
    if over_draws.are_estimates(evaluation):
        model: BrowsingModel = TopKSet(measure.cutoff or 1)
        if measure.get("of") == "exposure":
            model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        exposure = evaluation.candidate_exposure(model)
        if exposure.exact and not model.needs_grades:
            over = exposure.over
            total, mine = (
                np.bincount(over.row_index, weights=value, minlength=len(over))
                for value in (exposure.value, exposure.value * part)
            )
            share = np.full(len(over), np.nan)
            np.divide(mine, total, out=share, where=total > 0)
            return share
    return over_draws.mean(evaluation.rankings, shares(measure, evaluation, part))


def _bounds(
    measure: Measure, usual: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float]:
    """Return the bounds on the shares; ``usual``: the groups' shares of the candidates, float64 (R, G)."""
    given = dict(measure.params)
    if "low" in given or "high" in given:
        low, high = float(given.get("low", 0.0)), float(given.get("high", np.inf))
        if low > high:
            raise ConfigError(f"measure {measure}: found low={low:g} and high={high:g}; expected low <= high")
        return low, high
    tolerance = float(measure.get("tolerance") or 0.0)
    return usual - tolerance, usual + tolerance


def cell_of(measure: Measure, evaluation: Evaluation, attribute: str) -> str:
    """Return the group that a measure is about; ConfigError where none is named, or an unknown one."""
    asked, known = dict(measure.params).get("cell"), evaluation.groups[attribute].groups
    if asked is None:
        example = f"{measure.name}(cell={known[0]!r})@{measure.cutoff}" if known else "groups=…"
        raise ConfigError(f"measure {measure}: found no cell; expected the name of a group, for instance {example}")
    return choose(f"measure {measure}, cell", str(asked), known)


def draws_for(q: float) -> int:
    """Return how many draws a quantile needs: so many that one of them is expected beyond it, and two at least."""
    beyond = min(q, 1.0 - q)
    return 2 if beyond == 0.0 else max(2, int(np.ceil(1.0 / beyond - _SLACK)))

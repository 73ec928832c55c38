"""rND, rKL and rRD: a group's share of the first 10, 20, … ranks against its share of all (Yang & Stoyanovich 2017).

With p_i the protected share of the first i documents and p that of all, each is
1/Z Σ_i d(p_i, p) / log2 i, over i = step, 2 step, …, with d = |p_i - p| (rND), the Kullback-Leibler divergence in bits
of (p_i, 1 - p_i) from (p, 1 - p) (rKL), or |p_i / (1 - p_i) - p / (1 - p)| (rRD; a fraction with a 0 above or below
counts 0). Z is the larger of the two sums with the group all first and all last, which makes 1 of the worse of them.
The first and the last are only defined for two groups, protected and others. With several groups and none named
protected, each that has a document in turn stands against the rest and the mean is taken; rND and rKL of two groups
are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.measures.definition import Parameter
from rerankers.measures.divergences import kl
from rerankers.measures.group_measure import GROUP, RankedGroupMeasure, group_target
from rerankers.measures.memberships import memberships
from rerankers.measures.prefixes import Tile, distributions, last, over_prefixes
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]
    Distance = Callable[[Floats, Floats], Floats]

STEP = Parameter("step", int, "distance of the cut points", default=10, low=1, high=2**31 - 1)
PROTECTED = Parameter(
    "protected",
    str,
    "the group that stands against the rest; the mean over the groups of the query's documents unless given",
)


def _difference(share: Floats, overall: Floats) -> Floats:
    apart: Floats = np.abs(share - overall)
    return apart


def _divergence(share: Floats, overall: Floats) -> Floats:
    nats = kl(np.stack([share, _rest(share)], axis=-1), np.stack([overall, _rest(overall)], axis=-1))
    bits: Floats = nats / np.log(2.0)
    return bits


def _ratio_difference(share: Floats, overall: Floats) -> Floats:
    apart: Floats = np.abs(_odds(share) - _odds(overall))
    return apart


def _apart(form: str, totals: Floats, overall: Floats) -> Floats:
    """Return the distances of the groups within prefixes, (..., G), from all; 0 where no group has come yet."""
    return np.where(totals.sum(axis=-1, keepdims=True) > 0, DISTANCES[form](distributions(totals), overall), 0.0)


def _rest(share: Floats) -> Floats:
    """Return 1 - share, and 0 where that is rounding: the divergence from a rest of 0 would be infinite."""
    return np.where(share < 1.0 - 1e-12, 1.0 - share, 0.0)


def _odds(share: Floats) -> Floats:
    other = _rest(share)
    return np.where((share > 0) & (other > 0), share / np.where(other > 0, other, 1.0), 0.0)


DISTANCES: dict[str, Distance] = {"rND": _difference, "rKL": _divergence, "rRD": _ratio_difference}


def prefix_parity(
    groups: Sequence[Any] | ArrayLike, protected: Any = None, *, form: str = "rND", step: int = 10
) -> float:
    """Return rND, rKL or rRD of one ranking, 0 at best and at most about 1.

    Parameters
    ----------
    groups
        of all ranked documents, best first: a label each (None: no group), or weights (n, G).
    protected
        the label (or column) of the protected group; None: the mean over the groups that are there, each against the
        rest.
    form
        ``rND``, ``rKL`` or ``rRD``.
    step
        distance of the cut points; the published one is 10. A cut point of 1 is left out, for log2 1 is 0.

    Returns
    -------
    float
        0 where no order of the groups could be unfair at the cut points, for instance of a single group.

    Raises
    ------
    InputError
        for a ranking without a cut point, shapes that do not fit and a group that is not there.
    ConfigError
        for another form, and a step below 1.
    """
    choose("form", form, DISTANCES)
    if step != int(step) or step < 1:
        raise ConfigError(f"step: found {step}; expected a whole number of at least 1")
    weight, names = memberships(groups)
    points = cut_points(len(weight), step)
    if not len(points):
        raise InputError.one("groups", f"{len(weight)} documents", f"at least {max(step, 2)}, the first cut point")
    if protected is not None and protected not in names:
        raise InputError.one("protected", repr(protected), f"one of {', '.join(map(str, names))}")
    overall = distributions(weight.sum(axis=0))
    chosen = [names.index(protected)] if protected is not None else np.flatnonzero(overall > 0).tolist()
    if not chosen:
        return 0.0
    top = _highest(weight, overall, points, form)[:, -1]
    apart = _apart(form, np.cumsum(weight, axis=0)[points - 1], overall)
    value = ((1.0 / np.log2(points))[:, np.newaxis] * apart).sum(axis=0)
    return float(np.mean(_normalised(value, top)[chosen]))


def cut_points(length: int, step: int) -> NDArray[np.int64]:
    """Return step, 2 step, … up to a length, int64, without 1."""
    points = np.arange(step, length + 1, step, dtype=np.int64)
    return points[points > 1]


def _highest(weight: Floats, overall: Floats, points: NDArray[np.int64], form: str) -> Floats:
    """Return the sums up to each cut point with the documents of a group all first or all last, the larger: (G, P)."""
    discount = 1.0 / np.log2(points)
    everything = weight.sum(axis=1)
    highest = np.zeros((weight.shape[1], len(points)))
    for group in range(weight.shape[1]):
        own = weight[:, group]
        order = np.lexsort((-own, everything - 2.0 * own))  # by what is the group's less what is others'
        for arranged in (order, order[::-1]):
            total = np.cumsum(everything[arranged])[points - 1]
            part = np.minimum(np.cumsum(own[arranged])[points - 1] / np.where(total > 0, total, 1.0), 1.0)
            summed = np.cumsum(discount * DISTANCES[form](part, overall[group]))
            highest[group] = np.maximum(highest[group], summed)
    return highest


def _highest_by_row(evaluation: Evaluation, attribute: str, overall: Floats, form: str, step: int) -> list[Floats]:
    """Return the highest sums for the documents of each query, (G, P) a row: the same for every system."""
    alignment, union = evaluation.groups[attribute], evaluation.universe.union
    rows = []
    for row in range(len(union)):
        docs = union.doc[union.indptr[row] : union.indptr[row + 1]]
        item, group, entry = alignment.entries(docs)
        weight = np.zeros((len(docs), len(alignment.groups)))
        np.add.at(weight, (item, group), entry)
        rows.append(_highest(weight, overall[row], cut_points(len(docs), step), form))
    return rows


def _normalised(value: Floats, highest: Floats) -> Floats:
    """Divide by the highest sums; 0 where that is 0, up to rounding: nothing could be unfair there."""
    possible = highest > 1e-12
    return np.where(possible, value / np.where(possible, highest, 1.0), 0.0)


class _PrefixParity(RankedGroupMeasure):
    parameters = (GROUP, PROTECTED, STEP)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the mean over rankings; the population are all documents that are ranked or judged."""
        step = int(measure.get("step") or 1)
        names = evaluation.groups[attribute].groups
        asked = measure.get("protected")
        chosen = slice(None)
        if asked is not None:
            choose(f"measure {measure}, protected", str(asked), names)
            chosen = slice(names.index(str(asked)), names.index(str(asked)) + 1)
        overall, known = group_target(evaluation, attribute, "population")
        there = (overall > 0)[:, chosen]
        highest = evaluation.once(
            ("highest", cls.name, attribute, step),
            lambda: _highest_by_row(evaluation, attribute, overall, cls.name, step),
        )
        reached = np.zeros(len(evaluation.over), dtype=np.bool_)

        def value(tile: Tile, totals: Floats) -> Floats:
            points = cut_points(tile.valid.shape[1], step)
            counted = tile.valid[:, points - 1]
            number = counted.sum(axis=1)
            reached[tile.row[number > 0]] = True
            apart = _apart(cls.name, totals[:, points - 1], overall[tile.row][:, np.newaxis])[:, :, chosen]
            summed = last((counted / np.log2(points))[:, :, np.newaxis] * apart, 1)
            most = [
                highest[row][chosen, n - 1] if n else np.zeros(summed.shape[1])
                for row, n in zip(tile.row, number, strict=True)
            ]
            counting = there[tile.row]
            value = np.where(counting, _normalised(summed, np.array(most).reshape(summed.shape)), 0.0)
            mean: Floats = value.sum(axis=1) / np.maximum(counting.sum(axis=1), 1)
            return mean

        average, filled = over_prefixes(evaluation, attribute, measure.cutoff, value)
        return Scores.of(
            average,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_ranked_document", ~filled),
            ("fewer_ranks_than_step", ~reached),
            ("no_groups", ~(known & there.any(axis=1))),  # none of the asked groups has a document
        )


_RANGE = "averaged over rankings; 0 is best, about 1 the worst order (Yang & Stoyanovich 2017)"


class RND(_PrefixParity):
    """rND averaged over the rankings of a policy."""

    name = "rND"
    description = f"difference of a group's share of the first 10, 20, … ranks from that of all documents, {_RANGE}"


class RKL(_PrefixParity):
    """rKL averaged over the rankings of a policy."""

    name = "rKL"
    description = f"KL divergence of the group shares of the first 10, 20, … ranks from those of all, {_RANGE}"


class RRD(_PrefixParity):
    """rRD averaged over the rankings of a policy."""

    name = "rRD"
    description = f"difference of the odds of a group in the first 10, 20, … ranks from those of all, {_RANGE}"

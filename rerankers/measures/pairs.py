"""Pairs of documents: how often those of a group stand above others.

Attribute rank parity (Cachel, Rundensteiner & Harrison 2022): of all pairs of a document of group g and one of another
group, the share in which that of g stands above (the favoured pair representation); ½ for every group is parity.
Pairwise accuracy (Beutel et al. 2019): of all pairs of a relevant document of g and one that is not relevant, the share
in which the relevant one stands above; ``inter`` takes only pairs across groups. Documents that are not ranked stand
below those that are; two of them count half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.definition import Parameter
from rerankers.measures.group_measure import GROUP, RankedGroupMeasure
from rerankers.measures.hits import mean_over_draws
from rerankers.measures.memberships import memberships
from rerankers.measures.prefixes import last, tiles
from rerankers.measures.rate_parity import COMBINE, combined, rates
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.prefixes import Tile

    Floats = NDArray[np.float64]

ACROSS = Parameter("pairs", str, "all pairs, or only those across groups", default="all", choices=("all", "inter"))


def favoured_pairs(groups: Sequence[Any] | ArrayLike) -> tuple[Floats, list[Any]]:
    """Return for each group of one full ranking the share of its pairs with others in which it stands above.

    Parameters
    ----------
    groups
        of all documents, best first: a label each (None: no group), or weights (n, G) of at most 1.

    Returns
    -------
    float64 (G,), NaN for a group that has no pair with others, and the groups' names.

    Raises
    ------
    InputError
        for shapes that do not fit and weights above 1.
    """
    weight, names = memberships(groups)
    if np.any(weight > 1):
        raise InputError.one("groups", f"the weight {weight.max():g}", "weights of at most 1")
    other = 1.0 - weight
    total = weight.sum(axis=0) * other.sum(axis=0) - (weight * other).sum(axis=0)
    return rates(above(weight[np.newaxis], other[np.newaxis])[0], np.where(total > 1e-12, total, 0.0)), names


def above(first: Floats, second: Floats) -> Floats:
    """Return Σ over ranks i < j of first_i second_j: (R, n, G) and (R, n, G) to (R, G)."""
    return last((np.cumsum(first, axis=1) - first) * second, 1)


class _Pairs(RankedGroupMeasure):
    @classmethod
    def _rates(cls, evaluation: Evaluation, attribute: str, first: Floats, second: Floats, same: bool) -> Floats:
        """Return the share of pairs (document of ``first``, document of ``second``) in order, (B, G).

        Parameters
        ----------
        first, second
            float64 (union.nnz, G), weights of the documents of either kind.
        same
            whether a document may be of both kinds; it makes no pair with itself.
        """
        universe, rankings = evaluation.universe, evaluation.rankings
        union, rows = universe.union, len(universe.union)
        sums = [_by_row(union.row_index, value, rows) for value in (first, second)]
        own = _by_row(union.row_index, first * second, rows) if same else np.zeros_like(sums[0])
        possible = sums[0] * sums[1] - own
        shown = [universe.of_candidates(value) for value in (first, second)]
        mean = np.zeros((len(rankings), first.shape[1]))
        for tile in tiles(rankings, None, 2 * first.shape[1]):
            mean[tile.ranking] = _in_order(tile, shown, sums, own, same)
        averaged = [mean_over_draws(rankings, mean[:, group]) for group in range(mean.shape[1])]
        return rates(np.stack(averaged, axis=1), np.where(possible > 1e-12, possible, 0.0))


def _in_order(tile: Tile, shown: list[Floats], sums: list[Floats], own: Floats, same: bool) -> Floats:
    """Return the pairs in order of each ranking; documents that are not ranked come last, tied."""
    a, b = (np.where(tile.valid[:, :, np.newaxis], value[tile.pair], 0.0) for value in shown)
    ranked_a, ranked_b = (last(value, 1) for value in (a, b))
    rest_a, rest_b = sums[0][tile.row] - ranked_a, sums[1][tile.row] - ranked_b
    rest_own = own[tile.row] - last(a * b, 1) if same else 0.0
    pairs: Floats = above(a, b) + ranked_a * rest_b + 0.5 * np.maximum(rest_a * rest_b - rest_own, 0.0)
    return pairs


def _by_row(row: NDArray[np.int64], value: Floats, rows: int) -> Floats:
    total = np.zeros((rows, value.shape[1]))
    np.add.at(total, row, value)
    return total


def _memberships(evaluation: Evaluation, attribute: str) -> Floats:
    """Return the weights of the documents of the union in the groups, at most 1: float64 (union.nnz, G)."""
    alignment, union = evaluation.groups[attribute], evaluation.universe.union
    item, group, weight = alignment.entries(union.doc)
    out = np.zeros((union.nnz, len(alignment.groups)))
    np.add.at(out, (item, group), weight)
    return np.minimum(out, 1.0)


class ARP(_Pairs):
    """Attribute rank parity."""

    name = "ARP"
    description = (
        "attribute rank parity: how unequal groups are in the share of their pairs with others in which they stand "
        "above, expected over rankings; largest less smallest unless combine says otherwise, 0 is best (Cachel et al. "
        "2022)"
    )
    parameters = (GROUP, Parameter("combine", str, COMBINE.description, default="difference", choices=COMBINE.choices))
    cutoff = "none"

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return how unequal the favoured pairs are."""
        weight = _memberships(evaluation, attribute)
        value = combined(cls._rates(evaluation, attribute, weight, 1.0 - weight, True), str(measure.get("combine")))
        return Scores.of(value, ("query_not_judged", ~evaluation.query_judged), ("no_groups", np.isnan(value)))


class PAIR(_Pairs):
    """Pairwise accuracy by group."""

    name = "PAIR"
    description = (
        "pairwise fairness: how unequal groups are in the share of pairs of a relevant document of theirs and one that "
        "is not relevant in which the relevant one stands above, expected over rankings; largest less smallest unless "
        "combine says otherwise, 0 is best (Beutel et al. 2019)"
    )
    parameters = (*ARP.parameters, ACROSS)
    cutoff = "none"

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return how unequal the accuracies are; groups without a pair do not count."""
        weight, grade = _memberships(evaluation, attribute), evaluation.universe.union_grade[:, np.newaxis]
        first, second = weight * (grade > 0), np.broadcast_to((grade == 0).astype(np.float64), weight.shape)
        if measure.get("pairs") == "inter":
            second = second * (1.0 - weight)
        value = combined(cls._rates(evaluation, attribute, first, second, False), str(measure.get("combine")))
        nothing = evaluation.per_row((evaluation.grade > 0).astype(np.float64)) == 0
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", nothing),
            ("no_groups", np.isnan(value)),
        )

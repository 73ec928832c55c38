r"""Expected exposure as TREC Fair Ranking 2020 scores it, of documents and of groups.

With exposure E and target T over the judged documents of a query, or over their groups: EED = \sum E^2, EER = \sum E T,
EET = \sum T^2, EEL = \sum (E - T)^2 (Diaz et al. 2020). The losses that the track published are not rooted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rerankers._base.arrays import read_only
from rerankers.exposure import GERR
from rerankers.exposure._walk import Walk
from rerankers.exposure.objectives import expected_exposure
from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure, shuffle_exposure
from rerankers.measures.group_exposure import GroupRows
from rerankers.measures.rank_fairness import js_of_shares
from rerankers.tracks import official2020 as odd
from rerankers.values import Exposure, GroupAlignment, Judgments, Rankings, outer_join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing, BrowsingModel
    from rerankers.values import Ragged

GROUP = "group_"
ROOT = "_l2"
Values: TypeAlias = "dict[str, NDArray[np.float64]]"
"""Key -> float64 (Q,)."""
BoundsOf: TypeAlias = "Callable[[Scene, int], odd.Bounds]"
"""What gives the bounds of a query, by its row."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How exposure is scored, in plain values; `rerankers.tracks.trec2020.Trec2020` says what they mean."""

    browsing: BrowsingModel
    model: odd.UserModel
    loss: str
    complete: bool
    ranked_too: bool
    negative: str
    normalise: str
    missing_default: bool
    infinite_zero: bool


@dataclass(frozen=True, eq=False)
class Scene:
    """What all systems are held against.

    Attributes
    ----------
    judgments
        the pairs that count, one row a query (Q rows), grades maybe negative.
    member
        int64 (nnz,), each pair's row in ``groups``: its document, or the pair itself.
    groups
        resolved, or None.
    rules
        how it is scored.
    """

    judgments: Judgments
    member: NDArray[np.int64]
    groups: GroupAlignment | None
    rules: Rules

    @cached_property
    def grade(self) -> NDArray[np.float64]:
        """float64 (nnz,), negative grades as 0."""
        return np.maximum(self.judgments.grade, 0).astype(np.float64)

    @cached_property
    def bound(self) -> Browsing:
        """The browsing model over the judged documents."""
        return self.rules.browsing.bind(self.grade, self.judgments.indptr)

    @cached_property
    def target(self) -> NDArray[np.float64]:
        """Equal expected exposure, float64 (nnz,)."""
        indptr, raw = self.judgments.indptr, self.judgments.grade
        if self.rules.negative == "as_zero" or not np.any(raw < 0):
            return equal_exposure(indptr, self.grade, self.bound)
        target = shuffle_exposure(indptr, raw, self.bound)
        if self.rules.negative == "level" or not isinstance(self.rules.browsing, GERR):
            return target
        return target * odd.negative_level_factor(indptr, raw, self.rules.model.satisfaction)

    def by_group(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of judged documents (nnz,) by query and group: float64 (Q, G)."""
        if self.groups is None:
            raise ValueError("there are no groups")
        return self.groups.totals(self.judgments.row_index, self.member, value, len(self.judgments))

    def bind(self, over: Ragged) -> Browsing:
        """Return the browsing model over other rows of judged queries; a document that does not count is grade 0."""
        join = outer_join(self.judgments, over)
        return self.rules.browsing.bind(join.from_left(self.grade)[join.right], over.indptr)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What one system gets.

    Attributes
    ----------
    values
        key -> float64 (Q,).
    groups
        exposure and target of the groups, or None.
    exposure
        float64 (nnz,), of the judged documents; None without groups.
    """

    values: Values
    groups: GroupRows | None
    exposure: NDArray[np.float64] | None = None


def exposure_of_lists(rankings: Rankings, scene: Scene) -> Exposure:
    """Return the mean exposure of rankings of judged queries; a document that comes twice is seen twice."""
    from rerankers.exposure._ranking_loops import mean_walk

    over = rankings.over
    longest = int(np.diff(rankings.item_ptr).max(initial=0))
    walk = Walk.over(rankings.query_ptr, rankings.item_ptr, rankings.item, over.indptr, longest, scene.bind(over))
    value, square = np.zeros(over.nnz), np.zeros(len(over))
    walk.run(mean_walk, read_only(rankings.weight, np.float64), value, square)
    return Exposure(over, value)


def score(given: Exposure, scene: Scene, unranked: NDArray[np.bool_], unanswered: NDArray[np.bool_]) -> Scored:
    """Score a system.

    Parameters
    ----------
    given
        exposure of the documents it ranks, over rows of judged queries.
    scene
        what it is held against.
    unranked, unanswered
        bool (Q,): queries without any ranked document, and those without any ranking. Only a rule for missing queries
        looks at them; otherwise exposure is 0 there.

    Returns
    -------
    A loss of shares (``js``) is NaN where nothing that counts is ranked.
    """
    judgments, rules = scene.judgments, scene.rules
    join = outer_join(judgments, given.over)
    everywhere = join.from_right(given.value)
    exposure, target = everywhere[join.left], scene.target
    parts = expected_exposure(exposure, target, judgments.indptr)
    everywhere[join.left] = 0.0
    beyond = row_sums(everywhere * everywhere, join.over.indptr) if rules.ranked_too else np.zeros(len(judgments))
    worth = exposure * np.where(scene.grade > 0, scene.bound.satisfaction, 0.0)
    values = {"EEL": parts.EEL + beyond, "EED": parts.EED + beyond, "EER": parts.EER, "EET": parts.EET}
    values = _finished(values, scene, _document_bounds, unranked)
    if rules.loss == "js":
        strangers = row_sums(everywhere, join.over.indptr) * rules.ranked_too
        values["EEL"] = _divergences(exposure, target, judgments.indptr, strangers)
    values["utility"] = row_sums(worth, judgments.indptr)
    if scene.groups is None:
        return Scored(values, None)
    totals, due = scene.by_group(exposure), scene.by_group(target)
    own = group_values(totals, due, scene, unanswered)
    ones = np.ones(judgments.nnz)
    rows = GroupRows(scene.groups.groups, totals, due, scene.by_group(ones), scene.by_group(ones * (scene.grade > 0)))
    return Scored(values | {GROUP + key: value for key, value in own.items()}, rows, exposure)


def group_values(
    totals: NDArray[np.float64], due: NDArray[np.float64], scene: Scene, unanswered: NDArray[np.bool_]
) -> Values:
    """Return the measures of groups from their exposure and target, float64 (Q, G) each."""
    of_groups = expected_exposure(totals, due)
    own = {"EEL": of_groups.EEL, "EED": of_groups.EED, "EER": of_groups.EER, "EET": of_groups.EET}
    own = _finished(own, scene, _group_bounds, unanswered)
    if scene.rules.loss == "js":
        cells = np.arange(len(totals) + 1, dtype=np.int64) * totals.shape[1]
        own["EEL"] = _divergences(totals.ravel(), due.ravel(), cells, np.zeros(len(totals)))
    return own


def _finished(values: Values, scene: Scene, bounds: BoundsOf, missing: NDArray[np.bool_]) -> Values:
    """Apply what depends on the form: infinite disparity, missing queries, normalisation, the root of the loss."""
    rules = scene.rules
    if rules.infinite_zero:
        values["EED"] = odd.infinite_where_zero(values["EED"])
    absent = np.flatnonzero(missing) if rules.missing_default else np.empty(0, np.int64)
    rows = range(len(missing)) if rules.normalise != "none" else absent.tolist()
    for row in rows:
        limits = bounds(scene, row)
        if missing[row] and rules.missing_default:
            for key, value in odd.missing_query_values(limits).items():
                values[key][row] = value
        if rules.normalise != "none":
            for key in limits:
                values[key][row] = odd.normalised(key, float(values[key][row]), limits, rules.normalise)
    if rules.normalise == "none":
        rooted = np.sqrt(values["EEL"])
        values |= {"EEL": rooted} if rules.loss == "l2" else {f"EEL{ROOT}": rooted}
    return values


def _divergences(
    exposure: NDArray[np.float64],
    target: NDArray[np.float64],
    indptr: NDArray[np.int64],
    beyond: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of the shares, row by row in nats; NaN where there is no exposure."""
    out = np.full(len(beyond), np.nan)
    for row in range(len(out)):
        part = slice(int(indptr[row]), int(indptr[row + 1]))
        got, due = float(exposure[part].sum() + beyond[row]), float(target[part].sum())
        if got > 0 and due > 0:
            out[row] = js_of_shares(exposure[part] / got, target[part] / due, float(beyond[row]) / got)
    return out


def _document_bounds(scene: Scene, row: int) -> odd.Bounds:
    part = scene.judgments.row(row)
    levels = len(np.unique(scene.judgments.grade[part]))
    return odd.document_bounds(scene.target[part], levels, scene.rules.model, scene.rules.complete)


def _group_bounds(scene: Scene, row: int) -> odd.Bounds:
    if scene.groups is None:
        raise ValueError("there are no groups")
    part = scene.judgments.row(row)
    item, group, weight = scene.groups.entries(scene.member[part])
    present, place = np.unique(group, return_inverse=True)
    target = np.bincount(place, weights=scene.target[part][item] * weight, minlength=len(present))
    return odd.group_bounds(
        target.astype(np.float64, copy=False), int(np.sum(scene.grade[part] > 0)), scene.rules.model
    )

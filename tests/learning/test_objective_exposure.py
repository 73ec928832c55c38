"""Objectives of exposure: values, slopes, estimates, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from objective_cases import (
    all_rankings,
    central_differences,
    difference_along,
    enumerated_exposure,
    ragged,
    same_in_any_block,
    spread_scores,
)

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import DCG, ERR, GERR, RBP, Positions, TopKSet
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.exposure.targets import equal_exposure
from rerankers.learning.objectives import ExactExposure, FairPGRank, PLUtility
from rerankers.learning.objectives.draws import Draws, Half
from rerankers.learning.rows import LearningRows

MODELS = [None, RBP(0.9), RBP(1.0), RBP(0.0), ERR(max_grade=3), DCG(), GERR(0.7, 0.5, cutoff=3), TopKSet(2)]
OBJECTIVES = [
    ExactExposure(),
    ExactExposure("group"),
    ExactExposure("both"),
    PLUtility(),
    FairPGRank(),
    FairPGRank("individual", 0.5),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("browsing", MODELS, ids=str)
def test_slopes_are_those_of_the_value(objective, browsing):
    rows = ragged()
    bound = replace(objective, browsing=browsing).bind(rows)
    for spread in (0.1, 3.0):
        scores = spread_scores(rows.over.nnz, spread)
        loss = bound(scores)
        assert difference_along(bound, scores, loss.slope) < 2e-9
        assert np.all(loss.curvature >= np.abs(loss.slope) / 5)
        assert np.all(loss.curvature > 0)


@pytest.mark.parametrize("browsing", MODELS, ids=str)
def test_values_are_those_of_the_exposure_engine(browsing):
    rows = ragged()
    model = GERR() if browsing is None else browsing
    bound = model.bind(rows.grade, rows.indptr)
    target = equal_exposure(rows.indptr, rows.grade, bound)
    for spread in (0.0, 1.0, 30.0, 300.0):
        scores = spread_scores(rows.over.nnz, spread)
        gap = plackett_luce_exposure(rows.indptr, scores, bound) - target
        loss = ExactExposure(browsing=browsing).bind(rows)(scores)
        slope = plackett_luce_gradient(rows.indptr, scores, bound, 2 * gap)
        for row in range(len(rows)):
            assert loss.value[row] == pytest.approx((gap[rows.over.row(row)] ** 2).sum(), abs=1e-13)
        assert np.max(np.abs(loss.slope - slope)) < 1e-13
        assert np.all(np.isfinite(loss.curvature))


def test_group_losses_add_documents_up_to_groups():
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    bound = GERR().bind(rows.grade, rows.indptr)
    gap = plackett_luce_exposure(rows.indptr, scores, bound) - equal_exposure(rows.indptr, rows.grade, bound)
    assert rows.groups is not None
    totals = rows.groups.totals(rows.over.row_index, rows.over.doc, gap, len(rows))
    group = ExactExposure("group").bind(rows)(scores)
    assert np.allclose(group.value, (totals**2).sum(axis=1), rtol=0, atol=1e-14)
    one, both = ExactExposure().bind(rows)(scores), ExactExposure("both").bind(rows)(scores)
    assert np.allclose(both.value, one.value + group.value, rtol=0, atol=1e-14)
    assert np.allclose(both.slope, one.slope + group.slope, rtol=0, atol=1e-14)


def test_overlapping_and_partial_memberships_count_by_weight():
    rows = LearningRows.of([0, 3], np.zeros((3, 1)), [1, 0, 1], ["a", "b", "b"])
    assert rows.groups is not None
    over = type(rows.groups).of_entries(
        "g", ("a", "b"), np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0]), np.array([0.25, 0.75, 1.0, 2.0]), 3, "value"
    )
    rows = replace(rows, groups=over.resolve("drop"))
    scores = np.array([0.3, -1.0, 0.5])
    bound = RBP(0.5).bind(rows.grade, rows.indptr)
    gap = plackett_luce_exposure(rows.indptr, scores, bound) - equal_exposure(rows.indptr, rows.grade, bound)
    expected = (0.25 * gap[0] + 2 * gap[2]) ** 2 + (0.75 * gap[0] + gap[1]) ** 2
    objective = ExactExposure("group", browsing=RBP(0.5)).bind(rows)
    assert objective(scores).value[0] == pytest.approx(expected, abs=1e-14)
    assert np.max(np.abs(objective(scores).slope - central_differences(objective, scores))) < 1e-9


def test_utility_is_a_share_of_the_best():
    rows = ragged()
    bound = PLUtility(browsing=DCG()).bind(rows)
    good, bad = bound(50.0 * rows.grade), bound(-50.0 * rows.grade)
    relevant = np.array([rows.grade[rows.over.row(row)].max(initial=0) > 0 for row in range(len(rows))])
    assert np.allclose(good.value[relevant], -1.0)
    assert np.all(bad.value >= good.value)
    assert not np.any(good.value[~relevant])
    assert bound.counts["queries_without_relevant"] == 1
    assert bound.counts["queries_of_one_grade"] == 3


def test_a_query_without_relevant_documents_is_to_be_shuffled():
    rows = LearningRows.of([0, 4], np.zeros((4, 1)), np.zeros(4))
    bound = ExactExposure().bind(rows)
    assert bound(np.zeros(4)).value[0] == pytest.approx(0, abs=1e-30)
    assert bound(np.array([1.0, 0, 0, 0])).slope[0] > 0
    assert bound.counts == {"queries_without_relevant": 1, "queries_of_one_grade": 1}


def test_hundreds_of_nats_give_finite_numbers_and_no_long_steps():
    rows = ragged()
    for seed in range(3):
        scores = spread_scores(rows.over.nnz, 400.0, seed)
        for objective in OBJECTIVES:
            loss = objective.bind(rows)(scores)
            assert np.all(np.isfinite(loss.value))
            assert np.all(np.abs(loss.slope) <= 5.001 * loss.curvature)


@pytest.mark.parametrize("kind", ["exact", "pl_rank_3", "reinforce"])
@pytest.mark.parametrize("browsing", [None, DCG()], ids=str)
def test_bits_do_not_depend_on_other_rows(kind, browsing):
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    for objective in OBJECTIVES[:5]:
        own = replace(objective, gradient=kind, draws=20, browsing=browsing)
        assert same_in_any_block(own, rows, scores)


def test_blocks_do_not_change_bits(monkeypatch):
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    whole = ExactExposure("both").bind(rows)(scores)
    monkeypatch.setattr("rerankers.learning.objectives.exposure_bound.BLOCK", 6)
    cut = ExactExposure("both").bind(rows)(scores)
    for name in ("value", "slope", "curvature"):
        assert np.array_equal(getattr(whole, name), getattr(cut, name))


def test_draws_are_keyed_by_seed_and_step():
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    bound = ExactExposure(gradient="pl_rank_3", draws=10).bind(rows, 1)
    first, second = bound(scores, 1).slope, bound(scores, 2).slope
    assert np.array_equal(bound(scores, 1).slope, first)
    assert not np.array_equal(first, second)
    assert not np.array_equal(ExactExposure(gradient="pl_rank_3", draws=10).bind(rows, 2)(scores, 1).slope, first)


@pytest.mark.parametrize("kind", ["pl_rank_3", "reinforce"])
@pytest.mark.parametrize("browsing", [GERR(0.8, 0.6), DCG(), Positions((1.0, 0.5)), GERR(0.9, 0.5, cutoff=2)], ids=str)
@pytest.mark.parametrize("scores", [[0.3, -0.5, 1.0, 0.2], [0.0, 800.0, 3.0], [0.7, 0.7], [1.0]], ids=str)
def test_every_ranking_times_its_chance_is_the_exact_gradient(kind, browsing, scores):
    logit = np.array(scores)
    n = len(logit)
    indptr = np.array([0, n])
    bound = browsing.bind(np.array([1, 0, 2, 0])[:n], indptr)
    reward = np.array([0.5, -1.0, 2.0, 0.1])[:n]
    total = np.zeros(n)
    for order, chance in all_rankings(logit):
        one = Half(kind, [np.array([order], dtype=np.int32)], indptr, logit, bound)
        total += chance * one.gradient(reward)
    assert np.max(np.abs(total - plackett_luce_gradient(indptr, logit, bound, reward))) < 1e-14


def test_baselines_change_no_mean():
    """Two rankings together, over all pairs: baselines come from the other one."""
    logit, reward, indptr = np.array([0.3, -0.5, 1.0]), np.array([1.5, -1.0, 2.0]), np.array([0, 3])
    for browsing in (GERR(0.8, 0.6), DCG(), GERR(0.9, 0.5, cutoff=2)):
        bound = browsing.bind(np.array([1, 0, 2]), indptr)
        for kind in ("pl_rank_3", "reinforce"):
            total = np.zeros(3)
            for one, chance in all_rankings(logit):
                for other, rest in all_rankings(logit):
                    half = Half(kind, [np.array([one, other], dtype=np.int32)], indptr, logit, bound)
                    total += chance * rest * half.gradient(reward)
            assert np.max(np.abs(total - plackett_luce_gradient(indptr, logit, bound, reward))) < 1e-14


def test_estimates_of_a_squared_distance_are_unbiased():
    """One ranking in each half, over all pairs of rankings: value and slope are exact on average."""
    rows = LearningRows.of([0, 3], np.zeros((3, 1)), [1, 0, 2], ["a", "b", "a"])
    logit = np.array([0.3, -0.5, 1.0])
    orders = all_rankings(logit)
    for objective in (ExactExposure("both"), PLUtility(), ExactExposure("group", browsing=DCG())):
        exact = objective.bind(rows)(logit)
        block = objective.bind(rows)._blocks[0]
        value, slope = 0.0, np.zeros(3)
        for one, chance in orders:
            for other, rest in orders:
                halves = [
                    Half("pl_rank_3", [np.array([order], dtype=np.int32)], rows.indptr, logit, block.browsing)
                    for order in (one, other)
                ]

                class Given:
                    def halves(self, *_: object) -> list[Half]:
                        return halves  # noqa: B023

                loss = block.estimated(logit, Given())
                value, slope = value + chance * rest * loss.value[0], slope + chance * rest * loss.slope
        assert value == pytest.approx(exact.value[0], abs=1e-14)
        assert np.max(np.abs(slope - exact.slope)) < 1e-14


def test_estimates_come_near_the_exact_loss():
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    for objective in OBJECTIVES[:4]:
        exact = objective.bind(rows)(scores)
        for kind in ("pl_rank_3", "reinforce"):
            bound = replace(objective, gradient=kind, draws=400).bind(rows, 7)
            slopes = np.array([bound(scores, step).slope for step in range(20)])
            error = slopes.std(axis=0, ddof=1) / np.sqrt(20) + 1e-12
            assert np.all(np.abs(slopes.mean(axis=0) - exact.slope) < 5.5 * error)


def test_drawn_rankings_follow_the_scores():
    rows = LearningRows.of([0, 3], np.zeros((3, 1)), [1, 0, 2])
    logit = np.array([0.3, -0.5, 1.0])
    bound = DCG().bind(rows.grade, rows.indptr)
    one, other = Draws("pl_rank_3", 20_000, 0, 0).halves(rows, logit, bound)
    expected = enumerated_exposure(logit, bound.continuation, bound.position)
    assert np.max(np.abs(0.5 * (one.exposure() + other.exposure()) - expected)) < 0.01


@given(
    st.lists(st.floats(-30, 30), min_size=1, max_size=6),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.floats(0, 1),
    st.floats(-5, 5),
)
def test_losses_do_not_feel_a_common_shift(scores, grades, patience, shift):
    n = len(scores)
    rows = LearningRows.of([0, n], np.zeros((n, 1)), grades[:n], ["a", "b", "a", "b", "a", "a"][:n])
    logit = np.array(scores)
    for objective in (ExactExposure("both", browsing=GERR(patience)), PLUtility(browsing=GERR(patience))):
        bound = objective.bind(rows)
        loss, moved = bound(logit), bound(logit + shift)
        assert abs(loss.slope.sum()) < 1e-12
        assert np.allclose(loss.value, moved.value, rtol=0, atol=1e-11)
        assert np.allclose(loss.slope, moved.slope, rtol=0, atol=1e-11)


def test_disparity_is_that_of_a_plain_loop():
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    bound = GERR().bind(rows.grade, rows.indptr)
    exposure = plackett_luce_exposure(rows.indptr, scores, bound)
    utility = PLUtility().bind(rows)(scores).value
    found = FairPGRank("individual", 2.0).bind(rows)(scores).value
    for row in range(len(rows)):
        place = rows.over.row(row)
        merit, seen = 2 ** rows.grade[place] - 1, exposure[place]
        gaps = [
            max(0.0, seen[i] / merit[i] - seen[j] / merit[j])
            for i in range(len(seen))
            for j in range(len(seen))
            if i != j and merit[i] >= merit[j] > 0
        ]
        assert found[row] == pytest.approx(utility[row] + 2 * (np.mean(gaps) if gaps else 0), abs=1e-13)
    assert FairPGRank().bind(rows).counts["cells_without_merit"] > 0
    assert FairPGRank().bind(rows).counts["queries_without_pair"] > 0


def test_wrong_arguments_are_named():
    rows = ragged()
    without = replace(rows, groups=None)
    for objective in (ExactExposure("group"), FairPGRank()):
        assert objective.needs_groups
        with pytest.raises(InputError, match="groups: found none"):
            objective.bind(without)
    assert not ExactExposure().needs_groups
    with pytest.raises(InputError, match="scores: found shape"):
        ExactExposure().bind(rows)(np.zeros(3))
    scores = np.zeros(rows.over.nnz)
    scores[7] = np.nan
    with pytest.raises(InputError, match="nan in query '4'"):
        ExactExposure().bind(rows)(scores)
    with pytest.raises(InputError, match="max_grade"):
        ExactExposure(browsing=ERR()).bind(rows)
    for wrong in ({"loss": "grup"}, {"gradient": "exakt"}, {"draws": 1}):
        with pytest.raises(ConfigError, match=r"objective\."):
            ExactExposure(**wrong)
    with pytest.raises(ConfigError, match="disparity"):
        FairPGRank("people")
    with pytest.raises(ConfigError, match="at least 0"):
        FairPGRank(weight=-1)


def test_no_rows_and_empty_rows():
    rows = LearningRows.of([0, 0, 0], np.zeros((0, 1)), [], [])
    for objective in OBJECTIVES:
        loss = objective.bind(rows)(np.zeros(0))
        assert np.array_equal(loss.value, [0, 0])
        assert loss.slope.shape == loss.curvature.shape == (0,)
    assert len(ExactExposure().bind(rows.take(np.array([], dtype=int)))(np.zeros(0)).value) == 0

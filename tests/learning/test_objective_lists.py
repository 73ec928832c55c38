"""Objectives of scores: cross-entropies, ListNet, LambdaLoss, DELTR."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from objective_cases import central_differences, ragged, same_in_any_block, spread_scores

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.objectives import DELTR, Binary, LambdaLoss, LambdaRank, ListNet
from rerankers.learning.rows import LearningRows

OBJECTIVES = [
    Binary(),
    ListNet(),
    LambdaLoss(),
    LambdaLoss("lambdarank", k=3),
    LambdaLoss("ndcg_loss_2", k=2, sigma=2.0),
    LambdaRank(truncation=4),
    DELTR("a", gamma=20.0),
    DELTR("b", gamma=3.0),
    DELTR("b", gamma=3.0, log_of_all=True),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_slopes_are_those_of_the_value(objective):
    rows = ragged()
    bound = objective.bind(rows)
    for spread in (0.5, 5.0):
        scores = spread_scores(rows.over.nnz, spread, 2)
        loss = bound(scores)
        assert np.max(np.abs(loss.slope - central_differences(bound, scores, 1e-6))) < 1e-7
        assert np.all(loss.curvature > 0)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_bits_do_not_depend_on_other_rows(objective):
    if not (isinstance(objective, DELTR) and objective.log_of_all):
        rows = ragged()
        assert same_in_any_block(objective, rows, spread_scores(rows.over.nnz))
        assert same_in_any_block(objective, rows, np.zeros(rows.over.nnz))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_hundreds_of_nats_ties_and_no_rows(objective):
    rows = ragged()
    for scores in (np.zeros(rows.over.nnz), spread_scores(rows.over.nnz, 500.0), spread_scores(rows.over.nnz, 1e5)):
        loss = objective.bind(rows)(scores)
        for array in (loss.value, loss.slope, loss.curvature):
            assert np.all(np.isfinite(array))
        assert np.all(np.abs(loss.slope) <= 20.001 * loss.curvature)
    none = rows.take(np.array([], dtype=int))
    assert len(objective.bind(none)(np.zeros(0)).value) == 0
    with pytest.raises(InputError, match="scores: found shape"):
        objective.bind(rows)(np.zeros(1))
    with pytest.raises(InputError, match="in query '2'"):
        objective.bind(rows)(np.r_[0, np.inf, np.zeros(rows.over.nnz - 2)])


def test_convex_losses_have_the_diagonal_of_their_hessian():
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    for objective in (Binary(), ListNet()):
        bound = objective.bind(rows)
        loss = bound(scores)
        for place in range(0, len(scores), 5):
            moved = np.zeros(len(scores))
            moved[place] = 1e-5
            second = (bound(scores + moved).slope[place] - bound(scores - moved).slope[place]) / 2e-5
            if second > 1e-6:
                assert loss.curvature[place] == pytest.approx(second, rel=1e-6)


def test_binary_is_the_cross_entropy():
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    chance, relevant = 1 / (1 + np.exp(-scores)), rows.grade > 0
    each = -np.where(relevant, np.log(chance), np.log(1 - chance))
    found = Binary().bind(rows)(scores)
    for row in range(len(rows)):
        assert found.value[row] == pytest.approx(each[rows.over.row(row)].sum(), rel=1e-12, abs=1e-15)
    assert np.allclose(found.slope, chance - relevant, atol=1e-15)


def test_list_net_is_the_cross_entropy_of_two_softmaxes():
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    found = ListNet().bind(rows)
    for row in range(len(rows)):
        place = rows.over.row(row)
        grade, score = np.exp(rows.grade[place]), np.exp(scores[place])
        expected = -(grade / grade.sum() * np.log(score / score.sum())).sum() if len(grade) else 0
        assert found(scores).value[row] == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert found.counts == {"queries_without_relevant": 1, "queries_of_one_grade": 3}


def test_list_net_asks_for_equal_scores_where_grades_are_equal():
    rows = LearningRows.of([0, 3], np.zeros((3, 1)), [2, 2, 2])
    bound = ListNet().bind(rows)
    assert np.max(np.abs(bound(np.full(3, 7.0)).slope)) < 1e-15
    assert bound(np.array([1.0, 0, 0])).slope[0] > 0


def plain_lambda_loss(grade, score, weights, k, sigma, mu):
    """Sum over pairs, as the papers write it."""
    n = len(grade)
    rank = {d: place + 1 for place, d in enumerate(sorted(range(n), key=lambda d: -score[d]))}
    k = k or n
    best = sum((2**g - 1) / math.log2(1 + r) for r, g in enumerate(sorted(grade, reverse=True)[:k], 1))
    total = 0.0
    for i in range(n):
        for j in range(n):
            if grade[i] > grade[j] and min(rank[i], rank[j]) <= k:
                gap = abs(rank[i] - rank[j])
                first = abs(1 / math.log2(1 + rank[i]) - 1 / math.log2(1 + rank[j]))
                second = abs(1 / math.log2(1 + gap) - 1 / math.log2(2 + gap))
                weight = {"lambdarank": first, "ndcg_loss_2": second, "ndcg_loss_2pp": first + mu * second}[weights]
                weight *= (2 ** grade[i] - 2 ** grade[j]) / best
                total += weight * math.log2(1 + math.exp(-sigma * (score[i] - score[j])))
    return total


@pytest.mark.parametrize("weights", ["lambdarank", "ndcg_loss_2", "ndcg_loss_2pp"])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_lambda_loss_is_the_sum_over_pairs(weights, k):
    rows = ragged()
    scores = spread_scores(rows.over.nnz)
    found = LambdaLoss(weights, k, 1.5, 4.0).bind(rows)(scores)
    for row in range(len(rows)):
        place = rows.over.row(row)
        expected = plain_lambda_loss(rows.grade[place], scores[place], weights, k, 1.5, 4.0)
        assert found.value[row] == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert not np.any(found.slope[rows.over.row(2)])


def test_lambdarank_is_lambda_loss_and_lightgbms():
    rows = ragged(whole=True)
    scores = spread_scores(rows.over.nnz)
    ours = LambdaRank(truncation=5, sigmoid=2.0).bind(rows)(scores)
    assert np.array_equal(ours.slope, LambdaLoss("lambdarank", 5, 2.0).bind(rows)(scores).slope)
    assert LambdaRank(truncation=5).native() == {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 5,
        "lambdarank_norm": True,
        "sigmoid": 1.0,
    }
    assert LambdaRank(label_gain=[0, 1, 3]).native()["label_gain"] == [0, 1, 3]
    assert Binary().native() == {"objective": "binary"}


def test_given_gains_are_those_of_whole_grades():
    rows = ragged(whole=True)
    scores = spread_scores(rows.over.nnz)
    usual, given_gains = LambdaLoss(), LambdaLoss(label_gain=[0.0, 1.0, 3.0, 7.0])
    one, other = usual.bind(rows)(scores), given_gains.bind(rows)(scores)
    assert np.allclose(one.slope, other.slope, rtol=1e-12, atol=1e-15)
    with pytest.raises(InputError, match=r"grade: found 0.5 in query '7'"):
        given_gains.bind(ragged())
    with pytest.raises(InputError, match=r"0 to 1"):
        LambdaLoss(label_gain=[0.0, 1.0]).bind(rows)


def plain_deltr(grade, score, protected, known, gamma, size):
    wanted, given_chance = np.exp(grade) / np.exp(grade).sum(), np.exp(score) / np.exp(score).sum()
    loss = -(wanted * np.log(given_chance)).sum() / math.log(size) if len(grade) > 1 else 0.0
    inside, outside = protected & known, ~protected & known
    if inside.any() and outside.any():
        loss += gamma * max(0, (given_chance[outside].mean() - given_chance[inside].mean()) / math.log(2)) ** 2
    return loss


def test_deltr_is_list_net_with_a_penalty():
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    assert rows.groups is not None
    item, group, _ = rows.groups.entries(rows.over.doc)
    names = np.array(rows.groups.groups)[group[np.argsort(item)]]
    for log_of_all in (False, True):
        bound = DELTR("a", 7.0, log_of_all).bind(rows)
        for row in range(len(rows)):
            place = rows.over.row(row)
            own = names[place]
            size = rows.over.nnz if log_of_all else len(own)
            expected = plain_deltr(rows.grade[place], scores[place], own == "a", own != "unknown", 7.0, size)
            expected = 0.0 if not len(own) else expected
            assert bound(scores).value[row] == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert bound.counts["documents_of_unknown_group"] == 2
    assert bound.counts["queries_of_one_side"] == 2


@pytest.mark.shared_data
def test_deltr_against_finite_differences_of_the_published_loss(shared):
    cases = json.loads((shared / "oracles" / "algorithms" / "deltr.json").read_text())["cases"]
    for case in cases:
        features, qid, weights = np.array(case["X"]), np.array(case["qid"]), np.array(case["w"])
        bounds = np.concatenate([np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]]), [len(qid)]])
        groups = ["p" if value == 1 else "n" for value in features[:, case["protected_col"]]]
        rows = LearningRows.of(bounds, features, case["y"], groups)
        loss = DELTR("p", case["gamma"], log_of_all=True).bind(rows)(features @ weights)
        for row, expected in enumerate(case["per_query"][str(q)] for q in qid[bounds[:-1]]):
            place = rows.over.row(row)
            assert loss.value[row] == pytest.approx(expected["loss"], abs=1e-12)
            slope = loss.slope[place] @ features[place]
            assert np.max(np.abs(slope - expected["grad_finite_diff"])) < 1e-6


def test_deltr_refuses_what_it_cannot_do():
    rows = ragged()
    with pytest.raises(ConfigError, match=r"objective.protected: found 'A'.*a, b"):
        DELTR("A").bind(rows)
    with pytest.raises(ConfigError, match=r"objective.protected: found ''"):
        DELTR().bind(rows)
    with pytest.raises(ConfigError, match=r"expected one of a, b"):
        DELTR("unknown").bind(rows)
    with pytest.raises(InputError, match="groups: found none"):
        DELTR("a").bind(replace(rows, groups=None))
    with pytest.raises(ConfigError, match="gamma"):
        DELTR("a", gamma=-1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: LambdaLoss("lambda"),
        lambda: LambdaLoss(k=0),
        lambda: LambdaLoss(sigma=0),
        lambda: LambdaLoss(mu=math.nan),
        lambda: LambdaLoss(label_gain=[1, 0]),
        lambda: LambdaLoss(label_gain=[]),
        lambda: LambdaRank(truncation=0),
        lambda: LambdaRank(sigmoid=-1),
    ],
)
def test_wrong_options_are_named(wrong):
    with pytest.raises(ConfigError, match=r"^objective\.\w+.*: found"):
        wrong()


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(0, 3)), min_size=1, max_size=8), st.floats(-5, 5))
def test_losses_of_orders_do_not_feel_a_common_shift(pairs, shift):
    scores, grades = np.array([pair[0] for pair in pairs]), [pair[1] for pair in pairs]
    rows = LearningRows.of(
        [0, len(pairs)], np.zeros((len(pairs), 1)), grades, ["a", "b"] * 4 if len(pairs) == 8 else None
    )
    objectives = [ListNet(), *([DELTR("a", 5.0)] if len(pairs) == 8 else [])]
    for objective in objectives:
        one, other = objective.bind(rows)(scores), objective.bind(rows)(scores + shift)
        assert np.allclose(one.value, other.value, rtol=1e-10, atol=1e-10)
        assert abs(one.slope.sum()) < 1e-10
    assert abs(LambdaLoss().bind(rows)(scores).slope.sum()) < 1e-10

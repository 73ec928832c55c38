"""Mixtures of relevance and fairness, second-order terms that converge, and the options' files."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import get_class
from objective_cases import Floats, difference_along, generated, ragged, same_in_any_block, spread_scores
from omegaconf import OmegaConf

from rerankers._base.errors import ConfigError
from rerankers._base.fingerprint import fingerprint
from rerankers.exposure import DCG, GERR, RBP, Positions, TopKSet
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.learning.objectives import (
    DELTR,
    Binary,
    ExactExposure,
    FairPGRank,
    LambdaLoss,
    LambdaRank,
    ListNet,
    Mixture,
    PLUtility,
    with_fairness,
)
from rerankers.learning.objectives.base import Objective
from rerankers.learning.objectives.policy import PolicyAt, geometric_weights

CONF = Path(__file__).resolve().parents[2] / "conf" / "objective"
ALL = [Binary(), ListNet(), LambdaLoss(), LambdaRank(), ExactExposure(), PLUtility(), DELTR("a"), FairPGRank()]


@pytest.mark.parametrize("objective", ALL, ids=str)
@pytest.mark.parametrize("unfairness", ["group", "individual"])
def test_a_mixture_is_the_sum(objective, unfairness):
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    mixed = with_fairness(objective, 0.7, unfairness)
    one, other = objective.bind(rows)(scores), ExactExposure(unfairness).bind(rows)(scores)
    both = mixed.bind(rows)(scores)
    assert np.allclose(both.value, one.value + 0.7 * other.value, rtol=1e-13, atol=1e-13)
    assert np.allclose(both.slope, one.slope + 0.7 * other.slope, rtol=1e-13, atol=1e-13)
    assert difference_along(mixed.bind(rows), scores, both.slope) < 1e-7
    assert np.all(both.curvature >= np.abs(both.slope) / 20)
    assert mixed.scores == "logit"
    assert mixed.needs_groups == (objective.needs_groups or unfairness == "group")
    assert same_in_any_block(mixed, rows, scores)
    assert both.curvature.min() > 0


def test_policies_share_one_exposure(monkeypatch):
    rows = ragged()
    calls = []
    usual = PolicyAt.exposure
    monkeypatch.setattr(PolicyAt, "exposure", lambda policy: (calls.append(1), usual(policy))[1])
    scores = spread_scores(rows.over.nnz)
    with_fairness(PLUtility(browsing=RBP(0.9)), 1.0).bind(rows)(scores)
    assert len(calls) == 1
    with_fairness(PLUtility(browsing=RBP(0.9)), 1.0, browsing=DCG()).bind(rows)(scores)
    assert len(calls) == 3


def test_weight_none_is_the_objective_itself():
    objective = ListNet()
    assert with_fairness(objective, 0.0) is objective
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ConfigError, match="fairness_weight"):
            with_fairness(objective, wrong)
    with pytest.raises(ConfigError, match="Did you mean 'group'"):
        with_fairness(objective, 1.0, "groups")


def test_fairness_takes_the_objectives_model_and_gradient():
    mixed = with_fairness(PLUtility("pl_rank_3", 50, RBP(0.9)), 2.0, "individual")
    assert mixed.unfairness == ExactExposure("individual", "pl_rank_3", 50, RBP(0.9))
    assert with_fairness(PLUtility(browsing=RBP(0.9)), 2.0, browsing=DCG()).unfairness.browsing == DCG()
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    bound = mixed.bind(rows, 4)
    exact = with_fairness(PLUtility(browsing=RBP(0.9)), 2.0, "individual").bind(rows)(scores)
    slopes = np.array([bound(scores, step).slope for step in range(30)])
    error = slopes.std(axis=0, ddof=1) / np.sqrt(30) + 1e-12
    assert np.all(np.abs(slopes.mean(axis=0) - exact.slope) < 5.5 * error)


def test_counts_of_mixtures_are_not_counted_twice():
    rows = ragged()
    plain = PLUtility().bind(rows).counts
    assert with_fairness(PLUtility(), 1.0).bind(rows).counts == plain
    assert with_fairness(ListNet(), 1.0).bind(rows).counts == plain


def descent(objective: Objective, rate: float, steps: int) -> Floats:
    """Return the mean losses of Newton steps by the diagonal, each score by itself."""
    rows = generated(12)
    bound, scores, values = objective.bind(rows), np.zeros(rows.over.nnz), []
    for _ in range(steps):
        loss = bound(scores)
        values.append(loss.value.mean())
        scores = scores - rate * loss.slope / loss.curvature
    return np.array([*values, bound(scores).value.mean()])


@pytest.mark.parametrize("browsing", [GERR(), RBP(0.9), DCG(), TopKSet(5)], ids=str)
@pytest.mark.parametrize("kind", ["individual", "group", "utility", "mixed"])
def test_newton_steps_converge(browsing, kind):
    """No step rises at the usual learning rates, and the loss ends near its least."""
    objective = {
        "individual": ExactExposure(browsing=browsing),
        "group": ExactExposure("group", browsing=browsing),
        "utility": PLUtility(browsing=browsing),
        "mixed": with_fairness(PLUtility(browsing=browsing), 1.0),
    }[kind]
    slow, fast = descent(objective, 0.1, 30), descent(objective, 0.3, 60)
    least = 0.0 if kind in ("individual", "group") else -1.0
    assert np.max(np.diff(slow)) <= 1e-12
    assert np.max(np.diff(fast)) <= 1e-12
    assert fast[-1] - least < 0.06 * (fast[0] - least)


@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize(
    "objective",
    [ExactExposure(), ExactExposure("group"), PLUtility(), with_fairness(PLUtility(), 1.0), DELTR("a", 10.0)],
    ids=str,
)
def test_boosting_descends_faster_than_with_constant_curvature(objective, rate):
    lightgbm = pytest.importorskip("lightgbm")
    rows = generated()
    bound, ends = objective.bind(rows), {}
    options = {
        "learning_rate": rate,
        "num_leaves": 15,
        "min_data_in_leaf": 5,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
    }
    for constant in (False, True):
        values = []

        def newton(scores, data, constant=constant, values=values):
            assert data.get_group().tolist() == rows.over.lengths.tolist()
            loss = bound(np.asarray(scores, dtype=float))
            values.append(loss.value.mean())
            return loss.slope, np.ones(len(scores)) if constant else loss.curvature

        data = lightgbm.Dataset(rows.features, rows.grade, group=rows.over.lengths)
        lightgbm.train({**options, "objective": newton}, data, 40)
        assert np.max(np.diff(values)) < 1e-3 * abs(values[0])
        ends[constant] = values[-1]
    assert ends[False] < ends[True]


@pytest.mark.parametrize("many", [0, 32])
def test_group_directions_stay_below_the_bound(many, monkeypatch):
    """The Gauss-Newton matrix is nowhere steeper than three times the curvature: rates up to 1/3 never rise."""
    monkeypatch.setattr("rerankers.learning.objectives.policy.MANY", many)
    rows = generated(4, 12)
    for browsing in (GERR(), RBP(0.9)):
        objective = ExactExposure("both", browsing=browsing)
        block = objective.bind(rows)._blocks[0]
        scores = spread_scores(rows.over.nnz, 1.5)
        policy = PolicyAt(rows.indptr, scores, block.browsing, None)
        for _, term in block.terms:
            cells = term.cells
            jacobian = np.array([policy.gradient(cells.back(one)) for one in np.eye(int(cells.cell_ptr[-1]))])
            bound = policy.curvature(np.zeros(len(scores)), np.zeros(len(scores)), [(1.0, cells)])
            for row in range(len(rows)):
                place, inside = rows.over.row(row), slice(int(cells.cell_ptr[row]), int(cells.cell_ptr[row + 1]))
                own = jacobian[inside, place]
                if many and not cells.single:
                    assert np.all(bound[place] >= 2 * (own**2).sum(axis=0) * (1 - 1e-4))
                scaled = 2 * own.T @ own / np.sqrt(np.outer(bound[place], bound[place]))
                assert np.linalg.eigvalsh(scaled).max() <= 3.001


def test_curvature_scales_with_the_loss():
    rows = ragged()
    scores = spread_scores(rows.over.nnz, 1.0)
    one, ten = (Mixture(PLUtility(), ExactExposure("both"), weight).bind(rows)(scores) for weight in (1e4, 1e5))
    large = one.curvature > 1e-2
    assert np.allclose(ten.curvature[large], 10 * one.curvature[large], rtol=1e-2)


def test_geometric_weights_stand_for_those_of_ranks():
    indptr = np.array([0, 1, 1, 6, 16])
    for model in (DCG(), TopKSet(3), DCG(cutoff=2), GERR(0.7, 0.5, cutoff=4), Positions((0.0,))):
        position = model.bind(np.zeros(16), indptr).position
        factor, ratio = geometric_weights(model.bind(np.zeros(16), indptr), indptr)
        for row, length in enumerate(np.diff(indptr)):
            weight, stand_in = position[:length], ratio[row] ** np.arange(length)
            assert weight.sum() >= (weight[:1] * stand_in).sum() - 1e-9
            if length > 1 and weight[0] > 0:
                assert ratio[row] <= weight[1] / weight[0]
                one, pull = np.array([0, length]), np.eye(length)[0]
                moved = [
                    plackett_luce_gradient(one, np.zeros(length), Positions(tuple(each)).bind(None, one), pull)[0]
                    for each in (weight, factor[row] * stand_in)
                ]
                assert moved[0] <= moved[1] * (1 + 1e-9)
                assert factor[row] == pytest.approx(max(weight[0], factor[row] * moved[0] / moved[1]), rel=1e-9)
    assert not factor.any()


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_options_files_say_the_defaults(path):
    given = OmegaConf.to_container(OmegaConf.load(path))
    kind = get_class(given.pop("_target_"))
    changed = {"gradient": "pl_rank_3"} if path.stem == "pl_rank_3" else {}
    spec = kind(**given)
    assert spec == replace(kind(), **changed)
    options = [item.name for item in fields(kind) if item.name != "browsing"]
    assert list(given) == options
    assert all(item.default is not MISSING for item in fields(kind))
    assert fingerprint(spec) == fingerprint(kind(**given))
    assert spec.scores in ("score", "logit", "log_odds")
    assert OmegaConf.structured(kind) is not None


def test_mixtures_have_fingerprints():
    assert fingerprint(with_fairness(ListNet(), 1.0)) != fingerprint(with_fairness(ListNet(), 2.0))

"""The additive model: against a plain twin fitted by Newton's method, converged, steady bits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from additive_cases import curved
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from training_worlds import rows_of

from rerankers.exposure import RBP
from rerankers.learning.additive import Additive, AdditiveScorer
from rerankers.learning.additive.fitting import _quantiles
from rerankers.learning.additive.terms import Terms
from rerankers.learning.objectives import DELTR, Binary, ExactExposure, LambdaLoss, ListNet
from rerankers.learning.rows import LearningRows

Floats = np.ndarray


def design(rows: LearningRows, like: LearningRows, options: Additive) -> Floats:
    """Return the twin's standardised terms of ``rows``, learnt from ``like``: loops over queries, one list a term."""

    def raw(rows: LearningRows) -> list[Floats]:
        terms = []
        for at in range(rows.features.shape[1]):
            known = like.features[~np.isnan(like.features[:, at]), at]
            bounds = list(pairwise(like.indptr))
            level = all(len(set(map(str, like.features[a:b, at]))) <= 1 for a, b in bounds)
            column = rows.features[:, at]
            line = np.zeros(len(column))
            for a, b in pairwise(rows.indptr):
                own = known if level else column[a:b][~np.isnan(column[a:b])]
                if len(own) and own.std() > 0:
                    line[a:b] = np.nan_to_num((column[a:b] - own.mean()) / own.std())
            terms.append(np.clip(line, -options.clip, options.clip))
            if len(set(known.tolist())) >= 8:
                for knot in np.unique(np.quantile(known, np.linspace(0.1, 0.9, options.knots))):
                    hinge = np.maximum(column - knot, 0)
                    hinge = np.where(np.isnan(hinge), np.maximum(known - knot, 0).mean(), hinge)
                    if not level:
                        for a, b in pairwise(rows.indptr):
                            hinge[a:b] -= hinge[a:b].mean() if b > a else 0
                    terms.append(hinge)
        return terms

    spread = [(term.mean(), term.std()) for term in raw(like)]
    return np.column_stack([(t - m) / s if s > 1e-9 else 0 * t for t, (m, s) in zip(raw(rows), spread, strict=True)])


def ridge(terms: Floats, label: Floats, l2: float) -> Floats:
    """Return weights of ridge logistic regression by Newton's method, the free intercept last."""
    full = np.column_stack([terms, np.ones(len(terms))])
    penalty = np.append(np.full(terms.shape[1], l2), 0.0)
    at = np.zeros(full.shape[1])
    for _ in range(30):
        p = expit(full @ at)
        curvature = full.T @ (full * (p * (1 - p))[:, None]) + np.diag(penalty + 1e-12)
        at = at - np.linalg.solve(curvature, full.T @ (p - label) + penalty * at)
    return at


@pytest.mark.parametrize("options", [Additive(l2=3.0), Additive(l2=0.5, knots=3, clip=1.0), Additive(knots=0)], ids=str)
def test_it_is_ridge_regression_on_the_terms(options: Additive) -> None:
    train, other = curved(), curved(15, seed=1)
    fit = options.fit(train, Binary())
    weights = ridge(design(train, train, options), train.grade, options.l2)
    for rows in (train, other):
        expected = design(rows, train, options) @ weights[:-1] + weights[-1]
        np.testing.assert_allclose(fit.scorer.score(rows.features, rows.indptr), expected, atol=2e-6)
    assert "stopped_before_convergence" not in fit.counts
    assert fit.counts["features_constant"] == 1
    # The curve's last point is the mean loss without the penalty.
    score = fit.scorer.score(train.features, train.indptr)
    loss = Binary().bind(train)(score).value.mean()
    assert fit.curve[-1].values["train"] == pytest.approx(loss, rel=1e-9)
    assert fit.iterations == len(fit.curve)


def test_hinges_find_the_curve() -> None:
    train, other = curved(150), curved(150, seed=5)
    lines = Additive(l2=1.0, knots=0).fit(train, Binary()).scorer
    curves = Additive(l2=1.0).fit(train, Binary()).scorer
    loss = [Binary().bind(other)(one.score(other.features, other.indptr)).value.mean() for one in (lines, curves)]
    assert loss[1] < 0.9 * loss[0]


@pytest.mark.parametrize(
    "objective",
    [Binary(), ListNet(), DELTR(protected="a"), ExactExposure(browsing=RBP(0.8))],
    ids=lambda one: type(one).__name__,
)
def test_the_slope_vanishes_at_the_end(objective: Any) -> None:
    rows = curved(25) if not objective.needs_groups else rows_of(25)
    options = Additive(l2=0.5, knots=2)
    fit = options.fit(rows, objective)
    scorer = fit.scorer
    assert isinstance(scorer, AdditiveScorer)
    terms = np.array(list(scorer.terms(rows.features, rows.indptr)))
    bound = objective.bind(rows)

    def total(weight: Floats) -> float:
        return float(bound(weight @ terms + scorer.intercept).value.sum() + 0.25 * np.sum(weight**2))

    slope = terms @ bound(scorer.score(rows.features, rows.indptr)).slope + 0.5 * scorer.weight
    assert np.abs(slope).max() < 1e-6 * len(rows)
    assert total(scorer.weight) < total(np.zeros(len(scorer.weight)))
    draw = np.random.default_rng(0)
    for _ in range(20):
        assert total(scorer.weight + 1e-3 * draw.normal(size=len(scorer.weight))) > total(scorer.weight)


def test_a_loss_that_jumps_still_gets_lower() -> None:
    rows = curved(30)
    fit = Additive(l2=0.1).fit(rows, LambdaLoss(k=5))
    losses = [point.values["train"] for point in fit.curve]
    assert losses[-1] < losses[0]


def test_bits(tmp_path: Path) -> None:
    rows = curved()
    first, again = (Additive(l2=1.0).fit(rows, Binary(), seed=seed, checkpoint=tmp_path).scorer for seed in (0, 1))
    whole = first.score(rows.features, rows.indptr)
    assert again.score(rows.features, rows.indptr).tobytes() == whole.tobytes()
    for row in range(len(rows)):
        place = rows.over.row(row)
        bounds = np.array([0, place.stop - place.start])
        assert first.score(np.asfortranarray(rows.features[place]), bounds).tobytes() == whole[place].tobytes()
    order = np.random.default_rng(0).permutation(len(rows))
    mixed = rows.take(order)
    found = first.score(mixed.features, mixed.indptr)
    for at, row in enumerate(order):
        assert found[mixed.over.row(at)].tobytes() == whole[rows.over.row(int(row))].tobytes()
    assert not list(tmp_path.iterdir())
    for indptr in ([0], [0, 0, 0]):
        assert first.score(np.empty((0, 4)), np.array(indptr)).shape == (0,)


@settings(max_examples=40)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.integers(0, 50))
def test_units_of_features_do_not_matter(factor: float, shift: float, seed: int) -> None:
    rows = curved(8, seed)
    options = Additive()
    terms = []
    for features in (rows.features, rows.features * factor + shift):
        learnt = Terms.learn(features, rows.indptr, rows.names, _quantiles(options), options.clip)
        terms.append(np.array(list(learnt(features, rows.indptr))))
    assert terms[0].shape == terms[1].shape
    np.testing.assert_allclose(terms[1], terms[0], atol=1e-6)

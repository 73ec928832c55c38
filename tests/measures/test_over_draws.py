"""Measures of the distribution over draws, against enumerated policies."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from rerankers.exposure import DCG, GERR, RBP, BrowsingModel, TopKSet
from rerankers.measures.consistency import mean_overlap
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.exposure_variance import variances
from rerankers.measures.never_seen import unseen_by_sample
from rerankers.measures.rank_overlap import rbo
from rerankers.policies import GradeShuffle, PlackettLuce
from rerankers.values import Rankings
from tests.measures.draw_worlds import (
    GRADES,
    GROUPS,
    POLICIES,
    STREAM,
    N,
    enumerated,
    one_query,
    value,
)


@pytest.fixture(params=list(POLICIES))
def scene(request: pytest.FixtureRequest) -> tuple[Evaluation, list[tuple[float, list[int]]]]:
    evaluation = one_query(GRADES, [*GROUPS], POLICIES[request.param])
    return evaluation, enumerated(evaluation.source, N)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [GERR(), RBP(0.8), DCG(), TopKSet(2), RBP(0.7, cutoff=3), GERR(0.9, 0.3)])
def test_variance_has_a_closed_form(
    scene: tuple[Evaluation, list[tuple[float, list[int]]]], model: BrowsingModel
) -> None:
    evaluation, all_rankings = scene
    found, few = variances(evaluation, model)
    assert not few
    first, second = np.zeros(N), np.zeros(N)
    grade = np.maximum([g or 0 for g in GRADES[:N]], 0)
    for weight, order in all_rankings:
        over = evaluation.source.over
        rankings = Rankings.of_matrix(over, [np.array([order])])
        exposure = Evaluation(rankings, evaluation.judgments).candidate_exposure(model).value
        assert model != GERR() or exposure[order[1]] == pytest.approx(0.5 * (1 - 0.5 * (grade[order[0]] > 0)))
        first += weight * exposure
        second += weight * exposure**2
    assert found == pytest.approx(second - first**2, abs=1e-12)


@pytest.mark.slow
def test_shares_inclusion_and_overlap_of_every_policy(scene: tuple[Evaluation, list[tuple[float, list[int]]]]) -> None:
    evaluation, all_rankings = scene
    mean_share = sum(w * sum(GROUPS[doc].get("a", 0.0) for doc in order[:2]) / 2 for w, order in all_rankings)
    assert value(evaluation, "group_share(cell='a')@2") == pytest.approx(mean_share, abs=1e-12)
    assert value(evaluation, "share(group='g',cell='a')@2") == pytest.approx(mean_share, abs=1e-12)
    relevant = {0: 1, 2: 2}
    unseen = {d: sum(w for w, order in all_rankings if d not in order[:2]) ** 3 for d in relevant}
    assert value(evaluation, "never_seen(n=3)@2") == pytest.approx((sum(unseen.values()) + 1) / 3, abs=1e-12)
    assert value(evaluation, "never_seen_count(n=3)@2") == pytest.approx(sum(unseen.values()) + 1, abs=1e-12)
    assert value(evaluation, "never_seen(n=3,rel=2)@2") == pytest.approx(unseen[2], abs=1e-12)
    of_a = (unseen[0] + 0.5 * unseen[2]) / 1.5
    assert value(evaluation, "never_seen(n=3,cell='a')@2") == pytest.approx(of_a, abs=1e-12)
    overlap = sum(v * w * rbo(one, two, 0.7) for v, one in all_rankings for w, two in all_rankings)
    exact = isinstance(evaluation.source, PlackettLuce | GradeShuffle)
    tolerance = 1e-12 if exact else 0.03
    assert value(evaluation, "consistency(p=0.7)") == pytest.approx(overlap, abs=tolerance)
    for kind in ("ext", "min"):
        top = sum(v * w * rbo(one[:2], two[:2], 0.7, kind=kind) for v, one in all_rankings for w, two in all_rankings)
        text = f"consistency(p=0.7,kind='{kind}')@2"
        assert value(evaluation, text) == pytest.approx(top, abs=tolerance * 3)


def test_exact_numbers_do_not_depend_on_draws(scene: tuple[Evaluation, list[tuple[float, list[int]]]]) -> None:
    evaluation, _ = scene
    one = Evaluation(evaluation.source, evaluation.judgments, evaluation.groups, Options(samples=1))
    for text in ("group_share(cell='b')@3", "never_seen@2", "exposure_variance", "exposure_variance(umodel='dcg')"):
        assert value(one, text) == value(evaluation, text)


def test_the_estimate_of_never_seen_is_unbiased() -> None:
    """Over all outcomes of S draws with inclusion probability x, the estimate has the mean (1 - x)^n."""
    draws, n, x = 6, 4, 0.37
    table = unseen_by_sample(draws, n)
    mean_of = sum(comb(draws, m) * (1 - x) ** m * x ** (draws - m) * table[m] for m in range(draws + 1))
    assert mean_of == pytest.approx((1 - x) ** n, abs=1e-14)
    assert table.tolist() == pytest.approx([comb(m, n) / comb(draws, n) for m in range(draws + 1)], abs=1e-15)
    assert unseen_by_sample(3, 4).tolist() == [0.0] * 4


def test_estimates_are_unbiased_over_many_draws() -> None:
    """Estimates from draws, averaged over seeds, meet the enumerated policy; so would no plug-in of four draws."""
    base = one_query(GRADES, [*GROUPS], POLICIES["labels"])
    everything = enumerated(base.source, N)  # type: ignore[arg-type]
    texts = ("consistency(p=0.7)", "group_out_of_bounds(cell='a',low=0.4)@2")
    each = {text: [] for text in texts}
    for seed in range(400):
        own = Evaluation(base.source, base.judgments, base.groups, Options(samples=4, seed=seed))
        for text in texts:
            each[text].append(value(own, text))
    exact = [sum(v * w * rbo(a, b, 0.7) for v, a in everything for w, b in everything)]
    exact += [sum(w for w, o in everything if sum(GROUPS[d].get("a", 0) for d in o[:2]) / 2 < 0.4)]
    for text, true in zip(texts, exact, strict=True):
        assert np.mean(each[text]) == pytest.approx(true, abs=4 * np.std(each[text]) / 20)


def test_long_rows_take_the_draws_and_agree() -> None:
    n = 400
    logit = np.random.default_rng(1).normal(size=n)
    short = one_query([1] * n, [{"a": 1.0}] * n, lambda over: PlackettLuce(over, logit, STREAM))
    exact = value(short, "consistency(p=0.8)@40")
    drawn = mean_overlap(short.draws, 0.8, cutoff=40)[0]
    assert exact == pytest.approx(drawn, abs=0.01)
    assert value(short, "consistency(p=0.99)") == mean_overlap(short.draws, 0.99)[0]

"""The group tilt: exact shares, projections, several attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilt_worlds import alignment, block, divergence, enumerated_exposure, left, shares

from rerankers.exposure import DCG, ERR, GERR, RBP, TopKSet
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.methods.kl_tilt import KlTilt, Tilted
from rerankers.methods.targets import EqualExposure, EstimatedShare, Population, Uniform, believed_browsing
from rerankers.methods.tilting.descent_loops import PROJECTED, REACHED
from rerankers.values import Block

SCORES = [2.0, 1.2, 0.7, 0.1, -0.4, -1.3]
LABELS = ["A", "B", "B", "A", "C", "B"]


@pytest.mark.parametrize("model", [GERR(), RBP(0.8), ERR(max_grade=1), GERR(0.9, 0.3, cutoff=3), DCG(), TopKSet(2)])
def test_shares_are_those_of_all_rankings(model: object) -> None:
    estimates = [0.9, 0.1, 0.5, 0.3, 0.05, 0.6]
    groups = {"g": alignment("g", LABELS)}
    part = block([SCORES], groups, [estimates], browsing=model, target=EqualExposure())
    found = KlTilt().tilted(part)
    assert found.tilts.status.tolist() == [REACHED]
    browsing = believed_browsing(part)
    exposure = enumerated_exposure(found.policy.logit, browsing.continuation, browsing.position)
    member = np.array([[label == g for g in "ABC"] for label in LABELS], dtype=float)
    target = EqualExposure().bind(part, "g")[0]
    assert divergence(target[:3], shares(exposure, member)) < 1e-12
    # the tilts of a group are the same for all of its documents
    moved = found.policy.logit - np.log(estimates)
    for g in "ABC":
        assert np.ptp(moved[[d for d, label in enumerate(LABELS) if label == g]]) < 1e-12


@given(
    data=st.data(),
    n=st.integers(1, 12),
    patience=st.floats(0.0, 0.95),
    satisfaction=st.floats(0.0, 1.0),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_reached_or_certified(data: st.DataObject, n: int, patience: float, satisfaction: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = data.draw(st.lists(st.sampled_from(["A", "B", "C", None]), min_size=n, max_size=n))
    groups = {"g": alignment("g", labels, data.draw(st.sampled_from(["count", "drop"])), "ABC")}
    share = rng.dirichlet(np.ones(3)).tolist()
    target = data.draw(
        st.sampled_from(
            [EqualExposure(), EstimatedShare(), Uniform(), Population(dict(zip("ABC", share, strict=True)))]
        )
    )
    part = block(
        [rng.normal(size=n).tolist()],
        groups,
        [rng.random(n).tolist()],
        browsing=GERR(patience, satisfaction),
        target=target,
    )
    found = KlTilt().tilted(part)
    rest = left(found, part)
    assert rest[0] == pytest.approx(found.tilts.divergence[0], abs=1e-13)
    if found.tilts.status[0] == REACHED:
        assert rest[0] <= 1.1e-12
    elif found.tilts.status[0] == PROJECTED:
        assert found.tilts.slope[0] <= 1e-9
        other = np.random.default_rng(seed + 1)
        for _ in range(20):  # no small change of the tilts does better
            step = 0.3 * other.normal(size=len(found.tilts.tilt))
            assert rest[0] <= at_tilts(found, part, found.tilts.tilt + step) + 1e-8


def at_tilts(found: Tilted, part: Block, tilt: np.ndarray) -> float:
    groups, base = found.groups, found.policy.logit.copy()
    for d in range(len(base)):
        for entry in range(groups.start[d], groups.start[d + 1]):
            base[d] += groups.weight[entry] * (tilt - found.tilts.tilt)[groups.group[entry]]
    exposure = plackett_luce_exposure(groups.indptr, base, believed_browsing(part))
    return divergence(groups.target, groups.shares(groups.totals(exposure)))


def test_fixed_point_twin() -> None:
    # b += log(target / exact share), recentred: the plain iteration for the same projection
    rng = np.random.default_rng(3)
    logit, member = rng.normal(size=40), np.eye(3)[rng.integers(0, 3, 40)]
    labels = ["ABC"[g] for g in member.argmax(axis=1)]
    target, model = np.array([0.5, 0.2, 0.3]), RBP(0.85)
    browsing, indptr, tilt = model.bind(None, np.array([0, 40])), np.array([0, 40]), np.zeros(3)
    for _ in range(400):
        own = shares(plackett_luce_exposure(indptr, logit + member @ tilt, browsing), member)
        tilt += np.log(target / own)
        tilt -= tilt.mean()
    wanted = Population({"A": 0.5, "B": 0.2, "C": 0.3})
    part = block([logit.tolist()], {"g": alignment("g", labels)}, browsing=model, target=wanted)
    found = KlTilt().tilted(part)
    score = (logit - logit.mean()) / logit.std()
    start = block([score.tolist()], part.groups, browsing=model, target=wanted)
    assert found.tilts.status[0] == REACHED == KlTilt().tilted(start).tilts.status[0]
    unit = KlTilt(temperature=1.0 / logit.std()).tilted(part).tilts  # the logits as they are, but for a constant
    np.testing.assert_allclose(unit.tilt - unit.tilt.mean(), tilt, atol=1e-5)


def test_top_one_is_the_closed_form() -> None:
    # with no patience only the first document is seen: q_d = softmax_d t_g / m_g
    target, mass = np.array([0.2, 0.5, 0.3]), np.exp(SCORES)
    wanted = Population(dict(zip("ABC", target.tolist(), strict=True)))
    part = block([SCORES], {"g": alignment("g", LABELS)}, [np.exp(SCORES) / 20], browsing=RBP(0.0), target=wanted)
    found = KlTilt().tilted(part)
    assert found.tilts.rounds.tolist() == [1]
    code = np.array(["ABC".index(label) for label in LABELS])
    wanted_chance = mass * (target / np.bincount(code, mass))[code]
    chance = np.exp(found.policy.logit)
    np.testing.assert_allclose(chance / chance.sum(), wanted_chance, rtol=1e-12)


def test_unreachable_target_is_projected_on_the_polytope() -> None:
    # one document of A can have no more than rank 1: 1 of 1 + .5 + .25
    target = Population({"A": 0.9, "B": 0.1})
    part = block([[0.0, 0.3, -0.2]], {"g": alignment("g", ["A", "B", "B"])}, browsing=RBP(0.5), target=target)
    found = KlTilt().tilted(part)
    assert found.counts["targets_projected"] == 1
    np.testing.assert_allclose(found.tilts.share, [1 / 1.75, 0.75 / 1.75], atol=1e-9)
    assert found.tilts.divergence[0] == pytest.approx(divergence(np.array([0.9, 0.1]), found.tilts.share), abs=1e-12)


def test_projection_with_levels() -> None:
    # RBP: A and B both want more than any order gives; A first, then B, then C is the projection (by its faces)
    wanted = {"A": 0.8, "B": 0.19, "C": 0.01}
    labels = ["C", "B", "A", "C", "B", "C"]
    part = block([SCORES], {"g": alignment("g", labels)}, browsing=RBP(0.5), target=Population(wanted))
    found = KlTilt().tilted(part)
    power = 0.5 ** np.arange(6)
    best = np.array([power[:1].sum(), power[1:3].sum(), power[3:].sum()]) / power.sum()
    assert found.tilts.status[0] == PROJECTED
    np.testing.assert_allclose(found.tilts.share, best, atol=1e-8)


def test_zero_target_goes_last_and_the_rest_keep_their_ratio() -> None:
    target = Population({"A": 0.0, "B": 0.5, "C": 0.5})
    labels = ["A", "A", "B", "B", "C", "C"]
    part = block([SCORES], {"g": alignment("g", labels)}, browsing=RBP(0.7), target=target)
    found = KlTilt().tilted(part)
    power = 0.7 ** np.arange(6)
    last = power[4:].sum() / power.sum()
    np.testing.assert_allclose(found.tilts.share, [last, (1 - last) / 2, (1 - last) / 2], atol=1e-8)
    items = found.policy.sample(50, 0).item.reshape(50, 6)
    assert np.all(np.sort(items[:, 4:], axis=1) == [0, 1])


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_partial_strength(strength: float) -> None:
    target = np.array([0.5, 0.3, 0.2])
    wanted = Population(dict(zip("ABC", target.tolist(), strict=True)))
    part = block([SCORES], {"g": alignment("g", LABELS)}, browsing=RBP(0.4), target=wanted)
    logit = (np.array(SCORES) - np.mean(SCORES)) / np.std(SCORES)
    member = np.array([[label == g for g in "ABC"] for label in LABELS], dtype=float)
    own = shares(enumerated_exposure(logit, np.full(6, 0.4)), member)
    mixed = target**strength * own ** (1 - strength)
    found = KlTilt(strength=strength).tilted(part)
    assert found.tilts.status.tolist() == [REACHED]
    np.testing.assert_allclose(found.tilts.share, mixed / mixed.sum(), atol=2e-6)
    if strength == 0.0:
        np.testing.assert_allclose(found.tilts.tilt, 0.0, atol=2e-6)


def test_several_attributes_at_once() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60).tolist()
    one, two = ["AB"[i] for i in rng.integers(0, 2, 60)], ["xyz"[i] for i in rng.integers(0, 3, 60)]
    groups = {"one": alignment("one", one), "two": alignment("two", two)}
    wanted = {"one:A": 0.3, "one:B": 0.7, "two:x": 0.2, "two:y": 0.2, "two:z": 0.6}
    part = block([scores], groups, browsing=RBP(0.9), target=Population(wanted))
    found = KlTilt().tilted(part)
    assert found.attributes == ("one", "two")
    np.testing.assert_allclose(found.tilts.share, list(wanted.values()), atol=1e-5)
    assert left(found, part)[0] < 1e-12
    only = KlTilt(attributes=["two"]).tilted(part)
    assert len(only.groups.target) == 3


def test_conflicting_attributes_share_the_divergence() -> None:
    labels = ["A", "B", "A", "B", "A", "B"]
    groups = {"one": alignment("one", labels), "two": alignment("two", labels)}
    wanted = Population({"one:A": 0.6, "one:B": 0.4, "two:A": 0.4, "two:B": 0.6})
    part = block([SCORES], groups, browsing=RBP(0.9), target=wanted)
    found = KlTilt().tilted(part)
    assert found.tilts.status[0] == PROJECTED
    np.testing.assert_allclose(found.tilts.share, [0.5] * 4, atol=1e-6)  # the least of both divergences together


def test_overlapping_and_soft_memberships() -> None:
    soft = [{"A": 0.7, "B": 0.3}, {"A": 1.0}, {"B": 1.0}, {"A": 0.5, "B": 0.5}, {"B": 1.0}, {"A": 1.0, "B": 1.0}]
    wanted = Population({"A": 0.45, "B": 0.55})
    part = block([SCORES], {"g": alignment("g", soft)}, browsing=GERR(0.8, 0.5), target=wanted)
    found = KlTilt().tilted(part)
    member = np.array([[one.get(g, 0.0) for g in "AB"] for one in soft])
    exposure = enumerated_exposure(found.policy.logit, believed_browsing(part).continuation)
    assert divergence(np.array([0.45, 0.55]), shares(exposure, member)) < 1e-12
    tilt = found.policy.logit - KlTilt(strength=0.0).tilted(part).policy.logit
    np.testing.assert_allclose(tilt, member @ np.linalg.lstsq(member, tilt, rcond=None)[0], atol=1e-12)


def test_slopes_of_group_exposure_are_those_of_documents() -> None:
    from rerankers.exposure.group_shares_loops import ROWS, group_sums

    rng = np.random.default_rng(1)
    n, size = 50, 4
    logit, stop = rng.normal(scale=3.0, size=n), np.where(rng.random(n) < 0.2, 1.0, rng.random(n))
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 3, n))])
    group, weight = rng.integers(0, size, start[-1]), rng.random(start[-1])
    member = np.zeros((n, size))
    np.add.at(member, (np.repeat(np.arange(n), np.diff(start)), group), weight)
    value, slope = np.empty(size), np.empty((size, size))
    group_sums(logit, stop, start, group, weight, value, slope, np.empty((ROWS, n)), np.empty((2, size)))
    browsing = replace(RBP(0.5).bind(None, np.array([0, n])), continuation=1.0 - stop)
    indptr = np.array([0, n])
    np.testing.assert_allclose(value, member.T @ plackett_luce_exposure(indptr, logit, browsing), atol=1e-13)
    pulls = [plackett_luce_gradient(indptr, logit, browsing, np.ascontiguousarray(one)) for one in member.T]
    np.testing.assert_allclose(slope, np.array(pulls) @ member, atol=1e-13)

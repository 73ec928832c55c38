"""NDKL, rND, rKL, rRD and GFR of single rankings: written out, brute force, edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.divergences import jsd, rnod
from rerankers.measures.fairweb import gfr
from rerankers.measures.prefix_divergence import ndkl
from rerankers.measures.prefix_shares import DISTANCES, prefix_parity
from rerankers.measures.rank_fairness import js_divergence

LABELS = st.lists(st.sampled_from("abc"), min_size=2, max_size=12)


def plain_ndkl(labels: list[str], target: dict[str, float]) -> float:
    total = scale = 0.0
    for i in range(1, len(labels) + 1):
        kl = 0.0
        for group, due in target.items():
            share = labels[:i].count(group) / i
            kl += share * math.log(share / due) if share else 0.0
        total, scale = total + kl / math.log2(i + 1), scale + 1 / math.log2(i + 1)
    return total / scale


@given(LABELS)
def test_ndkl_is_the_sum_written_out(labels: list[str]) -> None:
    target = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert ndkl(labels, target) == pytest.approx(plain_ndkl(labels, target), rel=1e-12, abs=1e-15)
    assert ndkl(labels) >= 0
    assert ndkl(labels, {"c": 2, "b": 3, "a": 5}) == ndkl(labels, target)
    weights = [[float(label == group) for group in "abc"] for label in labels]
    assert ndkl(np.array(weights), [0.5, 0.3, 0.2]) == ndkl(labels, target)


def test_ndkl_refuses_what_is_infinite_or_empty() -> None:
    with pytest.raises(InputError, match="nothing for b"):
        ndkl(["a", "b"], {"a": 1.0})
    assert ndkl(["a", "b"], {"a": 1.0}, smoothing=0.01) > 0
    assert ndkl(["a"]) == ndkl(["a", "a"]) == 0
    for wrong in ([], [None, None], np.zeros((2, 2)), [[-1.0, 2.0]], np.zeros((2, 2, 2))):
        with pytest.raises(InputError):
            ndkl(wrong)
    with pytest.raises(InputError, match="target"):
        ndkl(["a", "b"], [1.0])
    with pytest.raises(ConfigError, match="form"):
        ndkl(["a"], form="other")


def plain_parity(flags: list[bool], form: str, step: int) -> float:
    """The unnormalised sum over cut points."""
    n, of_all, total = len(flags), sum(flags) / len(flags), 0.0
    for i in range(step, n + 1, step):
        if i == 1:
            continue
        p = sum(flags[:i]) / i
        if form == "rND":
            d = abs(p - of_all)
        elif form == "rKL":
            pairs = ((p, of_all), (1 - p, 1 - of_all))
            d = sum(x * math.log2(x / y) for x, y in pairs if x > 0)
        else:
            odds = [x / (1 - x) if 0 < x < 1 else 0.0 for x in (p, of_all)]
            d = abs(odds[0] - odds[1])
        total += d / math.log2(i)
    return total


@pytest.mark.parametrize("form", sorted(DISTANCES))
@pytest.mark.parametrize(("size", "step"), [(5, 1), (7, 2), (8, 3)])
def test_prefix_parity_is_the_sum_over_its_extreme_orders(form: str, size: int, step: int) -> None:
    for flags in itertools.product([False, True], repeat=size):
        if len(set(flags)) < 2:
            continue
        ends = [plain_parity(sorted(flags, reverse=first), form, step) for first in (True, False)]
        expected = plain_parity(list(flags), form, step) / max(ends)
        found = prefix_parity(list(flags), True, form=form, step=step)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        if form != "rRD":
            assert prefix_parity(list(flags), None, form=form, step=step) == pytest.approx(found, abs=1e-12)
            assert found <= 1 + 1e-12


def test_prefix_parity_edges() -> None:
    assert prefix_parity(["a"] * 12) == 0
    assert prefix_parity(["a"] * 10 + ["b"] * 10, form="rKL") == pytest.approx(1.0)
    with pytest.raises(InputError, match="cut point"):
        prefix_parity(["a", "b"])
    with pytest.raises(InputError, match="protected"):
        prefix_parity(["a", "b"], "z", step=1)
    with pytest.raises(ConfigError, match="rN"):
        prefix_parity(["a", "b"], form="rNx", step=1)


def test_divergences_by_hand() -> None:
    # Sakai's order-aware divergence: everything in the lowest of three groups although the middle is due.
    p, q = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    assert rnod(p, q) == pytest.approx(math.sqrt((1 * 1 + 0 + 1 * 0) / 2))
    near, far = rnod(np.array([0, 1.0, 0]), np.array([1.0, 0, 0])), rnod(np.array([0, 0, 1.0]), np.array([1.0, 0, 0]))
    assert 0 < near < far == 1.0
    assert rnod(np.ones(1), np.ones(1)) == 0
    assert jsd(p, q) == 1.0


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6),
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6),
)
def test_divergences_are_those_written_out(first: list[float], second: list[float]) -> None:
    n = min(len(first), len(second))
    p, q = np.array(first[:n]) + 1e-3, np.array(second[:n])
    if q.sum() == 0:
        return
    p, q = p / p.sum(), q / q.sum()
    assert jsd(p, q) * math.log(2) == pytest.approx(js_divergence(p, q), abs=1e-12)
    due = [i for i in range(n) if q[i] > 0]
    plain = sum(sum(abs(i - j) * (p[j] - q[j]) ** 2 for j in range(n)) for i in due) / len(due)
    assert rnod(p, q) == pytest.approx(math.sqrt(plain / (n - 1)), abs=1e-12)
    assert 0 <= rnod(p, q) <= 1
    assert 0 <= jsd(p, q) <= 1


def plain_gfr(groups: list, target: np.ndarray, grades: list[int], top: int, decay: str, phi: float) -> tuple:
    going, relevance, fairness = 1.0, 0.0, 0.0
    seen = np.zeros(len(target))
    for k, (group, grade) in enumerate(zip(groups, grades, strict=True), start=1):
        satisfied = (2**grade - 1) / 2**top
        stop = (1 - phi) * phi ** (k - 1) if decay == "rbp" else going * satisfied
        going *= 1 - satisfied
        if group is not None:
            seen[group] += 1
        worth = {"rbp": satisfied, "err": 1 / k, "irbu": 0.99**k}[decay]
        relevance += stop * worth
        if seen.any():
            share = seen / seen.sum()
            fairness += stop * (1 - js_divergence(share, target) / math.log(2))
    return relevance, fairness


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, None]), st.integers(0, 3)), min_size=1, max_size=8),
    st.sampled_from(["err", "irbu", "rbp"]),
)
def test_gfr_is_the_walk_written_out(ranked: list[tuple], decay: str) -> None:
    target = np.array([0.2, 0.3, 0.5])
    labels, grades = [group for group, _ in ranked], [grade for _, grade in ranked]
    weights = np.array([[float(group == g) for g in range(3)] for group in labels])
    found = gfr(weights, target, grades, decay=decay, max_grade=3, patience=0.7)
    relevance, fairness = plain_gfr(labels, target, grades, 3, decay, 0.7)
    assert (found["relevance"], found["fairness"]) == pytest.approx((relevance, fairness), abs=1e-12)
    assert found["GFR"] == pytest.approx((relevance + fairness) / 2, abs=1e-12)
    both = gfr([weights, weights], [target, target], grades, divergence=["jsd", "jsd"], decay=decay, max_grade=3,
               patience=0.7)  # fmt: skip
    assert both["fairness"] == [found["fairness"]] * 2
    assert both["GFR"] == pytest.approx((relevance + 2 * fairness) / 3, abs=1e-12)


def test_gfr_refuses() -> None:
    with pytest.raises(InputError, match="max_grade"):
        gfr(["a"], {"a": 1}, [2], max_grade=1)
    with pytest.raises(InputError, match="groups"):
        gfr(["a"], {"a": 1}, [2, 1])
    with pytest.raises(ConfigError, match="decay"):
        gfr(["a"], {"a": 1}, [1], decay="dcg")
    with pytest.raises(ConfigError, match="patience"):
        gfr(["a"], {"a": 1}, [1], decay="rbp", patience=2)
    assert gfr(["a", "b"], {"a": 1, "b": 1}, [0, 0])["GFR"] == 0  # nobody stops where nothing satisfies

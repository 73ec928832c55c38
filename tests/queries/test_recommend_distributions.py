"""Distributions over groups and closeness: oracles, plain twins, edges."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.distributions import (
    closeness,
    closenesses,
    distribution,
    distributions,
    rank_weights,
    unresolved,
)
from rerankers.values import GroupAlignment

GROUPS = ("A", "B", "C")


def alignment(rows: list[dict[str, float]], unknown: list[float] | None = None) -> GroupAlignment:
    entries = [(doc, GROUPS.index(g), w) for doc, row in enumerate(rows) for g, w in row.items()]
    doc, group, weight = (np.array(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    made = GroupAlignment.of_entries(
        "x", GROUPS, np.array(doc, int), np.array(group, int), np.array(weight, float), len(rows), "share"
    )
    if unknown is None:
        return made
    return GroupAlignment("x", GROUPS, "share", made.indptr, made.group, made.weight, np.array(unknown))


def plain(rows: list[dict[str, float]], unknown: list[float], docs: list[int], weights: list[float], policy: str):
    """Return (shares or None, unknown share), straight from the definition."""
    mass = dict.fromkeys(GROUPS, 0.0)
    lost = 0.0
    for doc, weight in zip(docs, weights, strict=True):
        for group, part in rows[doc].items():
            mass[group] += weight * part
        lost += weight * unknown[doc]
    if sum(weights) == 0:
        return None, None
    if sum(mass.values()) == 0:
        return None, lost / sum(weights)
    if policy == "spread":
        mass = {group: value + lost / len(GROUPS) for group, value in mass.items()}
    if policy == "count":
        mass["unknown"] = lost
    total = sum(mass.values())
    return {group: value / total for group, value in mass.items()}, lost / sum(weights)


@pytest.mark.shared_data
def test_distributions_agree_with_reference_values(shared: Path) -> None:
    file = json.loads((shared / "oracles/text-bias-and-queries/group_distribution.json").read_text())
    table, target = file["meta"]["alignment"], file["meta"]["target"]
    docs, groups = sorted(table), tuple(target)
    entries = [(docs.index(d), groups.index(g), w) for d, row in table.items() for g, w in row.items()]
    doc, group, weight = (np.array(column) for column in zip(*entries, strict=True))
    made = GroupAlignment.of_entries("x", groups, doc, group, weight.astype(float), len(docs), "share")
    names = {"log": "log2", "rbp.8": "rbp"}
    for case in file["cases"]:
        weights = rank_weights(names.get(case["weight"], case["weight"]), len(case["ranking"]), 0.8)
        found = distribution(made, [docs.index(d) for d in case["ranking"]], weights, case["unknown"])
        assert found.unknown_share == pytest.approx(case["unknown_share"], abs=1e-12)
        if case["awrf_js_bits"] is None:
            assert found.shares is None
            assert found.reason == "no_known_weight"
            continue
        assert found.named() == pytest.approx(case["distribution"], abs=1e-12)
        near = closeness(found.shares, np.array(list(target.values())), "jsd")
        assert near == pytest.approx(case["awrf_js_bits"], abs=1e-12)


@pytest.mark.shared_data
def test_closeness_agrees_with_reference_values(shared: Path) -> None:
    file = json.loads((shared / "oracles/text-bias-and-queries/js_divergence.json").read_text())
    for case in file["cases"]:
        p, q = np.array(case["p"], float), np.array(case["q"], float)
        assert 1 - closeness(p, q, "jsd") == pytest.approx(case["js_divergence_bits"], abs=1e-12)
        assert 1 - closeness(p, q, "tv") == pytest.approx(case["tv"], abs=1e-12)
        assert 1 - closeness(p, q, "l2") == pytest.approx(math.sqrt(case["l2sq"] / 2), abs=1e-12)
        assert closeness(p, None, "entropy") == pytest.approx(case["normalised_entropy_p"], abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1), st.floats(0, 5)), max_size=8),
    st.sampled_from(["drop", "spread", "count"]),
)
def test_distribution_is_the_plain_one(items: list[tuple[int, float, float]], policy: str) -> None:
    rows, unknown = [], []
    for kind, part, _ in items:
        rows.append([{}, {"A": part}, {"A": part, "B": 1 - part}, {"C": 1.0}][kind])
        unknown.append([1.0, 1 - part, 0.0, 0.0][kind])
    docs, weights = list(range(len(items))), [weight for _, _, weight in items]
    if not rows:
        assert distribution(alignment([{}]), [], [], policy).reason == "no_document"
        return
    found = distribution(alignment(rows, unknown), docs, weights, policy)
    shares, share = plain(rows, unknown, docs, weights, policy)
    assert found.unknown_share == (None if share is None else pytest.approx(share, abs=1e-12))
    assert found.named() == (None if shares is None else pytest.approx(shares, abs=1e-9))


def test_many_lists_are_each_as_alone() -> None:
    made = alignment([{"A": 1.0}, {"B": 1.0}, {}, {"A": 0.5, "C": 0.5}])
    lists = [[0, 1, 2], [], [2], [3, 0]]
    weights = [rank_weights("log2", len(one)) for one in lists]
    shares, lost = distributions(made, lists, weights, "count")
    for row, one in enumerate(lists):
        alone = distribution(made, one, weights[row], "count")
        if alone.shares is None:
            assert np.isnan(shares[row]).all()
        else:
            assert shares[row].tolist() == alone.shares.tolist()
        assert np.isnan(lost[row]) if alone.unknown_share is None else lost[row] == alone.unknown_share
    near = closenesses(shares, np.array([1.0, 1.0, 1.0, 0.0]), "tv")
    assert np.isnan(near).tolist() == [False, True, True, False]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.lists(st.integers(0, 9), min_size=5, max_size=5))
def test_closeness_is_a_share_and_1_only_at_the_target(p: list[int], q: list[int]) -> None:
    one, other = np.array(p, float), np.array(q[: len(p)], float)
    if not one.sum() or not other.sum():
        return
    for kind in ("jsd", "tv", "l2"):
        value = closeness(one, other, kind)
        assert 0 <= value <= 1
        assert closeness(one, one, kind) == pytest.approx(1.0)
        if not np.allclose(one / one.sum(), other / other.sum()):
            assert value < 1
    assert 0 <= closeness(one, None, "entropy") <= 1


def test_weights_of_ranks() -> None:
    assert rank_weights("uniform", 3).tolist() == [1, 1, 1]
    assert rank_weights("log2", 3) == pytest.approx([1, 1 / math.log2(3), 0.5])
    assert rank_weights("wptrec", 3) == pytest.approx([1, 1, 1 / math.log2(3)])
    assert rank_weights("rbp", 3, 0.8) == pytest.approx([0.2, 0.16, 0.128])
    assert rank_weights("log2", 0).shape == (0,)


def test_expected_exposure_serves_as_weights() -> None:
    """A policy that shows either of two rankings has the mean of their masses."""
    made = alignment([{"A": 1.0}, {"B": 1.0}])
    w = rank_weights("log2", 2)
    found = distribution(made, [0, 1], [0.25 * w[0] + 0.75 * w[1], 0.75 * w[0] + 0.25 * w[1]])
    assert found.named()["A"] == pytest.approx((0.25 * w[0] + 0.75 * w[1]) / w.sum())


def test_the_group_unknown_of_a_counted_alignment_is_stated_again() -> None:
    raw = alignment([{"A": 1.0}, {}, {"B": 0.5}], [0.0, 1.0, 0.5])
    again = unresolved(raw.resolve("count"))
    assert again.groups == GROUPS
    assert again.unknown.tolist() == [0.0, 1.0, 0.5]
    assert again.totals(np.arange(3), np.arange(3), np.ones(3), 3).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0.5, 0]]
    with pytest.raises(InputError, match="unknown=count"):
        unresolved(raw.resolve("drop"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: distribution(a, [0], [1.0], "ignore"), "expected one of count, drop, spread"),
        (lambda a: distribution(a, [0, 1], [1.0]), "one for each of the 2 documents"),
        (lambda a: distribution(a, [9], [1.0]), "whole numbers from 0 to 1"),
        (lambda a: distribution(a, [0.5], [1.0]), "whole numbers"),
        (lambda a: distribution(a, [0], [-1.0]), "numbers of at least 0"),
        (lambda a: distribution(a, [0], [math.nan]), "numbers of at least 0"),
        (lambda a: distribution(a.resolve("count"), [0], [1.0]), "a resolved alignment"),
        (lambda a: distributions(a, [[0]], [[1.0, 2.0]]), "a weight for each document"),
        (lambda a: rank_weights("square", 3), "expected one of uniform"),
        (lambda a: rank_weights("rbp", 3, 1.0), "above 0 and below 1"),
        (lambda a: rank_weights("log2", -1), "at least 0"),
        (lambda a: closeness(np.array([1.0, 0]), np.array([1.0, 0, 0])), "found 3 groups; expected 2"),
        (lambda a: closeness(np.array([0.0, 0]), np.array([1.0, 0])), "positive sum"),
        (lambda a: closeness(np.array([1.0, 0]), None), "a target, which closeness jsd needs"),
        (lambda a: closeness(np.array([1.0, 0]), np.array([1.0, 0]), "cosine"), "expected one of jsd"),
    ],
)
def test_what_is_wrong_is_said(call, message: str) -> None:
    with pytest.raises((InputError, ConfigError), match=message):
        call(alignment([{"A": 1.0}, {}]))

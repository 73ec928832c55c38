"""Reliability by group: soft memberships, the unknown part, judged pairs, and the tables of a report."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.learning.reliability import ALL, Part, curve_table, group_reliability, reliability_table
from rerankers.stats.reliability import reliability
from rerankers.values import GroupAlignment, Ragged

OVER = Ragged(np.arange(3), np.array([0, 2, 4, 6]), np.array([0, 1, 2, 3, 1, 4]))
P = np.array([0.2, 0.4, 0.6, 0.8, 0.5, 0.1])
Y = np.array([0, 1, 1, 1, 0, 0], dtype=bool)
# Document 0: a; 1: half a, half b; 2: b; 3 and 4: not known. Nobody is in c.
SHARES = GroupAlignment.of_entries(
    "economy", ("a", "b", "c"), np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([1, 0.5, 0.5, 1]), 5, "share"
)


def test_memberships_are_weights_and_the_unknown_are_a_group() -> None:
    found = group_reliability(OVER, P, Y, {"economy": SHARES}, resamples=50)
    assert [(part.attribute, part.group) for part in found] == [
        (ALL, ALL),
        ("economy", "a"),
        ("economy", "b"),
        ("economy", "c"),
        ("economy", "unknown"),
    ]
    a, b = found[Part("economy", "a")], found[Part("economy", "b")]
    assert (a.pairs, a.weight, a.clusters) == (3, 2.0, 2)
    assert a.rate == pytest.approx(0.25)
    assert a.mean_probability == pytest.approx((0.2 + 0.2 + 0.25) / 2)
    assert b.rate == pytest.approx((0.5 + 1) / 2)
    unknown = found[Part("economy", "unknown")]
    assert (unknown.pairs, unknown.rate, unknown.mean_probability) == (2, 0.5, 0.45)
    nobody = found[Part("economy", "c")]
    assert (nobody.pairs, nobody.rate, nobody.brier.mean) == (0, None, None)
    total = found[Part(ALL, ALL)]
    assert sum(value.weight for part, value in found.items() if part.attribute != ALL) == total.weight == 6
    direct = reliability(P, Y, OVER.indptr, resamples=50)
    assert total.brier == direct.brier


def test_dropped_unknowns_stay_dropped_and_only_judged_pairs_count() -> None:
    judged = np.array([1, 1, 1, 0, 0, 1], dtype=bool)
    found = group_reliability(OVER, P, Y, {"economy": SHARES.resolve("drop")}, judged=judged, resamples=20)
    assert Part("economy", "unknown") not in found
    assert found[Part(ALL, ALL)].pairs == 4
    assert found[Part("economy", "a")].weight == 1.5


def test_tables() -> None:
    found = group_reliability(OVER, P, Y, {"economy": SHARES}, bins=3, resamples=50)
    table = reliability_table(found)
    assert table.column("group").to_pylist() == ["all", "a", "b", "c", "unknown"]
    assert table.column("pairs").to_pylist() == [6, 3, 3, 0, 2]
    line = table.slice(0, 1).to_pylist()[0]
    whole = found[Part(ALL, ALL)]
    assert line["brier"] == whole.brier.mean
    assert line["brier_low"] == whole.brier.low
    assert line["brier"] == pytest.approx(
        line["brier_miscalibration"] - line["brier_discrimination"] + line["brier_uncertainty"]
    )
    empty = table.slice(3, 1).to_pylist()[0]
    assert all(empty[name] is None for name in ("rate", "brier", "bias_low", "log_loss_uncertainty", "chance_error"))
    curves = curve_table(found)
    assert curves.num_rows == sum(len(value.curve) for value in found.values())
    assert set(curves.column("group").to_pylist()) == {"all", "a", "b", "unknown"}
    assert curves.schema.equals(curve_table({}).schema)
    assert reliability_table({}).schema.equals(table.schema)


def test_group_reliability_problems() -> None:
    with pytest.raises(InputError, match=r"judged: found shape \(2,\)"):
        group_reliability(OVER, P, Y, {}, judged=np.ones(2, dtype=bool))
    short = GroupAlignment.of_entries("x", ("a",), np.array([0]), np.array([0]), np.ones(1), 2)
    with pytest.raises(InputError, match="alignment 'x': found 2 documents; expected at least 5"):
        group_reliability(OVER, P, Y, {"x": short})

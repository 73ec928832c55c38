"""Fairness measures where there is little to measure: one document, one group, no group, several attributes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from measure_worlds import World, random_rankings, world

import rerankers.measures as package
from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import DCG, RBP
from rerankers.measures import evaluate, parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.scores import REASONS
from rerankers.measures.worst_off import leximin, leximin_preference
from rerankers.values import GroupAlignment, Rankings

GROUP_NAMES = [
    *("NDKL", "NDKL(target='relevant')", "rND(step=2)", "rKL(step=1)@4", "rRD(step=2)", "GF", "GFR(decay='rbp',p=.6)"),
    *("DP", "DP(combine='difference')", "EUR", "RUR", "ARP", "PAIR", "PAIR(pairs='inter')", "JME_IG", "share_loss"),
]
NAMES = [*GROUP_NAMES, "IAA", "JME_II", "TSE", "worst_exposure"]


def evaluation_of(made: World, source: Rankings | None = None) -> Evaluation:
    rankings = random_rankings(1, made.candidates) if source is None else source
    return Evaluation(rankings, made.judgments, made.groups, Options(max_grade=3))


def values(name: str, evaluation: Evaluation) -> np.ndarray:
    return parse(name).per_unit(evaluation).value


@pytest.mark.parametrize("name", NAMES)
def test_one_document_no_groups_one_group_and_all_unknown(name: str) -> None:
    groupless = evaluate({"q": [["a"]]}, {"q": {"a": 1}}, None, measures=name)
    assert groupless["reason"][0].as_py() == ("no_groups" if name in GROUP_NAMES else None)
    for groups in ({"a": "x", "b": "x"}, {}, {"a": "x"}, {"a": ["x", "y"], "b": "y"}, {"a": {"x": 0.5}}):
        for run in ([["a"]], [["a", "b"], ["b", "a"]], [[]]):
            for grades in ({"a": 1}, {"a": 0}, {"b": 1}):
                row = evaluate({"q": run}, {"q": grades}, groups, measures=name).to_pylist()[0]
                assert (row["value"] is None) == (row["reason"] in REASONS)
                assert row["value"] is None or math.isfinite(row["value"])


@pytest.mark.parametrize(
    ("groups", "unknown"), [((), "drop"), ((), "spread"), (("x", "y"), "drop")]
)  # named, perhaps, but no document is in one
@pytest.mark.parametrize("name", [*GROUP_NAMES, "AWRF", "group_EEL", "group_EET", "group_out_of_bounds@2"])
def test_no_label_is_known_and_none_is_counted(name: str, groups: tuple[str, ...], unknown: str) -> None:
    made = world(2)
    nothing = GroupAlignment.of_entries(
        "economy", groups, np.empty(0, int), np.empty(0, int), np.empty(0), next(iter(made.groups.values())).n_docs
    )
    evaluation = replace(evaluation_of(made), groups={"economy": nothing.resolve(unknown)})
    scores = parse(name).per_unit(evaluation)
    assert np.all(np.isnan(scores.value))
    assert {REASONS[code] for code in scores.reason} == {"no_groups"}


def test_values_of_one_group_are_those_of_perfect_fairness() -> None:
    run, qrels, groups = {"q": [["a", "b", "c"]]}, {"q": {"a": 1, "b": 0, "c": 1}}, dict.fromkeys("abc", "x")
    table = evaluate(run, qrels, groups, measures="NDKL rND(step=1) rKL(step=1) GF DP ARP EUR")
    found = {row["measure"]: (row["value"], row["reason"]) for row in table.to_pylist()}
    assert found["NDKL"][0] == found["rND(step=1)"][0] == found["rKL(step=1)"][0] == 0.0
    assert found["DP"] == found["ARP"] == found["EUR"] == (None, "no_groups")
    assert found["GF"][0] == pytest.approx(0.5 + 0.5 * 0.5)  # ERR stops at a half, then a half of a half


def test_several_attributes_must_be_named() -> None:
    made = world(2, attributes=2)
    evaluation = evaluation_of(made)
    with pytest.raises(ConfigError, match=r"NDKL\(group='economy'\)"):
        values("NDKL", evaluation)
    one = replace(evaluation, groups={"h_index": made.groups["h_index"]})
    assert np.array_equal(values("NDKL(group='h_index')", evaluation), values("NDKL", one), equal_nan=True)
    assert np.all(np.isnan(values("DP(group='other')", evaluation)))


def test_ordinal_groups_need_an_order() -> None:
    evaluation = evaluation_of(world(2))
    with pytest.raises(ConfigError, match="order"):
        values("GF(divergence='rnod')", evaluation)
    with pytest.raises(ConfigError, match="order"):
        values("GF(divergence='rnod',order='a<z')", evaluation)
    with pytest.raises(ConfigError, match="once"):
        values("GF(divergence='rnod',order='a<b<a')", evaluation)
    assert np.nansum(values("GF(divergence='rnod',order='a<b<c')", evaluation)) > 0


def test_leximin_preference_of_two_systems() -> None:
    made = world(6, queries=8)
    a, b = evaluation_of(made), evaluation_of(made, random_rankings(9, made.candidates))
    for model in (RBP(0.8), DCG()):
        found = leximin_preference(a, b, model)
        for query in range(8):
            row = a.over.row(query)
            relevant = a.grade[row] > 0
            pair = [one.exposure(model)[row][relevant] for one in (a, b)]
            assert found[query] == (leximin(*pair) if relevant.any() else 0)
        assert np.array_equal(leximin_preference(b, a, model), -found)
    assert np.any(leximin_preference(a, b) != 0)
    with pytest.raises(InputError, match="other queries"):
        leximin_preference(a, evaluation_of(made, random_rankings(9, made.candidates).take(np.arange(4))))


def test_functions_are_found_in_the_package_when_they_are_asked_for() -> None:
    for name in package.__all__:
        assert callable(getattr(package, name))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_a_protected_group_without_a_document_of_the_query_has_no_value() -> None:
    run = {"q1": [["a", "b", "c"]], "q2": [["c", "d", "e"]]}
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"c": 1, "d": 0, "e": 0}}
    groups = {"a": "x", "b": "x", "c": "y", "d": "z", "e": "z"}
    found = evaluate(run, qrels, groups, measures="rND(protected='x',step=1)").to_pylist()
    assert [row["reason"] for row in found] == [None, "no_groups"]

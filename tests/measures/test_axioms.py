"""Properties of measures on made-up rankings: verdicts that follow from the definitions."""

from __future__ import annotations

import pytest

from rerankers._base.errors import ConfigError
from rerankers.measures.axioms import PROPERTIES, check_axioms


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[str, str], str]:
    found = check_axioms(["NDKL", "DP(combine='difference')", "EUR", "rND", "EEL(group='economy')", "nDCG"])
    return {(one.measure, one.property): one.verdict for one in found}


def test_every_measure_of_groups_is_tried_on_every_property(verdicts: dict) -> None:
    assert len(verdicts) == 4 * len(PROPERTIES)
    assert {measure for measure, _ in verdicts} == {"NDKL", "DP(combine='difference')", "EUR", "rND"}
    assert len(PROPERTIES) == 13


@pytest.mark.parametrize(
    ("measure", "name", "verdict"),
    [
        ("NDKL", "two unfair rankings by turns beat either", "violated"),  # a mean over rankings
        ("DP(combine='difference')", "two unfair rankings by turns beat either", "holds"),  # of expected exposure
        ("NDKL", "depends on which group's documents are relevant", "violated"),
        ("EUR", "defined where nothing is relevant", "violated"),
        ("EUR", "defined where there is one group", "violated"),
        ("NDKL", "defined where there is one group", "holds"),
        ("rND", "the top counts more than the bottom", "violated"),  # looks at ranks 10 and 20 only
        ("NDKL", "the top counts more than the bottom", "holds"),
        ("rND", "lies between 0 and 1", "holds"),
        ("NDKL", "the names of groups do not matter", "holds"),
        ("NDKL", "equal members of a group are exchangeable", "holds"),
    ],
)
def test_verdicts_follow_from_the_definitions(verdicts: dict, measure: str, name: str, verdict: str) -> None:
    assert verdicts[measure, name] == verdict


def test_violations_have_counterexamples_and_others_have_none() -> None:
    for one in check_axioms(["share_loss(target='relevant')", "PAIR"]):
        assert bool(one.counterexample) == (one.verdict != "holds")
        assert one.verdict in ("holds", "violated", "na")
        assert one.record()["property"] == one.property
    assert any(one.verdict == "na" for one in check_axioms(["PAIR"]))  # where everything is relevant there is no pair


def test_measures_that_name_their_groups_are_not_tried() -> None:
    assert {one.verdict for one in check_axioms(["NDKL(group='economy')", "rND(protected='women')"])} == {"na"}
    with pytest.raises(ConfigError):
        check_axioms(["nothing"])

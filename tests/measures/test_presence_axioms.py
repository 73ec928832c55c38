"""Lists with known properties, and the properties of measures that are tried on them."""

from __future__ import annotations

import math

import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.presence_axioms import PROPERTIES, check
from rerankers.measures.presence_made import all_lists, known_lists, lead, mirrored, orders, ups
from rerankers.measures.presence_single import DEFAULT, Listed, fairness

MIRROR, NEUTRAL_UP, LEADER_UP, _, BEST, WORST, RANKS, _, LATE, DIFFER = PROPERTIES


def verdicts(*measures: str) -> dict[tuple[str, str], str]:
    return {(one.measure, one.property): one.verdict for one in check(measures)}


def test_the_table_of_the_axioms_of_cwex() -> None:
    """Mirror, leader and extremes hold for every alpha; a neutral document one rank up only from one half on."""
    measures = [f"CWEx(alpha={alpha})@10" for alpha in (0.1, 0.4, 0.5, 0.6, 0.9)]
    found = verdicts(*measures)
    for text, alpha in zip(measures, (0.1, 0.4, 0.5, 0.6, 0.9), strict=True):
        for name in (MIRROR, LEADER_UP, BEST, WORST, RANKS, LATE):
            assert found[text, name] == "holds", (text, name)
        assert found[text, NEUTRAL_UP] == ("holds" if alpha >= 0.5 else "violated")
        assert found[text, DIFFER] == ("violated" if alpha == 0.5 else "holds")


def test_counterexamples_are_true() -> None:
    one = next(one for one in check(["CWEx(alpha=0.4)@10"]) if one.property == NEUTRAL_UP)
    after, before = (part.split()[-1] for part in one.counterexample.partition(":")[0].split(" and, before, "))
    value = fairness("CWEx(alpha=0.4)@10")
    first, second = value(Listed.made(list(after))), value(Listed.made(list(before)))
    assert first is not None
    assert second is not None
    assert first < second
    assert one.counterexample.endswith(f"{first:.6g} and {second:.6g}")


def test_what_other_measures_do_not_see() -> None:
    found = verdicts("NFaiRR@10", "FaiRR@10", "RaB@10", "ARaB@10", "nDRaB@10", "TExFAIR@10", "nCWEx@10")
    assert {found[text, MIRROR] for text in ("NFaiRR@10", "RaB@10", "ARaB@10", "nDRaB@10", "TExFAIR@10")} == {"holds"}
    assert found["RaB@10", RANKS] == "violated"  # a plain mean
    assert found["NFaiRR@10", WORST] == "na"  # nothing neutral: no value
    assert found["FaiRR@10", WORST] == "holds"
    assert found["TExFAIR@10", NEUTRAL_UP] == "violated"  # it raises the share of the gender that leads
    assert found["nCWEx@10", BEST] == "na"  # one composition, one order


def test_functions_can_be_tried_and_the_seed_decides() -> None:
    def share(labels: object) -> float:
        return sum(label == "N" for label in labels) / len(list(labels))  # type: ignore[attr-defined]

    found = {
        one.property: one
        for one in check({"CWEx of mine": share, "none": lambda labels: None})
        if one.measure != "none"
    }
    assert found[MIRROR].verdict == found[BEST].verdict == "holds"
    assert found[RANKS].verdict == "violated"
    assert {one.verdict for one in check({"none": lambda labels: None})} == {"na"}
    assert check(["nDRaB@10"], seed=3) == check(["nDRaB@10"], seed=3)
    assert known_lists(10, 1) != known_lists(10, 2)


def test_what_cannot_be_tried() -> None:
    with pytest.raises(ConfigError, match="found nDCG; expected one of CWEx"):
        check(["nDCG@10"])
    with pytest.raises(ConfigError, match="found of; expected alpha or words"):
        check(["CWEx(of=gap)@10"])


def test_orders_of_a_composition() -> None:
    every = orders({"N": 2, "M": 1, "F": 1})
    assert len(every) == len(set(every)) == 12
    assert all(sorted(one) == ["F", "M", "N", "N"] for one in every)
    some = orders({"N": 6, "M": 6, "F": 6}, limit=50, seed=4)
    assert len(set(some)) == 50
    assert some == orders({"N": 6, "M": 6, "F": 6}, limit=50, seed=4)
    assert orders({}) == [()]
    with pytest.raises(InputError, match="a limit of at least 1"):
        orders({"N": 1}, limit=0)


def test_lists_have_the_properties_they_are_made_for() -> None:
    lists = known_lists(9, seed=5, number=30)
    by_name = {one.name: one for one in lists}
    assert by_name["all neutral"].neutral == 1.0
    assert by_name["all neutral"].leads == "neither"
    assert by_name["male first"].leads == "male"
    assert by_name["female first"].labels[:4] == ("F",) * 4
    assert by_name["neutral first"].labels[0] == by_name["neutral last"].labels[-1] == "N"
    assert len([one for one in lists if one.name == "random"]) == 30
    for one in lists:
        gap = lead(one.labels)
        assert one.neutral == pytest.approx(one.labels.count("N") / 9)
        assert one.leads == ("neither" if math.isclose(gap, 0, abs_tol=1e-12) else "male" if gap > 0 else "female")
        assert lead(mirrored(one.labels)) == pytest.approx(-gap)
    assert len(all_lists(4)) == 81
    assert set(ups(("M", "N", "N"), "N")) == {("N", "M", "N")}
    with pytest.raises(InputError, match="at least 2 documents"):
        known_lists(1)


def test_lists_without_words_have_no_values_of_words() -> None:
    bare = Listed(["N", "M"])
    assert {text: fairness(text)(bare) is None for text in DEFAULT} == {
        text: not text.startswith(("CWEx", "nCWEx")) for text in DEFAULT
    }
    nothing = Listed.made([])
    assert all(fairness(text)(nothing) is None for text in DEFAULT)

"""Placebo and excess under their names, and where they are missing."""

from __future__ import annotations

import pytest

from rerankers._base.errors import ConfigError
from rerankers.measures import evaluate, parse, parse_many
from rerankers.measures.plan import chosen_measures, with_placebos


def test_in_memory_keys_and_reasons() -> None:
    run = {"q1": [["a", "b", "c"], ["c", "a", "b"]], "q2": [["a", "c"]], "q3": [["a"]]}
    qrels = {"q1": {"a": 1, "b": 0, "d": 1}, "q2": {"c": 1}}
    groups = {"a": "x", "b": ["x", "y"], "c": {"x": 0.5, "y": 0.2}}
    rows = evaluate(run, qrels, groups).to_pylist()
    found = {(row["unit"], row["measure"]): (row["value"], row["reason"]) for row in rows}
    for unit in ("q1", "q2"):
        value, placebo, excess = (found[unit, f"group_EEL{part}"][0] for part in ("", "_placebo", "_excess"))
        assert value - placebo == pytest.approx(excess, abs=1e-15)
    assert found["q3", "group_EEL_placebo"] == (None, "query_not_judged")
    assert "group_EEL_placebo" not in {row["measure"] for row in evaluate(run, qrels).to_pylist()}
    asked = evaluate(run, qrels, groups, measures="group_EER_placebo").to_pylist()
    assert {row["measure"] for row in asked} == {"group_EER_placebo"}
    nothing = evaluate(run, qrels, measures="group_EEL_excess").to_pylist()
    assert {row["reason"] for row in nothing} == {"no_groups"}
    with pytest.raises(ConfigError, match="a number of a whole run"):
        evaluate(run, qrels, groups, measures="group_EEL_systematic")


def test_keys_round_trip_and_parts_of_other_measures_are_refused() -> None:
    for text in ("group_EEL_placebo", "EEL(group='a b_excess')@5_excess", "group_EEL(p=0.3)_systematic"):
        measure = parse(text)
        assert str(measure) == text
        assert parse(str(measure)) == measure
        assert measure.whole.part == ""
    assert parse("EE-L(attribute=x)_placebo") == parse("EEL(group='x')_placebo")
    for text, words in (
        ("EEL_placebo", "does not depend on groups.*group_EEL_placebo"),
        ("nDCG@10_excess", "does not depend on groups"),
        ("group_EED_systematic", "a group loss"),
        ("group_EEL_placebos", "group_EEL"),
    ):
        with pytest.raises(ConfigError, match=words):
            parse(text)


def test_which_measures_bring_their_placebos() -> None:
    asked = parse_many("group_EEL group_EED AWRF nDCG@10 EEL EEL(group='g')")
    every = [str(measure) for measure in with_placebos(asked)]
    assert every == [
        "group_EEL", "group_EEL_placebo", "group_EEL_excess", "group_EED", "AWRF", "AWRF_placebo", "AWRF_excess",
        "nDCG@10", "EEL", "EEL(group='g')", "EEL(group='g')_placebo", "EEL(group='g')_excess",
    ]  # fmt: skip
    closed = [str(measure) for measure in with_placebos(asked, "closed_form")]
    assert "AWRF_excess" not in closed
    assert "group_EEL_excess" in closed
    assert with_placebos(asked, "none") == asked
    assert not any(measure.part for measure in chosen_measures(None, ("g",), "none"))
    assert chosen_measures(["group_EEL"], ()) == parse_many("group_EEL")
    with pytest.raises(ConfigError, match=r"measures\.placebo"):
        with_placebos(asked, "some")

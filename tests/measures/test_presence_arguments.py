"""What the plain functions of gender presence take: triples, single numbers, ids, words in capitals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.labels import neutralities
from rerankers.labels.neutrality import NeutralityWarning
from rerankers.measures import arab, magnitudes, nfairr, texfair

WORDS = {"m": ["he", "HIM"], "f": ["She"]}


def test_words_are_compared_in_lower_case() -> None:
    texts = ["HE saw Him", "she", "he\tran"]
    assert {group: found.tolist() for group, found in magnitudes(texts, "tc", WORDS).items()} == {
        "male": [2.0, 0.0, 0.0],
        "female": [0.0, 1.0, 0.0],
    }
    as_cut = magnitudes(texts, "tc", {"m": ["HE"], "f": ["she"]}, tokens=str.split)
    assert as_cut["male"].tolist() == [1.0, 0.0, 0.0]
    assert texfair(texts, WORDS, None, 3) == texfair(texts, {"m": ["he", "him"], "f": ["she"]}, None, 3)


@pytest.mark.parametrize("words", [{"m": "he", "f": ["she"]}, {"he": "m", "she": "f"}, [["he"], ["she"]], {"m": [1]}])
def test_words_must_be_listed_by_group(words: Any) -> None:
    for call in (lambda: magnitudes(["he"], "tf", words), lambda: texfair(["he"], words, None, 3)):
        with pytest.raises(InputError, match="words"):
            call()


@pytest.mark.shared_data
def test_triples_of_the_released_code(shared: Path) -> None:
    found = json.loads((shared / "oracles" / "text-bias-and-queries" / "arab.json").read_text())
    words = found["meta"]["words"]
    for case in found["cases"]:
        if case["kind"] == "doc":
            one = magnitudes([case["text"]], "tf", words)
            female, male = one["female"][0], one["male"][0]
            assert (female - male, female, male) == pytest.approx(case["tf"], abs=1e-12)
            continue
        by_group = magnitudes(case["docs"], case["method"], words)
        triples = list(zip(by_group["female"] - by_group["male"], by_group["female"], by_group["male"], strict=True))
        for measure in ("RaB", "ARaB", "nDRaB"):
            if case.get(measure) is not None:
                for given in (by_group, triples):
                    assert arab(given, case["k"])[measure]["triple"] == pytest.approx(case[measure], abs=1e-12)


def test_triples_and_single_numbers() -> None:
    found = arab(np.array([[-1, 0, 1], [0.5, 1, 0.5]]), 10)
    assert found["RaB"] == {
        "male": 0.75,
        "female": 0.5,
        "gap": 0.25,
        "delta": 0.25,
        "triple": (-0.25, 0.5, 0.75),
    }
    assert arab([(-0.69315, 0.0, math.log(2))], 1)["ARaB"]["male"] == math.log(2)
    with pytest.raises(InputError, match=r"document 2: found \(1.0, 0.0, 1.0\); expected \(female minus male"):
        arab([(-1, 0, 1), (1, 0, 1)], 10)
    single = arab([1, 0, 2], 2)
    assert (single["RaB"], single["ARaB"], single["short"]) == (0.5, 0.75, False)
    assert single["nDRaB"] == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert arab([], 2)["RaB"]["triple"] is None
    for wrong in ([None], ["he"], [1.0, math.nan], [(1, 0)]):
        with pytest.raises(InputError):
            arab(wrong, 2)


def test_a_background_of_ids() -> None:
    table = {1: 0.8, 2: 0.776, 3: 0.0, 4: 0.25}
    ranked = {doc: table[doc] for doc in (4, 2, 3, 1)}
    for background in ([1, 2, 3, 4], table):
        found = nfairr(ranked, background, 3)
        assert found["nfairr"] == pytest.approx(0.5228338119548976, abs=1e-12)
        assert found["agnostic"] == pytest.approx(0.9727694325053705, abs=1e-12)
    assert nfairr({"a": 0.8, "b": 0.2}, ["b"], 3, "official")["nfairr"] > 1
    with pytest.raises(InputError, match="background: found 'c'"):
        nfairr({"a": 0.8}, ["a", "c"], 3)
    with pytest.raises(InputError, match=r"background, a: found 0\.3; expected 0\.8"):
        nfairr({"a": 0.8}, {"a": 0.3}, 3)
    for wrong in ("x", ["x"]):
        with pytest.raises(InputError, match="neutrality"):
            nfairr(wrong, [0.3], 3)


def test_the_corrected_ideal_is_over_all_that_is_ranked() -> None:
    ranked, background = {"a": 0.5, "b": 0.1, "c": 0.9}, {"b": 0.1, "d": 0.2}
    found = nfairr(ranked, background, 2)
    weight = 1 / math.log2(3)
    assert found["ideal"] == pytest.approx(0.9 + 0.5 * weight)
    assert found["outsiders"] == 2
    assert found["agnostic"] == pytest.approx((0.1 + 0.2 + 0.5 + 0.9) / 4 * (1 + weight))
    assert nfairr(ranked, background, 2, "official")["ideal"] == pytest.approx(0.2 + 0.1 * weight)
    with pytest.raises(InputError, match="1 documents without a value"):
        nfairr({"a": 0.5, "b": None}, {"d": 0.2}, 1)
    assert nfairr({"a": 0.5, "b": None}, {"d": 0.2}, 1, "official")["missing"] == 0


@pytest.mark.shared_data
def test_neutralities_have_the_reference_values(shared: Path) -> None:
    found = json.loads((shared / "oracles" / "text-bias-and-queries" / "neutrality.json").read_text())
    words = {group: [word.upper() for word in listed] for group, listed in found["meta"]["words"].items()}
    for case in found["cases"]:
        options = {"tau": case["tau"], "target": case["target"]}
        if case["neutrality"] < 0:
            with pytest.warns(NeutralityWarning):
                value = neutralities([case["text"]], words, **options)
        else:
            value = neutralities([case["text"]], words, **options)
        assert value == pytest.approx([case["neutrality"]], abs=1e-12)
    with pytest.raises(InputError, match="target: found the groups m"):
        neutralities(["he"], words, target={"m": 1.0})
    assert neutralities([], words).shape == (0,)

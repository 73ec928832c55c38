"""Stages of normalisation, overlap of texts, and the floors that chance gives."""

from __future__ import annotations

import json
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.normalise import STAGES, STOP_WORDS, normalise, normalise_all
from rerankers.queries.sets import VariantSet
from rerankers.queries.string_overlap import string_overlap
from rerankers.queries.variant_baselines import (
    other_topic_variants,
    other_topics,
    random_term_overlap,
    term_subset_variants,
)


@pytest.mark.shared_data
def test_reference_values_of_every_stage(shared: Path) -> None:
    told = json.loads((shared / "oracles/text-bias-and-queries/variant_overlap.json").read_text())
    assert set(told["meta"]["stop"]) == STOP_WORDS
    assert len(told["cases"]) == 3
    for case in told["cases"]:
        assert [one["stage"] for one in case["stages"]] == list(STAGES)
        for one in case["stages"]:
            for side in ("human", "generated"):
                assert sorted(normalise_all(case[side], one["stage"]).texts) == sorted(one[side])
            found = string_overlap(case["human"], case["generated"], one["stage"])
            assert found.shared == one["intersection"]
            assert found.jaccard == one["jaccard"]
            assert found.coverage_of_human == one["coverage_of_human"]
            assert found.coverage_of_generated == one["coverage_of_generated(precision)"]


def test_stages_are_cumulative() -> None:
    text = "  The\tConnections,  of CONNECTED-graphs? "
    assert [normalise(text, stage) for stage in STAGES] == [
        "the connections, of connected-graphs?",
        "the connections of connected graphs",
        "connections connected graphs",
        "connect connect graph",
        "connect graph",
    ]
    assert len(STOP_WORDS) == 33


def test_what_a_stage_leaves_nothing_of_is_dropped_and_counted() -> None:
    texts = ["to be or not", "???", "The", "graph", "graphs", ""]
    counts = {stage: dict(normalise_all(texts, stage).counts) for stage in STAGES}
    assert counts["case+space"] == {"empty": 1, "merged": 0}
    assert counts["punct"] == {"empty": 2, "merged": 0}
    assert counts["stop"] == {"empty": 4, "merged": 0}
    assert counts["stem"] == {"empty": 4, "merged": 1}
    assert normalise_all(texts, "stem").texts == ("graph",)
    found = string_overlap(texts, ["to be"], "stop")
    assert (found.human, found.generated, found.empty_human, found.empty_generated) == (2, 0, 4, 1)
    assert (found.jaccard, found.coverage_of_human, found.coverage_of_generated) == (0.0, 0.0, None)
    assert string_overlap([], ["the"], "stop").jaccard is None


def test_other_scripts() -> None:
    assert normalise("CAFÉ", "case+space") == normalise("cafe\u0301", "case+space")
    assert normalise("Straße 42 – «ÉTÉ»", "punct") == "straße 42 été"
    assert normalise("हिन्दी, भाषा", "punct") == "हिन्दी भाषा"  # vowel signs are part of their word
    assert normalise("東京。大阪", "punct") == "東京 大阪"
    assert normalise("a\u00a0\u2003b\u3000c", "case+space") == "a b c"
    assert normalise("e-mail_address", "punct") == "e mail_address"


def test_bag_may_lower_an_overlap() -> None:
    human, generated = ["a1 b1", "b1 a1", "c1"], ["a1 b1", "b1 a1", "d1"]
    assert string_overlap(human, generated, "stem").jaccard == 0.5
    assert string_overlap(human, generated, "bag").jaccard == 1 / 3


@given(
    st.lists(st.text(alphabet="aB c?ü", max_size=6), max_size=8), st.lists(st.text("aB c?ü", max_size=6), max_size=8)
)
def test_overlap_is_that_of_sets(human: list[str], generated: list[str]) -> None:
    for stage in STAGES:
        one = {normalise(text, stage) for text in human} - {""}
        two = {normalise(text, stage) for text in generated} - {""}
        found = string_overlap(human, generated, stage)
        assert found.jaccard == (len(one & two) / len(one | two) if one | two else None)
        assert found.coverage_of_human == (len(one & two) / len(one) if one else None)
        assert found.coverage_of_generated == (len(one & two) / len(two) if two else None)
        for text in one | two:
            assert stage in ("stem", "bag") or normalise(text, stage) == text


def test_unknown_stage() -> None:
    with pytest.raises(ConfigError, match=r"stage: found 'stems'; expected one of .* Did you mean 'stem'"):
        normalise("a", "stems")


def test_other_topics_is_a_cycle_that_no_order_changes() -> None:
    topics = [f"t{number}" for number in range(17)]
    found = other_topics(topics, 3)
    assert found == other_topics(topics[::-1], 3)
    assert found != other_topics(topics, 4)
    assert sorted(found.values()) == sorted(topics)
    assert all(one != two for one, two in found.items())
    assert other_topics(["only"], 0) == {}
    assert other_topics([], 0) == {}
    moved = other_topic_variants(VariantSet("g", {"1": ("a",), "2": ("b",)}), 0)
    assert (moved.name, dict(moved.texts)) == ("g:other_topic", {"1": ("b",), "2": ("a",)})
    with pytest.raises(InputError, match="1 topics; expected at least two"):
        other_topic_variants(VariantSet("g", {"1": ("a",)}), 0)


def test_random_terms_keep_numbers_and_lengths() -> None:
    terms = VariantSet("human", {"1": ("red fox jumps", "fox sleeps"), "2": ("one",)})
    like = VariantSet("g", {"1": ("x y", "x y", "p q r", "a b c d e f g"), "2": ("z z",), "3": ("w",)})
    made = term_subset_variants(like, terms, seed=1)
    assert list(made.texts) == ["1", "2"]
    assert [len(text.split()) for text in made.texts["1"]] == [2, 3, 4]
    for text in made.texts["1"]:
        assert len(set(text.split())) == len(text.split())
        assert set(text.split()) <= {"red", "fox", "jumps", "sleeps"}
    assert dict(made.counts) == {"shortened": 2}
    assert made.texts == term_subset_variants(like, terms, seed=1).texts
    assert made.texts != term_subset_variants(like, terms, seed=1, draw=1).texts


@pytest.mark.parametrize("stage", ["stop", "bag"])
def test_overlap_of_random_terms_is_exact(stage: str) -> None:
    human, generated = ["k1 k2", "k2 k1", "k3", "k2 k2 k3"], ["x1 x2", "x3 x4", "x5"]
    words = ["k1", "k2", "k3"]
    choose = combinations if stage == "bag" else permutations
    pools = [[" ".join(each) for each in choose(words, size)] for size in (2, 2, 1)]
    goal = set(normalise_all(human, stage).texts)
    shared, distinct, total = 0, 0, 0
    for drawn in product(*pools):
        shared, distinct, total = shared + len(goal & set(drawn)), distinct + len(set(drawn)), total + 1
    found = random_term_overlap(human, generated, stage)
    assert found["coverage_of_human"] == pytest.approx(shared / total / len(goal), abs=1e-15)
    assert found["coverage_of_generated"] == pytest.approx(shared / distinct, abs=1e-15)
    assert found["jaccard"] == pytest.approx(shared / (total * len(goal) + distinct - shared), abs=1e-15)


def test_random_terms_of_long_queries_and_of_none() -> None:
    words = [f"w{number}" for number in range(400)]
    found = random_term_overlap([" ".join(words)], [" ".join(words[:399])], "punct")
    assert found["coverage_of_human"] == 0.0
    assert np.isfinite(found["jaccard"])
    assert random_term_overlap([], ["a1"], "punct") == {
        "jaccard": None,
        "coverage_of_human": None,
        "coverage_of_generated": None,
    }

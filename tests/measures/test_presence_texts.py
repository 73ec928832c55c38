"""NFaiRR, RaB, ARaB, nDRaB and TExFAIR of single lists: reference values, means by hand, edges."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures import arab, magnitudes, nfairr, texfair
from rerankers.measures.presence_lists import arab_weights
from rerankers.measures.texfair_score import target_of

EXACT = {"abs": 1e-12, "rel": 0}
LABELS = st.lists(st.sampled_from(["N", "M", "F", None]), min_size=1, max_size=7)
ALPHA = st.sampled_from([0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1.0])


def oracle(shared: Path, name: str) -> dict[str, Any]:
    return json.loads((shared / "oracles" / "text-bias-and-queries" / f"{name}.json").read_text())


@pytest.mark.shared_data
def test_nfairr_has_the_reference_values(shared: Path) -> None:
    number = 0
    for case in oracle(shared, "nfairr")["cases"]:
        value = case["neutrality"]
        for query, ranked in case["run"].items():
            lists = [{str(doc): value[str(doc)] for doc in docs} for docs in (ranked, case["background"][query])]
            for k in case["cutoffs"]:
                expected = {name: case[name][str(k)][query] for name in ("NFaiRR", "FaiRR", "ideal")}
                found = nfairr(*lists, k, "official")
                plain_lists = nfairr(list(lists[0].values()), list(lists[1].values()), k)
                assert plain_lists["nfairr"] == found["nfairr"]  # nothing is ranked that the background lacks
                assert found["fairr"] == pytest.approx(expected["FaiRR"], **EXACT)
                assert found["ideal"] == pytest.approx(expected["ideal"], **EXACT)
                number += 1
                if expected["NFaiRR"] == "nan":
                    assert (found["nfairr"], found["reason"]) == (None, "no_neutral_background")
                    continue
                assert found["nfairr"] == pytest.approx(expected["NFaiRR"], **EXACT)
                agnostic = case["agnostic"]
                assert found["agnostic"] == pytest.approx(agnostic["FaiRR"][str(k)][query], **EXACT)
                assert found["agnostic_nfairr"] == pytest.approx(agnostic["NFaiRR"][str(k)][query], **EXACT)
    assert number > 15


@pytest.mark.shared_data
def test_arab_has_the_reference_values(shared: Path) -> None:
    """The reference has (female - male, female, male), by document as by list; ours is delta = male - female."""
    data = oracle(shared, "arab")
    words = {"male": data["meta"]["words"]["m"], "female": data["meta"]["words"]["f"]}
    for case in data["cases"]:
        if case["kind"] == "doc":
            for kind in ("tc", "tf", "bool"):
                found = magnitudes([case["text"]], kind, words)
                male, female = found["male"][0], found["female"][0]
                assert [female - male, female, male] == pytest.approx(case[kind], **EXACT)
            continue
        found = arab(magnitudes(case["docs"], case["method"], words), case["k"])
        for name in ("RaB", "ARaB", "nDRaB"):
            if name in case:
                one = found[name]
                assert [-one["delta"], one["female"], one["male"]] == pytest.approx(case[name], **EXACT)
                assert one["gap"] == pytest.approx(abs(case[name][0]), **EXACT)
        assert found["short"] == ("nDRaB" not in case)


@pytest.mark.shared_data
def test_texfair_has_the_reference_values(shared: Path) -> None:
    data = oracle(shared, "texfair")
    for case in data["cases"]:
        found = texfair(case["docs"], data["meta"]["words"], None, case["k"])
        for mine, theirs in (("texfair", "TExFAIR"), ("TED", "TED"), ("RBDF", "RBDF"), ("shares", "group_share")):
            assert found[mine] == (None if case[theirs] is None else pytest.approx(case[theirs], **EXACT))
        assert found["exposure"] == pytest.approx(case["term_exposure"], **EXACT)
        if case["RBDF"] == 1:
            assert found["texfair"] == pytest.approx(case["TExFAIR_no_discount"], **EXACT)


def test_wrong_words() -> None:
    with pytest.raises(ConfigError, match=r"form: found 'oficial'.*Did you mean 'official'"):
        nfairr([1], [1], 1, "oficial")
    with pytest.raises(ConfigError, match="kind"):
        magnitudes({"male": [1], "female": [1]}, "log")


def test_outsiders_push_only_the_official_form_above_one() -> None:
    ranked, background = {"x": 1.0, "b": 0.8}, {"b": 0.8, "c": 0.5}
    official, corrected = (nfairr(ranked, background, 2, form) for form in ("official", "corrected"))
    assert official["nfairr"] > 1
    assert corrected["nfairr"] == pytest.approx(1.0)
    assert official["outsiders"] == corrected["outsiders"] == 1
    same = nfairr(list(ranked.values()), list(background.values()), 2)
    assert same["nfairr"] == corrected["nfairr"]
    twice = nfairr([0.8, 0.8], [0.8, 0.5], 2)
    assert (twice["outsiders"], twice["nfairr"]) == (1, pytest.approx(1.0))


def test_agnostic_stops_at_the_size_of_the_set() -> None:
    values = [0.8, 0.2]
    official, corrected = (nfairr(values, values, 50, form) for form in ("official", "corrected"))
    assert corrected["agnostic"] == pytest.approx(0.5 * (1 + 1 / math.log2(3)))
    assert official["agnostic"] > 2 * corrected["agnostic"]
    assert nfairr(values, values, None)["agnostic"] == corrected["agnostic"]


def test_missing_neutralities_and_clipping() -> None:
    ranked, pool = [None, 0.5], [0.5, None]
    neutral, drop = (nfairr(ranked, pool, 2, missing=word) for word in ("neutral", "drop"))
    assert neutral["fairr"] == pytest.approx(1 + 0.5 / math.log2(3))
    assert neutral["nfairr"] == pytest.approx(1.0)
    assert drop["fairr"] == pytest.approx(0.5 / math.log2(3))
    assert drop["ideal"] == pytest.approx(0.5)
    assert neutral["missing"] == drop["missing"] == 2
    wide = nfairr([-0.4, 1.0], [-0.4, 1.0], 2)
    assert wide["fairr"] == pytest.approx(-0.4 + 1 / math.log2(3))
    assert wide["outside_0_1"] == 2
    assert nfairr([-0.4, 1.0], [-0.4, 1.0], 2, clip=True)["fairr"] == pytest.approx(1 / math.log2(3))
    assert nfairr([], [0.5], 3)["reason"] == "no_ranked_document"


@pytest.mark.parametrize("n", [1, 2, 7])
def test_arab_weights_are_means_of_means(n: int) -> None:
    values = np.random.default_rng(n).random(n)
    want = np.mean([values[: t + 1].mean() for t in range(n)])
    assert arab_weights(n) @ values == pytest.approx(want, abs=1e-14)
    assert arab_weights(n).sum() == pytest.approx(1)


def test_arab_of_other_groups_and_forms_of_input() -> None:
    three = arab({"a": [1.0, 0.0], "b": [0.0, 0.0], "c": [0.0, 3.0]}, None)
    assert "delta" not in three["RaB"]
    assert three["RaB"]["gap"] == pytest.approx(1.5)
    rows = arab([{"m": 1.0, "f": 0.0}, {"m": 0.0, "f": 2.0}], 5)
    assert rows["RaB"]["delta"] == pytest.approx(-0.5)
    assert rows["short"] is True
    empty = arab({"male": [], "female": []}, 3)
    assert empty["reason"] == "no_ranked_document"
    assert empty["RaB"]["delta"] is None


def test_a_word_of_two_groups_and_other_letters() -> None:
    words = {"male": ["אבא", "они"], "female": ["они"]}
    assert {name: one.tolist() for name, one in magnitudes(["ОНИ אבא אבא"], "tc", words).items()} == {
        "male": [3.0],
        "female": [1.0],
    }
    found = texfair(["они"], words)
    assert found["shares"] == {"male": 0.5, "female": 0.5}
    assert found["texfair"] == 1.0


def test_texfair_targets_and_empty_documents() -> None:
    words = {"m": ["he"], "f": ["she"]}
    found = texfair(["she", ""], words, {"m": 3, "f": 1})
    assert found["TED"] == pytest.approx(1.5)
    assert found["lowest"] == pytest.approx(-0.5)
    assert found["empty_documents"] == 1
    assert found["texfair"] == pytest.approx(1 - 1.5 * found["RBDF"])
    assert texfair(["she"], words, [3, 1])["texfair"] == pytest.approx(found["lowest"])
    assert texfair([], words)["reason"] == "no_ranked_document"
    assert texfair(["nobody"], words)["texfair"] == 1.0
    assert target_of(None, ("a", "b", "c")).tolist() == [1 / 3] * 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nfairr([0.5, None], [0.5], 3), "1 documents without a value"),
        (lambda: nfairr([0.5], {"a": math.inf}, 3), "background, a: found inf"),
        (lambda: magnitudes(["he"], "tf"), "words: found None"),
        (lambda: magnitudes({"male": [1], "female": [1, 2]}), "different lengths"),
        (lambda: magnitudes({"male": [-1], "female": [1]}), "negative or infinite"),
        (lambda: magnitudes([{"male": 1}, {"female": 1}]), "counts of other groups"),
        (lambda: arab({"male": [1.0]}, 3), "two different groups or more"),
        (lambda: arab({"male": [math.nan], "female": [1.0]}, 3), "finite numbers"),
        (lambda: texfair(["he"], {"m": ["he"]}), "two groups or more"),
        (lambda: texfair("he", {"m": ["he"], "f": []}), "a list of texts"),
        (lambda: texfair(["he"], {"m": ["he"], "f": []}, {"m": 1}), "the groups m, f"),
        (lambda: texfair(["he"], {"m": ["he"], "f": []}, [0, 0]), "with a positive sum"),
    ],
)
def test_wrong_values(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)

"""What is said of a recommendation."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rerankers.queries.explain import explain
from rerankers.queries.scored import RELEVANCE, Candidate, Scored
from rerankers.values import GroupAlignment

LABELS = "aaaaaaaaab" + "bbbbbbbbab" + "aabb??ab??"  # documents 0..29


def alignment() -> GroupAlignment:
    known = np.flatnonzero([label != "?" for label in LABELS])
    code = np.array(["ab".index(LABELS[doc]) for doc in known])
    return GroupAlignment.of_entries("side", ("a", "b"), known, code, np.ones(len(known)), len(LABELS))


def scored(docs, side, relevance=0.5, shares=None, unknown=0.0, reason=None) -> Scored:
    return Scored(
        Candidate("q", ("rm3",)),
        np.asarray(docs, np.int32),
        {RELEVANCE: relevance, "side": side},
        {} if reason is None else {"side": reason},
        {"side": shares},
        {"side": unknown},
    )


def told(candidate, original):
    return explain(candidate, original, {"side": alignment()}, lambda codes: [f"d{code}" for code in codes])


def test_explanation_of_a_closer_list() -> None:
    before = scored([0, 1, 2, 3], 0.5, 1.0, {"a": 1.0, "b": 0.0})
    after = scored([10, 0, 24, 3, 11], 0.9, 0.6, {"a": 0.5, "b": 0.5}, 0.2)
    found = told(after, before)
    assert found["change"] == {RELEVANCE: pytest.approx(-0.4), "side": pytest.approx(0.4)}
    assert found["codes"] == ["closer:side", "less_known:side"]
    assert found["enter"] == [
        {"docno": "d10", "rank": 1, "groups": {"side": ["b"]}},
        {"docno": "d24", "rank": 3, "groups": {"side": ["unknown"]}},
        {"docno": "d11", "rank": 5, "groups": {"side": ["b"]}},
    ]
    assert [(one["docno"], one["rank"]) for one in found["leave"]] == [("d1", 2), ("d2", 3)]
    assert found["kept"] == 2
    assert found["explanation"] == (
        "Relevance to the original query 0.600; 2 of its first 4 documents stay. side: 0.400 closer to the target "
        "(0.500 to 0.900): a 100.0 % to 50.0 %, b 0.0 % to 50.0 %. The weight of documents without a label rises from "
        "0.0 % to 20.0 %. 3 documents enter: d10 (b), d24 (unknown), d11 (b). 2 documents leave: d1 (a), d2 (a)."
    )


def test_explanations_of_other_directions() -> None:
    before = scored([0, 1], 0.5, 1.0, {"a": 1.0})
    assert told(scored([0, 10], 0.2), before)["codes"] == ["further:side"]
    assert "0.300 further from the target" in told(scored([0, 10], 0.2), before)["explanation"]
    assert "1 document enters: d10 (b). 1 document leaves: d1 (a)." in told(scored([0, 10], 0.2), before)["explanation"]
    same = told(scored([1, 0], 0.5), before)
    assert same["codes"] == ["unchanged:side", "same_documents"]
    assert "as close to the target as before" in same["explanation"]
    lost = told(scored([], None, None, reason="no_document"), before)
    assert lost["codes"] == ["not_defined:side", "no_documents"]
    assert lost["change"] == {RELEVANCE: None, "side": None}
    assert "side: not defined for this query (no document)." in lost["explanation"]
    assert (
        "not defined for the original query (no known weight)"
        in told(scored([0], 0.5), scored([24], None, 1.0, reason="no_known_weight"))["explanation"]
    )
    json.dumps(lost, allow_nan=False)


def test_explanation_names_three_and_counts_the_rest() -> None:
    found = told(scored(range(10, 20), 0.6), scored(range(10), 0.5))
    assert "10 documents enter: d10 (b), d11 (b), d12 (b) and 7 more." in found["explanation"]
    assert len(found["enter"]) == len(found["leave"]) == 10

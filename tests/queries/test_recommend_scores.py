"""Relevance of lists, axes with their targets, and the objectives of candidates."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.axes import crossed, make_axes, parsed_targets
from rerankers.queries.distributions import rank_weights
from rerankers.queries.generators.base import Query
from rerankers.queries.relevance_of_lists import cosine_f1, id_f1
from rerankers.queries.scored import Candidate
from rerankers.queries.scoring import Scorer, ScoringOptions
from rerankers.queries.searching import Hits
from rerankers.values import Collection, GroupAlignment, Ids, Judgments, Topics


def unit_rows(matrix: np.ndarray) -> sparse.csr_matrix:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return sparse.csr_matrix(np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0))


def plain_f1(original: list[int], other: list[int], cosine: Any) -> float:
    if not original or not other:
        return 0.0
    precision = sum(max(cosine(a, b) for b in original) for a in other) / len(other)
    recall = sum(max(cosine(a, b) for a in other) for b in original) / len(original)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


LISTS = st.lists(st.integers(0, 7), max_size=6, unique=True)


@given(LISTS, st.lists(LISTS, min_size=1, max_size=4), st.integers(0, 5))
def test_relevance_is_the_plain_one(original: list[int], others: list[list[int]], seed: int) -> None:
    matrix = np.maximum(np.random.default_rng(seed).normal(size=(8, 4)), 0)
    matrix[seed] = 0  # a document without words
    vectors = unit_rows(matrix)
    dense = vectors.toarray()
    cosine = lambda a, b: 1.0 if a == b else float(dense[a] @ dense[b])  # noqa: E731
    found = cosine_f1(np.array(original, int), [np.array(one, int) for one in others], vectors)
    assert found == pytest.approx([plain_f1(original, one, cosine) for one in others], abs=1e-12)
    same = lambda a, b: float(a == b)  # noqa: E731
    for one in others:
        value = id_f1(np.array(original, int), np.array(one, int))
        assert value == pytest.approx(plain_f1(original, one, same))
        assert value == id_f1(np.array(one, int), np.array(original, int))


def test_relevance_to_itself_is_1_whatever_the_order() -> None:
    vectors = unit_rows(np.zeros((4, 2)))
    assert cosine_f1([0, 1, 2], [[2, 0, 1], [], [3]], vectors).tolist() == [1.0, 0.0, 0.0]
    assert id_f1([0, 1, 2], [2, 0, 1]) == 1.0
    assert id_f1([], []) == 0.0
    with pytest.raises(InputError, match="more than once"):
        id_f1([0, 0], [1])
    with pytest.raises(InputError, match="document codes"):
        id_f1([0.5], [1])


DOCS = [f"d{i}" for i in range(6)]


def alignment(labels: str) -> GroupAlignment:
    known = [place for place, label in enumerate(labels) if label != "?"]
    group = [sorted(set(labels) - {"?"}).index(labels[place]) for place in known]
    return GroupAlignment.of_entries(
        "side", tuple(sorted(set(labels) - {"?"})), np.array(known, int), np.array(group, int), np.ones(len(known)), 6
    )


@pytest.fixture
def collection() -> Collection:
    judged = Judgments(
        np.array([0]), np.array([0, 4]), np.array([0, 1, 2, 3]), {"grade": np.array([2, 0, 1, -1], np.int16)}
    )
    return Collection("tiny", Ids.of(DOCS), Topics.of(["1", "2"], ["one", "two"]), judged, "f")


def test_targets(collection: Collection, tmp_path: Path) -> None:
    made = {"side": alignment("LLRR?L")}
    one = make_axes(made, collection)[0]
    assert one.groups == ("L", "R")
    assert one.target_of("1").tolist() == [0.5, 0.5]
    population = make_axes(made, collection, "population")[0]
    assert population.target_of("9") == pytest.approx([0.6, 0.4])
    relevant = make_axes(made, collection, "relevant")[0]
    assert relevant.target_of("1") == pytest.approx([0.5, 0.5])  # d0 is L, d2 is R
    assert relevant.target_of("2") is None
    assert relevant.of_query("2") is None
    counted = make_axes(made, collection, "population", unknown="count")[0]
    assert counted.groups == ("L", "R", "unknown")
    assert counted.target_of("1") == pytest.approx([0.5, 1 / 3, 1 / 6])
    file = tmp_path / "t.csv"
    file.write_text("qid,cell,value\n*,side:L,0.9\n*,R,0.1\n2,L,1\n", encoding="utf-8")
    custom = make_axes(made, collection, str(file))[0]
    assert custom.target_of("1") == pytest.approx([0.9, 0.1])
    assert custom.target_of("2") == pytest.approx([1, 0])
    assert custom.of_query("2").target == {"L": 1.0, "R": 0.0}


def test_targets_say_what_is_wrong(collection: Collection, tmp_path: Path) -> None:
    made = {"side": alignment("LLRR?L")}
    assert parsed_targets("{side:population}", ["side", "age"]) == {"side": "population", "age": "uniform"}
    assert parsed_targets({"age": "f.csv"}, ["side", "age"]) == {"side": "uniform", "age": "f.csv"}
    with pytest.raises(ConfigError, match="Did you mean 'side'"):
        parsed_targets("{sid:uniform}", ["side"])
    with pytest.raises(ConfigError, match="Did you mean 'uniform'"):
        make_axes(made, collection, "unifrom")
    with pytest.raises(ConfigError, match="targets"):
        make_axes(made, collection, 3)
    with pytest.raises(InputError, match="no document with a label"):
        make_axes({"side": alignment("??????")}, collection)
    file = tmp_path / "t.csv"
    file.write_text("qid,cell,value\n*,L,0.5\n*,X,0.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.csv:3: found cell 'X'; expected a group"):
        make_axes(made, collection, str(file))


def test_combinations_of_groups(collection: Collection) -> None:
    made = {"side": alignment("LLRR?L"), "size": alignment("SB?BSS")}
    joint = crossed("side*size", made)
    assert joint.groups == ("L & B", "L & S", "R & B", "R & S")
    rows = joint.totals(np.arange(6), np.arange(6), np.ones(6), 6)
    assert rows.argmax(axis=1)[[0, 1, 3, 5]].tolist() == [1, 0, 2, 1]
    assert joint.unknown.tolist() == [0, 0, 1, 0, 1, 0]
    axis = make_axes({"side*size": joint}, collection)[0]
    assert axis.distribution([0, 1, 3], np.ones(3)).named() == pytest.approx(
        {"L & B": 1 / 3, "L & S": 1 / 3, "R & B": 1 / 3, "R & S": 0}
    )
    for wrong in ("side", "side*side", "side*nope"):
        with pytest.raises(ConfigError, match="crossed"):
            crossed(wrong, made)


class Fixed:
    """Documents of queries, as given."""

    def __init__(self, **found: list[int]) -> None:
        self.found = found

    def hits(self, text: str) -> Hits:
        docs = np.array(self.found[text], np.int32)
        return Hits(docs, -np.arange(len(docs), dtype=float))


def scored(
    collection: Collection, labels: str, found: dict[str, list[int]], axis: dict[str, Any] | None = None, **options: Any
):
    axes = make_axes({"side": alignment(labels)}, collection, **(axis or {}))
    options = {"depth": 3, "relevance": "id", "weights": "uniform", **options}
    judged = {"1": (np.array([0, 1, 2, 3]), np.array([2, 0, 1, -1]))}
    scorer = Scorer(Fixed(**found), axes, ScoringOptions(**options), None, judged)  # type: ignore[arg-type]
    query = Query("1", "own")
    return {one.scored.candidate.text: one for one in scorer.score(query, [Candidate(text, ("x",)) for text in found])}


def test_objectives_of_candidates(collection: Collection) -> None:
    found = scored(collection, "LLRR?L", {"own": [0, 1, 5, 2], "mixed": [0, 2, 1], "none": []})
    own, mixed, none = found["own"].scored, found["mixed"].scored, found["none"].scored
    assert own.objectives["relevance"] == 1.0
    one_sided = 1 - (0.5 * math.log2(1 / 0.75) + 0.5 * (0.5 * math.log2(0.5 / 0.75) + 0.5 * math.log2(0.5 / 0.25)))
    assert own.objectives["side"] == pytest.approx(one_sided, abs=1e-12)
    assert mixed.objectives["relevance"] == pytest.approx(2 / 3)
    assert mixed.objectives["side"] > own.objectives["side"]
    assert found["mixed"].difference["side"] > 0
    assert found["own"].difference["side"] == 0
    assert none.point is None
    assert none.reasons == {"side": "no_document"}
    assert mixed.judged["nDCG@10"] == pytest.approx((2 + 1 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert own.judged["unjudged@10"] == pytest.approx(1 / 3)


def test_judged_measures_are_those_of_ir_measures(collection: Collection) -> None:
    import ir_measures

    lists = {"own": [0, 1, 5, 2], "mixed": [2, 0, 1], "other": [4, 3, 2]}
    found = scored(collection, "LLRR?L", lists)
    qrels = [ir_measures.Qrel("1", f"d{d}", g) for d, g in [(0, 2), (1, 0), (2, 1), (3, 0)]]
    for text, docs in lists.items():
        run = [ir_measures.ScoredDoc("1", f"d{d}", -float(r)) for r, d in enumerate(docs[:3])]
        value = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.R @ 3], qrels, run)
        assert found[text].scored.judged["nDCG@10"] == pytest.approx(value[ir_measures.nDCG @ 10], abs=1e-9)
        assert found[text].scored.judged["R@3"] == pytest.approx(value[ir_measures.R @ 3], abs=1e-9)


def test_too_little_coverage_is_flagged_and_stays_out(collection: Collection) -> None:
    lists = {"own": [0, 3, 4], "low": [4, 5, 3]}
    found = scored(collection, "L???RL", lists, least_coverage=0.6)
    own = found["own"].scored
    assert found["low"].scored.objectives["side"] == pytest.approx(1.0)  # 2 of 3 have a label: enough
    assert own.objectives["side"] is not None
    low = scored(collection, "L???RL", lists, least_coverage=0.7)["own"]
    assert low.scored.objectives["side"] is None
    assert low.scored.reasons == {"side": "coverage_below_least"}
    assert low.closeness["side"] == pytest.approx(1.0)
    assert low.scored.distribution["side"] == {"L": 0.5, "R": 0.5}
    exact = scored(collection, "L???RL", lists, least_coverage=2 / 3)["own"]
    assert exact.scored.objectives["side"] is not None
    nothing = scored(collection, "L???RL", {"own": [1, 2, 3]})["own"]
    assert nothing.scored.reasons == {"side": "no_known_weight"}


def test_the_paper_form_is_a_difference_and_is_named_so(collection: Collection) -> None:
    lists = {"own": [0, 1, 5], "other": [2, 3], "none": []}
    found = scored(collection, "LLRR?L", lists, form="paper")
    name = "difference_from_original(side)"
    assert found["own"].scored.objectives == {"relevance": 1.0, name: 0.0}
    assert found["other"].scored.objectives[name] == pytest.approx(1.0)  # all moved to the other side: no balance
    assert found["other"].closeness["side"] == found["own"].closeness["side"]
    assert found["none"].scored.reasons == {name: "no_document"}


def test_an_original_without_documents_has_no_relevance(collection: Collection) -> None:
    found = scored(collection, "LLRR?L", {"own": [], "other": [2, 3]})
    assert found["other"].scored.reasons == {"relevance": "original_finds_nothing"}
    assert found["other"].scored.point is None


def test_weights_and_policies_reach_the_axis(collection: Collection) -> None:
    lists = {"own": [0, 4, 2]}
    w = rank_weights("log2", 3)
    found = scored(collection, "LLRR?L", lists, {"unknown": "spread"}, weights="log2")["own"].scored
    assert found.distribution["side"]["L"] == pytest.approx((w[0] + w[1] / 2) / w.sum())
    assert found.unknown_share["side"] == pytest.approx(w[1] / w.sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth"),
        ({"relevance": "words"}, "relevance"),
        ({"weights": "x"}, "weights"),
        ({"least_coverage": 2}, "least_coverage"),
        ({"patience": 1.0}, "patience"),
        ({"form": "x"}, "form"),
        ({"relevance": "cosine"}, "expected relevance=id"),
    ],
)
def test_options_say_what_is_wrong(collection: Collection, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        scored(collection, "LLRR?L", {"own": [0]}, **options)

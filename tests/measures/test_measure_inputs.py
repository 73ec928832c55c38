"""`evaluate` and what goes into it: runs, judgments, groups, missing queries, and the messages about them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_worlds import random_rankings, world

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.exposure import RBP
from rerankers.measures import evaluate, inputs
from rerankers.measures.coverage import cover
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.group_exposure import group_rows, group_table
from rerankers.measures.inputs import group_alignment, qrels_table
from rerankers.values import Ids, Judgments, QrelsTable

RUN = {"q2": [["b", "a"], ["a", "b"]], "q1": [["d", "c"]]}
QRELS = {"q1": {"c": 1, "d": 0}, "q2": {"a": 2, "z": 1}}


def values(table: pa.Table, unit: str) -> dict[str, float | None]:
    return {row["measure"]: row["value"] for row in table.to_pylist() if row["unit"] == unit}


def test_a_run_by_hand() -> None:
    table = evaluate(RUN, QRELS, {"a": "x", "b": ["x", "y"], "z": {"y": 0.5}, "c": None})
    assert table["system"].to_pylist()[0] == "run"
    assert list(dict.fromkeys(table["unit"].to_pylist())) == ["q2", "q1"]
    found = values(table, "q2")
    # GERR(.5, .5): b before a is seen with (1, 1/2), a before b with (1, 1/4); the target is a, then z, then b.
    got, due = {"a": 0.75, "b": 0.625, "z": 0.0}, {"a": 1.0, "z": 0.25, "b": 0.0625}
    assert found["EED"] == pytest.approx(sum(value**2 for value in got.values()), abs=1e-15)
    assert found["EER"] == pytest.approx(sum(got[doc] * due[doc] for doc in got), abs=1e-15)
    assert found["EEL"] == pytest.approx(sum((got[doc] - due[doc]) ** 2 for doc in got), abs=1e-15)
    assert found["utility"] == pytest.approx(0.75 * 0.5)
    x, y = (0.75 + 0.625, 1 + 0.0625), (0.625, 0.0625 + 0.5 * 0.25)
    assert found["group_EEL"] == pytest.approx((x[0] - x[1]) ** 2 + (y[0] - y[1]) ** 2, abs=1e-15)
    assert found["RR"] == 0.75
    assert found["P@10"] == 0.1
    # c and d of the other query are both unknown: one group of all exposure.
    assert values(table, "q1")["group_EEL"] == pytest.approx((1.5 - 1.25) ** 2, abs=1e-15)


def test_without_groups_there_are_no_group_measures_unless_asked_for() -> None:
    assert not any(key.startswith("group_") for key in evaluate(RUN, QRELS)["measure"].to_pylist())
    asked = evaluate(RUN, QRELS, measures="group_EEL, EEL")
    assert asked["measure"].to_pylist() == ["group_EEL", "EEL"] * 2
    assert asked["reason"].to_pylist() == ["no_groups", None] * 2


def test_other_forms_of_the_same_run_and_judgments(tmp_path: Path) -> None:
    expected = evaluate(RUN, QRELS)
    rows = [(q, s, r, d) for q, lists in RUN.items() for s, docs in enumerate(lists) for r, d in enumerate(docs, 1)]
    qid, sample, rank, docno = zip(*rows, strict=True)
    frame = pa.table({"qid": qid, "sample": sample, "rank": rank, "docno": docno})
    assert evaluate(frame, QRELS).equals(expected)
    path = tmp_path / "mine.run.gz"
    with gzip.open(path, "wt") as stream:
        stream.writelines(f"{q} {s} {d} {r} {9 - r} tag\n" for q, s, r, d in rows)
    judged = tmp_path / "qrels.txt"
    judged.write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in QRELS.items() for d, g in grades.items()))
    found = evaluate(path, judged)
    assert set(found["system"].to_pylist()) == {"mine"}
    assert found.drop_columns(["system"]).equals(expected.drop_columns(["system"]))


def test_queries_nobody_judged_and_queries_nobody_answered() -> None:
    run = {**RUN, "q9": [["a"]]}
    table = evaluate(run, QRELS)
    assert set(values(table, "q9").values()) == {None}
    assert {row["reason"] for row in table.to_pylist() if row["unit"] == "q9"} == {"query_not_judged"}
    more = {**QRELS, "q7": {"a": 1}, "q8": {"b": 0}}
    with pytest.raises(InputError) as caught:
        evaluate(run, more)
    assert len(caught.value.problems) == 2
    assert "'q7'" in str(caught.value)
    assert "missing_query=zero_exposure" in str(caught.value)
    zero = evaluate(run, more, missing_query="zero_exposure")
    assert values(zero, "q7") == pytest.approx(
        {"EEL": 1, "EED": 0, "EER": 0, "EET": 1, "utility": 0, "nDCG@10": 0, "P@10": 0, "AP": 0, "RR": 0}
    )  # fmt: skip
    assert values(zero, "q8")["AP"] is None
    assert evaluate(run, more, missing_query="skip").equals(table)
    with pytest.raises(ConfigError, match="zero_exposure"):
        evaluate(run, more, missing_query="zero_exposition")


def test_judged_universe_and_cutoff_and_browsing() -> None:
    union, judged = (values(evaluate(RUN, QRELS, universe=u), "q2") for u in ("union", "judged"))
    assert judged["EED"] == pytest.approx(0.75**2)  # b is not judged
    assert union["AP"] == judged["AP"]
    rbp = values(evaluate(RUN, QRELS, browsing=RBP(0.5)), "q2")
    assert rbp["utility"] == pytest.approx(0.75)
    cut = values(evaluate(RUN, QRELS, browsing=RBP(0.5), cutoff=1), "q2")
    assert cut["utility"] == pytest.approx(0.5)
    assert cut["EET"] == pytest.approx(1)


def test_the_highest_grade_of_err_is_that_of_all_judgments() -> None:
    table = evaluate(RUN, QRELS, measures="utility(umodel='err') utility(umodel='err',max_grade=2)")
    assert values(table, "q1")["utility(umodel='err')"] == pytest.approx(0.25)
    for unit in ("q1", "q2"):
        assert len(set(values(table, unit).values())) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"preset": "trec2020"}, ConfigError, "trec2020_official"),
        ({"universe": "everything"}, ConfigError, "union, judged"),
        ({"measures": "nDGC@10"}, ConfigError, "Did you mean 'nDCG'"),
        ({"cutoff": 0}, ConfigError, "1 or more"),
        ({"qrels": {"q1": {"a": 0.5}}}, InputError, "grade 0.5 .* whole number"),
        ({"qrels": {"q1": {"a": 40000}}}, InputError, "40000"),
        ({"qrels": {"q1": ["a"]}}, InputError, "a list for query 'q1'"),
        ({"qrels": 5}, InputError, "a int"),
        ({"qrels": "nowhere.txt"}, MissingError, "nowhere.txt"),
        ({"groups": "groups.csv"}, InputError, "a str"),
        ({"groups": {"1": "x", 1: "y"}}, InputError, "'1' more than once"),
        ({"groups": {"a": [None]}}, InputError, "document 'a'"),
        ({"groups": {"a": {"x": -1}}}, InputError, "weight -1"),
        ({"groups": {"a": {"x": "much"}}}, InputError, "weight 'much'"),
        ({"groups": {"a": {"x": float("nan")}}}, InputError, "weight nan"),
        ({"run": {"q1": [["a", "a"]]}}, InputError, "'a'"),
        ({"run": {}}, InputError, "empty"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(**{"run": RUN, "qrels": QRELS, **arguments})


def test_all_problems_at_once() -> None:
    with pytest.raises(InputError) as caught:
        qrels_table({"q1": {"a": 0.5, "b": "x"}, "q2": 3})
    assert len(caught.value.problems) == 3


def test_grades_of_every_whole_kind() -> None:
    table = qrels_table({1: {"a": np.int64(2), "b": True, "c": 1.0, "d": -1}})
    assert table.grade.tolist() == [2, 1, 1, -1]
    assert table.qid.to_pylist() == ["1"] * 4


ID = st.text(max_size=2) | st.integers(0, 2) | st.sampled_from([b"a", None, np.str_("a")])
GRADE = st.integers(-2, 3) | st.sampled_from([True, 1.0, 0.5, "1", None, 2**15, np.int64(2), [1]])
USUAL = st.dictionaries(st.text(max_size=2), st.dictionaries(st.text(max_size=2), st.integers(-2, 3), max_size=3))


@given(USUAL | st.dictionaries(ID, st.dictionaries(ID, GRADE, max_size=3) | st.none(), max_size=3))
def test_usual_mappings_are_read_like_any_other(source: dict[Any, Any]) -> None:
    def read(function: Callable[[Any], QrelsTable | None]) -> Any:
        try:
            found = function(source)
        except InputError as error:
            return error.problems
        return found and [found.qid.to_pylist(), found.docno.to_pylist(), found.grade.tolist(), found.grade.dtype]

    usual = read(inputs._usual_pairs)
    assert usual is None or usual == read(inputs._any_pairs)


def test_group_mappings() -> None:
    docs = Ids.union(["a", "b", "c", "d", "e"])
    given = {"a": "y", "b": ["y", "x", "y"], "c": {"x": 0.25, "z": 2}, "d": None, "stranger": "w"}
    alignment, strangers = group_alignment(given, docs)
    assert alignment.groups == ("w", "x", "y", "z", "unknown")
    assert strangers == 1
    weight = np.zeros((5, 5))
    item, group, value = alignment.entries(np.arange(5))
    weight[item, group] = value
    assert weight.tolist() == [
        [0, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0.25, 0, 2, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1],
    ]  # fmt: skip
    everything_known, _ = group_alignment(dict.fromkeys("abcde", 7), docs)
    assert everything_known.groups == ("7", "unknown")
    assert group_alignment({"a": "unknown", "b": "x"}, docs)[0].groups == ("x", "unknown")


def test_cover_keeps_what_is_there() -> None:
    made = world(1, queries=5)
    rankings = random_rankings(0, made.candidates)
    judgments = Judgments(
        np.array([2, 7, 9], np.int32), np.array([0, 1, 2, 2]), np.array([0, 1]), {"grade": np.array([1, 1], np.int16)}
    )
    ids = Ids.of([f"q{number}" for number in range(10)])
    same, counts = cover(rankings, judgments, ids, "skip")
    assert same is rankings
    assert counts == {"queries_missing_from_run": 1}  # q9 has a row without judgments
    wider, counts = cover(rankings, judgments, ids, "zero_exposure")
    assert counts == {"queries_missing_from_run": 1}
    assert wider.over.query.tolist() == [0, 1, 2, 3, 4, 7]
    assert wider.counts.tolist() == [4, 4, 4, 4, 4, 1]
    assert len(wider.flat) == len(rankings.flat)


def group_exposure(*evaluations: Evaluation) -> pa.Table:
    return group_table([{"s": {name: group_rows(one, name) for name in one.groups}} for one in evaluations])


def test_group_exposure_is_the_mean_over_judged_queries_of_all_blocks() -> None:
    made = world(7, queries=20, attributes=2)
    whole = Evaluation(random_rankings(0, made.candidates), made.judgments, made.groups)
    table = group_exposure(whole).to_pylist()
    assert [(row["attribute"], row["group"]) for row in table] == [
        (attribute, group) for attribute in ("economy", "h_index") for group in ("a", "b", "c", "unknown")
    ]
    judged = whole.query_judged
    model = whole.options.model
    for row in table:
        alignment = made.groups[row["attribute"]]
        g = alignment.groups.index(row["group"])
        for name, value in (("exposure", whole.exposure(model)), ("target", whole.target(model))):
            assert row[name] == pytest.approx(whole.by_group(row["attribute"], value)[judged, g].mean(), abs=1e-14)
        assert row["queries"] == judged.sum()
        belongs = [
            g in alignment.group[alignment.indptr[doc] : alignment.indptr[doc + 1]] for doc in whole.over.doc.tolist()
        ]
        inside = judged[whole.over.row_index] & np.array(belongs)
        assert row["documents"] == inside.sum()
        assert row["relevant_documents"] == np.sum(inside & (whole.grade > 0))


def test_group_exposure_does_not_depend_on_the_order_of_blocks() -> None:
    made = world(7, queries=20, attributes=2)
    rows = [made.candidates.rows(0, 7), made.candidates.rows(7, 20)]
    parts = [Evaluation(random_rankings(9, part), made.judgments, made.groups) for part in rows]
    assert group_exposure(*parts).equals(group_exposure(*parts[::-1]))
    assert group_exposure().schema == group_exposure(*parts).schema
    nobody = Evaluation(random_rankings(9, rows[0]), Judgments.empty().with_columns(grade=np.empty(0)), made.groups)
    assert group_exposure(nobody).to_pylist()[0] == {
        "system": "s", "attribute": "economy", "group": "a", "exposure": None, "target": None,
        "queries": 0, "documents": 0, "relevant_documents": 0,
    }  # fmt: skip

"""Our measures through ir_measures: the values of `rerankers.measures.evaluate`, and no merged rankings."""

from __future__ import annotations

import math
from typing import Any

import ir_measures
import pandas as pd
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import RBP
from rerankers.measures import evaluate, ir_provider

QRELS = {"a": {"1": 1, "2": 0, "3": 1}, "b": {"1": 1, "9": 2}, "c": {"5": 1}}
RUN = {"a": {"1": 3.0, "2": 2.0, "3": 1.0}, "b": {"1": 1.0, "4": 2.0}, "x": {"1": 1.0}}
LISTED = {"a": [["1", "2", "3"]], "b": [["4", "1"]]}
GROUPS = {"1": "A", "2": "B", "3": "B", "9": "A"}
WITH_GROUPS = ("group_EEL", "group_EED", "AWRF@10", "NDKL")


def _by_hand(name: str, browsing: Any = None) -> dict[str, float]:
    table = evaluate(LISTED, QRELS, GROUPS, browsing=browsing, measures=[name], missing_query="zero_exposure")
    return {row["unit"]: row["value"] for row in table.to_pylist()}


@pytest.mark.parametrize("name", ["EEL", "EED", "EER", "EET", "utility", "EEL@2", *WITH_GROUPS])
def test_values_are_ours(name: str) -> None:
    measure = ir_provider.measure(name, GROUPS if name in WITH_GROUPS else None)
    expected = _by_hand(name)
    found = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], QRELS, RUN)}
    assert set(found) == {"a", "b", "c"}
    for qid, value in expected.items():
        assert found[qid] == value or (value is None and math.isnan(found[qid])), qid
    known = [value for value in expected.values() if value is not None]
    assert ir_measures.calc_aggregate([measure], QRELS, RUN)[measure] == pytest.approx(sum(known) / len(known))


def test_beside_the_measures_of_ir_measures() -> None:
    eel, cut = ir_provider.EEL, ir_provider.EEL @ 2
    browsing = ir_provider.EEL(browsing=RBP(0.8))
    measures = [eel, cut, browsing, ir_measures.nDCG @ 10, ir_provider.group_EEL(groups=GROUPS)]
    found = ir_measures.calc_aggregate(measures, QRELS, RUN)
    assert set(found) == set(measures)
    assert [str(measure) for measure in measures[:2]] == ["EEL", "EEL@2"]
    assert "rbp(patience=0.8)" in str(browsing)
    mean = sum(_by_hand("EEL", RBP(0.8)).values()) / 3
    assert found[browsing] == pytest.approx(mean)
    assert len({eel, ir_provider.EEL, cut}) == 2
    assert ir_provider.group_EEL(groups=GROUPS) != ir_provider.group_EEL(groups=dict(GROUPS))


def test_rankings_of_a_query_are_not_merged() -> None:
    rows = [("a", "1", 1.0, 0), ("a", "2", 0.5, 0), ("a", "2", 1.0, 1), ("a", "1", 0.5, 1)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "sample"])
    qrels = {"a": QRELS["a"]}
    with pytest.raises(InputError, match="several rankings, merged"):
        ir_measures.calc_aggregate([ir_provider.EEL], qrels, frame.drop(columns="sample"))
    scored = [ir_measures.ScoredDoc(qid, docno, score) for qid, docno, score, _ in rows]
    with pytest.raises(InputError, match="several rankings, merged"):
        ir_measures.calc_aggregate([ir_provider.EEL], qrels, scored)
    table = evaluate({"a": [["1", "2"], ["2", "1"]]}, qrels, measures=["EEL"])
    assert ir_measures.calc_aggregate([ir_provider.EEL], qrels, frame)[ir_provider.EEL] == table["value"][0].as_py()
    ranked = frame.drop(columns="score").assign(rank=[1, 2, 1, 2])
    assert ir_measures.calc_aggregate([ir_provider.EEL], qrels, ranked)[ir_provider.EEL] == table["value"][0].as_py()


def test_ranks_beside_scores_do_not_count() -> None:
    frame = pd.DataFrame([("a", "1", 1.0, 1), ("a", "2", 2.0, 2)], columns=["query_id", "doc_id", "score", "rank"])
    expected = evaluate({"a": [["2", "1"]]}, {"a": QRELS["a"]}, measures=["EEL"])["value"][0].as_py()
    assert ir_measures.calc_aggregate([ir_provider.EEL], {"a": QRELS["a"]}, frame)[ir_provider.EEL] == expected


def test_nothing_is_ranked() -> None:
    found = ir_measures.calc_aggregate([ir_provider.EEL, ir_provider.EET], QRELS, {})
    assert found[ir_provider.EEL] == pytest.approx(found[ir_provider.EET])


def test_mistakes_are_told() -> None:
    with pytest.raises(ConfigError, match=r"expected group_EEL\(groups="):
        ir_measures.calc_aggregate([ir_provider.group_EEL], QRELS, RUN)
    with pytest.raises(ConfigError, match="found patience; expected groups, browsing, universe or cutoff"):
        ir_provider.EEL(patience=0.5)
    with pytest.raises(ConfigError, match="a number of a whole run"):
        ir_provider.measure("group_EEL_systematic")
    with pytest.raises(ConfigError):
        ir_provider.measure("EELL")

"""Reranking frames: the draws of `run`, and the frame as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rerankers as fr
from rerankers.exposure import GERR, RBP, pl_exposure
from rerankers.policies import zscore

TARGET = {"A": 0.5, "B": 0.4, "unknown": 0.1}


@pytest.fixture
def frame(parts: dict[str, Any]) -> pd.DataFrame:
    rows = [
        (qid, docno, score, f"text of {docno}", parts["groups"][docno])
        for qid, scores in parts["candidates"].items()
        for docno, score in scores.items()
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "text", "side"]).sample(frac=1, random_state=1)


def test_the_draws_of_run(by_python: fr.Result, frame: pd.DataFrame, parts: dict[str, Any]) -> None:
    reranker = fr.Reranker("kl_tilt", target=TARGET, groups=parts["groups"], seed=3)
    sampled = reranker.sample(frame.sort_values("qid", kind="stable"), 4)
    frame = frame.sort_values("qid", kind="stable")
    expected = by_python.rankings.to_pandas()
    same = ["qid", "sample", "rank", "docno", "score"]
    pd.testing.assert_frame_equal(sampled[same], expected[same], check_dtype=False)
    assert (
        reranker.policy(frame)
        .sample(4)
        .table()
        .equals(by_python.rankings.cast(reranker.policy(frame).sample(4).table().schema))
    )
    assert (sampled["text"] == "text of " + sampled["docno"]).all()


def test_one_ranking_is_the_first_draw(frame: pd.DataFrame, parts: dict[str, Any]) -> None:
    reranker = fr.Reranker("plackett_luce", temperature=0.5, seed=7)
    ranked, drawn = reranker.rank(frame), reranker.sample(frame, 3)
    first = drawn[drawn["sample"] == 0].drop(columns="sample").reset_index(drop=True)
    pd.testing.assert_frame_equal(ranked, first)
    assert "sample" not in ranked
    assert ranked.groupby("qid")["score"].apply(lambda score: (score.diff().dropna() < 0).all()).all()
    assert ranked.groupby("qid")["rank"].apply(list).map(lambda ranks: ranks == list(range(1, 13))).all()
    later = reranker.sample(frame, 1, first=2).reset_index(drop=True)
    pd.testing.assert_frame_equal(later, drawn[drawn["sample"] == 2].reset_index(drop=True))
    alone = reranker.rank(frame[frame["qid"] == "q1"])
    pd.testing.assert_frame_equal(alone, ranked[ranked["qid"] == "q1"].reset_index(drop=True))


@pytest.mark.parametrize("kind", ["pandas", "arrow", "ir_measures", "ranx", "string"])
def test_frames_come_back_as_they_are(kind: str, frame: pd.DataFrame) -> None:
    expected = fr.Reranker("uniform", seed=2).rank(frame)["docno"].tolist()
    names = {"ir_measures": {"qid": "query_id", "docno": "doc_id"}, "ranx": {"qid": "q_id", "docno": "doc_id"}}
    given: Any = frame.rename(columns=names.get(kind, {}))
    if kind == "arrow":
        given = pa.Table.from_pandas(frame, preserve_index=False)
    if kind == "string":
        given = frame.astype({"qid": "string", "docno": "string"})
    ranked = fr.Reranker("uniform", seed=2).rank(given)
    assert type(ranked) is type(given)
    columns = list(given.column_names if kind == "arrow" else given.columns)
    assert list(ranked.column_names if kind == "arrow" else ranked.columns) == [*columns, "rank"]
    docnos = ranked["docno" if "docno" in columns else "doc_id"]
    assert (docnos.to_pylist() if kind == "arrow" else docnos.tolist()) == expected


def test_groups_in_a_column(frame: pd.DataFrame, parts: dict[str, Any]) -> None:
    known = {docno: group for docno, group in parts["groups"].items() if docno in set(frame["docno"])}
    by_column = fr.Reranker("kl_tilt", target=TARGET, groups="side", seed=3).sample(frame, 3)
    by_labels = fr.Reranker("kl_tilt", target=TARGET, groups=known, seed=3).sample(frame, 3)
    pd.testing.assert_frame_equal(by_column, by_labels)
    table = pd.DataFrame({"docno": list(known), "group": list(known.values()), "attribute": "side"})
    as_frame = fr.Reranker("kl_tilt", target=TARGET, groups=table, seed=3).sample(frame, 3)
    pd.testing.assert_frame_equal(as_frame, by_labels)


def test_exposure_is_exact(frame: pd.DataFrame, parts: dict[str, Any]) -> None:
    policy = fr.Reranker("plackett_luce", seed=3, browsing=RBP(0.8)).policy(frame)
    found = policy.exposure().to_pandas()
    own = frame[frame["qid"] == "q0"].sort_values(["score"], ascending=False)
    score = own["score"].to_numpy()
    expected = dict(zip(own["docno"], pl_exposure(zscore(np.array([0, len(score)]), score), RBP(0.8)), strict=True))
    rows = found[found["qid"] == "q0"]
    np.testing.assert_allclose(rows["exposure"], [expected[docno] for docno in rows["docno"]], rtol=1e-12)
    judged = policy.exposure(GERR(0.5, 0.5), parts["qrels"]).to_pandas()
    blind = policy.exposure(GERR(0.5, 0.5)).to_pandas()
    assert judged["exposure"].sum() < blind["exposure"].sum()
    drawn = fr.Reranker("epsilon_greedy", seed=3).policy(frame).exposure(samples=50)
    assert len(drawn) == len(frame)


def test_one_object_of_a_method(frame: pd.DataFrame) -> None:
    from rerankers.methods import PlackettLuce

    by_name = fr.Reranker("plackett_luce", temperature=0.3, seed=1).sample(frame, 2)
    pd.testing.assert_frame_equal(fr.Reranker(PlackettLuce(temperature=0.3), seed=1).sample(frame, 2), by_name)
    few = fr.Reranker("plackett_luce", k=3).rank(frame)
    assert (few.groupby("qid").size() == 3).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "plackett"}, fr.ConfigError, "Did you mean 'plackett_luce'"),
        ({"method": "uniform", "target": "merit"}, fr.ConfigError, "aims at none"),
        ({"method": "uniform", "groups": {"a": "A"}}, fr.ConfigError, "sees no groups"),
        ({"method": "plackett_luce", "temprature": 1}, fr.ConfigError, "temprature"),
        ({"method": "uniform", "k": 0}, fr.ConfigError, "at least 1"),
        ({"method": "kl_tilt", "groups": {"a": "A"}, "unknown": "x"}, fr.ConfigError, "groups.unknown"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fr.Reranker(**options)


def test_wrong_frames(frame: pd.DataFrame) -> None:
    uniform = fr.Reranker("uniform")
    with pytest.raises(fr.InputError, match="columns qid, text"):
        uniform.rank(frame[["qid", "text"]])
    with pytest.raises(fr.InputError, match="a dict; expected a frame"):
        uniform.rank({"q": ["d"]})
    with pytest.raises(fr.InputError, match="one ranking a query"):
        uniform.rank(uniform.sample(frame, 2))
    with pytest.raises(fr.InputError, match="a column 'nothing' in the frame"):
        fr.Reranker("kl_tilt", groups="nothing").rank(frame)
    twice = frame.assign(side=frame["qid"])
    with pytest.raises(fr.InputError, match="two groups of document"):
        fr.Reranker("kl_tilt", groups="side").rank(twice)
    with pytest.raises(fr.ConfigError, match="groups"):
        fr.Reranker("kl_tilt").rank(frame)

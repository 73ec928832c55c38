"""Frames of pandas in every place, objects of wrong types, copies of results, and damaged folders."""

from __future__ import annotations

import copy
import gc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rerankers as fr
from rerankers.api.inputs import judgments_of
from rerankers.api.labels import label_rows
from rerankers.exposure import RBP
from rerankers.methods import METHODS


def frames_of(parts: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the candidates, judgments and groups as frames of pandas."""
    run = [(qid, *pair) for qid, scores in parts["candidates"].items() for pair in scores.items()]
    judged = [(qid, *pair) for qid, grades in parts["qrels"].items() for pair in grades.items()]
    groups = pd.DataFrame(list(parts["groups"].items()), columns=["docno", "group"])
    names = ["qid", "docno"]
    return pd.DataFrame(run, columns=[*names, "score"]), pd.DataFrame(judged, columns=[*names, "label"]), groups


def test_frames_of_pandas_are_judged_as_mappings_are(parts: dict[str, Any]) -> None:
    run, qrels, groups = frames_of(parts)
    options = {"measures": {"names": ["EEL", "group_EEL"], "resamples": 20, "permutations": 5}}
    mappings = {"qrels": parts["qrels"], "groups": parts["groups"]}
    usual = fr.evaluate(run=parts["candidates"], **mappings, **options)
    for labels in (groups, groups.astype("category"), pa.Table.from_pandas(groups)):
        found = fr.evaluate(run=run, qrels=qrels.astype({"qid": "category"}), groups=labels, **options)
        assert found.means == usual.means
    assert fr.evaluate(run={"mine": run}, **mappings, **options).means["mine"] == usual.means["run"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_what_is_not_there_is_no_name(missing: Any) -> None:
    with pytest.raises(fr.InputError, match="ids in every row"):
        judgments_of([{"qid": "1", "docno": missing if missing is None else None, "grade": 1}])
    with pytest.raises(fr.InputError, match="a document called"):
        list(label_rows({missing: "x"}))
    with pytest.raises(fr.InputError, match="None alone"):
        list(label_rows({"a": ["x", missing]}))
    assert list(label_rows({"a": missing})) == [("a", "group", "", "")]
    docs = {"docno": ["a", None], "text": ["one", "two"]}
    with pytest.raises(fr.InputError, match="a docno in every row"):
        fr.run(collection={"docs": docs, "queries": {"1": "x"}}, candidates={"1": ["a"]})
    with pytest.raises(fr.InputError, match="a qid and a text"):
        fr.run(collection={"docs": {"docno": ["a"]}, "queries": {"1": missing}}, candidates={"1": ["a"]})


def test_columns_and_cells_of_numpy_are_lists() -> None:
    columns = {"qid": np.array(["1"]), "docno": pd.Series(["a"]), "grade": pa.array([2])}
    assert judgments_of(columns) == {"1": {"a": 2}}
    assert [row[2] for row in label_rows({"a": np.array(["y", "x"])})] == ["x", "y"]
    with pytest.raises(fr.InputError, match="a Series"):
        list(label_rows(pd.Series({"a": "x"})))


@pytest.mark.parametrize("grade", [float("inf"), "abc", 2**20, 1.5, float("nan")])
def test_grades_that_are_none_are_named(grade: Any) -> None:
    with pytest.raises(fr.InputError, match=r"grade .* for query '1', document 'a'; expected a whole number"):
        judgments_of(pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [grade]}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"browsing": RBP}, r"browsing: found the class RBP; expected an object of it: RBP\(\)"),
        ({"method": METHODS["uniform"]}, "method: found the class Uniform"),
        ({"target": [0.5, 0.5]}, r"target: found \[0.5,0.5\]; expected one of custom"),
        ({"method": ["uniform", "kl_tilt"]}, "method: found .*; expected one of"),
        ({"method": 5}, "method: found 5; expected one of"),
        ({"output": 5}, "output: found 5; expected a path"),
        ({"output": "/dev/null"}, "/dev/null.*cannot be written"),
    ],
)
def test_objects_of_wrong_types_are_refused(options: dict[str, Any], said: str, parts: dict[str, Any]) -> None:
    collection = {name: parts[name] for name in ("docs", "queries", "qrels")}
    with pytest.raises(fr.ConfigError, match=said):
        fr.run(**{"collection": collection, "candidates": parts["candidates"], **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": "5"}, "k: found '5'"),
        ({"cutoff": "5"}, "cutoff: found '5'"),
        ({"browsing": "rbp"}, "browsing: found 'rbp'"),
        ({"browsing": RBP}, "browsing: found <class"),
        ({"temprature": 1.0}, "Did you mean 'temperature'"),
    ],
)
def test_a_reranker_refuses_wrong_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(fr.ConfigError, match=said):
        fr.Reranker("plackett_luce", **options)
    with pytest.raises(fr.ConfigError, match="found the class"):
        fr.Reranker(METHODS["uniform"])


def test_a_run_without_a_query_of_the_collection_counts_with_no_exposure(parts: dict[str, Any]) -> None:
    collection = {name: parts[name] for name in ("docs", "queries", "qrels")}
    options = {"samples": 2, "measures": {"names": ["EEL"], "resamples": 20}}
    found = fr.run(collection=collection, candidates={"another": {"d00": 1.0}}, **options)
    assert "3 of 3 queries have no candidates: they count with zero exposure" in found.warnings


def test_copies_hold_on_to_the_folder(parts: dict[str, Any]) -> None:
    options = {"qrels": parts["qrels"], "measures": {"names": ["EEL"], "resamples": 20}}
    first = fr.evaluate(run=parts["candidates"], **options)
    other, deep, rows = copy.copy(first), copy.deepcopy(first), first.measures.num_rows
    folder = first.folder
    del first, other
    gc.collect()
    assert deep.content("measures.parquet").num_rows == rows
    del deep
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("content", [b"", b"\x00\xff{]", b"[1, 2]"])
@pytest.mark.parametrize("name", ["config.yaml", "metadata.yaml", "measures.json", "run.parquet"])
def test_damaged_folders_are_input_errors(name: str, content: bytes, by_command: Path, tmp_path: Path) -> None:
    folder = fr.Result.read(by_command).save(tmp_path / "copy")
    (folder / name).write_bytes(content)
    with pytest.raises(fr.InputError, match=name if name != "measures.json" else "copy"):
        _ = fr.Result.read(folder).rankings
    (folder / name).unlink()
    with pytest.raises(fr.MissingError, match=name):
        _ = fr.Result.read(folder).rankings
    with pytest.raises(fr.ConfigError, match="cannot be written"):
        fr.Result.read(by_command).save("/dev/null")

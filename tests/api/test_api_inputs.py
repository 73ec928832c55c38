"""What a caller has in memory becomes the files that the readers read back, and options become words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rerankers as fr
from rerankers._compose import compose_call
from rerankers.api.inputs import candidates_file, collection_folder, groups_file, judgments_of, qrels_file
from rerankers.api.labels import HeldGroups
from rerankers.api.words import is_word, pairs_of, written
from rerankers.collections import FileGroups, Jsonl
from rerankers.runs import read_run
from rerankers.values import Ids, read_qrels


@pytest.mark.parametrize(
    "labels",
    [
        {"a": "x", "b": None, "c": ["y", "x"], "d": "unknown", "e": float("nan")},
        {"a": {"x": 0.25, "y": 0.75}, "b": None, "c": {"y": 1}},
        pd.DataFrame({"docno": ["a", "b", "c"], "group": ["x", None, "y"], "attribute": ["p", "p", "q"]}),
        pa.table({"doc_id": ["a", "b"], "group": ["x", "y"], "weight": [0.5, None]}),
        {"docno": ["a", "b"], "group": ["x", "y"]},
        [{"docno": "a", "group": "x"}, {"docno": "b", "group": None}],
    ],
)
def test_labels_in_memory_are_those_of_their_file(labels: Any, tmp_path: Path) -> None:
    docs = Ids.union(list("abcdef"))
    held = HeldGroups(labels, mixed="full").align_documents(docs)
    read = FileGroups(str(groups_file(labels, tmp_path)), mixed="full").align_documents(docs)
    assert list(held) == list(read)
    for attribute in held:
        one, other = held[attribute], read[attribute]
        assert one.groups == other.groups
        for name in ("indptr", "group", "weight", "unknown"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_judgments_of_every_form(tmp_path: Path) -> None:
    expected = {"1": {"a": 1, "b": -1}, "2": {"a": 2}}
    rows = [("1", "a", 1), ("1", "b", -1), ("2", "a", 2)]
    forms = (
        expected,
        pd.DataFrame(rows, columns=["qid", "docno", "label"]),
        pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(
            [(int(qid), docno, float(grade)) for qid, docno, grade in rows], columns=["qid", "docno", "grade"]
        ),
    )
    for source in forms:
        assert judgments_of(source) == expected
    table = read_qrels(qrels_file(expected, tmp_path))
    assert list(zip(table.qid.to_pylist(), table.docno.to_pylist(), table.grade.tolist(), strict=True)) == rows
    for wrong, message in (
        (pd.DataFrame({"qid": ["1"], "docno": ["a"]}), "the columns qid"),
        (pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [0.5]}), "a whole number"),
        (pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "a"], "label": [0, 1]}), "two grades"),
        (7, "a int"),
    ):
        with pytest.raises(fr.InputError, match=message):
            judgments_of(wrong)
    with pytest.raises(fr.InputError, match="without white space"):
        qrels_file({"1": {"a b": 1}}, tmp_path)


def test_candidates_keep_every_bit(tmp_path: Path) -> None:
    scores = {"q 1": {"a": 0.1 + 0.2, "b": 1 / 3, "c,d": -1e-300}, "2": {"a": 1.0}}
    run = read_run(candidates_file(scores, tmp_path))
    listed = run.candidates()
    found = [run.docs.name(doc) for doc in listed.doc]
    assert found == ["b", "a", "c,d", "a"]
    assert listed.score.tolist() == [1 / 3, 0.1 + 0.2, -1e-300, 1.0]
    assert run.qids == ("q 1", "2")
    unscored = read_run(candidates_file({"1": ["b", "a"]}, tmp_path / "u")).candidates()
    assert "score" not in unscored.columns


def test_a_collection_of_frames(tmp_path: Path, parts: dict[str, Any]) -> None:
    docs = pd.DataFrame({"docno": ["a", "b"], "title": ["one", None], "year": [1999, 2001]})
    queries = pd.DataFrame({"query_id": [1, 2], "text": ["x", "y"]})
    folder = collection_folder({"docs": docs, "queries": queries, "qrels": {"1": {"a": 1}}}, tmp_path)
    collection = Jsonl(str(folder)).load()
    assert collection.docs.names.to_pylist() == ["a", "b"]
    assert (collection.topics.ids.names.to_pylist(), collection.topics.text) == (["1", "2"], ("x", "y"))
    assert collection.fields["year"].tolist() == [1999, 2001]
    assert collection.judgments.nnz == 1
    with pytest.raises(fr.InputError, match="JSON cannot hold"):
        collection_folder({"docs": {"docno": ["a"], "x": [float("inf")]}, "queries": {"1": "x"}}, tmp_path / "b")


def test_options_are_words() -> None:
    options = {"samples": 5, "method": {"temperature": 0.5}, "groups.attribute": None, "measures": ["EEL", "P@5"]}
    words = [
        key if is_word(value) else written(key, value)
        for key, value in pairs_of(["seed=1", {"universe": "judged"}], options)
    ]
    assert words[:4] == ["seed=1", "universe=judged", "samples=5", "method.temperature=0.5"]
    config = compose_call("run", words).config
    assert config["measures"]["names"] == ["EEL", "P@5"]
    assert (config["seed"], config["universe"], config["groups"]["attribute"]) == (1, "judged", None)
    shares = {"A b": 0.5, "c,d": np.float64(0.25), "e=f:g (h)": 0.25, "i\\j": 0.0}
    composed = compose_call("run", ["target=population", written("target.shares", shares)]).config
    assert composed["target"]["shares"] == {name: float(share) for name, share in shares.items()}
    path = Path("/a b/c,d'e=f")
    assert compose_call("run", ["collection=jsonl", written("collection.path", path)]).config["collection"][
        "path"
    ] == str(path)
    with pytest.raises(fr.ConfigError, match="without quotes"):
        written("target.shares", {"it's": 1})


def test_a_folder_of_ones_own_configs(tmp_path: Path) -> None:
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text("_target_: rerankers.methods.uniform.Uniform\n")
    call = compose_call("run", ["method=mine"], [tmp_path])
    assert call.choices["method"] == "mine"
    with pytest.raises(fr.ConfigError, match="mine"):
        compose_call("run", ["method=mine"])

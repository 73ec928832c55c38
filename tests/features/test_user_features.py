"""Features by files and functions of the user's own, and those that come with the data."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from feature_worlds import collection, made_up

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.letor import Letor
from rerankers.features import FeatureSet, FeatureTable
from rerankers.retrieval.given_candidates import GivenCandidates
from rerankers.values import Authors, Candidates, Collection, Ids

NAN = math.nan


def world() -> tuple[Collection, Candidates]:
    ids = Ids.of(["a1", "a2", "a3"])
    authors = Authors(ids, np.array([0, 2, 3, 3]), np.array([0, 1, 2]))
    made = collection({name: {"title": "x"} for name in ("d1", "d2", "d3")}, ["x", "x"], authors=authors)
    return made, Candidates(np.array([0, 1]), np.array([0, 2, 5]), np.array([1, 0, 0, 1, 2]))


def with_file(tmp_path: Path, text: str, name: str = "mine.csv", **options: Any) -> FeatureTable:
    path = tmp_path / name
    path.write_text(text)
    return FeatureSet(families=[], files=[str(path)], **{"relative": [], **options}).compute(*world(), tmp_path / "c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("qid,docno,x\nq0,d2,1\nq1,d2,2.5\nq1,d3,\nq9,d1,4\n", {"x": [1, NAN, NAN, 2.5, NAN]}),
        ("doc_id,x,y\nd1,1,nan\nd3,-2e3,7\n", {"x": [NAN, 1, 1, NAN, -2000], "y": [NAN, NAN, NAN, NAN, 7]}),
        ("x,q_id\n4,q1\n", {"x": [NAN, NAN, 4, 4, 4]}),
        (
            "author_id,x\na1,1\na2,3\na4,9\n",
            {"x.min": [NAN, 1, 1, NAN, NAN], "x.mean": [NAN, 2, 2, NAN, NAN], "x.max": [NAN, 3, 3, NAN, NAN]},
        ),
        ("docno,name,x\nd1,Ada,1\nd2,Bea,NA\n", {"x": [NAN, 1, 1, NAN, NAN]}),
    ],
)
def test_files(tmp_path: Path, text: str, expected: dict[str, list[float]]) -> None:
    table = with_file(tmp_path, text)
    assert table.names == tuple(expected)
    np.testing.assert_array_equal(table.values.T, list(expected.values()))
    assert table.tier == "metadata"
    assert table.sources[table.names[0]] == (f"file:{tmp_path / 'mine.csv'}:x",)


def test_what_a_file_lacks_is_counted(tmp_path: Path) -> None:
    table = with_file(tmp_path, "qid,docno,name,x\nq0,d2,u,1\nq1,d9,v,2\nq7,d1,w,3\n")
    assert table.counts == {
        "pairs_not_in_mine.csv": 4,
        "rows_of_mine.csv_without_pair": 2,
        "columns_of_mine.csv_without_numbers": 1,
    }
    table = with_file(tmp_path, "author_id\tx\na1\t1\na9\t2\n", "mine.tsv")
    assert table.counts == {"pairs_not_in_mine.tsv": 3, "rows_of_mine.tsv_without_pair": 1}


def test_relative_forms_of_files(tmp_path: Path) -> None:
    table = with_file(tmp_path, "qid,x\nq1,4\n", relative=["rank"])
    assert table.names == ("x",), "equal for all candidates of a query"
    table = with_file(tmp_path, "docno,x\nd1,4\nd2,5\n", relative=["rank"])
    np.testing.assert_array_equal(table.values[:, 1], [1, 0, 0, 1, NAN])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("qid,docno,x\nq0,d1,1\nq0,d1,2\nq0,d2,one\nq0,d3,inf\n", {3, 4, 5}),
        ("qid,docno,x\nq0,d 1,1\nq0,,1\nq0,d1\n", {2, 3, 4}),
        ("name,x\na,1\n", {1}),
        ("author_id,docno,x\na,d1,1\n", {1}),
        ("docno,name\nd1,Ada\n", {1}),
        ("docno,x,x\nd1,1,2\n", {1}),
        ("", {None}),
    ],
)
def test_wrong_files_name_their_lines(tmp_path: Path, text: str, lines: set[int | None]) -> None:
    with pytest.raises(InputError) as caught:
        with_file(tmp_path, text)
    assert {problem.line for problem in caught.value.problems} == lines


def test_judgments_are_no_features(tmp_path: Path) -> None:
    text = "qid,docno,Relevance,x\nq0,d1,1,2\n"
    with pytest.raises(ConfigError, match=r"features\.exclude=\[Relevance\]"):
        with_file(tmp_path, text)
    assert with_file(tmp_path, text, exclude=["Rel*"]).names == ("x",)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    assert with_file(tmp_path, "docno,x\nd1,1\n").values[1, 0] == 1
    assert with_file(tmp_path, "docno,x\nd1,2\n").values[1, 0] == 2


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"features\.files"):
        FeatureSet(files=[str(tmp_path / "none.csv")]).compute(*world(), tmp_path)
    (tmp_path / "a.csv").write_text("author_id,x\na1,1\n")
    made, candidates = world()
    bare = collection(None, ["x", "x"], ["d1", "d2", "d3"])
    with pytest.raises(ConfigError, match="no author lists"):
        FeatureSet(families=[], files=[str(tmp_path / "a.csv")]).compute(bare, candidates, tmp_path)
    for name in ("b.csv", "c.csv"):
        (tmp_path / name).write_text("docno,x\nd1,1\n")
    both = FeatureSet(families=[], files=[str(tmp_path / "b.csv"), str(tmp_path / "c.csv")])
    with pytest.raises(ConfigError, match="two features named x"):
        both.compute(made, candidates, tmp_path)


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("mine.features")
    monkeypatch.setitem(sys.modules, "mine", ModuleType("mine"))
    monkeypatch.setitem(sys.modules, "mine.features", module)
    return module


def define(module: ModuleType, function: Any, name: str = "novel") -> None:
    function.__module__ = module.__name__
    setattr(module, name, function)


def test_functions(tmp_path: Path, mine: ModuleType) -> None:
    def novel(made: Collection, candidates: Candidates) -> dict[str, Any]:
        assert not made.judgments.nnz
        return {"novel": [NAN, 1, *range(candidates.nnz - 2)]}

    define(mine, novel)
    for target in ("mine.features:novel", "mine.features.novel"):
        options = FeatureSet(families=["lengths"], relative=["rank"], functions=[target])
        table = options.compute(*world(), tmp_path, ["mine"])
        assert table.names[-2:] == ("novel", "novel.rank")
        np.testing.assert_array_equal(table.values[:, -2:].T, [[NAN, 1, 0, 1, 2], [NAN, 0.5, 0, 0.5, 1]])
        assert table.sources["novel.rank"] == (f"function:{target}",)
        assert table.tier == "metadata"
        assert table.counts["pairs_without_novel"] == 1


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([1.0], "a result that is list"),
        ({1: [1.0] * 5}, "a result that is dict"),
        ({"x": [1.0]}, r"shape \(1,\)"),
        ({"x": ["a"] * 5}, "no numbers"),
        ({"x": [math.inf] * 5}, "infinite"),
    ],
)
def test_wrong_results_of_functions(tmp_path: Path, mine: ModuleType, found: Any, message: str) -> None:
    define(mine, lambda made, candidates: found)
    with pytest.raises(InputError, match=message):
        FeatureSet(families=[], functions=["mine.features:novel"]).compute(*world(), tmp_path, ["mine"])


@pytest.mark.parametrize(
    "target",
    [
        "os:system",
        "os.system",
        "mine.features:os",
        "mine.features:getcwd",
        "minefield:x",
        "novel",
        "mine.features:a.b",
        ":x",
    ],
)
def test_functions_that_may_not_be_called(tmp_path: Path, mine: ModuleType, target: str) -> None:
    import os

    mine.os, mine.getcwd = os, os.getcwd  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"features\.functions"):
        FeatureSet(families=[], functions=[target]).compute(*world(), tmp_path, ["mine"])
    with pytest.raises(ConfigError, match="none is allowed"):
        FeatureSet(families=[], functions=["mine.features:novel"]).compute(*world(), tmp_path)


def test_features_that_came_with_the_data(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:a 1:2 3:nan # x\n0 qid:a 2:5 # y\n0 qid:b 1:-1 # x\n")
    made = Letor(str(path)).load()
    candidates = GivenCandidates(by="none").retrieve(made, tmp_path).candidates
    table = FeatureSet(families=["given"], relative=["rank"]).compute(made, candidates, tmp_path)
    assert table.names[:4] == ("given.f1", "given.f1.rank", "given.f2", "given.f2.rank")
    np.testing.assert_array_equal(table.values[:, ::2], [[2, 0, NAN], [0, 5, 0], [-1, 0, 0]])
    assert table.sources["given.f1"] == ("given:f1",)
    turned = Candidates(np.array([1, 0]), np.array([0, 2, 3]), np.array([1, 0, 1]))
    table = FeatureSet(families=["given"], relative=[]).compute(made, turned, tmp_path)
    np.testing.assert_array_equal(table.values, [[NAN, NAN, NAN], [-1, 0, 0], [0, 5, 0]])
    assert table.counts["pairs_without_given_features"] == 1


def test_a_first_stage_without_scores(tmp_path: Path) -> None:
    made, candidates = made_up()
    bare = Candidates(candidates.query, candidates.indptr, candidates.doc)
    with pytest.raises(ConfigError, match="candidates with scores"):
        FeatureSet(families=["first_stage"]).compute(made, bare, tmp_path)
    table = FeatureSet(families=["first_stage"], relative=[]).compute(made, candidates, tmp_path)
    np.testing.assert_array_equal(table.values[:, 0], candidates.score)
    assert table.tier == "blind"


def two_files(tmp_path: Path, first: str, second: str, **options: Any) -> FeatureTable:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, text in zip(paths, (first, second), strict=True):
        path.write_text(text)
    options = {"relative": [], **options}
    return FeatureSet(families=[], files=[str(path) for path in paths], **options).compute(*world(), tmp_path / "c")


def test_files_of_different_pairs_are_parts_of_one_column(tmp_path: Path) -> None:
    table = two_files(tmp_path, "qid,docno,x,y\nq0,d1,1,\nq9,d9,1,1\n", "qid,docno,x,z\nq1,d2,2,5\nq1,d3,,6\n")
    assert table.names == ("x", "y", "z")
    np.testing.assert_array_equal(table.values[:, 0], [NAN, 1, NAN, 2, NAN])
    np.testing.assert_array_equal(table.values[:, 2], [NAN, NAN, NAN, 5, 6])
    assert table.sources["x"] == tuple(f"file:{tmp_path / name}.csv:x" for name in ("one", "two"))
    assert table.counts["pairs_not_in_one.csv"] == 4
    with pytest.raises(ConfigError, match=r"two features named x, the second in .*two\.csv.* for 1 pairs"):
        two_files(tmp_path, "qid,docno,x\nq0,d1,1\n", "qid,docno,x\nq1,d2,2\nq0,d1,1\n")
    both = two_files(tmp_path, "qid,x\nq0,1\n", "qid,docno,x\nq1,d2,2\n", relative=["rank"])
    assert both.names == ("x", "x.rank"), "one of the files tells documents apart"
    each = two_files(tmp_path, "qid,x\nq0,1\n", "qid,x\nq1,2\n", relative=["rank"])
    assert each.names == ("x",)


def test_only_decides_what_is_read_from_files(tmp_path: Path) -> None:
    text = "author_id,x,relevance,y\na1,1,1,4\na2,3,0,7\na3,5,1,2\n"
    table = with_file(tmp_path, text, only=["x.max"], exclude=["y"])
    assert table.names == ("x.max",)
    np.testing.assert_array_equal(table.values[:, 0], with_file(tmp_path, text, exclude=["y", "rel*"]).values[:, 2])
    pairs = "qid,docno,x,relevance\nq0,d2,1,1\nq1,d2,2.5,0\n"
    assert with_file(tmp_path, pairs, only=["x"], relative=["rank"]).names == ("x", "x.rank")
    assert with_file(tmp_path, pairs, only=["x.rank"], relative=["rank"]).names == ("x.rank",)
    with pytest.raises(ConfigError, match="called as judgments are"):
        with_file(tmp_path, pairs, only=["x", "r*"])

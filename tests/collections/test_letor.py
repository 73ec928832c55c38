"""Learning-to-rank data as a collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.letor import Letor

TEXT = """1 qid:b 1:0.5 3:2 # x
0 qid:b 2:7 # y
2 qid:a 1:1 # x
0 qid:b 3:1
1 qid:c 1:4
"""


def written(path: Path, text: str = TEXT, name: str = "data.txt") -> str:
    (path / name).write_text(text)
    return str(path / name)


def test_what_is_loaded(tmp_path: Path) -> None:
    made = Letor(written(tmp_path)).load()
    assert made.topics.ids.names.to_pylist() == ["b", "a", "c"]
    assert made.docs.names.to_pylist() == ["b-3", "c-1", "x", "y"]
    given = made.candidates
    np.testing.assert_array_equal(given.indptr, [0, 3, 4, 5])
    assert made.docs.take(given.doc) == ["x", "y", "b-3", "x", "c-1"]
    assert list(given.columns) == ["f1", "f2", "f3"]
    columns = np.array([given.columns[name] for name in given.columns])
    np.testing.assert_array_equal(columns, [[0.5, 0, 0, 1, 4], [0, 7, 0, 0, 0], [2, 0, 1, 0, 0]])
    judgments = made.judgments
    grades = {
        (int(query), int(doc)): int(grade)
        for query, doc, grade in zip(judgments.query[judgments.row_index], judgments.doc, judgments.grade, strict=True)
    }
    assert grades == {(0, 2): 1, (0, 3): 0, (0, 0): 0, (1, 2): 2, (2, 1): 1}
    assert made.counts == {"lines_without_docno": 2, "queries_in_several_pieces": 1, "queries_of_one_document": 2}
    assert made.documents is None
    assert made.topics.text == ("", "", "")


def test_the_number_of_features_can_be_said(tmp_path: Path) -> None:
    path = written(tmp_path)
    wide = Letor(path, features=5).load()
    assert list(wide.candidates.columns) == ["f1", "f2", "f3", "f4", "f5"]
    assert not wide.candidates.columns["f5"].any()
    assert wide.fingerprint != Letor(path).load().fingerprint
    with pytest.raises(InputError, match="at most 2"):
        Letor(path, features=2).load()
    with pytest.raises(ConfigError, match=r"collection\.features"):
        Letor(path, features=0)


def test_labels_are_whole_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "1.0 qid:1 1:1\n0.5 qid:1 1:1\n-2 qid:1 1:1\n1e9 qid:1 1:1\n")
    with pytest.raises(InputError) as caught:
        Letor(path).load()
    assert [problem.line for problem in caught.value.problems] == [2, 4]
    assert "label 0.5; expected a whole number" in str(caught.value)
    assert Letor(written(tmp_path, "1.0 qid:1 1:1\n-2 qid:1 1:1\n")).load().judgments.grade.tolist() == [1, -2]


def test_a_document_is_once_in_a_query(tmp_path: Path) -> None:
    path = written(tmp_path, "1 qid:1 1:1 # x\n1 qid:2 1:1 # x\n0 qid:1 1:1 # x\n1 qid:1 1:1\n0 qid:1 1:1 # 1-3\n")
    with pytest.raises(InputError) as caught:
        Letor(path).load()
    assert [problem.line for problem in caught.value.problems] == [3, 5]
    assert "document 'x' of query '1' again, as in line 1" in str(caught.value)


def test_names_that_candidates_use_themselves(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a feature 'score'"):
        Letor(written(tmp_path, '# features: ["score"]\n1 qid:1 1:1\n')).load()


def test_folders_and_splits(tmp_path: Path) -> None:
    for name in ("train.txt", "vali.txt", "rank.test"):
        written(tmp_path, f"1 qid:{name} 1:1\n", name)
    for split, qid in (("train", "train.txt"), ("vali", "vali.txt"), ("valid", "vali.txt"), ("test", "rank.test")):
        assert Letor(str(tmp_path), split).load().topics.ids.names.to_pylist() == [qid]
    with pytest.raises(ConfigError, match="name a split"):
        Letor(str(tmp_path)).load()
    with pytest.raises(ConfigError, match="expected null for a file"):
        Letor(str(tmp_path / "train.txt"), "train").load()
    with pytest.raises(MissingError, match=r"the folder holds rank\.test, train\.txt"):
        Letor(str(tmp_path), "fold1").load()
    with pytest.raises(MissingError, match="no such file or folder"):
        Letor(str(tmp_path / "none")).load()
    written(tmp_path, "1 qid:1 1:1\n", "rank.train")
    with pytest.raises(InputError, match="only one of them"):
        Letor(str(tmp_path), "train").load()


@pytest.mark.shared_data
def test_the_example_of_lightgbm(shared: Path) -> None:
    folder = str(shared / "data" / "lambdarank-example")
    for split, pairs, queries, labels in (
        ("train", 3005, 201, [645, 1211, 858, 222, 69]),
        ("test", 768, 50, [206, 256, 252, 44, 10]),
    ):
        made = Letor(folder, split).load()
        assert (made.candidates.nnz, len(made.topics), len(made.candidates.columns)) == (pairs, queries, 300)
        assert np.bincount(made.judgments.grade).tolist() == labels
        sizes = np.loadtxt(f"{folder}/rank.{split}.query", dtype=int)
        np.testing.assert_array_equal(made.candidates.lengths, sizes)

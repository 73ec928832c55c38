"""Grep-BiasIR as a collection: hand-made folders, everything wrong with one, and the real files."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections import CollectionGroups, grep_biasir_files
from rerankers.collections.grep_biasir import GrepBiasIR
from rerankers.collections.grep_biasir_files import COLUMNS, read_grep_biasir

ROWS = [
    ["7", "12", "1", "nursing, care", "She nurses", "text, one", "F", "Towards Female"],
    ["7", "2", "0", "nursing, care", "He sells", "text two\nmore", "M", "Towards female"],
    ["7", "10", "1", "nursing, care", "They sell", "text two\nmore", "both", "No Annotation Agreement"],
    ["7", "3", "0", "nursing, care", "They sell", "text two\nmore", "N", "Sideways"],
]


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep_biasir_files, "_told", set())


def folder(path: Path, rows: list[list[str]] | None = None, **changed: Any) -> str:
    path.mkdir(exist_ok=True)
    with (path / "queries.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            changed.get(
                "queries", [["q_id", "category", "query"], ["7", "Career", "nursing, care"], ["8", "Career", "x"]]
            )
        )
    with (path / "queries-documents_Career.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([changed.get("header", list(COLUMNS)), *(ROWS if rows is None else rows)])
    return str(path)


def test_a_folder_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = GrepBiasIR(folder(tmp_path / "g")).load()
    assert found.docs.names.to_pylist() == ["10", "12", "2", "3"]
    assert found.topics.ids.names.to_pylist() == ["7", "8"]
    assert found.topics.text[0] == "nursing, care"
    assert found.judgments.query.tolist() == [0]
    assert dict(zip(found.judgments.doc.tolist(), found.judgments.grade.tolist(), strict=True)) == {
        0: 1,
        1: 1,
        2: 0,
        3: 0,
    }
    assert found.documents is not None
    assert found.documents.fields == ("title", "text")
    assert list(found.documents.texts(["title", "text"]))[1] == ("12", "She nurses text, one")
    gender = CollectionGroups(attribute="gender").align(found)["gender"]
    assert gender.groups == ("neutral", "male", "female", "unknown")
    assert gender.group.tolist() == [3, 2, 1, 0]
    expected = found.groups["expected_stereotype"]
    assert expected.groups == ("no_agreement", "towards_male", "towards_female")
    assert expected.label.tolist() == [0, 2, 2, -1]
    assert found.counts == {
        "queries": 2,
        "documents": 4,
        "documents_with_text_of_another": 1,
        "document_categories_missing": 6,
        "files_of_another_edition": 2,
        "judgments": 4,
        "queries_without_judgments": 1,
        "gender_labels_unknown": 1,
        "expected_stereotype_labels_unknown": 1,
    }
    err = capsys.readouterr().err
    assert "another edition than the one tested (KlaraKrieg/GrepBiasIR@" in err
    GrepBiasIR(folder(tmp_path / "g")).load()
    assert capsys.readouterr().err == ""  # told once
    assert read_grep_biasir(str(tmp_path / "g")).categories == {"7": "Career", "8": "Career"}


def test_content_decides_the_fingerprint(tmp_path: Path) -> None:
    one, same = (GrepBiasIR(folder(tmp_path / name)).load() for name in ("a", "b"))
    rows = [[*ROWS[0][:5], "other", *ROWS[0][6:]], *ROWS[1:]]
    other = GrepBiasIR(folder(tmp_path / "c", rows)).load()
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.documents is not None
    assert other.documents is not None
    assert one.documents.fingerprint != other.documents.fingerprint


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    rows = [
        ROWS[0],
        [*ROWS[0][:2], "2", *ROWS[0][3:]],
        ["9", "1", *ROWS[0][2:]],
        ["7", "a b", *ROWS[0][2:]],
        ["7", "5", "1", "another text", *ROWS[0][4:]],
        ["7", "6"],
    ]
    queries = [["q_id", "category", "query"], ["7", "Career", "nursing, care"], ["7", "Career", "x"]]
    with pytest.raises(InputError) as caught:
        GrepBiasIR(folder(tmp_path / "g", rows, queries=queries)).load()
    lines = str(caught.value).splitlines()
    for number, part in (
        (3, "query '7' again"),
        (3, "document '12' again, as in queries-documents_Career.csv:2"),
        (3, "relevant '2'"),
        (4, "query '9', which queries.csv lacks"),
        (5, "d_id 'a b'"),
        (6, "as 'another text' of 'Career'; expected 'nursing, care' of 'Career'"),
        (7, "2 fields"),
    ):
        assert any(part in line and f".csv:{number}:" in line for line in lines), (part, lines)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"Grep-BiasIR lives at https://github\.com/KlaraKrieg"):
        GrepBiasIR(str(tmp_path / "none")).load()
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingError, match=r"no queries\.csv; the folder holds nothing"):
        GrepBiasIR(str(tmp_path / "empty")).load()
    path = Path(folder(tmp_path / "g"))
    (path / "queries-documents_Career.csv").unlink()
    with pytest.raises(MissingError, match="no queries-documents_CATEGORY"):
        GrepBiasIR(str(path)).load()
    with pytest.raises(InputError, match="also the columns exp_stereotype"):
        GrepBiasIR(folder(tmp_path / "h", [], header=list(COLUMNS)[:-1])).load()
    with pytest.raises(ConfigError, match=r"collection\.split"):
        GrepBiasIR("x", split="test")


@pytest.mark.shared_data
def test_the_real_files(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = GrepBiasIR(str(shared / "data/grep-biasir")).load()
    assert "edition" not in capsys.readouterr().err
    assert (len(found.docs), len(found.topics), found.judgments.nnz) == (702, 117, 702)
    assert found.counts == {
        "queries": 117,
        "documents": 702,
        "documents_with_text_of_another": 4,
        "judgments": 702,
        "gender_labels_unknown": 5,
    }
    assert int(found.judgments.grade.sum()) == 351
    assert set(found.judgments.lengths.tolist()) == {6}
    label = found.groups["gender"].label
    assert np.bincount(label + 1).tolist() == [5, 233, 232, 232]
    # each query has its relevant text in each wording, so that relevance and wording are separate
    relevant = found.judgments.doc[found.judgments.grade > 0]
    assert np.bincount(label[relevant] + 1, minlength=4).tolist() == [0, 117, 117, 117]
    assert np.bincount(found.groups["expected_stereotype"].label).tolist() == [528, 54, 120]
    categories = read_grep_biasir(str(shared / "data/grep-biasir")).categories
    assert Counter(categories.values())["Sex & Relationship"] == 23


@pytest.mark.shared_data
def test_a_split_of_the_real_files(shared: Path) -> None:
    sides = [GrepBiasIR(str(shared / "data/grep-biasir"), split=split).load() for split in ("train", "eval")]
    assert sorted(len(side.topics) for side in sides) == [58, 59]
    assert not set(sides[0].topics.ids.names.to_pylist()) & set(sides[1].topics.ids.names.to_pylist())

"""Group files: forms, counts and every problem with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.collections import GroupTable, read_groups
from rerankers.collections.group_files import attribute_of
from rerankers.values import Authors, Ids

DOCS = Ids.of(["a", "b", "c"])


def read(folder: Path, text: str, name: str = "groups.csv", attribute: str | None = None) -> GroupTable:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_groups(path, attribute)


def by_line(folder: Path, text: str) -> dict[int | None, str]:
    with pytest.raises(InputError) as caught:
        read(folder, text)
    return {problem.line: f"{problem.found}; {problem.expected}" for problem in caught.value.problems}


def named(table: GroupTable, attribute: str) -> list[tuple[str, str | None]]:
    rows = table.rows[attribute]
    return [(n, rows.groups[c] if c >= 0 else None) for n, c in zip(rows.name.to_pylist(), rows.label, strict=True)]


@pytest.mark.parametrize("key", ["docno", "doc_id", "id"])
def test_labels_of_documents(tmp_path: Path, key: str) -> None:
    table = read(tmp_path, f'group,{key}\nX,a\n" Y, quoted ",b\nW,a\n')
    assert table.level == "document"
    assert named(table, "group") == [("a", "X"), ("b", "Y, quoted"), ("a", "W")]
    assert table.rows["group"].groups == ("W", "X", "Y, quoted")
    assert table.rows["group"].weight is None
    assert table.counts == {"group_rows": 3}


def test_tsv_gz_bom_crlf_blank_lines_and_line_breaks_in_quotes(tmp_path: Path) -> None:
    table = read(tmp_path, '\ufeffdocno\tgroup\r\na\tX, Y\r\n\r\nb\t"two\r\nlines"', "economy_groups.tsv.gz")
    assert named(table, "economy") == [("a", "X, Y"), ("b", "two\nlines")]
    assert table.counts == {"group_rows": 2, "blank_group_lines": 1}


def test_the_attribute_column_makes_several_attributes(tmp_path: Path) -> None:
    table = read(tmp_path, "author_id,attribute,group,note\nx,one,A,\nx,two,B,hm\ny,one,C,\n")
    assert table.level == "author"
    assert list(table.rows) == ["one", "two"]
    assert named(table, "one") == [("x", "A"), ("y", "C")]
    assert table.counts == {"group_rows": 3, "group_columns_ignored": 1}


@pytest.mark.parametrize("label", ["", "  ", "null", "NULL", "NaN", "Unknown"])
def test_words_for_unknown(tmp_path: Path, label: str) -> None:
    table = read(tmp_path, f"docno,group\na,{label}\nb,X\n")
    assert named(table, "group") == [("a", None), ("b", "X")]
    assert table.counts["group_rows_without_label"] == 1


def test_equal_rows_are_kept_once_and_counted(tmp_path: Path) -> None:
    table = read(tmp_path, "docno,group\na,X\na,\na,X\na,\nb,X\n")
    assert named(table, "group") == [("a", "X"), ("a", None), ("b", "X")]
    assert table.counts["duplicate_group_rows"] == 2


def test_every_problem_is_reported_with_its_line(tmp_path: Path) -> None:
    text = 'docno,group,weight\na,X,1\n,X,1\nb c,X,1\nd,X\n"e\nf",X,1\ng,X,-1\nh,X,nan\n'
    text += "i,X,inf\nj,X,much\nk,X,1,2\na,X,2\n"
    found = by_line(tmp_path, text)
    assert sorted(line or 0 for line in found) == [3, 4, 5, 6, 8, 9, 10, 11, 12, 13]
    assert "empty docno" in found[3]
    assert "2 fields; 3" in found[5]
    assert "line 2" in found[13]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        ("docno,label\na,X\n", "docno, label"),
        ("author_id,docno,group\nx,a,X\n", "author_id, docno, group"),
        ("author_id,group,weight\nx,X,1\n", "weight beside docno only"),
        ("docno,group,group\na,X,Y\n", "twice"),
        ("docno,group\n", "no row"),
        ('docno,group\na,"X\n', "cannot be read"),
        ("docno,group,attribute\na,X,\n", "an empty attribute"),
    ],
)
def test_files_that_will_not_do(tmp_path: Path, text: str, found: str) -> None:
    assert any(found in problem for problem in by_line(tmp_path, text).values())


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("groups.csv", "group"),
        ("economy_groups.csv", "economy"),
        ("groups-h_index.tsv.gz", "h_index"),
        ("author_groups.csv", "group"),
        ("author_groups.economy.csv.zst", "economy"),
    ],
)
def test_attributes_are_called_after_their_file(name: str, attribute: str) -> None:
    assert attribute_of(Path(name)) == attribute


def test_a_name_can_be_given_to_the_only_attribute(tmp_path: Path) -> None:
    assert list(read(tmp_path, "docno,group\na,X\n", attribute="mine").rows) == ["mine"]
    assert list(read(tmp_path, "docno,group,attribute\na,X,theirs\n", attribute="mine").rows) == ["theirs"]


def test_document_labels_by_code(tmp_path: Path) -> None:
    labels, counts = read(tmp_path, "docno,group\nc,Y\na,X\nzz,X\na,\nc,X\n").labels(DOCS, None, "here")
    found = labels["group"]
    assert found.indptr.tolist() == [0, 2, 2, 4]
    assert found.label.tolist() == [0, -1, 1, 0]
    assert counts["group_rows_for_unknown_documents"] == 1


def test_author_labels_by_document(tmp_path: Path) -> None:
    # Documents a (x, nobody, y), b (none), c (z, x); x has two labels, z none, w is nobody's author.
    authors = Authors(Ids.of(["x", "y", "z"]), np.array([0, 3, 3, 5]), np.array([0, -1, 1, 2, 0], np.int32))
    table = read(tmp_path, "author_id,group\nx,P\ny,Q\nx,R\nw,Q\n")
    labels, counts = table.labels(DOCS, authors, "here")
    assert labels["group"].indptr.tolist() == [0, 4, 4, 7]
    assert labels["group"].label.tolist() == [0, 2, -1, 1, -1, 0, 2]
    assert labels["group"].level == "author"
    assert counts["group_rows_for_unknown_authors"] == 1
    with pytest.raises(ConfigError, match="here: groups of authors"):
        table.labels(DOCS, None, "here")


def test_chunks_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "docno,group\n" + "".join(f"d{i},g{i % 4}\n" for i in range(23)) + "d0,g0\n"
    whole = named(read(tmp_path, text), "group")
    monkeypatch.setattr("rerankers.collections.group_rows._ROWS_A_CHUNK", 5)
    assert named(read(tmp_path, text), "group") == whole
    assert len(whole) == 23

"""SVMlight files: read fast and slowly alike, written and read back, with every problem and its line."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError, MissingError, Problems
from rerankers.collections.svmlight import SvmlightTable, read_svmlight
from rerankers.collections.svmlight_blocks import Lines, plain_lines
from rerankers.collections.svmlight_lines import read_lines
from rerankers.collections.write_svmlight import write_svmlight

NAN = math.nan


def written(path: Path, text: str | bytes, name: str = "data.txt", groups: str | None = None) -> Path:
    (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    if groups is not None:
        (path / f"{name}.query").write_text(groups)
    return path / name


def lines_of(path: Path) -> set[int | None]:
    with pytest.raises(InputError) as caught:
        read_svmlight(path)
    return {problem.line for problem in caught.value.problems}


def same(one: Lines, other: Lines) -> None:
    for name in ("label", "indptr", "index", "value", "number"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype, name
        assert first.tobytes() == second.tobytes(), name
    assert one.docno.to_pylist() == other.docno.to_pylist()
    assert (one.qid is None) == (other.qid is None)
    assert one.qid is None or other.qid is None or one.qid.to_pylist() == other.qid.to_pylist()
    assert list(one.comments) == list(other.comments)
    assert one.blank == other.blank


GOOD = [
    "1 qid:7 1:0.5 3:2 # docno\n",
    "0 qid:a 1:nan 2:-0.0 9:1e-310\n2 qid:a 4:1.7976931348623157e308 # d e f\n\n-1 qid:b\n",
    "# a comment\n3\tqid:1   2:.5\t \r\n0 qid:1 1:1. #docid = G12-3 inc = 1\n   \n# another",
    "2 1:0.1234567890123456789 2:12345678901234567890\n-3 2:1e22\n",
    "+1 qid:1 1:+2E-3 2:NaN 3:NAN # d1 # d2\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_fast_and_slow_reading_agree(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    fast, problems = plain_lines(path), Problems("x")
    assert fast is not None
    same(fast, read_lines(path, problems))
    assert not problems


def test_what_is_read(tmp_path: Path) -> None:
    table = read_svmlight(written(tmp_path, GOOD[1] + GOOD[2]))
    np.testing.assert_array_equal(table.label, [0, 2, -1, 3, 0])
    assert table.qid.to_pylist() == ["a", "a", "b", "1", "1"]
    assert table.docno.to_pylist() == [None, "d", None, None, "G12-3"]
    np.testing.assert_array_equal(table.line, [1, 2, 4, 6, 7])
    np.testing.assert_array_equal(table.indptr, [0, 3, 4, 4, 5, 6])
    np.testing.assert_array_equal(table.index, [1, 2, 9, 4, 2, 1])
    np.testing.assert_array_equal(table.columns(9)[:, 0], [NAN, 0, 0, 0, 0, 0, 0, 0, 1e-310])
    assert np.signbit(table.columns(9)[1, 0])
    assert table.counts == {
        "blank_lines": 2,
        "comment_lines": 2,
        "lines_without_docno": 3,
        "feature_values_missing": 1,
    }


def test_features_in_any_order_are_counted(tmp_path: Path) -> None:
    table = read_svmlight(written(tmp_path, "1 qid:1 3:3 1:1 # ü\n0 qid:1 1:4 3:5\n"))
    np.testing.assert_array_equal(table.index, [1, 3, 1, 3])
    np.testing.assert_array_equal(table.value, [1, 3, 4, 5])
    assert table.docno.to_pylist() == ["ü", None]
    assert table.counts["lines_with_unordered_features"] == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("one qid:1 1:1", "label 'one'"),
        ("nan qid:1 1:1", "label 'nan'"),
        ("inf qid:1 1:1", "label 'inf'"),
        ("1_0 qid:1 1:1", "label '1_0'"),
        ("qid:1 1:1", "label 'qid:1'"),
        ("1 qid: 1:1", "an empty qid:"),
        ("1 1:1 2:3", "no qid:"),
        ("1 qid:1 1:x", "value 'x' of feature 1"),
        ("1 qid:1 1:", "value '' of feature 1"),
        ("1 qid:1 1:inf", "value 'inf'"),
        ("1 qid:1 1:1e999", "value '1e999'"),
        ("1 qid:1 1:1:1", "value '1:1'"),
        ("1 qid:1 0:1", "'0:1'"),
        ("1 qid:1 -1:1", "'-1:1'"),
        ("1 qid:1 1.5:1", "'1.5:1'"),
        ("1 qid:1 :1", "':1'"),
        ("1 qid:1 7", "'7'"),
        ("1 qid:1 99999999999:1", "'99999999999:1'"),
        ("1 qid:1 1:1 qid:2", "'qid:2'"),
        ("1 qid:1 2:1 2:1", "feature 2 twice"),
        ("1 qid:1 3:1 1:1 3:2", "feature 3 twice"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, f"0 qid:1 1:1\n{line}\n1 qid:1 2:2\n")
    with pytest.raises(InputError) as caught:
        read_svmlight(path)
    assert {problem.line for problem in caught.value.problems} == {2}
    assert message in caught.value.problems[0].found


def test_all_problems_at_once_and_nothing_to_read(tmp_path: Path) -> None:
    assert lines_of(written(tmp_path, "x qid:1 1:1\n1 qid:1 y\n1 qid:1 1:z 0:1\n")) == {1, 2, 3}
    assert lines_of(written(tmp_path, "")) == {None}
    assert lines_of(written(tmp_path, "# nothing\n\n")) == {None}
    assert lines_of(written(tmp_path, b"1 qid:1 1:1\n1 qid:1 1:1 # \xff\n")) == {2}
    with pytest.raises(MissingError):
        read_svmlight(tmp_path / "none.txt")


def test_group_sizes(tmp_path: Path) -> None:
    lines = "".join(f"{label} 1:{label}\n" for label in range(5))
    table = read_svmlight(written(tmp_path, lines, groups="2\n\n3\n"))
    assert table.qid.to_pylist() == ["1", "1", "2", "2", "2"]
    other = tmp_path / "sizes"
    other.write_text("5")
    assert read_svmlight(tmp_path / "data.txt", other).qid.to_pylist() == ["1"] * 5
    for sizes, message in (("2\n2\n", "sum to 4"), ("2\n0\n3\n", "at least 1"), ("2\nthree\n", "'three'")):
        with pytest.raises(InputError, match=message):
            read_svmlight(written(tmp_path, lines, groups=sizes))
    (tmp_path / "data.txt.query").unlink()
    with pytest.raises(InputError, match=r"data\.txt\.query or data\.txt\.group"):
        read_svmlight(tmp_path / "data.txt")


def test_group_sizes_and_query_ids(tmp_path: Path) -> None:
    lines = "1 qid:a 1:1\n1 qid:a 1:1\n1 qid:b 1:1\n"
    assert read_svmlight(written(tmp_path, lines, groups="2\n1\n")).qid.to_pylist() == ["a", "a", "b"]
    written(tmp_path, lines, groups="1\n2\n")
    assert lines_of(tmp_path / "data.txt") == {2, 3}


def test_archives_and_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    features = ["" if n % 5 == 0 else f"1:{n}.5 {n + 2}:{n / 3!r}" for n in range(90)]
    text = "".join(f"{n % 3} qid:{n // 7} {each} # d{n}\n" for n, each in enumerate(features))
    whole = read_svmlight(written(tmp_path, text))
    (tmp_path / "data.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr("rerankers._base.byte_blocks.read_blocks.__defaults__", (100,))
    for name in ("data.txt", "data.gz"):
        parts = read_svmlight(tmp_path / name)
        for column in ("label", "indptr", "index", "value", "line"):
            assert getattr(parts, column).tobytes() == getattr(whole, column).tobytes(), column
        assert parts.qid.equals(whole.qid)
        assert parts.docno.equals(whole.docno)


VALUES = st.one_of(st.just(0.0), st.just(-0.0), st.just(NAN), st.floats(allow_infinity=False, allow_nan=False))


@settings(max_examples=60)
@given(st.data())
def test_written_and_read_back_bit_for_bit(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    width, pairs = data.draw(st.integers(1, 4)), sum(lengths)
    values = np.array(data.draw(st.lists(VALUES, min_size=pairs * width, max_size=pairs * width))).reshape(pairs, width)
    grades = data.draw(st.lists(st.one_of(st.integers(-2, 4), st.floats(-9, 9)), min_size=pairs, max_size=pairs))
    names = [f"a b.{column} ü" for column in range(width)]
    docnos = [f"d{pair}" if pair % 2 else f"ü:{pair}" for pair in range(pairs)]
    qids = [f"q:{row}" for row in range(len(lengths))]
    path = tmp_path_factory.mktemp("svmlight") / "out.txt"
    write_svmlight(path, values, names, np.cumsum([0, *lengths]), qids, docnos, grades)
    table: SvmlightTable = read_svmlight(path)
    assert np.ascontiguousarray(table.columns(width).T).tobytes() == values.tobytes()
    assert table.names == tuple(names)
    assert table.docno.to_pylist() == docnos
    assert table.qid.to_pylist() == [qid for qid, count in zip(qids, lengths, strict=True) for _ in range(count)]
    np.testing.assert_array_equal(table.label, np.array(grades, dtype=float))


def test_names_of_features(tmp_path: Path) -> None:
    line = "1 qid:1 1:1 2:2\n"
    for comment, names in (
        ('# features: ["a", "b", "c"]\n', ("a", "b", "c")),
        ("# features: a b\n", None),
        ('# features: {"a": 1}\n', None),
        ("# features: [1, 2]\n", None),
    ):
        table = read_svmlight(written(tmp_path, comment + line))
        assert table.names == names
        assert table.width == (3 if names else 2)
        assert table.counts["comment_lines"] == 1
    assert lines_of(written(tmp_path, '# features: ["a"]\n1 qid:1 1:1\n' + line)) == {3}
    assert lines_of(written(tmp_path, '# features: ["a", "a"]\n' + line)) == {1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": [[1.0]]}, "values"),
        ({"values": [[math.inf], [0.0]]}, "not finite"),
        ({"grades": [1.0, NAN]}, "not finite"),
        ({"grades": [1.0]}, "grades"),
        ({"indptr": [0, 1, 1]}, "indptr"),
        ({"indptr": [0, 2]}, "indptr"),
        ({"names": ["a", "b"]}, "values"),
        ({"qids": ["1", "1"]}, "twice"),
        ({"qids": ["1", "2 3"]}, "query id"),
        ({"docnos": ["a", "b#c"]}, "docno"),
        ({"docnos": ["a", "docid=b"]}, "docno"),
        ({"docnos": ["a", ""]}, "docno"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "values": [[1.0], [2.0]],
        "names": ["a"],
        "indptr": [0, 1, 2],
        "qids": ["1", "2"],
        "docnos": ["a", "b"],
        "grades": [0, 1],
    }
    write_svmlight(tmp_path / "good.txt", **good)
    with pytest.raises(InputError, match=message):
        write_svmlight(tmp_path / "bad.txt", **{**good, **change})
    assert not (tmp_path / "bad.txt").exists()


@pytest.mark.shared_data
def test_the_example_of_lightgbm(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "lambdarank-example" / "rank.train"
    table = read_svmlight(path)
    fast, slow = plain_lines(path), read_lines(path, Problems("x"))
    assert fast is not None
    same(fast, slow)
    assert (len(table), table.width, len(table.qid.unique())) == (3005, 300, 201)
    assert np.bincount(table.label.astype(int)).tolist() == [645, 1211, 858, 222, 69]
    names = [f"f{number}" for number in range(1, 301)]
    sizes = [count["counts"] for count in pa.compute.value_counts(table.qid).to_pylist()]
    docnos = [f"d{row}" for row in range(len(table))]
    out = tmp_path / "again.txt"
    matrix = table.columns(300).T
    write_svmlight(out, matrix, names, np.cumsum([0, *sizes]), [str(q) for q in range(201)], docnos, table.label)
    assert read_svmlight(out).columns(300).tobytes() == table.columns(300).tobytes()

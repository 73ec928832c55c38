"""Qrels files: what is read, what is counted, and every problem with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base import byte_blocks
from rerankers._base.errors import InputError, MissingError, Problems
from rerankers.values import Ids, QrelsTable, _qrels_lines, read_qrels


def table(folder: Path, text: str | bytes, name: str = "qrels.txt") -> QrelsTable:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_qrels(path)


def rows(read: QrelsTable) -> list[tuple[str, str, int]]:
    return list(zip(read.qid.to_pylist(), read.docno.to_pylist(), read.grade.tolist(), strict=True))


def problems(folder: Path, text: str | bytes) -> dict[int | None, str]:
    with pytest.raises(InputError) as caught:
        table(folder, text)
    return {problem.line: f"{problem.found}; {problem.expected}" for problem in caught.value.problems}


def test_four_fields_three_fields_any_iteration_and_odd_ids(tmp_path: Path) -> None:
    read = table(tmp_path, "1 0 a,b 1\n1 Q0 é|x 2\n10 c 0\nq-1\t3|4\td\t1.0\n")
    assert rows(read) == [("1", "a,b", 1), ("1", "é|x", 2), ("10", "c", 0), ("q-1", "d", 1)]
    assert read.counts == {"judgments": 4}


def test_negative_grades_stay_and_are_counted(tmp_path: Path) -> None:
    read = table(tmp_path, "1 0 a -1\n1 0 b -100\n1 0 c -0\n1 0 d +2\n")
    assert read.grade.tolist() == [-1, -100, 0, 2]
    assert read.counts["negative_grades"] == 2


def test_bom_crlf_blank_lines_and_no_final_newline(tmp_path: Path) -> None:
    read = table(tmp_path, b"\xef\xbb\xbf1 0 a 1\r\n\r\n  \r\n2 0 b 0")
    assert rows(read) == [("1", "a", 1), ("2", "b", 0)]
    assert read.counts["blank_qrels_lines"] == 2


def test_equal_lines_are_counted_and_kept_once(tmp_path: Path) -> None:
    read = table(tmp_path, "1 0 a 1\n1 0 b 0\n1 7 a 1\n")
    assert rows(read) == [("1", "a", 1), ("1", "b", 0)]
    assert read.counts == {"judgments": 2, "duplicate_judgments": 1}


def test_every_problem_is_reported_with_its_line(tmp_path: Path) -> None:
    text = "1 0 a 1\n1 0 b\n1 0 c 0.5\n1 0 d nan\n1 0 e 40000\n1 0 f 1 9\n1 0 g 1_0\nalone\n1 0 a 2\n"
    found = problems(tmp_path, text)
    assert sorted(found) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert "grade 'b'" in found[2]  # three fields: qid docno grade
    assert "'nan'" in found[4]
    assert "5 fields" in found[6]
    assert "1 fields" in found[8]
    assert "line 1" in found[9]
    assert "grade 2" in found[9]


def test_conflicts_far_apart_name_both_lines(tmp_path: Path) -> None:
    lines = [f"{i % 7} 0 d{i} 1" for i in range(300)]
    lines[250] = "3 0 d10 2"
    assert "line 11" in problems(tmp_path, "\n".join(lines))[251]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_an_error(tmp_path: Path, text: str) -> None:
    assert "no judgment" in problems(tmp_path, text)[None]


def test_bytes_that_are_not_utf8_come_with_the_problems_before_them(tmp_path: Path) -> None:
    found = problems(tmp_path, b"1 0\n1 0 a 1\n1 0 \xff 1\n")
    assert sorted(found) == [1, 3]


def test_truncated_archives_and_missing_files(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"1 0 d%d 1\n" % i for i in range(50_000)))
    (tmp_path / "q.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="truncated"):
        read_qrels(tmp_path / "q.txt.gz")
    (tmp_path / "whole.txt.gz").write_bytes(whole)
    assert len(read_qrels(tmp_path / "whole.txt.gz").grade) == 50_000
    with pytest.raises(MissingError):
        read_qrels(tmp_path / "none.txt")


def test_chunks_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{i // 3} 0 d{i} {i % 3}\n" for i in range(25)) + "0 0 d0 0\n"
    whole = table(tmp_path, text)
    monkeypatch.setattr(byte_blocks.read_blocks, "__defaults__", (40,))
    blocks = table(tmp_path, text)
    assert (rows(blocks), blocks.counts) == (rows(whole), whole.counts)
    monkeypatch.setattr(_qrels_lines, "_LINES_A_CHUNK", 4)
    chunks = table(tmp_path, text + "0\x0b0\x1cd0\u00a00.0".replace("0.0", "0."))
    assert rows(chunks) == rows(whole)
    assert len(whole.grade) == 25


FIELD = st.sampled_from(["q", "1", "d1", "d2", "é", "a\x0bb", "0", "-1", "2", "1.0", "x", "40000", "0.5", "+3"])
LINE = st.lists(FIELD, min_size=0, max_size=5).map(" ".join)
GOOD = st.tuples(st.sampled_from("qp"), st.just("0"), st.sampled_from("abc"), st.sampled_from("012")).map(" ".join)


@given(st.lists(LINE | GOOD, max_size=5), st.sampled_from(["\n", "\r\n", "\n\n", " \n\t"]), st.booleans())
def test_plain_files_are_read_like_any_other(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ending: str, ended: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "twin.txt"
    path.write_text(ending.join(lines) + (ending if ended else ""), newline="")
    problems = Problems("f")
    exact, plain = _qrels_lines.read_lines(path, problems), _qrels_lines.plain_lines(path)
    if plain is None:
        return
    assert not problems
    for name in ("query", "doc", "grade", "number"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(exact, name))
        assert getattr(plain, name).dtype == getattr(exact, name).dtype
    assert plain.qids.equals(exact.qids)
    assert plain.docnos.equals(exact.docnos)
    assert plain.blank == exact.blank


@given(st.lists(GOOD, min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_most_files_are_plain(tmp_path_factory: pytest.TempPathFactory, lines: list[str], ending: str) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.txt"
    for drop in ("", "0 "):
        path.write_text(ending.join(line.replace(" 0 ", " " + drop, 1) for line in lines), newline="")
        assert _qrels_lines.plain_lines(path) is not None


def test_bind_codes_by_topic_order_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    read = table(tmp_path, "2 0 b 1\n9 0 a 1\n8 0 a 1\n9 0 b 1\n2 0 a 0\n1 0 zz 3\n1 0 c -1\n")
    judgments, counts = read.bind(Ids.of(["2", "3", "1"]), Ids.of(["a", "b", "c"]))
    assert judgments.query.tolist() == [0, 2]
    assert judgments.indptr.tolist() == [0, 2, 3]
    assert judgments.doc.tolist() == [0, 1, 2]
    assert judgments.grade.tolist() == [0, 1, -1]
    assert judgments.grade.dtype == np.int16
    assert counts == {
        "judgments_of_unknown_queries": 3,
        "judged_queries_unknown": 2,
        "judgments_of_unknown_documents": 1,
        "queries_without_judgments": 1,
        "queries_without_relevant": 1,
    }

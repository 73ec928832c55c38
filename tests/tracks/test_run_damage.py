"""Runs that can be read in part: what is whole is checked, and nothing is called missing that may be there."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from rerankers._base.errors import InputError, Problem
from rerankers.tracks import validate as module
from rerankers.tracks.candidates import read_queries
from rerankers.tracks.file_kinds import expect_kind, kind_by_first_line
from rerankers.tracks.run_blocks import run_blocks
from rerankers.tracks.sequences import read_sequence
from rerankers.tracks.track import track_of

ENTRIES = 3000


def files(folder: Path) -> None:
    documents = [{"doc_id": docno, "relevance": None} for docno in "abcdefgh"]
    (folder / "q.json").write_text(json.dumps({"qid": 1, "query": "x", "documents": documents}))
    (folder / "s.csv").write_text("".join(f"0.{n},1\n" for n in range(ENTRIES)))


def lines(wrong: int | None = None) -> list[bytes]:
    draw = random.Random(1)
    rankings = [draw.sample("abcdefgh", 8) for _ in range(ENTRIES)]
    out = [json.dumps({"q_num": f"0.{n}", "qid": 1, "ranking": r}).encode() for n, r in enumerate(rankings)]
    if wrong is not None:
        out[wrong] = out[wrong].replace(b'"qid": 1', b'"qid": 2')
    return out


def check(folder: Path, name: str) -> list[Problem]:
    found: list[Problem] = []
    queries, sequence = read_queries(folder / "q.json"), read_sequence(folder / "s.csv")
    module.validate(track_of("2020-rerank"), folder / name, queries, sequence, tell=found.append)
    return found


@pytest.mark.parametrize("damage", ["cut", "flipped", "checksum"])
def test_what_comes_before_the_damage_is_checked(tmp_path: Path, damage: str) -> None:
    files(tmp_path)
    data = bytearray(gzip.compress(b"\n".join(lines(wrong=500)) + b"\n", mtime=0))
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "flipped":
        data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    else:
        data[-8] ^= 1
    (tmp_path / "r.jsonl.gz").write_bytes(data)
    wrong, broken = check(tmp_path, "r.jsonl.gz")[:2]
    assert (wrong.line, wrong.found) == (501, "qid 2")
    assert "broken archive" in broken.found or damage == "flipped"
    last = check(tmp_path, "r.jsonl.gz")[-1]
    assert "lines before the damage were checked; what is missing cannot be told" in last.mend
    if damage != "flipped":  # zeros may unpack to something before they are found out
        assert len(check(tmp_path, "r.jsonl.gz")) == 2
    if damage == "checksum":
        assert "The 3,000 lines before" in last.mend


def test_a_long_line_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path)
    some = lines(wrong=2000)
    some[700] = some[700][:-1] + b" " * 300_000 + b"}"
    some[900] = b'{"z": "' + b"z" * 300_000 + b'"}'
    (tmp_path / "r.jsonl").write_bytes(b"\n".join(some))
    monkeypatch.setattr(module, "_LONGEST", 200_000)
    monkeypatch.setattr(module, "_BLOCK", 5000)
    found = check(tmp_path, "r.jsonl")
    assert [problem.line for problem in found] == [701, 901, 2001, None]
    assert "a line over" in found[0].found
    assert "no line for q_num 0.900 (" in found[3].found


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("size", [1, 100, 50_000, 1 << 20])
def test_blocks_are_the_lines(tmp_path: Path, end: bytes, size: int) -> None:
    data = b"\n".join(lines()) + end
    (tmp_path / "r").write_bytes(data)
    number, seen = 1, b""
    for first, block, whole in run_blocks(tmp_path / "r", size):
        assert (first, whole) == (number, True)
        number += block.count(b"\n")
        seen += block
    assert seen == data
    (tmp_path / "r").write_bytes(b"")
    assert list(run_blocks(tmp_path / "r", size)) == []


def test_a_byte_order_mark_is_an_error_in_columns_too(tmp_path: Path) -> None:
    pages = "".join(f"5\t{page}\n" for page in range(500))
    (tmp_path / "r.tsv").write_bytes(b"\xef\xbb\xbf" + pages.encode())
    found: list[Problem] = []
    module.validate(track_of("2022-task1"), tmp_path / "r.tsv", tell=found.append)
    assert [(problem.line, problem.found) for problem in found] == [(1, "a byte-order mark")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('\n{"q_num": "0.1", "qid": 1, "ranking": []}', "json run"),
        ('{"qid": 1, "ranking": ["a"]}', "json run"),
        ('{"qid": 1, "query": "x", "documents": []}', "queries"),
        ('{"id": 1, "rel_docs": [2]}', "topics"),
        ("0.10,12\n", "sequence"),
        ("17,12\n", None),
        ("id\tpage_id\n", "columns"),
        ("5\t1\t77\n", "columns"),
        ("5 Q0 d1 1 0.5 me\n", "trec run"),
        ("{}\n", None),
        ("", None),
    ],
)
def test_kinds_by_the_first_line(tmp_path: Path, text: str, kind: str | None) -> None:
    (tmp_path / "f").write_text(text)
    assert kind_by_first_line(tmp_path / "f") == kind
    if kind not in (None, "sequence"):
        with pytest.raises(InputError, match="are two files given in each other's place"):
            expect_kind("sequence", tmp_path / "f", "sequence")
    else:
        expect_kind("sequence", tmp_path / "f", "sequence")
    assert kind_by_first_line(tmp_path / "none") is None

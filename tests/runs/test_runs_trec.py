"""Runs in text form."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_twins import PLAIN, Plain, check, in_label_order, plain_of, problems_in, problems_of, trec_lines

from rerankers._base import byte_blocks
from rerankers._base.errors import Problems
from rerankers.runs import read_run, trec


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trec")


@given(PLAIN, st.sampled_from([0, 1]), st.randoms(use_true_random=False))
def test_lines_in_any_order(folder: Path, plain: Plain, first: int, random: object) -> None:
    lines = trec_lines(plain, first)
    (folder / "a.txt").write_text("\n".join(lines))
    run = read_run(folder / "a.txt")
    check(run)
    assert plain_of(run) == in_label_order(plain)
    assert list(run.qids) == list(plain)
    assert run.counts.keys() <= {"queries_with_fewer_rankings"}
    random.shuffle(lines)  # type: ignore[attr-defined]
    (folder / "a.txt").write_text("\n".join(lines))
    shuffled = read_run(folder / "a.txt")
    check(shuffled)
    assert plain_of(shuffled) == plain_of(run)
    assert list(shuffled.qids) == list(dict.fromkeys(line.split()[0] for line in lines))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n", "\n \t\n"])
@pytest.mark.parametrize("sign", [" ", "\t", "  ", " \t "])
@pytest.mark.parametrize("around", ["", " ", "\t "])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: pa.compress(data, codec="zstd", asbytes=True)])
def test_white_space_and_packing(tmp_path: Path, ending: str, sign: str, around: str, pack: object) -> None:
    lines = trec_lines({"é": {0: ["b,c", "a"]}, "2": {0: ["a"]}})
    text = ending.join(around + line.replace(" ", sign) + around for line in lines)
    data = pack(b"\xef\xbb\xbf" + text.encode())  # type: ignore[operator]
    path = tmp_path / ("a.run" + {b"\x1f\x8b": ".gz", b"\x28\xb5": ".zst"}.get(data[:2], ""))
    path.write_bytes(data)
    run = read_run(path)
    assert plain_of(run) == {"é": {0: ["b,c", "a"]}, "2": {0: ["a"]}}
    assert run.counts == ({"blank_lines": 2} if ending.count("\n") == 2 else {})
    assert run.name == "a"


@pytest.mark.parametrize(
    ("samples", "labels", "numbered"),
    [
        (["Q0", "Q0"], [0, 0], 0),
        (["0", "10"], [0, 10], 0),
        (["Q1", "Q0"], [1, 0], 0),
        (["7", "7"], [7, 7], 0),
        (["it", "it"], [0, 0], 1),
        (["1", "01"], [0, 1], 2),
        (["Q1", "1"], [0, 1], 2),
        (["99999999999", "3"], [0, 1], 2),
        (["-1", "3"], [0, 1], 2),
    ],
)
def test_sample_names(tmp_path: Path, samples: list[str], labels: list[int], numbered: int) -> None:
    lines = [f"q{index} {sample} d 1 1 t" for index, sample in enumerate(samples)]
    (tmp_path / "a").write_text("\n".join(lines))
    run = read_run(tmp_path / "a")
    assert run.rankings.label.tolist() == labels
    assert run.counts.get("sample_names_numbered", 0) == numbered


def test_one_scored_ranking_a_query_keeps_its_scores(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("q Q0 b 2 1.5 t\nq Q0 c 1 3e0 t\nq Q0 a 3 -.5 t\np Q0 z 1 +2. t\n")
    run = read_run(tmp_path / "a")
    assert run.rankings.over.columns["score"].tolist() == [-0.5, 1.5, 3.0, 2.0]
    candidates = run.candidates()
    assert run.docs.take(candidates.doc) == ["c", "b", "a", "z"]
    assert candidates.score.tolist() == [3.0, 1.5, -0.5, 2.0]
    (tmp_path / "a").write_text("q 0 b 1 1.5 t\nq 1 c 1 3e0 t\n")
    several = read_run(tmp_path / "a")
    assert dict(several.rankings.over.columns) == {}
    assert "2 rankings of query 'q'" in problems_of(several.candidates)[0].found


@pytest.mark.parametrize("rank", ["0", "1", "17"])
def test_ranks_that_say_nothing_leave_the_order_to_the_scores(tmp_path: Path, rank: str) -> None:
    rows = [("b", "1"), ("a", "2"), ("é", "2"), ("c", "-1e3"), ("B", "1")]
    lines = [f"q Q0 {docno} {rank} {score} t" for docno, score in rows]
    (tmp_path / "a").write_text("\n".join([*lines, "p Q0 x 1 0 t", "p Q0 y 2 0 t"]))
    run = read_run(tmp_path / "a")
    assert plain_of(run) == {"q": {0: ["a", "é", "B", "b", "c"]}, "p": {0: ["x", "y"]}}
    assert run.counts == {"rankings_ordered_by_score": 1}


def test_ranks_win_over_scores(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("q 0 a 1 1 t\nq 0 b 2 2 t\nq 1 a 1 1 t\nq 1 b 2 1 t\np 0 c 1 9 t\n")
    run = read_run(tmp_path / "a")
    assert plain_of(run) == {"q": {0: ["a", "b"], 1: ["a", "b"]}, "p": {0: ["c"]}}
    assert run.counts == {"rankings_whose_scores_disagree_with_ranks": 1, "queries_with_fewer_rankings": 1}


def test_wrong_lines_are_all_named(tmp_path: Path) -> None:
    lines = [
        b"q Q0 a 1 1 t",
        b"q Q0 b 2 1",
        b"q Q0 b 2 1 t more",
        b"q Q0 b 2.0 1 t",
        b"q Q0 b 2 nan t",
        b"q Q0 b 2 -inf t",
        b"",
        b"q Q0 b 2 1_0 t",
        b"q Q0 \xff 2 1 t",
        b"q Q0 b\r 2 1 t",
        b"q Q0 b 0x2 1 t",
        b"q Q0 b 2 1e999 t",
        b"# q Q0 b 2 1 t",
    ]
    assert problems_in(tmp_path / "a", b"\n".join(lines)) == [
        (2, "5 fields"),
        (3, "7 fields"),
        (4, "rank '2.0'"),
        (5, "score 'nan'"),
        (6, "score '-inf'"),
        (8, "score '1_0'"),
        (9, "a byte that is not UTF-8 (invalid start byte at byte 5)"),
        (10, "a carriage return inside the line"),
        (11, "rank '0x2'"),
        (12, "score '1e999'"),
        (13, "7 fields"),
    ]


@pytest.mark.parametrize("line", ["q  d 1 1 t", "q Q0 d 1 1 ", " Q0 d 1 1 t", "q\tQ0\td\t1\t\tt"])
def test_an_empty_field_is_no_field(tmp_path: Path, line: str) -> None:
    assert problems_in(tmp_path / "a", f"p Q0 d 1 1 t\n{line}\n") == [(2, "5 fields")]


@pytest.mark.parametrize(
    ("ranks", "line", "found", "expected"),
    [
        ([1, 3], 2, "rank 3 in", "rank 2;"),
        ([0, 2], 2, "rank 2 in", "rank 1;"),
        ([2, 3], 1, "rank 2 in", "rank 1;"),
        ([-1, 0], 1, "rank -1 in", "rank 0;"),
        ([1, 2, 2], 3, "rank 2 again (also on line 2) in", "rank 3;"),
        ([3, 1, 1], 3, "rank 1 again (also on line 2) in", "rank 2;"),
        ([7], 1, "rank 7 in", "rank 1;"),
        ([4, 2, 1, 5], 1, "rank 4 in", "rank 3;"),
    ],
)
def test_gaps_and_repeats(tmp_path: Path, ranks: list[int], line: int, found: str, expected: str) -> None:
    text = "".join(f"q 5 d{index} {rank} 1 t\n" for index, rank in enumerate(ranks))
    (tmp_path / "a").write_text(text + "p 5 d 1 1 t\n")
    problems = problems_of(lambda: read_run(tmp_path / "a"))
    assert [(p.where, p.line) for p in problems] == [(str(tmp_path / "a"), line)]
    assert problems[0].found.startswith(found)
    assert problems[0].found.endswith("query 'q', sample 5")
    assert problems[0].expected.startswith(expected)
    assert "Number the rankings anew" in problems[0].mend


def test_every_wrong_ranking_is_named_once_and_repeated_documents_too(tmp_path: Path) -> None:
    text = "q 0 a 1 1 t\nq 0 b 4 1 t\nq 0 c 6 1 t\np 0 a 1 1 t\np 0 b 2 1 t\np 0 a 3 1 t\nr 0 a 0 1 t\nr 0 b 2 1 t\n"
    assert problems_in(tmp_path / "a", text) == [
        (2, "rank 4 in query 'q', sample 0"),
        (6, "document 'a' again in query 'p', sample 0, first on line 4"),
        (8, "rank 2 in query 'r', sample 0"),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", " \r\n", "\ufeff"])
def test_empty_files(tmp_path: Path, text: str) -> None:
    assert problems_in(tmp_path / "a.trec", text) == [(None, "an empty file")]


def test_truncated_archive(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(trec_lines({"q": {0: [str(i) for i in range(9000)]}})).encode())
    found = problems_in(tmp_path / "a.gz", whole[:-20])
    assert len(found) == 1
    assert found[0][1].startswith("a truncated or broken archive")
    assert "archive" in problems_in(tmp_path / "a.zst", b"nothing of the kind")[0][1]


@pytest.mark.parametrize(("data", "suffix"), [(gzip.compress(b"", mtime=0), ".gz"), (b"\x28\xb5\x2f\xfd", ".zst")])
def test_archives_that_hide(tmp_path: Path, data: bytes, suffix: str) -> None:
    assert problems_in(tmp_path / "a.txt", data) == [(None, f"an archive without the suffix {suffix}")]


def test_problems_are_bounded(tmp_path: Path) -> None:
    found = problems_in(tmp_path / "a", "one two\n" * 3000)
    assert len(found) == 1001
    assert found[-1] == (None, "2000 more problems")


FIELD = st.text(alphabet='a"\\,#é\x00\u2028\xa0', min_size=1, max_size=2)
NUMBER = st.sampled_from(["1", "2", "+3", "-4", "007", "0x1", "1.0", "1e2", ".5", "nan", "inf", "1_0", "", "9" * 20])
LINE = st.lists(FIELD | NUMBER, min_size=5, max_size=7).map(" ".join) | st.tuples(
    FIELD, FIELD, FIELD, NUMBER, NUMBER, FIELD
).map(" ".join)


@given(st.lists(LINE, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\r\n"]), st.booleans())
def test_the_fast_path_reads_what_the_exact_path_reads(lines: list[str], ending: str, ended: bool) -> None:
    block = (ending.join(lines) + (ending if ended else "")).encode()
    fast = trec._parse_regular(5, block)
    problems, counts = Problems("f"), dict[str, int]()
    exact = trec._parse_lines(5, block, problems, counts)
    if fast is not None:
        assert not problems
        assert counts.get("blank_lines", 0) == byte_blocks.count_lines(block) - fast.num_rows
        assert fast.to_pylist() == exact.to_pylist()


@given(PLAIN)
def test_regular_files_take_the_fast_path(plain: Plain) -> None:
    lines = trec_lines(plain)
    for sign in (" ", "\t"):
        block = "\n".join(line.replace(" ", sign) for line in lines).encode()
        assert trec._parse_regular(1, block) is not None


def test_blocks_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_blocks.read_blocks, "__defaults__", (200,))
    plain: Plain = {f"q{q}": {s: [f"d{(q * s + k) % 7}" for k in range(7)] for s in range(4)} for q in range(20)}
    lines = trec_lines(plain)
    (tmp_path / "a").write_text("\n".join(lines))
    assert plain_of(read_run(tmp_path / "a")) == plain
    lines[333] = "q Q0 d 1 x t"
    assert problems_in(tmp_path / "a", "\n".join(lines)) == [(334, "score 'x'")]


def test_a_block_of_blank_lines(tmp_path: Path) -> None:
    assert problems_in(tmp_path / "a", "\n\n\x00") == [(3, "1 fields")]
    (tmp_path / "a").write_text("\n\nq Q0 d 1 1 t")
    assert read_run(tmp_path / "a").counts == {"blank_lines": 2}


def test_scores_are_read_to_the_last_bit(tmp_path: Path) -> None:
    scores = np.sort(np.random.default_rng(0).standard_normal(500) ** 5)[::-1].tolist()
    (tmp_path / "a").write_text("".join(f"q Q0 d{i:03} {i + 1} {x!r} t\n" for i, x in enumerate(scores)))
    assert read_run(tmp_path / "a").rankings.over.columns["score"].tolist() == scores

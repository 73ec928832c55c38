"""Validators: the verdicts of the organisers' checkers, every error with its line, little memory."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError, MissingError, Problem
from rerankers.tracks.candidates import QueryFile, read_queries
from rerankers.tracks.document_ids import DocumentIds
from rerankers.tracks.findings import Verdict, ranges
from rerankers.tracks.sequences import Sequence, read_sequence
from rerankers.tracks.track import track_of
from rerankers.tracks.validate import validate

QUERIES = [(1, "abc"), (2, "de")]
SEQUENCE = "0.1,1\n0.10,1\n1.0,2\n"
GOOD = [
    {"q_num": "0.1", "qid": 1, "ranking": ["a", "b", "c"]},
    {"q_num": "0.10", "qid": 1, "ranking": ["c", "b", "a"], "note": "other keys do not matter"},
    {"q_num": "1.0", "qid": 2, "ranking": ["e", "d"]},
]


def queries_in(folder: Path) -> QueryFile:
    path = folder / "queries.json"
    lines = [
        json.dumps(
            {"qid": qid, "query": "x", "frequency": 0.1, "documents": [{"doc_id": d, "relevance": None} for d in docs]}
        )
        for qid, docs in QUERIES
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_queries(path)


def sequence_in(folder: Path) -> Sequence:
    (folder / "sequence.csv").write_text(SEQUENCE)
    return read_sequence(folder / "sequence.csv")


def check(
    folder: Path, lines: list[Any] | bytes, track: str = "2020-rerank", **more: Any
) -> tuple[Verdict, list[Problem]]:
    """Check a file of lines that are texts or become JSON."""
    path = folder / "run.jsonl"
    data = lines if isinstance(lines, bytes) else "".join(f"{_text(line)}\n" for line in lines).encode()
    path.write_bytes(data)
    found: list[Problem] = []
    verdict = validate(track_of(track), path, queries_in(folder), sequence_in(folder), tell=found.append, **more)
    return verdict, found


def _text(line: Any) -> str:
    return line if isinstance(line, str) else json.dumps(line)


@pytest.mark.parametrize("track", ["2019", "2020-rerank", "2020-retrieval"])
def test_a_good_run_has_no_error(tmp_path: Path, track: str) -> None:
    for data in (
        GOOD,
        GOOD[::-1],
        "\r\n".join(map(json.dumps, GOOD)).encode(),
        "\n".join(f"  {json.dumps(line)}\t" for line in GOOD).encode(),
    ):
        verdict, found = check(tmp_path, data, track)
        assert (verdict.errors, found) == (0, [])
        assert (verdict.lines, verdict.queries) == (3, 2)


def changed(line: int, **keys: Any) -> list[Any]:
    lines: list[Any] = [dict(one) for one in GOOD]
    lines[line - 1] |= keys
    return lines


def without(line: int, key: str) -> list[Any]:
    lines: list[Any] = [dict(one) for one in GOOD]
    del lines[line - 1][key]
    return lines


# lines, [(line of the error, part of its text)] for reranking, whether retrieval accepts it
DAMAGED: dict[str, tuple[list[Any], list[tuple[int | None, str]], bool]] = {
    "no JSON": ([*GOOD[:2], '{"q_num": "1.0", '], [(3, "no JSON")], False),
    "no JSON and no number": ([*GOOD[:2], "{"], [(3, "no JSON"), (None, "q_num 1.0 ")], False),
    "a number alone for q_num": (changed(3, q_num=1.0), [(3, "q_num 1.0, a number")], False),
    "a blank line": ([*GOOD, ""], [(4, "blank line")], False),
    "a list": ([*GOOD, '["q_num", "qid", "ranking"]'], [(4, "no object (a list)")], False),
    "a header": (["q_num,qid,ranking", *GOOD], [(1, "no JSON")], False),
    "no q_num": (without(1, "q_num"), [(1, "without q_num"), (None, "no line for q_num 0.1 ")], False),
    "no qid": (without(1, "qid"), [(1, "without qid")], False),
    "no ranking": (without(1, "ranking"), [(1, "without ranking")], False),
    "number for q_num": (changed(2, q_num=0.1), [(2, "q_num 0.1, a number"), (None, "q_num 0.10 ")], False),
    "unknown q_num": (changed(2, q_num="7.7"), [(2, "'7.7'"), (None, "q_num 0.10 ")], False),
    "q_num that lost its zero": (
        changed(2, q_num="0.1"),
        [(2, "'0.1' again, first on line 1"), (None, "q_num 0.10 ")],
        False,
    ),
    "text for qid": (changed(2, qid="1"), [(2, "qid '1', text; expected a whole number. Write the number")], False),
    "float for qid": (changed(2, qid=1.0), [(2, "qid 1.0, a number; expected a whole number")], False),
    "true for qid": (changed(2, qid=True), [(2, "qid True, true or false")], False),
    "unknown qid": (changed(2, qid=9), [(2, "qid 9")], False),
    "qid of another entry": (
        changed(2, qid=2, ranking=["e", "d"]),
        [(2, "qid 2 for q_num '0.10'; expected qid 1")],
        False,
    ),
    "a document twice": (
        changed(1, ranking=["a", "b", "c", "b", "a"]),
        [(1, "more than once: 'a', 'b'")],
        False,
    ),
    "a stranger": (changed(1, ranking=["a", "b", "c", "z"]), [(1, "no candidates: 'z'")], True),
    "a candidate left out": (changed(1, ranking=["a", "c"]), [(1, "without the candidates 'b'")], True),
    "an empty ranking": (changed(3, ranking=[]), [(3, "without the candidates 'd', 'e'")], True),
    "text for a ranking": (changed(1, ranking="abc"), [(1, "no list (text)")], False),
    "a nested ranking": (changed(1, ranking=[["a"], "b", "c"]), [(1, "document ids ['a']")], False),
    "numbers for documents": (changed(1, ranking=[1, "b", "c"]), [(1, "document ids 1;")], False),
    "a line missing": ([GOOD[0], GOOD[2]], [(None, "q_num 0.10 (missing in sequence 0: 1)")], False),
    "nothing at all": ([], [(None, "q_num 0.1, 0.10 (missing"), (None, "q_num 1.0 ")], False),
    "all at once": (
        ["{", {"q_num": "0.10", "qid": 2, "ranking": ["d", "d"]}, {"q_num": "x", "qid": "2", "ranking": {}}],
        [
            (1, "no JSON"),
            (2, "qid 2 for q_num '0.10'"),
            (2, "more than once: 'd'"),
            (2, "without the candidates 'e'"),
            (3, "q_num 'x'"),
            (3, "qid '2', text"),
            (3, "no list (an object)"),
            (None, "q_num 0.1 "),
            (None, "q_num 1.0 "),
        ],
        False,
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_runs(tmp_path: Path, name: str) -> None:
    lines, expected, retrieval = DAMAGED[name]
    for track in ("2019", "2020-rerank"):
        verdict, found = check(tmp_path, lines, track)
        assert verdict.errors == len(found) == len(expected), [str(problem) for problem in found]
        for problem, (line, part) in zip(found, expected, strict=True):
            assert problem.line == line
            assert part in str(problem).replace("0.1-0.1", "0.1")
    verdict, _ = check(tmp_path, lines, "2020-retrieval")
    assert (verdict.errors == 0) == retrieval


def test_depth_is_a_number(tmp_path: Path) -> None:
    deep = changed(1, ranking=[f"x{n}" for n in range(101)])
    _, found = check(tmp_path, deep, "2020-retrieval")
    assert [(p.line, p.found, p.expected) for p in found] == [(1, "101 documents", "at most 100")]
    assert check(tmp_path, changed(1, ranking=[f"x{n}" for n in range(100)]), "2020-retrieval")[0].errors == 0
    assert check(tmp_path, GOOD, "2020-retrieval", depth=2)[0].errors == 2
    with pytest.raises(ConfigError, match="depth"):
        check(tmp_path, GOOD, "2020-rerank", depth=50)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    good = [json.dumps(line).encode() for line in GOOD]
    _, found = check(tmp_path, b"\n".join([b"\xef\xbb\xbf" + good[0], good[1], b'{"q_num": "\xff"}', good[2]]))
    # The lines with and after them are read all the same.
    assert [(p.line, p.found.partition("(")[0]) for p in found] == [
        (1, "a byte-order mark"),
        (3, "a line that is no JSON "),
    ]


def test_warnings(tmp_path: Path) -> None:
    static = [dict(GOOD[0]), dict(GOOD[0], q_num="0.10"), dict(GOOD[2], ranking=[])]
    verdict, _ = check(tmp_path, static, "2020-retrieval")
    assert verdict.errors == 0
    text = "\n".join(verdict.warnings)
    assert "1 rankings are empty, of the queries '2'" in text
    assert "every query with several rankings: all of them are the same (a static run)" in text
    assert "2 queries do not have the 150 rankings of the track (1 has 2, 2 has 1)" in text
    assert check(tmp_path, GOOD, "2019")[0].warnings == ()


def test_a_corpus_is_asked(tmp_path: Path) -> None:
    corpus = DocumentIds.of(["a", "b", "c", "d"])
    verdict, _ = check(tmp_path, GOOD, "2020-rerank", corpus=corpus)
    assert verdict.errors == 0
    assert "1 of 5 candidates are not in the corpus: nothing is known about them" in verdict.warnings
    _, found = check(tmp_path, GOOD, "2020-retrieval", corpus=corpus)
    assert [(p.line, p.found) for p in found] == [(3, "documents that the corpus lacks: 'e'")]


def test_errors_may_be_capped_but_are_counted(tmp_path: Path) -> None:
    verdict, found = check(tmp_path, ["{"] * 50, max_errors=3)
    assert (verdict.errors, len(found)) == (52, 3)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    data = gzip.compress(b"\n".join(json.dumps(line).encode() for line in GOOD) * 2000)
    queries, sequence, track = queries_in(tmp_path), sequence_in(tmp_path), track_of("2019")
    (tmp_path / "cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    found: list[Problem] = []
    validate(track, tmp_path / "cut.jsonl.gz", queries, sequence, tell=found.append)
    assert any("truncated" in problem.found for problem in found)
    (tmp_path / "renamed.jsonl").write_bytes(data)
    with pytest.raises(InputError, match=r"Rename it to renamed\.jsonl\.gz"):
        validate(track, tmp_path / "renamed.jsonl", queries, sequence, tell=found.append)
    with pytest.raises(MissingError):
        validate(track, tmp_path / "none", queries, sequence, tell=found.append)
    with pytest.raises(ConfigError, match="queries and sequence: found nothing"):
        validate(track, tmp_path / "none", tell=found.append)
    with pytest.raises(ConfigError, match="sequence: found a file"):
        validate(track_of("2021-task1"), tmp_path / "none", queries, sequence, tell=found.append)


def test_queries_of_another_set_are_told(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("0.0,77\n")
    (tmp_path / "run").write_text('{"q_num": "0.0", "qid": 77, "ranking": []}')
    other = read_sequence(tmp_path / "other.csv")
    verdict = validate(track_of("2019"), tmp_path / "run", queries_in(tmp_path), other, tell=lambda _: None)
    assert any("Are the two files of the same year and set?" in warning for warning in verdict.warnings)


def test_memory_does_not_grow_with_lines(tmp_path: Path) -> None:
    docs = [f"document-{n:030d}" for n in range(50)]
    (tmp_path / "q.json").write_text(
        json.dumps({"qid": 1, "query": "x", "documents": [{"doc_id": d, "relevance": None} for d in docs]})
    )
    queries = read_queries(tmp_path / "q.json")

    def peak(lines: int) -> int:
        (tmp_path / "s.csv").write_text("".join(f"0.{n},1\n" for n in range(lines)))
        sequence = read_sequence(tmp_path / "s.csv")
        sequence.place, sequence.sequence  # noqa: B018 - what the sequence file itself needs
        with (tmp_path / "r.jsonl").open("w") as stream:
            for n in range(lines):
                stream.write(json.dumps({"q_num": f"0.{n}", "qid": 1, "ranking": docs}) + "\n")
        tracemalloc.start()
        verdict = validate(track_of("2019"), tmp_path / "r.jsonl", queries, sequence, tell=lambda _: None)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert verdict.errors == 0
        return most

    small, large = peak(1000), peak(8000)
    assert large - small < 7000 * 40 + (1 << 18)  # a line of the file has 2,600 bytes


@pytest.mark.shared_data
def test_verdicts_are_those_of_the_organisers_checkers(shared: Path, tmp_path: Path) -> None:
    oracle = json.loads((shared / "oracles" / "trec" / "validators_2019_2020.json").read_text())
    (tmp_path / "q.json").write_text("".join(f"{json.dumps(query)}\n" for query in oracle["queries"]))
    (tmp_path / "s.csv").write_text(oracle["sequence_csv"])
    queries, sequence = read_queries(tmp_path / "q.json"), read_sequence(tmp_path / "s.csv")
    names = {"2019": "2019", "2020_rerank": "2020-rerank", "2020_retrieve": "2020-retrieval"}
    seen = 0
    for case in oracle["cases"]:
        (tmp_path / "run.jsonl").write_text("".join(f"{_text(line)}\n" for line in case["run_lines"]))
        for name, track in names.items():
            found: list[Problem] = []
            verdict = validate(track_of(track), tmp_path / "run.jsonl", queries, sequence, tell=found.append)
            assert (verdict.errors == 0) == case["expected"][name]["accepted"], (case["name"], name)
            seen += 1
    assert seen == 33


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["UW_bm25", "UW_Kr_r60g20c20"])
def test_real_submissions_are_valid(shared: Path, name: str) -> None:
    folder = shared / "data" / "trec-fair-2020"
    queries = read_queries(folder / "TREC-Fair-Ranking-eval-sample-no-rel.json")
    sequence = read_sequence(folder / "TREC-Fair-Ranking-eval-seq.csv")
    run = folder / "rerank_submissions" / f"{name}.jsonl.gz"
    verdict = validate(track_of("2020-rerank"), run, queries, sequence, tell=lambda _: None)
    assert (verdict.errors, verdict.lines, verdict.queries) == (0, 30_000, 200)
    assert "every query with several rankings" in verdict.warnings[0]


def test_ranges() -> None:
    assert ranges([]) == ""
    assert ranges([4]) == "4"
    assert ranges([0, 1, 2, 5, 7, 8], "3.") == "3.0-3.2, 3.5, 3.7-3.8"
    assert ranges(range(0, 10, 2), most=2) == "0, 2 and 3 more"


@given(st.data())
def test_property_damage_never_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("v")
    good = b"".join(json.dumps(line).encode() + b"\n" for line in GOOD)
    raw = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        stop = data.draw(st.integers(start, min(len(raw), start + 30)))
        raw[start:stop] = data.draw(
            st.binary(max_size=6) | st.sampled_from([b"\n", b'"', b"[", b"1e9", b"null", b"\xff"])
        )
    track = data.draw(st.sampled_from(["2019", "2020-retrieval", "2021-task1", "2022-task2"]))
    run = folder / "run"
    run.write_bytes(bytes(raw))
    found: list[Problem] = []
    json_track = track_of(track).form == "jsonl"
    files = (queries_in(folder), sequence_in(folder)) if json_track else (None, None)
    try:
        verdict = validate(track_of(track), run, *files, tell=found.append)
    except InputError as error:  # an archive by chance
        assert "archive" in str(error)  # noqa: PT017
        return
    assert verdict.errors == len(found)
    assert json_track or found
    assert all(problem.line is None or 1 <= problem.line <= verdict.lines for problem in found)
    if not found:
        assert sorted(json.loads(line)["q_num"] for line in bytes(raw).split(b"\n") if line) == ["0.1", "0.10", "1.0"]

"""Validators of 2021 and 2022: columns, topics, rankings and their lengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import Problem
from rerankers.tracks.candidates import QueryFile, read_queries
from rerankers.tracks.document_ids import DocumentIds, read_document_ids
from rerankers.tracks.findings import Verdict
from rerankers.tracks.track import track_of
from rerankers.tracks.validate import validate


def topics(folder: Path, *ids: int) -> QueryFile:
    (folder / "topics.jsonl").write_text("".join(json.dumps({"id": one, "title": "x"}) + "\n" for one in ids))
    return read_queries(folder / "topics.jsonl", "id", candidates=False)


def full(*ids: int, rankings: int = 100, depth: int = 20) -> list[str]:
    """Return the lines of a good run; task 1 with rankings=1."""
    pages = [[1000 + (n + r) % (depth + 7) for n in range(depth)] for r in range(rankings)]
    return [f"{t}\t{r + 1}\t{page}" for t in ids for r, ranking in enumerate(pages) for page in ranking]


def check(
    folder: Path, lines: list[str], track: str, queries: QueryFile | None, **more: Any
) -> tuple[Verdict, list[Problem]]:
    (folder / "run.tsv").write_text("".join(f"{line}\n" for line in lines))
    found: list[Problem] = []
    return validate(track_of(track), folder / "run.tsv", queries, tell=found.append, **more), found


def one_column_less(lines: list[str]) -> list[str]:
    return [line.split("\t")[0] + "\t" + line.split("\t")[2] for line in lines]


@pytest.mark.parametrize(("track", "depth"), [("2021-task2", 50), ("2022-task2", 20)])
@pytest.mark.parametrize("header", [[], ["id\tseq_no\tpage_id"], ["id\trep_number\tpage_id"]])
def test_good_runs_of_many_rankings(tmp_path: Path, track: str, depth: int, header: list[str]) -> None:
    verdict, found = check(tmp_path, header + full(101, 102, depth=depth), track, topics(tmp_path, 101, 102))
    assert (found, verdict.warnings) == ([], ())
    assert verdict.queries == 2


@pytest.mark.parametrize(("track", "depth"), [("2021-task1", 1000), ("2022-task1", 500)])
@pytest.mark.parametrize("header", [[], ["id\tpage_id"]])
def test_good_runs_of_one_ranking(tmp_path: Path, track: str, depth: int, header: list[str]) -> None:
    lines = header + one_column_less(full(101, 102, rankings=1, depth=depth))
    verdict, found = check(tmp_path, lines, track, topics(tmp_path, 101, 102))
    assert (found, verdict.warnings) == ([], ())


def damaged() -> dict[str, tuple[list[str], list[tuple[int | None, str]]]]:
    good = full(101, 102)
    return {
        "a blank line": ([*good[:3], "", *good[3:]], [(4, "a blank line")]),
        "columns of the other task": (
            [*good[:-1], one_column_less(good[-1:])[0]],
            [(4000, "2 columns")],
        ),
        "blanks for tabs": ([good[0].replace("\t", " "), *good[1:]], [(1, "Separate them by tabs")]),
        "a page that is no number": ([good[0].replace("1000", "1000.0"), *good[1:]], [(1, "page_id '1000.0'")]),
        "a topic with a zero before it": ([f"0{good[0]}", *good[1:]], [(1, "id '0101'")]),
        "another topic": ([*good, "103\t1\t1000"], [(4001, "topic 103")]),
        "a ranking too many": ([*good, "102\t101\t1000"], [(4001, "ranking number 101; expected 1 to 100")]),
        "a ranking numbered from 0": ([*good, "102\t0\t1000"], [(4001, "ranking number 0")]),
        "a page too many": (
            [*good, "102\t100\t5"],
            [(4001, "21 pages in topic 102, ranking 100; expected at most 20")],
        ),
        "a page twice": (
            [good[1], *good[1:]],
            [(2, "page 1001 of topic 101, ranking 1 again, first on line 1")],
        ),
        "a ranking missing": (good[:-40], [(None, "topic 102 without the rankings 99-100")]),
        "a topic missing": (full(101), [(None, "no line for topics 102")]),
        "a topic in two pieces": (
            good[:40] + good[2000:] + good[40:2000],
            [(2041, "topic 101 again, after topic 102")],
        ),
        "a ranking in two pieces": (
            good[:10] + good[20:2000] + good[10:20] + good[2000:],
            [(1991, "topic 101, ranking 1 again, after another")],
        ),
        "another header": (["id\trank\tpage_id", *good], [(1, "header 'id', 'rank', 'page_id'")]),
        "nothing": ([], [(None, "no line for topics 101, 102")]),
    }


@pytest.mark.parametrize("name", damaged())
def test_damaged_runs(tmp_path: Path, name: str) -> None:
    lines, expected = damaged()[name]
    verdict, found = check(tmp_path, lines, "2022-task2", topics(tmp_path, 101, 102))
    assert verdict.errors == len(found) == len(expected), [str(problem) for problem in found]
    for problem, (line, part) in zip(found, expected, strict=True):
        assert problem.line == line
        assert part in str(problem)


def test_interleaved_rankings_are_one_error_each(tmp_path: Path) -> None:
    lines = sorted(full(101), key=lambda line: int(line.split("\t")[2]))
    _, found = check(tmp_path, lines, "2022-task2", topics(tmp_path, 101))
    assert len(found) == 100
    assert all("in one piece" in problem.expected for problem in found)


def test_every_duplicate_has_its_lines(tmp_path: Path) -> None:
    lines = ["101\t7", "101\t8", "101\t7", "101\t8", "101\t7"]
    _, found = check(tmp_path, lines, "2022-task1", topics(tmp_path, 101))
    assert [(p.line, p.found) for p in found] == [
        (3, "page 7 of topic 101 again, first on line 1"),
        (4, "page 8 of topic 101 again, first on line 2"),
        (5, "page 7 of topic 101 again, first on line 1"),
    ]


def test_short_and_static_runs_are_warned_about(tmp_path: Path) -> None:
    lines = [f"101\t{n + 1}\t{page}" for n in range(100) for page in (5, 6)]
    verdict, found = check(tmp_path, lines, "2021-task2", topics(tmp_path, 101))
    assert found == []
    assert verdict.warnings == (
        "100 rankings have fewer than 50 pages: the shortest is topic 101, ranking 1 with 2",
        "every query with several rankings: all of them are the same (a static run)",
    )


def test_without_topics(tmp_path: Path) -> None:
    verdict, found = check(tmp_path, full(84), "2022-task2", None)
    assert (found, verdict.warnings) == (
        [],
        ("without queries=FILE (the topics) nobody can tell unknown and missing topics",),
    )
    _, found = check(tmp_path, [], "2022-task2", None)
    assert [problem.found for problem in found] == ["no ranking"]


def test_pages_of_a_corpus(tmp_path: Path) -> None:
    corpus = DocumentIds.of(str(page) for page in range(1000, 1020))
    lines = one_column_less(full(101, rankings=1))
    assert check(tmp_path, lines, "2022-task1", topics(tmp_path, 101), corpus=corpus)[0].errors == 0
    _, found = check(tmp_path, [*lines, "101\t9"], "2022-task1", topics(tmp_path, 101), corpus=corpus)
    assert [(p.line, p.found) for p in found] == [(21, "page 9")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pages.jsonl", '{"page_id": 12, "x": 1}\n{"page_id": "é"}\n'),
        ("pages.csv", 'title,paper_sha\n"a\nb",12\nx,é\n'),
        ("pages.tsv", "id\ttitle\n12\tx\né\ty\n"),
        ("pages.txt", "12\né\n\n12\n"),
    ],
)
def test_ids_of_a_corpus_in_many_forms(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_document_ids(tmp_path / name)
    assert len(found) == 2
    assert found.has(["12", "13", "é"]).tolist() == [True, False, True]


@pytest.mark.shared_data
def test_the_beginning_of_a_real_run(shared: Path, tmp_path: Path) -> None:
    run = shared / "data" / "trec-fair-2022" / "task2-p09.head2000.tsv"
    found: list[Problem] = []
    verdict = validate(track_of("2022-task2"), run, topics(tmp_path, 84), tell=found.append)
    assert (found, verdict.lines, verdict.queries) == ([], 2001, 1)

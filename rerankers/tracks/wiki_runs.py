"""Runs of 2021 and 2022: tab-separated topics and pages, ranks by the order of lines."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import collect_lines, read_lines
from rerankers.runs import read_run
from rerankers.tracks.page_files import page_number
from rerankers.values.collection import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADER = "id"
REPEAT_NAMES = ("seq_no", "rep_number")
_BINARY = (".parquet", ".arrow")


@dataclass(frozen=True, slots=True, eq=False)
class WikiRun:
    """The rows of a run, in the order of the file.

    Attributes
    ----------
    topics
        topic ids in the order in which they first occur.
    topic
        int32 (rows,), code of the topic.
    sample
        int64 (rows,), which ranking of the topic; 1 everywhere where there is one ranking a topic.
    rank
        int64 (rows,), from 1.
    page
        int64 (rows,), page numbers.
    line
        int64 (rows,), line of the file, from 1; 0 where the source has no lines.
    counts
        ``topics``, ``rows``; where there are any, ``rankings_in_parts`` (their lines are not together),
        ``header_lines``, ``blank_run_lines``.
    """

    topics: tuple[str, ...]
    topic: NDArray[np.int32]
    sample: NDArray[np.int64]
    rank: NDArray[np.int64]
    page: NDArray[np.int64]
    line: NDArray[np.int64]
    counts: Counts = field(default_factory=dict)

    def rankings(self, depth: int | None = None, samples: int | None = None) -> dict[str, list[NDArray[np.int64]]]:
        """Return topic -> its rankings (page numbers, best first), samples ascending.

        Parameters
        ----------
        depth
            pages of rank up to this count; None counts all.
        samples
            rankings of number up to this count; None counts all.
        """
        keep = np.ones(len(self.page), dtype=bool)
        if depth is not None:
            keep &= self.rank <= depth
        if samples is not None:
            keep &= self.sample <= samples
        rows = np.flatnonzero(keep)
        rows = rows[np.lexsort((rows, self.sample[rows], self.topic[rows]))]
        found: dict[str, list[NDArray[np.int64]]] = {}
        starts, _ = _parts(self.topic[rows], self.sample[rows])
        for part in np.split(rows, starts[1:]) if len(rows) else []:
            found.setdefault(self.topics[self.topic[part[0]]], []).append(self.page[part])
        return found

    def repeated(self) -> NDArray[np.bool_]:
        """Return which rows name a page that an earlier row of the same ranking names, bool (rows,)."""
        order = np.lexsort((np.arange(len(self.page)), self.page, self.sample, self.topic))
        same = np.zeros(len(order), dtype=bool)
        same[1:] = (
            (np.diff(self.topic[order]) == 0) & (np.diff(self.sample[order]) == 0) & (np.diff(self.page[order]) == 0)
        )
        out = np.zeros(len(order), dtype=bool)
        out[order] = same
        return out

    def without(self, rows: NDArray[np.bool_]) -> WikiRun:
        """Return the run without some rows; the pages below them move up."""
        order = np.lexsort((self.rank, self.sample, self.topic))
        gone = np.cumsum(rows[order])
        starts, lengths = _parts(self.topic[order], self.sample[order])
        shift = np.zeros(len(rows), np.int64)
        shift[order] = gone - np.repeat(gone[starts] - rows[order][starts], lengths)
        keep = ~rows
        rank = self.rank - shift
        return replace(
            self,
            topic=self.topic[keep],
            sample=self.sample[keep],
            rank=rank[keep],
            page=self.page[keep],
            line=self.line[keep],
        )


def read_wiki_run(path: str | Path, repeats: bool, by_blocks: bool = False) -> WikiRun:
    """Read a run of 2021 or 2022 (plain, ``.gz`` or ``.zst``), or one in another form that `read_run` knows.

    A line is ``topic<TAB>page``, with ``repeats`` ``topic<TAB>ranking number<TAB>page``. A first line that begins with
    ``id`` is a header; the number is called ``seq_no`` or ``rep_number`` there. Blank lines are counted.

    Parameters
    ----------
    path
        the file.
    repeats
        whether a topic has several rankings; never guessed.
    by_blocks
        how ranks are counted. False: a ranking is all lines of a topic (and number) in their order. True: as the
        official reader, from 1 again in each block of lines that stand together, so that a ranking in two parts has
        two pages of rank 1.

    Raises
    ------
    InputError
        with every problem of the file and its line: another number of fields, ids that are no whole numbers, no row.
    MissingError
        when there is no such file.
    """
    path = Path(path)
    if not _is_native(path):
        return _of_other(path, repeats)
    problems = Problems(str(path))
    width = 3 if repeats else 2
    codes: dict[str, int] = {}
    columns = [array("q") for _ in range(4)]
    seen = {"header_lines": 0, "blank_run_lines": 0}
    for number, fields in _rows(path, width, problems, seen):
        values = [page_number(value) for value in fields]
        if None in values:
            wrong = next(value for value, found in zip(fields, values, strict=True) if found is None)
            problems.add(number, f"{wrong!r}", "whole numbers of topics, rankings and pages")
            continue
        topic = codes.setdefault(str(values[0]), len(codes))
        for column, value in zip(columns, (topic, values[1] if repeats else 1, values[-1], number), strict=True):
            column.append(value or 0)
    if not codes and not problems:
        problems.add(None, "no row", "id" + ("<TAB>seq_no" if repeats else "") + "<TAB>page_id")
    problems.raise_if_any()
    topics, sample, pages, line = (np.array(column, np.int64) for column in columns)
    return _ranked(tuple(codes), topics.astype(np.int32), sample, pages, line, by_blocks, seen)


def _rows(path: Path, width: int, problems: Problems, seen: dict[str, int]) -> Iterator[tuple[int, list[str]]]:
    first = True
    for number, _, text in collect_lines(path, problems):
        fields = text.strip().split("\t")
        if fields == [""]:
            seen["blank_run_lines"] += 1
        elif first and fields[0] == HEADER:
            seen["header_lines"] += 1
            first = False
            if len(fields) != width:
                problems.add(number, f"a header of {len(fields)} names", f"{width}")
        elif len(fields) != width:
            first = False
            problems.add(number, f"{len(fields)} fields", f"{width}, separated by tabs")
        else:
            first = False
            yield number, fields


def _ranked(
    topics: tuple[str, ...],
    topic: NDArray[np.int32],
    sample: NDArray[np.int64],
    page: NDArray[np.int64],
    line: NDArray[np.int64],
    by_blocks: bool,
    seen: dict[str, int],
) -> WikiRun:
    starts, lengths = _parts(topic, sample)
    within = np.arange(len(page)) - np.repeat(starts, lengths)
    distinct = len(np.unique(np.column_stack([topic[starts], sample[starts]]), axis=0))
    if not by_blocks and distinct < len(starts):
        order = np.lexsort((np.arange(len(page)), sample, topic))
        within[order] = np.arange(len(page)) - np.repeat(*_parts(topic[order], sample[order]))
    found = {"topics": len(topics), "rows": len(page), "rankings_in_parts": len(starts) - distinct, **seen}
    counts = {name: count for name, count in found.items() if count}
    return WikiRun(topics, topic, sample, within + 1, page, line, counts)


def _parts(topic: NDArray[np.int32], sample: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where topic or sample change, and how many rows follow until they change again."""
    changes = (np.diff(topic) != 0) | (np.diff(sample) != 0)
    starts = np.concatenate([np.zeros(min(len(topic), 1), np.int64), np.flatnonzero(changes) + 1])
    return starts, np.diff(np.append(starts, len(topic)))


def _is_native(path: Path) -> bool:
    """Whether a file looks like a run of the track: its first field is a header or a number, before a tab."""
    if path.is_dir() or path.suffix in _BINARY:
        return False
    first = next((text for _, text in read_lines(path) if text.strip()), "")
    field, tab, _ = first.strip().partition("\t")
    return not first or bool(tab and (field == HEADER or field.isdecimal()))


def _of_other(path: Path, repeats: bool) -> WikiRun:
    run = read_run(path)
    rankings, names = run.rankings, run.docs.names.to_pylist()
    numbers = [page_number(name) for name in names]
    if None in numbers:
        raise InputError.one(str(path), f"document {names[numbers.index(None)]!r}", "page numbers")
    if not repeats and np.any(rankings.counts > 1):
        raise InputError.one(str(path), "several rankings of a topic", "one ranking a topic in this task")
    ranking = rankings.ranking_of_item
    return _ranked(
        run.qids,
        rankings.over.query[rankings.row_of_ranking[ranking]].astype(np.int32),
        rankings.label[ranking].astype(np.int64) + 1,
        np.array(numbers, np.int64)[rankings.over.doc[rankings.flat]],
        np.zeros(len(rankings.item), np.int64),
        False,
        dict(run.counts),
    )

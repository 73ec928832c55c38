"""The lines of a submission, in the exact form of its track."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rerankers.runs.compress import open_for_text

if TYPE_CHECKING:
    from rerankers.tracks.schedules import Schedules
    from rerankers.tracks.track import Track
    from rerankers.values import Ids, Ragged

__all__ = ["Entry", "write_entries"]

_LINES = 512  # joined before they are written


class Entry(NamedTuple):
    """One ranking that a track asks for.

    ``q_num`` is the text of the sequence file (empty where there is none), ``row`` the row of the policy, ``turn`` the
    number of the sequence among those that ask the query, ``number`` that of the ranking in it, from 0.
    """

    q_num: str
    qid: str
    row: int
    turn: int
    number: int


def write_entries(
    path: Path, track: Track, entries: Iterable[Entry], schedules: Schedules, over: Ragged, docs: Ids
) -> None:
    """Write entries in their order, compressed where the name ends in ``.gz``; the bytes hold no time and no name.

    Parameters
    ----------
    schedules
        the rankings of the entries.
    over, docs
        rows of the policy, and the names of their document codes.
    """
    write = _json_lines if track.form == "jsonl" else _tsv_lines
    lines = write(track, entries, schedules, over, docs)
    with open_for_text(path) as stream:
        while some := "".join(islice(lines, _LINES)):
            stream.write(some.encode("utf-8"))


def _json_lines(track: Track, entries: Iterable[Entry], schedules: Schedules, over: Ragged, docs: Ids) -> Iterator[str]:
    quoted: list[list[str]] = [[] for _ in range(len(over))]
    for entry in entries:
        names = quoted[entry.row]
        if not names:  # filled when the row is first met
            names += [json.dumps(name, ensure_ascii=False) for name in docs.take(over.doc[over.row(entry.row)])]
        positions = schedules.positions(entry.row, entry.turn, entry.number).tolist()
        ranking = ", ".join([names[position] for position in positions])
        yield f'{{"q_num": "{entry.q_num}", "qid": {entry.qid}, "ranking": [{ranking}]}}\n'


def _tsv_lines(track: Track, entries: Iterable[Entry], schedules: Schedules, over: Ragged, docs: Ids) -> Iterator[str]:
    if track.header:
        yield "\t".join(track.columns) + "\n"
    names: list[str] = []
    row = -1
    for entry in entries:
        if entry.row != row:
            row = entry.row
            names = docs.take(over.doc[over.row(row)])
        begin = f"{entry.qid}\t{entry.number + 1}\t" if track.has_repeats else f"{entry.qid}\t"
        positions = schedules.positions(row, entry.turn, entry.number).tolist()
        yield "".join([f"{begin}{names[position]}\n" for position in positions])

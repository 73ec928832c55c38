"""Lines in SVMlight's form, many at once: for files that are all right and plain ASCII."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError
from rerankers._base.fields import Fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DOCID = re.compile(r"docid\s*=\s*(\S+)")
_BLANK = np.zeros(256, dtype=bool)
_BLANK[[9, 10, 13, 32]] = True
_ODD = np.zeros(256, dtype=bool)  # control characters, some of which are blanks elsewhere, and what is not ASCII
_ODD[[*(byte for byte in range(32) if byte not in (9, 10, 13)), *range(127, 256)]] = True
_NEWLINE, _HASH, _COLON = 10, 35, 58
_SPARE = 8  # readers of numbers look at eight bytes at a time


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines as they stand in the file; see `rerankers.collections.svmlight.SvmlightTable` for the arrays.

    Attributes
    ----------
    qid
        Arrow large_string (rows,), or None where no line has one.
    number
        int64 (rows,), line numbers.
    comments
        (line number, text) of lines that hold nothing but a comment.
    blank, unordered
        lines without anything; lines whose features did not ascend.
    """

    label: NDArray[np.float64]
    qid: pa.LargeStringArray | None
    docno: pa.LargeStringArray
    indptr: NDArray[np.int64]
    index: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int64]
    comments: Sequence[tuple[int, str]]
    blank: int
    unordered: int = 0


def docno_of(comment: str) -> str | None:
    """Return the document that a comment names: what follows ``docid =``, else its first word."""
    found = _DOCID.search(comment)
    if found:
        return found[1]
    words = comment.split(maxsplit=1)
    return words[0] if words else None


def plain_lines(path: Path) -> Lines | None:
    """Read a file whose lines are all right, in plain ASCII, features ascending; None for any other file.

    Raises
    ------
    MissingError
        when there is no such file.
    """
    parts: list[Lines] = []
    try:
        for first, block in read_blocks(path):
            part = _plain_block(block, first)
            if part is None:
                return None
            parts.append(part)
    except InputError:  # found again line by line, after the problems before it
        return None
    filled = [part for part in parts if len(part.label)]
    if not filled or len({part.qid is None for part in filled}) > 1:
        return None
    return join_lines(parts)


def join_lines(parts: Sequence[Lines]) -> Lines:
    """Return the lines of several parts of a file as one."""
    ends = np.cumsum([0, *(len(part.index) for part in parts)])
    starts = [part.indptr[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    qids = [part.qid for part in parts if part.qid is not None]
    return Lines(
        np.concatenate([part.label for part in parts]),
        pa.concat_arrays(qids) if qids else None,
        pa.concat_arrays([part.docno for part in parts]),
        np.append(np.concatenate(starts), ends[-1]).astype(np.int64),
        np.concatenate([part.index for part in parts]),
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.number for part in parts]),
        [comment for part in parts for comment in part.comments],
        sum(part.blank for part in parts),
        sum(part.unordered for part in parts),
    )


def _plain_block(block: bytes, first: int) -> Lines | None:
    size = len(block) + (not block.endswith(b"\n"))
    padded = np.zeros(size + _SPARE, dtype=np.uint8)
    padded[: len(block)] = np.frombuffer(block, dtype=np.uint8)
    padded[size - 1] = _NEWLINE
    text = padded[:size]
    if _ODD[text].any():
        return None
    end = np.flatnonzero(text == _NEWLINE)
    blank = np.ones(size + 1, dtype=bool)
    blank[1:] = _BLANK[text]
    start = np.flatnonzero(blank[:-1] & ~blank[1:])
    stop = np.flatnonzero(~blank[1:-1] & blank[2:]) + 1
    line = np.searchsorted(end, start)
    cut = _comment_starts(text, end)
    data = start < cut[line]
    if np.any(data & (stop > cut[line])):  # a comment without a blank before it
        return None
    words = _Words(padded, start[data].astype(np.int32), stop[data].astype(np.int32), line[data], cut)
    found = words.parse()
    if found is None:
        return None
    label, qid, indptr, index, value, rows = found
    comments = _comments(block, rows, end, cut)
    docno = pa.array([docno_of(comment) for comment in comments], pa.large_string())
    alone = np.setdiff1d(np.flatnonzero(cut < end), rows, assume_unique=True)
    alone_texts = [text.strip() for text in _comments(block, alone, end, cut)]
    without = len(end) - len(rows) - len(alone)
    pairs = list(zip((alone + first).tolist(), alone_texts, strict=True))
    return Lines(label, qid, docno, indptr, index, value, rows + first, pairs, without)


def _comment_starts(text: NDArray[np.uint8], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the comment of each line begins, int64 (lines,); the line's end where there is none."""
    cut = end.copy()
    mark = np.flatnonzero(text == _HASH)
    np.minimum.at(cut, np.searchsorted(end, mark), mark)
    return cut


def _comments(block: bytes, lines: NDArray[np.int64], end: NDArray[np.int64], cut: NDArray[np.int64]) -> list[str]:
    """Return the comments of lines, empty where there is none."""
    if not np.any(cut[lines] < end[lines]):
        return [""] * len(lines)
    bounds = zip((cut[lines] + 1).tolist(), end[lines].tolist(), strict=True)
    return [block[low:high].decode("ascii") for low, high in bounds]


_Parsed: TypeAlias = (
    "tuple[NDArray[np.float64], pa.Array | None, NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], "
    "NDArray[np.int64]]"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """The words of lines before their comments: bytes, start and stop of each, its line, where comments begin."""

    padded: NDArray[np.uint8]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    line: NDArray[np.int64]
    cut: NDArray[np.int64]

    def parse(self) -> _Parsed | None:
        """Return label, qid, indptr, index, value and the lines; None where a word is not what it should be."""
        label = np.flatnonzero(np.diff(self.line, prepend=-1))
        rows = self.line[label]
        labels = self._real(self.start[label], self.stop[label], np.zeros(len(label), np.int64))
        second = np.minimum(label + 1, len(self.line) - 1) if len(label) else label
        asked = self._begins(second, b"qid:") & (second > label) & (self.line[second] == rows)
        mixed = len(asked) > 0 and asked.any() != asked.all()
        if labels is None or np.isnan(labels).any() or mixed:
            return None
        query = second[asked]
        feature = np.ones(len(self.line), dtype=bool)
        feature[label] = feature[query] = False
        colon = self._colons()
        places = np.searchsorted(self.start, colon, side="right") - 1  # the word of each colon
        expected = np.flatnonzero(feature | np.isin(np.arange(len(self.line)), query, assume_unique=True))
        if not np.array_equal(places, expected):
            return None
        ends: NDArray[np.int32] = colon[feature[places]].astype(np.int32)
        numbers = self._entries(self.start[feature], ends, self.stop[feature])
        if numbers is None or np.any(self.stop[query] - self.start[query] == len(b"qid:")):
            return None
        row = np.searchsorted(rows, self.line[feature])
        if np.any((np.diff(numbers[0]) <= 0) & (np.diff(row) == 0)) or numbers[0].min(initial=1) < 1:
            return None
        indptr = np.searchsorted(row, np.arange(len(rows) + 1)).astype(np.int64)
        return labels, self._names(query), indptr, *numbers, rows

    def _colons(self) -> NDArray[np.int64]:
        colon = np.flatnonzero(self.padded == _COLON)
        end = np.flatnonzero(self.padded == _NEWLINE)
        return colon[colon < self.cut[np.searchsorted(end, colon)]]

    def _begins(self, words: NDArray[np.int64], mark: bytes) -> NDArray[np.bool_]:
        """Return whether words begin with some bytes; what is looked at beyond the end of a word is padding."""
        found = np.ones(len(words), dtype=bool)
        for place, byte in enumerate(mark):
            found &= self.padded[self.start[words] + place] == byte
        return found

    def _names(self, words: NDArray[np.int64]) -> pa.LargeStringArray | None:
        if not len(words):
            return None
        fields = self._fields(self.start[words] + np.int32(len(b"qid:")), self.stop[words])
        code, names = fields.names(0)
        return names.take(pa.array(code))

    def _entries(
        self, start: NDArray[np.int32], colon: NDArray[np.int32], stop: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        if np.any(colon == start) or np.any(colon + 1 == stop):
            return None
        index = self._fields(start, colon).whole(0)
        if index is None or index.max(initial=0) > np.iinfo(np.int32).max:
            return None
        value = self._real((colon + 1).astype(np.int32), stop, index)
        return None if value is None else (index.astype(np.int32), value)

    def _real(
        self, start: NDArray[np.int32], stop: NDArray[np.int32], like: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return numbers, NaN where it says so; None where a word is none or is infinite."""
        lower = [self.padded[start + place] | 32 for place in range(3)]
        missing = (stop - start == 3) & (lower[0] == ord("n")) & (lower[1] == ord("a")) & (lower[2] == ord("n"))
        value = np.full(len(start), np.nan)
        known = ~missing
        numbers = self._fields(start[known], stop[known]).real(0, like[known])
        if numbers is None or np.isinf(numbers).any():
            return None
        value[known] = numbers
        return value

    def _fields(self, start: NDArray[np.int32], stop: NDArray[np.int32]) -> Fields:
        return Fields(self.padded, start[None], stop[None], np.empty(len(start), np.int64), 0)

"""Lines in SVMlight's form, one by one: for any file, with every problem of it."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.files import collect_lines
from rerankers.collections.svmlight_blocks import Lines, docno_of

if TYPE_CHECKING:
    from rerankers._base.errors import Problems

_HIGHEST = 2**31 - 1


def read_lines(path: Path, problems: Problems) -> Lines:
    """Read any file, noting every problem and its line."""
    rows = _Rows(problems)
    for number, _, text in collect_lines(path, problems):
        data, mark, comment = text.partition("#")
        words = data.split()
        if words:
            rows.add(number, words, comment)
        elif mark:
            rows.comments.append((number, comment.strip()))
        else:
            rows.blank += 1
    return rows.lines()


class _Rows:
    """Lines on their way into arrays."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.label, self.value = array("d"), array("d")
        self.ends, self.number, self.index = array("q", [0]), array("q"), array("q")
        self.qid: list[str | None] = []
        self.docno: list[str | None] = []
        self.comments: list[tuple[int, str]] = []
        self.blank = self.unordered = 0

    def add(self, number: int, words: list[str], comment: str) -> None:
        """Take the words of a line before its comment."""
        label = _number(words[0])
        if label is None or math.isnan(label):
            self.problems.add(number, f"label {words[0]!r}", "a finite number")
        qid = words[1][4:] if len(words) > 1 and words[1].startswith("qid:") else None
        if qid == "":
            self.problems.add(number, "an empty qid:", "a query id")
        if self.qid and (self.qid[0] is None) != (qid is None):
            found = "no qid:" if qid is None else f"qid:{qid}"
            self.problems.add(number, found, f"one on every line or on none, as in line {self.number[0]}")
        entries = self._entries(number, words[1 if qid is None else 2 :])
        self.qid.append(qid)
        self.docno.append(docno_of(comment))
        self.number.append(number)
        self.label.append(label or 0.0)
        self.index.extend(index for index, _ in entries)
        self.value.extend(value for _, value in entries)
        self.ends.append(len(self.index))

    def _entries(self, number: int, words: list[str]) -> list[tuple[int, float]]:
        entries: list[tuple[int, float]] = []
        for word in words:
            name, colon, text = word.partition(":")
            value = _number(text)
            if not (colon and name.isascii() and name.isdigit() and len(name) < 19 and 1 <= int(name) <= _HIGHEST):
                self.problems.add(number, repr(word), "feature:value with a number from 1 as feature")
            elif value is None:
                self.problems.add(number, f"value {text!r} of feature {name}", "a finite number, or nan if missing")
            else:
                entries.append((int(name), value))
        ordered = sorted(entries, key=lambda entry: entry[0])
        for one, other in pairwise(ordered):
            if one[0] == other[0]:
                self.problems.add(number, f"feature {one[0]} twice", "each feature once a line")
        self.unordered += any(one[0] > other[0] for one, other in pairwise(entries))
        return ordered

    def lines(self) -> Lines:
        """Return what was read."""
        return Lines(
            np.array(self.label),
            None if not self.qid or self.qid[0] is None else pa.array(self.qid, pa.large_string()),
            pa.array(self.docno, pa.large_string()),
            np.array(self.ends, dtype=np.int64),
            np.array(self.index, dtype=np.int64).astype(np.int32),
            np.array(self.value),
            np.array(self.number, dtype=np.int64),
            self.comments,
            self.blank,
            self.unordered,
        )


def _number(text: str) -> float | None:
    """Return a number, NaN where it says so, None where it is none or infinite."""
    if not text.isascii() or "_" in text:  # both of which Python's own reading allows
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) else value

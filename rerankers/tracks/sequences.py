"""Query sequences of 2019 and 2020: which query is asked when, ``<sequence>.<number>,qid`` a line.

The part before the comma is text: "0.10" and "0.1" are two entries, which no number can tell apart.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import atomic_path, collect_lines
from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FORM", "Sequence", "generate_sequence", "read_sequence", "write_sequence"]

FORM: Final = "<sequence>.<number>,qid, such as 0.10,12"
_LINE = re.compile(r"\s*((?:[0-9]+\.)?[0-9]+)\s*,\s*(-?[0-9]{1,18})\s*")


@dataclass(frozen=True, eq=False)
class Sequence:
    """Entries in the order of their file.

    Attributes
    ----------
    q_num
        text of each entry, each once: ``"3.149"``.
    query
        int32 (entries,), the entry's query as a position in ``qids``.
    qids
        query ids as text, in the order in which they are first asked; each is a whole number without leading zeros.
    """

    q_num: tuple[str, ...]
    query: NDArray[np.int32]
    qids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.q_num)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Position of each entry by its text."""
        return {q_num: place for place, q_num in enumerate(self.q_num)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sequences, in the order of their first entries: what stands before the dot ("0" where no dot is)."""
        return tuple(dict.fromkeys(map(sequence_name, self.q_num)))

    @cached_property
    def sequence(self) -> NDArray[np.int32]:
        """int32 (entries,), the entry's sequence as a position in ``names``."""
        code = {name: number for number, name in enumerate(self.names)}
        return np.fromiter((code[sequence_name(q_num)] for q_num in self.q_num), np.int32, len(self))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """int64 (queries,), entries a query over all sequences."""
        return np.bincount(self.query, minlength=len(self.qids))


def sequence_name(q_num: str) -> str:
    """Return the part of an entry's text before its dot; "0" where there is no dot."""
    name, dot, _ = q_num.partition(".")
    return name if dot else "0"


def read_sequence(path: str | Path) -> Sequence:
    """Read a sequence file (plain, ``.gz`` or ``.zst``); lines without anything are passed over.

    An entry without a dot (``17,12``, as a single sequence is often written) belongs to sequence 0.

    Raises
    ------
    InputError
        with every problem and its line: a line of another form, an entry twice, no entry.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    first: dict[str, int] = {}
    code: dict[str, int] = {}
    query = array("i")
    for number, _, text in collect_lines(Path(path), problems):
        if not text.strip():
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            problems.add(number, repr(text[:80]), f"a line of the form {FORM}")
            continue
        q_num, qid = match[1], str(int(match[2]))
        if q_num in first:
            mend = "Entries are text: was the file written by a program that takes them for numbers?"
            problems.add(number, f"{q_num!r} again, first on line {first[q_num]}", "each entry once", mend)
            continue
        first[q_num] = number
        query.append(code.setdefault(qid, len(code)))
    if not first and not problems:
        problems.add(None, "no entry", f"lines of the form {FORM}")
    problems.raise_if_any()
    return Sequence(tuple(first), np.array(query, dtype=np.int32), tuple(code))


def write_sequence(path: str | Path, sequence: Sequence) -> None:
    """Write a sequence file, atomically."""
    with atomic_path(Path(path)) as temporary, temporary.open("w", encoding="ascii", newline="") as stream:
        for q_num, query in zip(sequence.q_num, sequence.query.tolist(), strict=True):
            stream.write(f"{q_num},{sequence.qids[query]}\n")


def generate_sequence(frequency: Mapping[str, float], sequences: int, length: int, seed: int) -> Sequence:
    """Draw queries with replacement, each in proportion to its frequency (TREC 2019 guidelines).

    A sequence depends on the seed, its number and the frequencies alone: a longer one begins like a shorter one.

    Parameters
    ----------
    frequency
        query id -> how often it is asked, at least 0; they need not sum to 1.
    sequences, length
        how many sequences, of how many entries each.
    seed
        any integer.

    Raises
    ------
    InputError
        for a frequency that is no number of at least 0, frequencies that are all 0, and a count below 1.
    """
    value = np.array(list(frequency.values()), dtype=np.float64)
    wrong = [
        f"{qid}: {number}" for qid, number in zip(frequency, value.tolist(), strict=True) if not 0 <= number < 1e300
    ]
    if wrong:
        raise InputError.one("frequency", ", ".join(wrong[:20]), "numbers of at least 0")
    if not value.sum() > 0:
        raise InputError.one("frequency", "nothing but zeros", "a query that is asked")
    if sequences < 1 or length < 1:
        raise InputError.one("sequences", f"{sequences} of {length} entries", "1 or more of 1 or more")
    upto = np.cumsum(value)
    asked = [_asked(upto, length, seed, number) for number in range(sequences)]
    query = np.concatenate(asked).astype(np.int32)
    used, first = np.unique(query, return_index=True)
    order = used[np.argsort(first)]
    code = np.zeros(len(value), dtype=np.int32)
    code[order] = np.arange(len(order), dtype=np.int32)
    qids = list(frequency)
    q_num = tuple(f"{number}.{entry}" for number in range(sequences) for entry in range(length))
    return Sequence(q_num, code[query], tuple(qids[place] for place in order.tolist()))


def _asked(upto: NDArray[np.float64], length: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return the places of the queries that one sequence asks, int64 (length,)."""
    uniform = generator(seed, "query sequence", number).random(length)
    place: NDArray[np.int64] = np.searchsorted(upto, uniform * upto[-1], side="right")
    last = np.flatnonzero(np.diff(upto, prepend=0.0))[-1]  # rounding may reach the very end
    within: NDArray[np.int64] = np.minimum(place, last)
    return within

"""Which query is asked when: the sequence of a job with a ledger, read from a file or made of its topics."""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import ConfigError, InputError, Problems
from rerankers._base.files import collect_lines
from rerankers.ledger import Impressions, Memory, SQLite
from rerankers.tracks.sequences import sequence_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods import Method
    from rerankers.values import Candidates, Topics

SAMPLES: Final = 100
"""What ``samples`` is in ``conf/run.yaml``: as long as it is that, nobody has asked for a number of rankings."""
TOPICS: Final = "topics"
FORM: Final = "<sequence>.<number>,qid, such as 0.10,12"
MOST: Final = 1 << 30  # of the problems that are told: unknown queries are all of them named
_LINE = re.compile(r"\s*((?:[0-9]+\.)?[0-9]+)\s*,\s*(\S(?:.*\S)?)\s*")
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Impressions in the order in which they are served.

    Attributes
    ----------
    names, sequence
        names of the sequences, and int32 (N,) the sequence of each impression.
    qids, query
        queries that are asked, and int32 (N,) the query of each impression.
    words
        for the report.
    """

    names: tuple[str, ...]
    sequence: NDArray[np.int32]
    qids: tuple[str, ...]
    query: NDArray[np.int32]
    words: str

    def __len__(self) -> int:
        return len(self.query)

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64 (queries,), how often each query is asked."""
        return np.bincount(self.query, minlength=len(self.qids))

    def repeated(self, rounds: int) -> Asked:
        """Return everything so many times, one round after the other; each sequence goes on where it ended."""
        if rounds == 1:
            return self
        again = [np.tile(part, rounds) for part in (self.sequence, self.query)]
        return replace(self, sequence=again[0], query=again[1], words=f"{self.words}, {rounds:,} rounds")

    def impressions(self, topics: Topics, candidates: Candidates) -> Impressions:
        """Return them over the rows of the candidates."""
        return Impressions.of(self.names, self.sequence, self.query, self.qids, topics.ids, candidates)


def read_asked(path: Path, topics: Topics) -> Asked:
    """Read a sequence file of the form of 2019 and 2020 (plain, ``.gz`` or ``.zst``); a query id may be any text.

    Queries are asked in the order of the lines; the numbers only tell entries apart. An entry without a dot belongs
    to sequence 0. An id is a topic's as it stands, or else as a number without leading zeros.

    Raises
    ------
    InputError
        with every line of another form, every entry that comes twice, and every query that is no topic.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path), limit=MOST)
    known = set(topics.ids.names.to_pylist())
    first, names, qids = dict[str, int](), dict[str, int](), dict[str, int]()
    strangers = dict[str, tuple[int, int]]()
    sequence, query = array("i"), array("i")
    for number, _, text in collect_lines(path, problems):
        if not text.strip():
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            problems.add(number, repr(text[:80]), f"a line of the form {FORM}")
            continue
        entry, qid = match[1], _topic(match[2], known)
        if entry in first:
            problems.add(number, f"{entry!r} again, first on line {first[entry]}", "each entry once")
            continue
        first[entry] = number
        if qid not in known:
            line, times = strangers.get(qid, (number, 0))
            strangers[qid] = (line, times + 1)
            continue
        sequence.append(names.setdefault(sequence_name(entry), len(names)))
        query.append(qids.setdefault(qid, len(qids)))
    for qid, (line, times) in strangers.items():
        problems.add(line, f"query {qid!r} ({times:,} impressions)", "a query of the collection")
    if not first and not problems:
        problems.add(None, "no entry", f"lines of the form {FORM}")
    problems.raise_if_any()
    codes = (np.array(sequence, dtype=np.int32), np.array(query, dtype=np.int32))
    return Asked(tuple(names), codes[0], tuple(qids), codes[1], str(path))


def topics_in_turn(qids: Sequence[str]) -> Asked:
    """Return one sequence that asks every query once, in the order given."""
    each = np.arange(len(qids), dtype=np.int32)
    return Asked((TOPICS,), np.zeros(len(qids), np.int32), tuple(qids), each, "every query once, as topics stand")


def topics_apart(qids: Sequence[str], times: int) -> Asked:
    """Return a sequence for each query, of its name, that asks it so many times."""
    each = np.repeat(np.arange(len(qids), dtype=np.int32), times)
    return Asked(tuple(qids), each, tuple(qids), each, f"every query {times:,} times by itself")


def check_sequence(method: Any, sequence: Path | None, rounds: int, ledger: Memory | SQLite) -> None:
    """Raise `ConfigError` for a sequence, rounds or a ledger that would have no effect."""
    if rounds < 1:
        raise ConfigError(f"rounds: found {rounds}; expected 1 or more")
    if not callable(getattr(method, "serve", None)):
        found = {
            "sequence": (sequence, None),
            "rounds": (rounds, 1),
            "ledger": (type(ledger).__name__, Memory.__name__),
        }
        for name, (value, usual) in found.items():
            if value != usual:
                raise ConfigError(
                    f"{name}: found {value}, which has no effect: {type(method).__name__} keeps no ledger. Leave it out"
                )
    elif rounds > 1 and sequence is None and method.scope == "query":
        raise ConfigError(
            f"rounds: found {rounds}; expected 1, since method.impressions says how often a query is asked where there "
            "is no sequence and each query has an account of its own (method.scope=query)"
        )


def asked_of(
    method: Any, topics: Topics, path: Path | None, rounds: int, ledger: Memory | SQLite, samples: int
) -> Asked | None:
    """Return what a job asks, or None where its method makes policies.

    A sequence file decides. Without one, a method whose queries share accounts is asked every query once, in the
    order of the topics; one whose queries have accounts of their own makes policies, unless a ledger is to outlive
    the job: then every query is asked ``method.impressions`` times, in a sequence of its own.

    Raises
    ------
    InputError, MissingError
        as `read_asked`.
    ConfigError
        as `check_numbers`.
    """
    if not callable(getattr(method, "serve", None)):
        return None
    qids = topics.ids.names.to_pylist()
    if path is not None:
        asked = read_asked(path, topics).repeated(rounds)
    elif method.scope != "query":
        asked = topics_in_turn(qids).repeated(rounds)
    elif isinstance(ledger, Memory):
        return None
    else:
        asked = topics_apart(qids, method.impressions)
    check_numbers(method, asked, samples)
    return asked


def check_numbers(method: Method, asked: Asked, samples: int) -> None:
    """Raise `ConfigError` where ``samples`` or ``method.impressions`` ask for other numbers than the sequence.

    The sequence wins: what was served cannot be drawn once more, nor less often. Both options have values that stand
    in the config without anybody's having asked for them; only other values can contradict.
    """
    counts = asked.counts
    if not len(counts):
        return
    low, high = int(counts.min()), int(counts.max())
    given: Mapping[str, tuple[int, int]] = {
        "samples": (samples, SAMPLES),
        "method.impressions": (getattr(method, "impressions", 0), _usual(method)),
    }
    for name, (found, usual) in given.items():
        if found != usual and (low, high) != (found, found):
            times = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            raise ConfigError(
                f"{name}: found {found}; expected nothing, since a query is asked as often as its sequence says "
                f"({times} times; {asked.words}). Leave it out"
            )


def check_asked(asked: Asked, items: int, most: int) -> None:
    """Raise `InputError` for more ranked documents than one job can hold."""
    if items > most:
        found = f"{len(asked):,} impressions with {items:,} documents"
        raise InputError.one("sequence", found, f"at most {most:,} documents", mend="Lower retriever.k, or cut it.")


def _usual(method: Any) -> int:
    """Return the value of ``method.impressions`` where nobody gave another."""
    if not dataclasses.is_dataclass(method):
        return 0
    given = [one.default for one in dataclasses.fields(method) if one.name == "impressions"]
    return int(given[0]) if given and isinstance(given[0], int) else 0


def _topic(text: str, known: set[str]) -> str:
    return text if text in known or not _NUMBER.fullmatch(text) else str(int(text))

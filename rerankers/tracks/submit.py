"""Write the submission of a track from a policy: drawn, written, checked, and only then put in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError, Problem, Problems
from rerankers._base.files import atomic_path
from rerankers.policies import Mixture
from rerankers.tracks.export import Entry, write_entries
from rerankers.tracks.findings import listed
from rerankers.tracks.schedules import Schedules, draw_schedules, served_schedules
from rerankers.tracks.validate import validate

if TYPE_CHECKING:
    from rerankers.policies import Policy
    from rerankers.tracks.candidates import QueryFile
    from rerankers.tracks.sequences import Sequence as QuerySequence
    from rerankers.tracks.track import Track
    from rerankers.values import Ids

__all__ = ["Submission", "submit"]

_ALL = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """What was written.

    Attributes
    ----------
    rankings, queries
        how many.
    different
        int64 (schedules,), rankings that differ, of each query in each of its sequences.
    warnings
        sentences about what is strange and yet valid.
    schedules
        the rankings themselves.
    """

    rankings: int
    queries: int
    different: tuple[int, ...]
    warnings: tuple[str, ...]
    schedules: Schedules


def submit(
    track: Track,
    policy: Policy,
    qids: Sequence[str],
    docs: Ids,
    output: str | Path,
    *,
    queries: QueryFile | None = None,
    sequence: QuerySequence | None = None,
    seed: int = 0,
    served: bool = False,
    before: Callable[[Schedules], None] | None = None,
) -> Submission:
    """Draw the rankings that a track asks for by `Policy.schedule` and write them in the order that it asks.

    The same policy, files and seed give the same bytes. A query gets as many rankings as it has entries in a sequence
    (2019, 2020), else as many as the track says; where several sequences ask for a query, each has a schedule of its
    own. Rankings are cut at the track's depth.

    Parameters
    ----------
    policy
        a row a query.
    qids, docs
        the names of its query and document codes.
    output
        the file; compressed where its name ends in ``.gz``. It appears whole, or not at all.
    queries, sequence
        the track's own files (`validate`); of 2021 and 2022 the topics may be left out: then all of the policy's
        queries are written.
    served
        whether the rankings of a mixture were served along the sequences: they are then written as they are, in their
        order, and nothing is drawn.
    before
        called with the rankings when they are written and checked and the file is not yet in its place; where it
        raises, the file does not appear.

    Raises
    ------
    InputError
        with every query that the policy lacks, every document that is no candidate, every id that the track's form
        cannot hold; and where the policy's rankings break a rule of the track.
    ConfigError
        when the track needs a file that is not given, or the output cannot be written.
    """
    output = Path(output)
    if output.suffix == ".zst":
        raise ConfigError(f"output: found {output}; expected a name that ends in .gz or in nothing that compresses")
    if track.has_sequence and (queries is None or sequence is None):
        absent = [name for name, given in (("queries", queries), ("sequence", sequence)) if given is None]
        raise ConfigError(
            f"{' and '.join(absent)}: found nothing; expected the track's own file for {track.name}. "
            f"Type: {' '.join(f'{name}=FILE' for name in absent)}"
        )
    rows = {qids[code]: row for row, code in enumerate(policy.over.query.tolist())}
    asked = list(sequence.qids) if sequence is not None else list(queries.queries if queries is not None else rows)
    _check(track, policy, rows, asked, docs, queries)
    entries = list(_sequence_entries(sequence, rows) if sequence is not None else _topic_entries(track, asked, rows))
    wanted: dict[tuple[int, int], int] = {}
    for entry in entries:
        wanted[entry.row, entry.turn] = entry.number + 1
    if served and isinstance(policy, Mixture):
        names = [qids[code] for code in policy.over.query.tolist()]
        schedules = served_schedules(policy, wanted, names, track.depth)
    else:
        schedules = draw_schedules(policy, wanted, seed, track.depth)
    problems: list[Problem] = []
    with atomic_path(output) as temporary:
        write_entries(temporary, track, entries, schedules, policy.over, docs)
        verdict = validate(
            track,
            temporary,
            queries,
            sequence,
            tell=problems.append,
            max_errors=1000,
            shown=f"{output} (not written)",
        )
        if verdict.errors > len(problems):
            more = f"{verdict.errors - len(problems):,} more problems"
            problems.append(Problem(str(output), more, "none", mend="Only the first are listed."))
        if problems:
            raise InputError(problems)
        if before is not None:
            before(schedules)
    different = tuple(
        _different(schedules, row, turn, count) for (row, turn), count in sorted(wanted.items()) if count > 1
    )
    warnings = [*verdict.warnings]
    if track.form == "tsv" and output.suffix != ".gz":
        warnings.append("the organisers' programs of 2021 and 2022 read files whose names end in .gz only")
    return Submission(len(entries), len(asked), different, tuple(warnings), schedules)


def _check(
    track: Track, policy: Policy, rows: dict[str, int], asked: list[str], docs: Ids, queries: QueryFile | None
) -> None:
    """Raise `InputError` with every query and document that does not fit."""
    problems = Problems("policy", limit=_ALL)
    absent = [qid for qid in asked if qid not in rows]
    if absent:
        found = f"no rankings for {len(absent):,} queries: {listed(absent, len(absent), _ALL)}"
        problems.add(None, found, f"all {len(asked):,} queries of the track", "Was it run on the same queries?")
    for qid in asked:
        if qid not in rows:
            continue
        names = docs.take(policy.over.doc[policy.over.row(rows[qid])])
        if track.form == "tsv":
            wrong = [name for name in names if not _is_number(name)]
            if not _is_number(qid):
                problems.add(None, f"topic {qid!r}", "a whole number, as the track names topics")
            if wrong:
                found = f"query {qid} with documents {listed(wrong, len(wrong), _ALL)}"
                problems.add(None, found, "whole numbers, as the track names pages")
        elif track.complete and queries is not None and qid in queries.queries:
            _compare(qid, set(names), queries.queries[qid].documents, problems)
    problems.raise_if_any()


def _compare(qid: str, ranked: set[str], candidates: frozenset[str], problems: Problems) -> None:
    strangers, absent = sorted(ranked - candidates), sorted(candidates - ranked)
    if strangers:
        found = f"query {qid} with documents that are no candidates: {listed(strangers, len(strangers), _ALL)}"
        problems.add(None, found, "candidates of the query only")
    if absent:
        found = f"query {qid} without the candidates {listed(absent, len(absent), _ALL)}"
        problems.add(None, found, "every candidate", "Was the first stage cut? Choose a retriever.k above the longest.")


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 19 and (name == "0" or name[0] != "0")


def _sequence_entries(sequence: QuerySequence, rows: dict[str, int]) -> Iterator[Entry]:
    """Yield what the sequence file asks, entry by entry."""
    turns: dict[str, dict[int, int]] = {}
    numbers: dict[tuple[str, int], int] = {}
    places = zip(sequence.q_num, sequence.query.tolist(), sequence.sequence.tolist(), strict=True)
    for q_num, query, which in places:
        qid = sequence.qids[query]
        mine = turns.setdefault(qid, {})
        turn = mine.setdefault(which, len(mine))
        number = numbers.get((qid, turn), 0)
        numbers[qid, turn] = number + 1
        yield Entry(q_num, qid, rows[qid], turn, number)


def _topic_entries(track: Track, asked: list[str], rows: dict[str, int]) -> Iterator[Entry]:
    """Yield topic after topic, each with all its rankings."""
    for qid in asked:
        for number in range(track.rankings or 1):
            yield Entry("", qid, rows[qid], 0, number)


def _different(schedules: Schedules, row: int, turn: int, count: int) -> int:
    """Return how many different rankings a schedule has."""
    return len({np.ascontiguousarray(schedules.positions(row, turn, n)).tobytes() for n in range(count)})

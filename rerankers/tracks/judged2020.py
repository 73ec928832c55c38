"""The judged side of a 2020 evaluation: which pairs count, with which grade, in which groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import read_lines
from rerankers.collections.trec_samples import UNJUDGED, Sample, read_sample
from rerankers.tracks.expeval_files import JudgedRows, read_judged_lines
from rerankers.tracks.official2020 import check_group_words
from rerankers.values import Counts, GroupAlignment, Ids, Judgments
from rerankers.values.groups import UNKNOWN
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_GROUP = ("", "-1")
_NO_COLUMN = frozenset({"0", "Q0"})
"""What the second column of common qrels holds, which has no groups."""


@dataclass(frozen=True, slots=True)
class PairRules:
    """How rows of judgments become pairs.

    Attributes
    ----------
    complete
        whether all judged pairs count, or those of a grade above 0 only.
    binarize
        whether grades above 0 become 1.
    as_zero
        whether grades below 0 become 0.
    united
        whether the last grade of a pair that comes twice stands, its groups united, or such pairs are errors.
    whole_groups
        whether groups must be whole numbers joined with ``|``.
    """

    complete: bool
    binarize: bool
    as_zero: bool
    united: bool
    whole_groups: bool


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Pairs that count, each once, in the order in which they first appear.

    Attributes
    ----------
    queries
        ids of the queries with such pairs, in that order.
    query
        int64 (pairs,).
    docno
        (pairs,).
    grade
        int64 (pairs,), maybe negative.
    groups
        the groups of each pair from a column of the judgments, or None where there is no such column.
    counts
        what was met.
    """

    queries: Ids
    query: NDArray[np.int64]
    docno: list[str]
    grade: NDArray[np.int64]
    groups: list[tuple[str, ...]] | None
    counts: Counts

    def judgments(self, docs: Ids) -> tuple[Judgments, NDArray[np.int64]]:
        """Return the pairs under document codes, and the pair that each of them is."""
        doc = docs.codes(self.docno).astype(np.int64)
        order = np.lexsort((doc, self.query))
        counts = np.bincount(self.query, minlength=len(self.queries))
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = np.arange(len(self.queries), dtype=np.int32)
        grade = self.grade[order].astype(np.int16)
        return Judgments(rows, indptr, doc[order].astype(np.int32), {"grade": grade}), order

    def own_groups(self, unannotated: str) -> GroupAlignment | None:
        """Return the groups of the column, over pairs: a pair of several groups counts in full for each.

        Parameters
        ----------
        unannotated
            what becomes of pairs without a group (`GroupAlignment.resolve`).
        """
        if self.groups is None:
            return None
        out = {UNKNOWN} if unannotated != "count" else set()
        found = {name for names in self.groups for name in names} - out
        names = (*sorted(found - {UNKNOWN}), *sorted(found & {UNKNOWN}))
        entries = [(pair, name) for pair, own in enumerate(self.groups) for name in own if name not in out]
        pair = np.array([pair for pair, _ in entries], dtype=np.int64)
        group = np.array([names.index(name) for _, name in entries], dtype=np.int32)
        raw = GroupAlignment.of_entries("group", names, pair, group, np.ones(len(pair)), len(self.groups))
        return raw.resolve(unannotated)


def read_judged(path: Path, rules: PairRules) -> Judged:
    """Read judgments: a query file of the track, or lines with or without a column of groups.

    Raises
    ------
    InputError
        with every problem of the file.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    first = next((text for _, text in read_lines(path) if text.strip()), "")
    if first.lstrip().startswith("{"):
        return bind_rows(_rows_of(read_sample(path), str(path)), rules, problems)
    rows = read_judged_lines(path, problems, whole_only=rules.whole_groups)
    problems.raise_if_any()
    return bind_rows(rows, rules, problems)


def _rows_of(sample: Sample, where: str) -> JudgedRows:
    rows = JudgedRows(counts=dict(sample.counts))
    qids = sample.topics.ids.names.to_pylist()
    for query, docno, grade in zip(sample.query, sample.docno.to_pylist(), sample.grade, strict=True):
        if grade != UNJUDGED:
            rows.add(qids[query], "", docno, int(grade))
    if not rows.qid:
        mend = "The file for participants has none; give the one with relevance."
        raise InputError.one(where, "candidates whose relevance is null everywhere", "judgments", mend=mend)
    return rows


def bind_rows(rows: JudgedRows, rules: PairRules, problems: Problems) -> Judged:
    """Make pairs of rows.

    Raises
    ------
    InputError
        with the problems so far, pairs that are judged twice and differently, and groups that will not do; and where
        no pair counts.
    """
    keep = [row for row, grade in enumerate(rows.grade) if rules.complete or grade > 0]
    column = set(rows.groups) - {"", *_NO_COLUMN}
    if column and rules.whole_groups:
        check_group_words((rows.groups[row] for row in keep if rows.groups[row]), problems)
    place: dict[tuple[str, str], int] = {}
    grade: list[int] = []
    groups: list[dict[str, None]] = []
    line: list[int | None] = []
    for row in keep:
        pair = (rows.qid[row], rows.docno[row])
        value, names = _grade(rows.grade[row], rules), dict.fromkeys(_names(rows.groups[row]))
        at = place.setdefault(pair, len(place))
        if at == len(grade):
            grade.append(value)
            groups.append(names)
            line.append(rows.line[row])
        elif rules.united:
            grade[at] = value
            groups[at] |= names
        elif (grade[at], groups[at]) != (value, names):
            before = "" if line[at] is None else f", as in line {line[at]}"
            found = f"another judgment of document {pair[1]!r} for query {pair[0]!r}"
            problems.add(rows.line[row], found, f"one{before}", mend="Keep one of the two lines.")
    problems.raise_if_any()
    if not place:
        raise InputError.one(problems.where, "no pair of a grade above 0", "at least one")
    queries = dict.fromkeys(qid for qid, _ in place)
    code = {qid: number for number, qid in enumerate(queries)}
    final = np.array(grade, dtype=np.int64)
    query = np.array([code[qid] for qid, _ in place], dtype=np.int64)
    relevant = np.bincount(query[final > 0], minlength=len(queries)) > 0
    counts = met(
        judged_pairs=len(place),
        judged_queries=len(queries),
        relevant_pairs=int(np.sum(final > 0)),
        rows_of_pairs_judged_before=len(keep) - len(place),
        pairs_left_out_since_not_relevant=len(rows.grade) - len(keep),
        queries_left_out_since_nothing_is_relevant=len(set(rows.qid)) - len(queries),
        queries_without_relevant=int(np.sum(~relevant)),
        grades_below_0=sum(rows.grade[row] < 0 for row in keep),
        pairs_without_group_in_column=sum(UNKNOWN in names for names in groups) if column else 0,
    )
    own = [tuple(names) for names in groups] if column else None
    return Judged(Ids.of(queries, "query id"), query, [doc for _, doc in place], final, own, {**rows.counts, **counts})


def _grade(grade: int, rules: PairRules) -> int:
    if rules.binarize and grade > 0:
        return 1
    return max(grade, 0) if rules.as_zero else grade


def _names(text: str) -> Iterable[str]:
    """Return the groups of a column's text; both ``|`` and commas part them, and no group is the unknown one."""
    return [UNKNOWN if name in NO_GROUP else name for name in text.replace(",", "|").split("|")]

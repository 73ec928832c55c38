"""Readers of published query sets about gender: files that users bring, since their texts may not be passed on."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers.collections.delimited import Table
from rerankers.collections.json_records import fit_id, note_duplicates
from rerankers.collections.query_files import read_queries
from rerankers.values.collection import Topics
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.collection import Counts

QUERY_LABELS: Final = {"n": "neutral", "m": "male", "f": "female", "o": "other"}
_FEWEST: Final = 3  # fields of an annotated query: id, text, label


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQueries:
    """Queries and the gender that each asks about.

    Attributes
    ----------
    topics
        ids and texts in the order of the file.
    labels
        a value of `QUERY_LABELS` a query.
    counts
        ``queries``, ``queries_neutral`` and so on; where there are any, ``queries_with_commas``, ``blank_query_lines``.
    """

    topics: Topics
    labels: tuple[str, ...]
    counts: Counts

    def of(self, *labels: str) -> Topics:
        """Return the queries with one of some labels, in their order; ``neutral`` are those of MeanARaB."""
        return _some(self.topics, [label in labels for label in self.labels])


def read_labelled_queries(path: str | Path) -> LabelledQueries:
    """Read the annotated MS MARCO queries of Rekabsaz and Schedl (2020): ``qid,query,n|m|f|o``, no header, no quotes.

    Texts may hold commas, unquoted: the first field is the id, the last one the label, and what stands between them
    is the text as it is.

    Raises
    ------
    InputError
        with every problem and its line: fewer than three fields, an id that will not do, a query twice, another label.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    qids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    line = array("q")
    blank = commas = 0
    for number, _, text in collect_lines(Path(path), problems):
        fields = text.split(",")
        if not text.strip():
            blank += 1
            continue
        label = QUERY_LABELS.get(fields[-1].strip())
        if len(fields) < _FEWEST:
            problems.add(number, f"{len(fields)} fields", "qid,query,label")
            continue
        if label is None:
            problems.add(number, f"label {fields[-1].strip()!r}", f"one of {', '.join(QUERY_LABELS)}")
        qid = fit_id(fields[0].strip(), "query id", number, problems)
        if qid is None or label is None:
            continue
        commas += len(fields) > _FEWEST
        qids.append(qid)
        texts.append(",".join(fields[1:-1]).strip())
        labels.append(label)
        line.append(number)
    if not qids and not problems:
        problems.add(None, "no query", "at least one line: qid,query,label")
    note_duplicates(pa.array(qids, pa.large_string()), np.array(line, np.int64), "query", problems)
    problems.raise_if_any()
    of_label = {f"queries_{label}": labels.count(label) for label in QUERY_LABELS.values()}
    counts = met(queries=len(qids), **of_label, queries_with_commas=commas, blank_query_lines=blank)
    return LabelledQueries(Topics.of(qids, texts), tuple(labels), counts)


def read_fairness_queries(path: str | Path) -> tuple[Topics, Counts]:
    """Read fairness-sensitive queries (Rekabsaz, Kopeinik and Schedl 2021): ``qid<TAB>query`` without a header.

    Returns and raises as `rerankers.collections.query_files.read_queries`; the published files hold 215 queries of
    MS MARCO's development set and 30 of TREC Deep Learning 2019.
    """
    return read_queries(Path(path))


@dataclass(frozen=True, slots=True)
class QueryNotes:
    """What annotators say of fairness-sensitive queries.

    Attributes
    ----------
    texts
        query id -> text.
    categories, domains, subdomains
        query id -> the words of that column as they are written (case and slips included), separated there by commas
        or semicolons; empty where it is.
    counts
        ``queries``; where there are any, ``queries_without_category``, ``blank_query_lines``.
    """

    texts: Mapping[str, str]
    categories: Mapping[str, tuple[str, ...]]
    domains: Mapping[str, tuple[str, ...]]
    subdomains: Mapping[str, tuple[str, ...]]
    counts: Counts


def read_query_notes(path: str | Path) -> QueryNotes:
    """Read the annotations of fairness-sensitive queries: TSV ``QID, Query, Categories, Domains, Subdomains, …``.

    Raises
    ------
    InputError
        with every problem and its line: columns that are missing, an id that will not do, a query twice.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(Path(path), problems)
    names = ("QID", "Query", "Categories", "Domains", "Subdomains")
    places = {name: table.column(name) for name in names}
    missing = [name for name, place in places.items() if place is None]
    if missing and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", f"also the columns {', '.join(missing)}")
    problems.raise_if_any()
    found: dict[str, list[str]] = {}
    for number, row in table:
        fields = [row[place].strip() for place in places.values() if place is not None]
        qid = fit_id(fields[0], "QID", number, problems)
        if qid in found:
            problems.add(number, f"query {qid!r} again", "each query once")
        elif qid is not None:
            found[qid] = fields
    if not found and not problems:
        problems.add(None, "no query", "at least one row below the header")
    problems.raise_if_any()
    categories, domains, subdomains = (
        {qid: _words(fields[place]) for qid, fields in found.items()} for place in (2, 3, 4)
    )
    without = sum(not words for words in categories.values())
    counts = met(queries=len(found), queries_without_category=without, blank_query_lines=table.blank)
    return QueryNotes({qid: fields[1] for qid, fields in found.items()}, categories, domains, subdomains, counts)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for part in text.replace(";", ",").split(",") if (word := part.strip()))


def _some(topics: Topics, keep: list[bool]) -> Topics:
    rows = [row for row, kept in enumerate(keep) if kept]
    return Topics.of(topics.ids.take(rows), [topics.text[row] for row in rows])

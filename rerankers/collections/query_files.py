"""Queries in a file: JSON lines, or `qid<TAB>query`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import Problems, choose
from rerankers._base.files import collect_lines
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import fit_id, json_records, kind_of, note_duplicates, take_id
from rerankers.values.collection import Counts, Topics
from rerankers.values.qrels import met

QUERY_KEYS = ("qid", "query_id", "id", "_id")
TEXT_KEYS = ("query", "text", "title")
TOPIC_KEY = "topic_id"


def read_queries(path: Path, query_field: str | None = None) -> tuple[Topics, Counts]:
    """Read queries in the order of the file.

    Parameters
    ----------
    path
        ``.jsonl`` or ``.tsv``, perhaps with ``.gz`` or ``.zst``. Of JSON lines the id is under one of `QUERY_KEYS`;
        queries that share a value of `TOPIC_KEY` are variants of one topic.
    query_field
        key of the text; None takes the first of `TEXT_KEYS` that the first query has.

    Returns
    -------
    topics, counts
        counts, where there are any: ``queries``, ``queries_without_text``, ``blank_query_lines``.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    ConfigError
        when no query has ``query_field``; the fields with text are listed.
    """
    problems = Problems(str(path))
    reader = _Reader(problems, query_field)
    blank = [0]
    records = _tsv_records if format_of(path) == ".tsv" else json_records
    for number, _, record in records(path, problems, blank):
        reader.add(number, record)
    if not reader.qids and not problems:
        problems.add(None, "no query", "at least one")
    note_duplicates(pa.array(reader.qids, pa.large_string()), np.array(reader.line, np.int64), "query", problems)
    numbers = reader.topic_numbers()
    problems.raise_if_any()
    if query_field is not None:
        choose("collection.query_field", query_field, sorted(reader.textual - {*QUERY_KEYS, TOPIC_KEY}))
    topics = Topics.of(reader.qids, reader.texts, numbers)
    without = sum(not text or text.isspace() for text in reader.texts)
    return topics, met(queries=len(topics), queries_without_text=without, blank_query_lines=blank[0])


def _tsv_records(path: Path, problems: Problems, blank: list[int]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for number, offset, text in collect_lines(path, problems):
        qid, tab, query = text.partition("\t")
        if not text or text.isspace():
            blank[0] += 1
        elif not tab:
            problems.add(number, "a line without a tab", "qid<TAB>query")
        else:
            yield number, offset, {"qid": qid, "query": query}


class _Reader:
    def __init__(self, problems: Problems, field: str | None) -> None:
        self.problems = problems
        self.field = field
        self.qids: list[str] = []
        self.texts: list[str] = []
        self.line = array("q")
        self.topics: list[str | None] = []
        self.textual: set[str] = set()

    def add(self, number: int, record: dict[str, Any]) -> None:
        qid = take_id(record, QUERY_KEYS, number, self.problems)
        text = self._text(number, record)
        topic = fit_id(record[TOPIC_KEY], TOPIC_KEY, number, self.problems) if TOPIC_KEY in record else None
        self.textual.update(key for key, value in record.items() if isinstance(value, str))
        if qid is not None:
            self.qids.append(qid)
            self.texts.append(text)
            self.topics.append(topic)
            self.line.append(number)

    def topic_numbers(self) -> list[int] | None:
        """Return a number for each query, equal for variants of one topic; None where no query names its topic."""
        codes: dict[str, int] = {}
        named = [topic for topic in self.topics if topic is not None]
        if named and len(named) < len(self.topics):
            found = f"{TOPIC_KEY} in {len(named)} of {len(self.topics)} queries"
            self.problems.add(None, found, f"{TOPIC_KEY} in all queries or in none")
        return [codes.setdefault(topic, len(codes)) for topic in named] or None

    def _text(self, number: int, record: dict[str, Any]) -> str:
        if self.field is None:
            self.field = next((key for key in TEXT_KEYS if key in record), None)
        value = record.get(self.field, "") if self.field is not None else ""
        if value is not None and not isinstance(value, str):
            self.problems.add(number, f"{self.field} that is {kind_of(value)}", "text, or null")
            return ""
        if value and any("\ud800" <= character <= "\udfff" for character in value):
            self.problems.add(number, f"{self.field} with half of a surrogate pair", "text that UTF-8 can hold")
            return ""
        return value or ""

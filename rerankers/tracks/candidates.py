"""Queries of a track with the documents that may be ranked, as far as submissions need them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers._base.json_text import parse_json

__all__ = ["Query", "QueryFile", "read_queries"]

FORM: Final = '{"qid": 12, "query": "…", "documents": [{"doc_id": "d1", "relevance": null}]}'
TOPIC_FORM: Final = '{"id": 12, "title": "…"}'


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    Attributes
    ----------
    documents
        its candidates.
    grade
        those whose relevance is a number, in the order of the file.
    frequency
        how often it is asked; None where the file does not say.
    """

    documents: frozenset[str] = frozenset()
    grade: Mapping[str, int] = field(default_factory=dict)
    frequency: float | None = None


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The queries of a file by id (text), in its order."""

    name: str
    queries: Mapping[str, Query]


def read_queries(path: str | Path, key: str = "qid", candidates: bool = True) -> QueryFile:
    """Read queries (2019, 2020) or topics (2021, 2022), JSON lines, plain, ``.gz`` or ``.zst``.

    Parameters
    ----------
    key
        ``qid`` or ``id``, under which the whole number that names a query stands; text of digits is taken as well.
    candidates
        whether ``documents`` are needed; without, they are not looked at.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    found: dict[str, Query] = {}
    line: dict[str, int] = {}
    form = FORM if candidates else TOPIC_FORM if key == "id" else '{"qid": 12, "query": "…"}'
    for number, _, text in collect_lines(Path(path), problems):
        if not text.strip():
            continue
        try:
            record = parse_json(text)
        except (ValueError, RecursionError) as error:
            problems.add(number, f"a line that is no JSON ({error})", f"a line of the form {form}")
            continue
        qid = whole_number(record.get(key)) if isinstance(record, dict) else None
        if qid is None:
            seen = f"{key} {record.get(key)!r}" if isinstance(record, dict) and key in record else f"no {key}"
            problems.add(number, seen, f"a whole number under {key}, as in {form}")
        elif qid in found:
            problems.add(number, f"{key} {qid} again, first on line {line[qid]}", "each query once")
        else:
            line[qid] = number
            found[qid] = _query(record, number, problems) if candidates else Query()
    if not found and not problems:
        problems.add(None, "no query", f"lines of the form {form}")
    problems.raise_if_any()
    return QueryFile(str(path), found)


def whole_number(value: Any) -> str | None:
    """Return the text of a JSON whole number, or of a text that is one; None for anything else."""
    if type(value) is int:
        return str(value)
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() and len(value) < 20:
        return str(int(value))
    return None


def _query(record: dict[str, Any], number: int, problems: Problems) -> Query:
    documents = record.get("documents")
    if not isinstance(documents, list):
        problems.add(number, "no list of documents", f"a line of the form {FORM}")
        return Query()
    grade: dict[str, int] = {}
    ids: set[str] = set()
    for document in documents:
        docno = document.get("doc_id") if isinstance(document, dict) else None
        if not isinstance(docno, str) or not docno:
            problems.add(number, f"a document {str(document)[:80]!r} without doc_id", "a text under doc_id")
            continue
        relevance = document.get("relevance")
        whole = type(relevance) is int or (type(relevance) is float and relevance.is_integer())
        if whole and abs(relevance) < 2**15:
            grade[docno] = int(relevance)
        elif relevance is not None:
            problems.add(number, f"relevance {relevance!r} of {docno}", "a whole number from -32767 to 32767, or null")
        ids.add(docno)
    return Query(frozenset(ids), grade, _frequency(record, number, problems))


def _frequency(record: dict[str, Any], number: int, problems: Problems) -> float | None:
    value = record.get("frequency")
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        problems.add(number, f"frequency {value!r}", "a number of at least 0")
        return None
    return float(value)

"""The JSON-lines form of runs (TREC Fair Ranking 2019 and 2020): one ranking a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import collect_lines
from rerankers._base.json_text import parse_json
from rerankers.runs.draft import Draft
from rerankers.runs.lists import RankedLists, is_text

FORM = '{"q_num": "0.1", "qid": 12, "ranking": ["d3", "d1"]}'


def read_jsonl(path: Path, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read one ranking a line, best document first; the k-th line of a query is its sample k, from 0.

    ``qid`` and ``ranking`` are needed; ``q_num`` is kept where it is there, and must then be text that no other line
    has. Other keys are left alone. An empty ranking is a ranking.

    Raises
    ------
    InputError
        when the file has no ranking.
    """
    lists = RankedLists()
    seen: dict[str, int] = {}
    q_num: list[str] = []
    for number, _, text in collect_lines(path, problems):
        if not text.strip():
            counts["blank_lines"] = counts.get("blank_lines", 0) + 1
            continue
        record = _record(text, number, problems)
        if record is None:
            continue
        entry = record.get("q_num", "")
        if entry in seen:
            found = f"q_num {entry!r} again, first on line {seen[entry]}"
            problems.add(number, found, "one ranking for each entry of the sequence", "Delete one of the two.")
        if entry:
            seen[entry] = number
        q_num.append(entry)
        lists.add(str(record["qid"]), record["ranking"], number)
    if not len(lists) and not problems:
        raise InputError.one(str(path), "no ranking", f"lines of the form {FORM}")
    problems.raise_if_any()
    return lists.draft(q_num if seen else ())


def _record(text: str, number: int, problems: Problems) -> dict[str, Any] | None:
    """Return the line's object with its documents as text, or note what is wrong with it."""
    try:
        record = parse_json(text)
    except (ValueError, RecursionError) as error:
        problems.add(number, f"a line that is no JSON ({error})", f"a line of the form {FORM}")
        return None
    wrong = _wrong(record)
    if wrong:
        problems.add(number, wrong, f"a line of the form {FORM}")
        return None
    return dict(record)


def _wrong(record: Any) -> str:
    """Return what is wrong with a line's object, an empty text where nothing is."""
    if not isinstance(record, dict):
        return "a line that is no JSON object"
    missing = [name for name in ("qid", "ranking") if name not in record]
    if missing:
        return f"a line without {' and '.join(missing)}"
    if not _is_id(record["qid"]):
        return f"qid {record['qid']!r}"
    if not isinstance(record.get("q_num", ""), str) or not is_text(record.get("q_num", "")):
        return f"q_num {record['q_num']!r}, which is no text"
    ranking = record["ranking"]
    if not isinstance(ranking, list):
        return "a ranking that is no list"
    if set(map(type, ranking)) - {str} or "" in ranking or not is_text("".join(ranking)):
        return next((f"document id {docno!r}" for docno in ranking if not _is_id(docno)), "")
    return ""


def _is_id(value: Any) -> bool:
    return (isinstance(value, str) and value != "" and is_text(value)) or type(value) is int

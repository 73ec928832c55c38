"""Runs as Python mappings from query id to rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems
from rerankers.runs.draft import Draft
from rerankers.runs.lists import RankedLists, is_text
from rerankers.runs.table import read_table

FORM = "{qid: [[docno, …], …]}, {qid: [docno, …]} or {qid: {docno: score}}"


def read_mapping(run: Mapping[Any, Any], where: str, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read rankings of document ids by query id.

    Parameters
    ----------
    run
        ``{qid: [[docno, …], …]}``: any number of rankings a query, best first, as samples 0, 1, …;
        ``{qid: [docno, …]}``: one ranking a query; ``{qid: {docno: score}}``: one ranking a query, by score.

    Raises
    ------
    InputError
        when it is empty or of another form.
    """
    if not run:
        raise InputError.one(where, "an empty mapping", FORM)
    scored = [isinstance(value, Mapping) for value in run.values()]
    if any(scored):
        if not all(scored):
            raise InputError.one(where, "scored and listed rankings in one mapping", FORM)
        return _read_scored(run, where, problems, counts)
    lists = RankedLists()
    for qid, value in run.items():
        rankings = _rankings(value)
        if rankings is None or not _is_id(qid):
            problems.add(None, f"{value!r:.80} for query {qid!r}", FORM)
            continue
        for ranking in rankings:
            wrong = [docno for docno in ranking if not _is_id(docno)]
            if wrong:
                problems.add(None, f"document id {wrong[0]!r} for query {qid!r}", "text or a whole number")
            else:
                lists.add(str(qid), ranking)
    problems.raise_if_any()
    return lists.draft()


def _rankings(value: Any) -> list[list[Any]] | None:
    """Return the rankings of one query, or None where it has another form."""
    if not _is_list(value):
        return None
    items = list(value)
    nested = [_is_list(item) for item in items]
    if all(nested):
        return [list(item) for item in items] or [[]]
    return None if any(nested) else [items]


def _is_list(value: Any) -> bool:
    if isinstance(value, Sequence):
        return not isinstance(value, str | bytes)
    return hasattr(value, "__array__") and np.ndim(value) > 0


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return value != "" and is_text(value)
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _read_scored(run: Mapping[Any, Any], where: str, problems: Problems, counts: dict[str, int]) -> Draft:
    rows = [(str(qid), str(docno), score) for qid, scores in run.items() for docno, score in scores.items()]
    try:
        qid, docno, score = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
        table = pa.table({"qid": qid, "docno": docno, "score": pa.array(score, pa.float64())})
    except (pa.ArrowException, TypeError, UnicodeError) as error:
        raise InputError.one(where, f"scores or ids that cannot be read ({error})", FORM) from error
    return read_table(table, where, problems, counts)

"""Judgments and groups of small in-memory evaluations, as Python mappings."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems
from rerankers.values import GroupAlignment
from rerankers.values.groups import UNKNOWN
from rerankers.values.qrels import QrelsTable, read_qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Ids

ATTRIBUTE = "group"
LOWEST, HIGHEST = -(2**15), 2**15 - 1
"""Grades that there are."""
_GROUPS = "a group, a list of groups, {group: weight}, or None for unknown"


def qrels_table(source: Any) -> QrelsTable:
    """Return judgments from ``{qid: {docno: grade}}`` or from the path of a qrels file.

    Raises
    ------
    InputError
        with everything that is wrong: other forms, grades that are no whole numbers from -32768 to 32767.
    MissingError
        when there is no such file.
    """
    if isinstance(source, str | Path):
        return read_qrels(source)
    if not isinstance(source, Mapping):
        raise InputError.one("qrels", f"a {type(source).__name__}", "a path or {qid: {docno: grade}}")
    return _usual_pairs(source) or _any_pairs(source)


def _usual_pairs(source: Mapping[Any, Any]) -> QrelsTable | None:
    """Return the table of ids that are text and grades that are whole numbers, None where anything else is there."""
    filled = {qid: judged for qid, judged in source.items() if judged or not isinstance(judged, Mapping)}
    if not all(isinstance(judged, Mapping) for judged in filled.values()):
        return None
    docnos = list(chain.from_iterable(filled.values()))
    try:
        "".join(chain(source, docnos))
        grades = array("h", list(chain.from_iterable(judged.values() for judged in filled.values())))
    except (TypeError, OverflowError):  # ids that are no text; grades that are no whole numbers, or too large
        return None
    if not docnos:
        return None
    lengths = [len(judged) for judged in filled.values()]
    query = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    qid = pa.DictionaryArray.from_arrays(pa.array(query), pa.array(list(filled), pa.large_string()))
    return QrelsTable(qid, pa.array(docnos, pa.large_string()), np.array(grades, dtype=np.int16), {})


def _any_pairs(source: Mapping[Any, Any]) -> QrelsTable:
    problems = Problems("qrels")
    rows: dict[tuple[str, str], int] = {}
    for qid, judged in source.items():
        if not isinstance(judged, Mapping):
            problems.add(None, f"a {type(judged).__name__} for query {str(qid)!r}", "{docno: grade}")
            continue
        for docno, grade in judged.items():
            pair = (str(qid), str(docno))
            whole = whole_grade(grade)
            if whole is None:
                problems.add(
                    None,
                    f"grade {grade!r} for query {pair[0]!r}, document {pair[1]!r}",
                    f"a whole number from {LOWEST} to {HIGHEST}",
                )
            elif pair in rows:
                problems.add(None, f"document {pair[1]!r} of query {pair[0]!r} more than once", "one grade each")
            else:
                rows[pair] = whole
    problems.raise_if_any()
    qids, docnos = [pair[0] for pair in rows], [pair[1] for pair in rows]
    grades = np.array(list(rows.values()), dtype=np.int16)
    return QrelsTable(pa.array(qids, pa.large_string()), pa.array(docnos, pa.large_string()), grades, {})


def whole_grade(grade: Any) -> int | None:
    """Return a grade as a whole number in the range of a qrels file, None for anything else."""
    try:
        whole = int(grade)
    except (TypeError, ValueError, OverflowError):
        return None
    return whole if whole == grade and LOWEST <= whole <= HIGHEST else None


def group_alignment(groups: Any, docs: Ids) -> tuple[GroupAlignment, int]:
    """Return the resolved alignment of ``{docno: group | [groups] | {group: weight} | None}``.

    A document of several groups counts in full for each, or by its weights. Documents whose group is None, empty or
    not given make up the group "unknown".

    Parameters
    ----------
    groups
        any order; groups come out sorted.
    docs
        the document ids in use.

    Returns
    -------
    alignment, strangers
        strangers: documents that are given a group but are not in use.

    Raises
    ------
    InputError
        with every document whose groups are of another form or whose weights are not finite numbers of at least 0.
    """
    if not isinstance(groups, Mapping):
        expected = "{docno: group | [groups] | {group: weight} | None}; fair-rerank evaluate reads files of groups"
        raise InputError.one("groups", f"a {type(groups).__name__}", expected)
    problems = Problems("groups")
    by_docno: dict[str, dict[str, float]] = {}
    for key, given in groups.items():
        if str(key) in by_docno:
            problems.add(None, f"document {str(key)!r} more than once", "each document once")
        by_docno[str(key)] = _weights(str(key), given, problems)
    problems.raise_if_any()
    found = {name for weights in by_docno.values() for name in weights}
    names = (*sorted(found - {UNKNOWN}), *sorted(found & {UNKNOWN}))
    code = {name: position for position, name in enumerate(names)}
    entries = [(docno, code[name], share) for docno, weights in by_docno.items() for name, share in weights.items()]
    doc = docs.codes([docno for docno, _, _ in entries])
    group = np.array([group for _, group, _ in entries], dtype=np.int32)
    weight = np.array([share for _, _, share in entries], dtype=np.float64)
    used = doc >= 0
    weighted = any(isinstance(given, Mapping) for given in groups.values())
    alignment = GroupAlignment.of_entries(
        ATTRIBUTE, names, doc[used], group[used], weight[used], len(docs), "value" if weighted else "membership"
    )
    strangers = int(np.sum(docs.codes(by_docno) < 0))
    return alignment.resolve("count"), strangers


def _weights(docno: str, given: Any, problems: Problems) -> dict[str, float]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return _checked(docno, given, problems)
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    names = list(given)
    if any(name is None or name != name or isinstance(name, Mapping) for name in names):
        problems.add(None, f"{names!r} for document {docno!r}", _GROUPS)
        return {}
    return {str(name): 1.0 for name in names}


def _checked(docno: str, given: Mapping[Any, Any], problems: Problems) -> dict[str, float]:
    weights: dict[str, float] = {}
    for name, value in given.items():
        try:
            weight = float(value)
        except (TypeError, ValueError):
            weight = float("nan")
        if not 0 <= weight < float("inf"):
            problems.add(None, f"weight {value!r} of group {str(name)!r} for document {docno!r}", "a number, 0 or more")
        else:
            weights[str(name)] = weight
    return weights


def highest_grade(grades: NDArray[np.int16]) -> int:
    """Return the highest grade, at least 1."""
    return max(1, int(grades.max(initial=1)))

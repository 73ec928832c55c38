"""JSON lines, one record a line, with every problem of the file noted under its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers._base.json_text import parse_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

ID_RULE = "text without white space, or a whole number"
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")


def json_records(path: Path, problems: Problems, blank: list[int]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (line number, byte offset, record) of every line that holds a JSON object.

    Parameters
    ----------
    path
        plain, ``.gz`` or ``.zst``.
    problems
        gets broken JSON, lines that hold something else and lines that cannot be read.
    blank
        its only element counts blank lines.
    """
    for number, offset, text in collect_lines(path, problems):
        if not text or text.isspace():
            blank[0] += 1
            continue
        try:
            record = parse_json(text)
        except json.JSONDecodeError as error:
            problems.add(number, f"broken JSON ({error.msg} at character {error.pos + 1})", "one JSON object")
            continue
        except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets without end
            problems.add(number, f"JSON that cannot be read ({error})", "one JSON object")
            continue
        if isinstance(record, dict):
            yield number, offset, record
        else:
            problems.add(number, f"JSON that is {kind_of(record)}", "an object in curly brackets")


def kind_of(value: object) -> str:
    """Return what kind of JSON a value is, with its article, for messages."""
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return "null" if value is None else kinds.get(type(value), type(value).__name__)


def take_id(record: dict[str, Any], keys: Sequence[str], number: int, problems: Problems) -> str | None:
    """Return the id under the first of ``keys`` that the record has; None, and a problem, when it will not do.

    A run file separates its fields by white space, so an id that holds any could not be written: it is refused here,
    where the line is known.
    """
    key = next((key for key in keys if key in record), None)
    if key is None:
        problems.add(number, f"no id (keys: {', '.join(map(repr, record)) or 'none'})", f"one of {', '.join(keys)}")
        return None
    return fit_id(record[key], key, number, problems)


def fit_id(value: object, key: str, number: int, problems: Problems) -> str | None:
    """Return an id as text; None, and a problem, when it is empty, holds white space or is neither text nor number."""
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        problems.add(number, f"{key} that is {kind_of(value)}", ID_RULE)
        return None
    if not value:
        problems.add(number, f"an empty {key}", ID_RULE)
        return None
    if _UNFIT.search(value):
        problems.add(number, f"{key} {value!r}", ID_RULE, mend="A run file could not hold this id; write _ for blanks.")
        return None
    return value


def note_duplicates(names: pa.LargeStringArray, lines: NDArray[np.int64], what: str, problems: Problems) -> None:
    """Note every name that occurred before, with both lines."""
    if pc.count_distinct(names).as_py() == len(names):
        return
    codes = names.dictionary_encode().indices.to_numpy()
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    for row in np.flatnonzero(first[inverse] != np.arange(len(codes))).tolist():
        before = int(lines[first[inverse[row]]])
        problems.add(int(lines[row]), f"{what} {names[row].as_py()!r} again, as in line {before}", "each one once")

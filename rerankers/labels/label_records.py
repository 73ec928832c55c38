"""Labels of documents in a file: what ``fair-rerank label`` writes, or a table ``doc_id,label``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rerankers._base.errors import InputError, MissingError, Problems
from rerankers._base.files import read_lines
from rerankers._base.json_text import parse_json
from rerankers.collections.delimited import Table
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import fit_id, json_records, kind_of, take_id
from rerankers.collections.jsonl_store import DOCUMENT_KEYS
from rerankers.labels.base import Labelled

LABEL_COLUMNS: Final = ("label", "group", "gender", "gender_bias")
SUFFIXES: Final = (".jsonl", ".csv", ".tsv")


def is_label_file(path: str | Path) -> bool:
    """Return whether the first line of a file is that of a label file: JSON with ``label``, or a header that names it.

    A table with a column ``group`` is a group file (`rerankers.collections.read_groups`). A file that cannot be read is
    none: whoever reads it as something else says why.
    """
    try:
        first = next((text for _, text in read_lines(Path(path)) if text.strip()), "")
        if first.lstrip().startswith("{"):
            record = parse_json(first)
            return isinstance(record, dict) and "label" in record
    except (InputError, MissingError, ValueError, RecursionError):
        return False
    names = {name.strip() for name in first.split("\t" if format_of(Path(path)) == ".tsv" else ",")}
    return "group" not in names and bool(names & set(DOCUMENT_KEYS)) and bool(names & set(LABEL_COLUMNS))


def label_records(path: str | Path, problems: Problems) -> Iterator[tuple[int, Labelled]]:
    """Yield (line, what is said of a document) of a file, in its order.

    Parameters
    ----------
    path
        ``.jsonl`` with ``id``, ``label`` (text or null) and perhaps ``scores``, ``source`` and ``reason``, as
        ``fair-rerank label`` writes it; or ``.csv`` or ``.tsv`` with a header: one of ``docno, doc_id, id`` and one
        of `LABEL_COLUMNS`. Plain, ``.gz`` or ``.zst``.
    problems
        gets what is wrong, with its line: ids that will not do, labels that are no text, scores that are no finite
        numbers, columns that are missing.

    Raises
    ------
    MissingError
        when there is no such file.
    """
    suffix = format_of(Path(path))
    if suffix not in SUFFIXES:
        problems.add(
            None, f"a file called {Path(path).name}", f"one called *{' or *'.join(SUFFIXES)}, plain, .gz or .zst"
        )
        return
    yield from _of_json(Path(path), problems) if suffix == ".jsonl" else _of_table(Path(path), problems)


def _of_json(path: Path, problems: Problems) -> Iterator[tuple[int, Labelled]]:
    for number, _, record in json_records(path, problems, [0]):
        name = take_id(record, DOCUMENT_KEYS, number, problems)
        label = record.get("label")
        if "label" not in record or not (label is None or isinstance(label, str)):
            found = f"label that is {kind_of(label)}" if "label" in record else "no label"
            problems.add(number, found, "label: text, or null where there is none")
            continue
        scores = _scores(record.get("scores"), number, problems)
        if name is not None and scores is not None:
            source, reason = (_word(record.get(key), key, number, problems) for key in ("source", "reason"))
            yield number, Labelled(name, label, scores, source, reason)


def _scores(value: Any, number: int, problems: Problems) -> dict[str, float] | None:
    if value is None:
        return {}
    if not isinstance(value, dict):
        problems.add(number, f"scores that are {kind_of(value)}", "an object of numbers")
        return None
    out: dict[str, float] = {}
    for key, score in value.items():
        if score is None:
            continue
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            problems.add(number, f"score {key!r}: {score!r}", "a finite number, or null")
            return None
        out[str(key)] = float(score)
    return out


def _word(value: Any, key: str, number: int, problems: Problems) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    problems.add(number, f"{key} that is {kind_of(value)}", "text, or null")
    return ""


def _of_table(path: Path, problems: Problems) -> Iterator[tuple[int, Labelled]]:
    table = Table(path, problems)
    place, label = table.column(*DOCUMENT_KEYS), table.column(*LABEL_COLUMNS)
    if problems:
        return
    if place is None or label is None:
        found = f"the header {', '.join(table.header)}"
        problems.add(1, found, f"one of {', '.join(DOCUMENT_KEYS)} and one of {', '.join(LABEL_COLUMNS)}")
        return
    for number, row in table:
        name = fit_id(row[place].strip(), table.header[place], number, problems)
        if name is not None:
            yield number, Labelled(name, row[label].strip() or None, {}, path.name)

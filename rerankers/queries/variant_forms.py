"""The forms in which files of query variants come, each read into rows with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rerankers._base.errors import Problems, choose
from rerankers._base.files import collect_lines, read_lines
from rerankers.collections.delimited import Table
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import fit_id, json_records, kind_of, take_id

NUMBERED, PLAIN, TABLE, JSON_LINES = FORMS = ("numbered", "plain", "table", "jsonl")
"""``topic-i:text`` or ``topic-i-j:text`` · ``topic:text`` · CSV or TSV with a header · JSON lines."""

TOPIC_KEYS = ("topic", "topic_id", "qid", "query_id", "uqv100id", "id", "_id")
TEXT_KEYS = ("variant", "text", "query", "querytext", "query_text", "queryvariant", "query_variant", "backstory")
ID_KEYS = ("variant_id", "variantid")
SOURCE_KEYS = ("source", "model")
_NUMBERED = re.compile(r"([^:\s]+?)-([0-9]+(?:-[0-9]+)?):(.*)", re.DOTALL)
_PLAIN = re.compile(r"([^:\s]+):(.*)", re.DOTALL)


class Row(NamedTuple):
    """One variant of a file: its line, topic, text as it stands, own id (None: by its place) and source."""

    line: int
    topic: str
    text: str
    variant: str | None = None
    source: str = ""


def form_of(path: Path) -> str:
    """Return the form of a file, by its name and, where that does not say, by its lines.

    A file of lines is `NUMBERED` where most lines are; a topic id that itself ends in a hyphen and digits needs the
    form to be named.

    Raises
    ------
    MissingError, InputError
        when the file is not there or cannot be read.
    """
    kind = format_of(path)
    if kind in (".csv", ".tsv"):
        return TABLE
    if kind in (".jsonl", ".json"):
        return JSON_LINES
    filled = numbered = 0
    for _, text in read_lines(path):
        if not text.strip():
            continue
        if not filled and text.lstrip().startswith("{"):
            return JSON_LINES
        filled += 1
        numbered += _NUMBERED.fullmatch(text) is not None
    return NUMBERED if numbered * 2 > filled else PLAIN


def read_rows(path: Path, form: str, problems: Problems, blank: list[int]) -> Iterator[Row]:
    """Yield the rows of a file, empty texts included.

    Parameters
    ----------
    path
        plain, ``.gz`` or ``.zst``.
    form
        of `FORMS`.
    problems
        gets everything that is wrong, with its line.
    blank
        its only element counts blank lines.

    Raises
    ------
    ConfigError
        for another form.
    """
    yield from _READERS[choose("form", form, FORMS)](path, problems, blank)


def _lines(pattern: re.Pattern[str], expected: str) -> Callable[[Path, Problems, list[int]], Iterator[Row]]:
    def rows(path: Path, problems: Problems, blank: list[int]) -> Iterator[Row]:
        for number, _, text in collect_lines(path, problems):
            if not text.strip():
                blank[0] += 1
                continue
            match = pattern.fullmatch(text)
            if match is None:
                problems.add(number, repr(text[:80]), expected)
            elif pattern is _NUMBERED:
                yield Row(number, match[1], match[3], f"{match[1]}-{match[2]}")
            else:
                yield Row(number, match[1], match[2])

    return rows


def _table(path: Path, problems: Problems, blank: list[int]) -> Iterator[Row]:
    header, rows = _tab_rows(path, problems, blank) if format_of(path) == ".tsv" else _comma_rows(path, problems)
    places = {name.lower(): place for place, name in reversed(list(enumerate(header)))}
    topic, text = _place(places, TOPIC_KEYS), _place(places, TEXT_KEYS)
    variant, source = _place(places, ID_KEYS), _place(places, SOURCE_KEYS)
    if topic is None or text is None:
        if header:
            named = ", ".join(header)
            problems.add(1, f"a header of {named}", f"one of {', '.join(TOPIC_KEYS)} and one of {', '.join(TEXT_KEYS)}")
        return
    for number, row in rows:
        name = fit_id(row[topic].strip(), header[topic], number, problems)
        if name is not None:
            own = None if variant is None else row[variant].strip() or None
            yield Row(number, name, row[text], own, "" if source is None else row[source].strip())


def _place(places: Mapping[str, int], names: tuple[str, ...]) -> int | None:
    return next((places[name] for name in names if name in places), None)


def _comma_rows(path: Path, problems: Problems) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    table = Table(path, problems)
    return table.header, iter(table)


def _tab_rows(path: Path, problems: Problems, blank: list[int]) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return header and rows of a TSV file. A query may hold quotes, so that they cannot be those of CSV."""
    lines = ((number, text) for number, _, text in collect_lines(path, problems))
    _, first = next(lines, (0, ""))
    header = [name.strip() for name in first.split("\t")] if first else []
    if not header and not problems:
        problems.add(None, "an empty file", "a header and rows")

    def rows() -> Iterator[tuple[int, list[str]]]:
        for number, text in lines:
            fields = text.split("\t")
            if not text.strip():
                blank[0] += 1
            elif len(fields) != len(header):
                problems.add(number, f"{len(fields)} fields", f"{len(header)}, as in the header")
            else:
                yield number, [_unquoted(field) for field in fields]

    return header, rows()


def _unquoted(field: str) -> str:
    """Return a field that a writer of CSV has quoted as it was; any other as it stands."""
    inside = field[1:-1]
    quoted = len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if quoted else field


def _json(path: Path, problems: Problems, blank: list[int]) -> Iterator[Row]:
    for number, _, given in json_records(path, problems, blank):
        record = {key.lower(): value for key, value in given.items()}
        topic = take_id(record, TOPIC_KEYS, number, problems)
        texts = _texts(record, number, problems)
        if topic is None or texts is None:
            continue
        own, source = record.get("variant_id"), record.get("source", "")
        single = "variants" not in record
        for text in texts:
            yield Row(
                number,
                topic,
                text,
                str(own) if single and own is not None else None,
                source if isinstance(source, str) else "",
            )


def _texts(record: Mapping[str, Any], number: int, problems: Problems) -> list[str] | None:
    key = next((key for key in ("variants", *TEXT_KEYS) if key in record), None)
    if key is None:
        problems.add(number, f"no variants (keys: {', '.join(record)})", "a list under variants, or a text under text")
        return None
    value = record[key]
    if key == "variants" and not isinstance(value, list):
        problems.add(number, f"variants that is {kind_of(value)}", "a list of texts")
        return None
    texts = value if key == "variants" else [value]
    wrong = [one for one in texts if one is not None and not isinstance(one, str)]
    if wrong:
        problems.add(number, f"{key} with {kind_of(wrong[0])}", "texts")
        return None
    return [one or "" for one in texts] or [""]  # a topic without variants counts as one empty row


_READERS: dict[str, Callable[[Path, Problems, list[int]], Iterator[Row]]] = {
    NUMBERED: _lines(_NUMBERED, "a line such as 201-0:text (or name another form: forms=[NAME:plain])"),
    PLAIN: _lines(_PLAIN, "a line such as 201:text"),
    TABLE: _table,
    JSON_LINES: _json,
}

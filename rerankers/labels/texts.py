"""Texts to be labelled, from JSON lines or CSV, in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError, Problems
from rerankers._base.json_text import parse_json
from rerankers.collections.delimited import Table
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import fit_id, kind_of
from rerankers.labels.base import Text
from rerankers.labels.columns import Wanted, arrow_columns
from rerankers.labels.counting import Utf8, utf8

ID_FIELDS = ("id", "docno", "doc_id")
_ROWS, _BYTES = 8192, 1 << 20
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")  # the signs that `fit_id` refuses


@dataclass(frozen=True, slots=True)
class TextFields:
    """Names of the fields of a record.

    Attributes
    ----------
    id
        None takes the first of ``id``, ``docno``, ``doc_id`` that a record has.
    title
        may be missing or null in a record.
    text
        must be there.
    """

    id: str | None = None
    title: str = "title"
    text: str = "text"

    @property
    def ids(self) -> tuple[str, ...]:
        """The names that an id may stand under, the first one first."""
        return ID_FIELDS if self.id is None else (self.id,)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some texts; ``fields`` holds ``title`` and ``text`` in the same order as ``ids``."""

    ids: Sequence[str]
    fields: Mapping[str, Utf8]

    def texts(self) -> Iterator[Text]:
        """Yield them one by one."""
        title, text = self.fields["title"], self.fields["text"]
        for number, id_ in enumerate(self.ids):
            yield Text(id_, title.text(number), text.text(number))


@dataclass(slots=True)
class TextReader:
    """Reads the texts of files, once.

    Attributes
    ----------
    paths
        JSON lines, or CSV or TSV with a heading where the name says so; plain, ``.gz`` or ``.zst``.
    fields
        their names in a record.

    Notes
    -----
    A line or row that is wrong is left out and told at the end with all the others, when `check` is called. Ids are
    kept to find those given twice (about 100 bytes each); texts are held a block of 1 MiB at a time.
    """

    paths: Sequence[Path]
    fields: TextFields = field(default_factory=TextFields)
    problems: list[Problems] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def blocks(self) -> Iterator[TextBlock]:
        """Yield the texts of all files, in their order; the next block is read while one is worked on."""
        with ThreadPoolExecutor(1, thread_name_prefix="read") as pool:
            source = self._blocks()
            coming = pool.submit(next, source, None)
            while (block := coming.result()) is not None:
                coming = pool.submit(next, source, None)
                yield block

    def _blocks(self) -> Iterator[TextBlock]:
        for path in self.paths:
            problems = Problems(str(path))
            self.problems.append(problems)
            read = self._csv if format_of(path) in (".csv", ".tsv") else self._lines
            try:
                yield from read(path, problems)
            except InputError as error:  # a line that cannot be read ends the file
                problems.kept.extend(error.problems)

    def texts(self) -> Iterator[Text]:
        """Yield the texts one by one."""
        for block in self.blocks():
            yield from block.texts()

    def check(self) -> None:
        """Raise `InputError` with everything that was wrong, with its lines."""
        found = [problem for problems in self.problems for problem in _all(problems)]
        if found:
            raise InputError(found)

    def _lines(self, path: Path, problems: Problems) -> Iterator[TextBlock]:
        wanted = Wanted(self.fields.ids, self.fields.title, self.fields.text)
        for number, block in read_blocks(path, _BYTES):
            columns = arrow_columns(block, wanted)
            if columns is not None and self._all_new(columns[0]):
                ids, title, text = columns
                yield TextBlock(ids, {"title": title, "text": text})
                continue
            yield _block(list(self._slow(number, block, problems)))

    def _all_new(self, ids: Sequence[str]) -> bool:
        """Note ids, unless one of them will not do or was there before: then line by line, to tell where."""
        fresh = set(ids)
        if len(fresh) < len(ids) or not self.seen.isdisjoint(fresh) or not all(ids) or _UNFIT.search("".join(ids)):
            return False
        self.seen |= fresh
        return True

    def _slow(self, number: int, block: bytes, problems: Problems) -> Iterator[Text]:
        for line, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), start=number):
            try:
                written = raw.decode()
                record = parse_json(written) if written.strip() else {}
            except UnicodeDecodeError as error:
                problems.add(line, f"a byte that is not UTF-8 ({error.reason} at byte {error.start})", "UTF-8 text")
                continue
            except (ValueError, RecursionError) as error:
                problems.add(line, f"broken JSON ({error})", "one JSON object")
                continue
            if not isinstance(record, dict):
                problems.add(line, f"JSON that is {kind_of(record)}", "an object in curly brackets")
            elif written.strip():
                text = self._text(record, line, problems)
                if text is not None:
                    yield text

    def _csv(self, path: Path, problems: Problems) -> Iterator[TextBlock]:
        table = Table(path, problems)
        lacking = [one for one in (self.fields.text,) if one not in table.header]
        if lacking and not problems:
            found = f"the header {', '.join(table.header)}"
            problems.add(1, found, f"a column {lacking[0]}", "Name it with text_field=NAME.")
        rows = iter(table)
        while not lacking and (taken := list(islice(rows, _ROWS))):
            records = ((line, dict(zip(table.header, row, strict=True))) for line, row in taken)
            texts = [self._text(record, line, problems) for line, record in records]
            yield _block([text for text in texts if text is not None])

    def _text(self, record: Mapping[str, Any], line: int, problems: Problems) -> Text | None:
        """Return the text of a record; None, and every problem that it has, where it will not do."""
        before = len(problems.kept) + problems.beyond
        title, text = record.get(self.fields.title), record.get(self.fields.text)
        name = next((one for one in self.fields.ids if record.get(one) is not None), None)
        id_ = None if name is None else fit_id(record[name], name, line, problems)
        if name is None:
            mend = "" if self.fields.id else "Name the field with id_field=NAME."
            problems.add(line, "no id", f"one of {', '.join(self.fields.ids)}", mend)
        elif id_ in self.seen:
            problems.add(line, f"{name} {id_!r} again", "each one once")
        elif id_ is not None:
            self.seen.add(id_)
        if not isinstance(text, str):
            there = self.fields.text in record
            found = f"{self.fields.text} that is {kind_of(text)}" if there else f"no {self.fields.text}"
            problems.add(line, found, "text", "" if there else "Name the field with text_field=NAME.")
        if title is not None and not isinstance(title, str):
            problems.add(line, f"{self.fields.title} that is {kind_of(title)}", "text, or null")
        if id_ is None or len(problems.kept) + problems.beyond > before:
            return None
        return Text(id_, title or "", str(text))


def _block(texts: Sequence[Text]) -> TextBlock:
    fields = {"title": utf8([one.title for one in texts]), "text": utf8([one.text for one in texts])}
    return TextBlock([one.id for one in texts], fields)


def _all(problems: Problems) -> list[Any]:
    try:
        problems.raise_if_any()
    except InputError as error:
        return list(error.problems)
    return []

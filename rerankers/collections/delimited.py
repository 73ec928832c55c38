"""Tables with a header in CSV or TSV files, with the line of every row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers.collections.folder import format_of

if TYPE_CHECKING:
    from _csv import Reader as Rows


class Table:
    """A header and its rows, read row by row.

    Quotes follow the csv module: a quoted field may hold delimiters, quotes (doubled) and line breaks.
    The delimiter is a tab for ``.tsv``, a comma otherwise; it is never guessed, since ids may hold commas.
    """

    def __init__(self, path: Path, problems: Problems) -> None:
        self._problems = problems
        delimiter = "\t" if format_of(path) == ".tsv" else ","
        lines = (f"{text}\n" for _, _, text in collect_lines(path, problems))
        self._rows = csv.reader(lines, delimiter=delimiter, strict=True)
        self.blank = 0
        _, header = next(self._numbered(), (0, []))
        self.header = [name.strip() for name in header]
        if not header and not problems:
            problems.add(None, "an empty file", "a header and rows")
        if len(set(self.header)) < len(self.header):
            problems.add(1, f"a header with a name twice ({', '.join(self.header)})", "each name once")

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line where it starts, fields) of every row; rows of another width are problems and left out."""
        width = len(self.header)
        for number, row in self._numbered():
            if len(row) == width:
                yield number, row
            else:
                self._problems.add(number, f"{len(row)} fields", f"{width}, as in the header")

    def column(self, *names: str) -> int | None:
        """Return the position of the first of ``names`` in the header, or None."""
        return next((self.header.index(name) for name in names if name in self.header), None)

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        for start, row in numbered_rows(self._rows, self._problems):
            if row:
                yield start, row
            else:
                self.blank += 1


def open_rows(path: Path, problems: Problems, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield (line where it starts, fields) of every row of a file without a header, empty rows included.

    What cannot be read goes to ``problems``. Quotes may be left open, as programs of the tracks leave them.
    """
    lines = (f"{text}\n" for _, _, text in collect_lines(path, problems))
    return numbered_rows(csv.reader(lines, delimiter=delimiter), problems)


def numbered_rows(rows: Rows, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield (line where it starts, fields) of every row; what follows a row that cannot be read is not looked at."""
    while True:
        start = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(start, f"a row that cannot be read ({error})", "fields with closed quotes")
            return
        yield start, row

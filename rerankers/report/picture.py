"""A picture: what it shows as rows, how it is drawn, and how it is saved."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import choose
from rerankers._base.files import atomic_path, write_text
from rerankers.report.style import drawing
from rerankers.report.svg import inline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of the report.

    Attributes
    ----------
    name
        file name without suffix.
    title, caption
        plain text; the caption says how to read the picture and what was left out.
    alt
        what a reader who cannot see it needs: the drawn values in words.
    columns, rows
        exactly what is drawn, for the CSV file.
    figure
        draws it.
    """

    name: str
    title: str
    caption: str
    alt: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    figure: Callable[[], Figure]

    def draw(self) -> Figure:
        """Return the matplotlib figure, drawn under the report's style."""
        with drawing(self._names(), self.name):
            return self.figure()

    def csv(self) -> str:
        """Return what is drawn as CSV text: numbers in full precision, nothing where there is no value."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows)
        return stream.getvalue()

    def write(self, path: Path) -> None:
        """Write the picture to a file whose suffix says the format: ``.png``, ``.pdf`` or ``.svg``.

        The same rows give the same bytes.
        """
        with drawing(self._names(), self.name):
            _save(self.figure(), path)

    def save(self, folder: Path) -> str:
        """Write ``name.png`` and ``name.csv`` into a folder; return the picture as SVG for a page."""
        write_text(folder / f"{self.name}.csv", self.csv())
        with drawing(self._names(), self.name):
            figure = self.figure()
            _save(figure, folder / f"{self.name}.png")
            stream = io.StringIO()
            figure.savefig(stream, format="svg", transparent=True, metadata=_METADATA["svg"])
        return inline(stream.getvalue(), self.name, self.title, self.alt)

    def _names(self) -> list[str]:
        return [value for row in self.rows for value in row if isinstance(value, str)]


# no dates and no versions: they would make equal pictures differ
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
}


def _save(figure: Figure, path: Path) -> None:
    kind = choose("picture format", path.suffix.removeprefix("."), _METADATA)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=kind, metadata=_METADATA[kind])

"""Everything that a comparison shows, before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers.report.comparison_table import Value
from rerankers.report.terminal import main_columns
from rerankers.stages.compare_across import Across, across
from rerankers.stages.measured import chosen_keys

if TYPE_CHECKING:
    from rerankers.report.comparison_table import Sheet
    from rerankers.report.keys import Key
    from rerankers.stages.compare_sections import Compared
    from rerankers.stages.compare_sheets import Shown
    from rerankers.stages.difference_options import DifferenceOptions
    from rerankers.stages.trade_offs import TradeOffs
    from rerankers.tracks.leaderboards import Leaderboard
    from rerankers.tracks.placing import Standing


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What a comparison shows.

    Attributes
    ----------
    found
        jobs as tables.
    parts, curves
        one a collection.
    tests
        options of the differences.
    correction
        that marks go by.
    about
        sentences that hold for the whole comparison.
    notes
        sentences that limit it: what is missing, what was put together.
    missing
        (letter, reason) of missing values.
    labels
        what the jobs' folders are called.
    placed, table
        places among published runs.
    links
        (title, relative path) of pages beside the comparison's.
    """

    found: Compared
    parts: Sequence[Shown]
    curves: Sequence[TradeOffs]
    tests: DifferenceOptions
    correction: str
    about: Sequence[str]
    notes: Sequence[str]
    missing: Sequence[tuple[str, str]]
    labels: Mapping[Path, str]
    placed: Sequence[Standing] = ()
    table: Leaderboard | None = None
    links: Sequence[tuple[str, str]] = field(default_factory=tuple)

    @property
    def keys(self) -> list[Key]:
        """The measures of the main table: those of the differences without their parts, or the main ones."""
        values = {row.name: row.grid for one in self.parts for row in one.section.rows}
        keys = chosen_keys(values, self.tests.measures)
        if self.tests.measures is None:
            keys = [key for key in keys if not key.part]
        return keys or main_columns([key for one in self.parts for key in one.report.keys])

    def titled(self) -> list[tuple[str, Shown]]:
        """Return the parts with their collections' names where there are several, else without."""
        return [(one.section.title if len(self.parts) > 1 else "", one) for one in self.parts]

    def missing_in(self, *sheets: Sheet) -> list[tuple[str, str]]:
        """Return (letter, reason) of the values that are missing in some tables."""
        cells = [cell for sheet in sheets for part in sheet.parts for line in part.lines for cell in line.cells]
        used = {letter for cell in cells if isinstance(cell, Value) for letter in cell.note.split(",")}
        return [(letter, reason) for letter, reason in self.missing if letter in used]

    @property
    def across(self) -> list[Across]:
        """Differences over collections; none of one collection."""
        return across(self.parts, self.correction)

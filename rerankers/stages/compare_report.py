"""A section of a comparison in the form that the tables of reports are made of, and why its values are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers.measures.group_exposure import SCHEMA as GROUP_SCHEMA
from rerankers.measures.table import SCHEMA
from rerankers.report import ReportData
from rerankers.report.tables import gaps, notes

if TYPE_CHECKING:
    from rerankers.stages.compare_rows import Member, Row
    from rerankers.stages.compare_sections import Section


def report_of(section: Section, level: float) -> ReportData:
    """Return a section as data of a report.

    Of the values of queries only those of measures that lack some are kept: they say what is missing and why.

    Parameters
    ----------
    level
        of the intervals.
    """
    kept = [_lacking(member, row) for row in section.rows for member in row.members]
    return ReportData(
        title="Comparison",
        summary={},
        options={},
        tier=", ".join(dict.fromkeys(job.tier for job in section.jobs)),
        counts={},
        warnings=(),
        measures=pa.concat_tables([SCHEMA.empty_table(), *kept]),
        means={row.name: row.means for row in section.rows},
        intervals={row.name: row.intervals for row in section.rows},
        group_exposure=pa.Table.from_pylist([], schema=GROUP_SCHEMA),
        confidence=level,
        over_seeds=frozenset(row.name for row in section.rows if row.seeds > 1),
    )


def _lacking(member: Member, row: Row) -> pa.Table:
    """Return the rows of a system's measures that lack a value of some query, under the name of its row.

    What one seed lacks and another has is in the row's mean; the reason says so.
    """
    import pyarrow.compute as pc

    table = member.job.table
    if not table["value"].null_count:
        return SCHEMA.empty_table()
    own = table.filter(pc.equal(table["system"], member.system))
    measures = own.filter(pc.is_null(own["value"]))["measure"].unique()
    rows = own.filter(pc.is_in(own["measure"], value_set=measures))
    rows = rows.set_column(0, SCHEMA.field("system"), pa.repeat(pa.scalar(row.name, pa.string()), len(rows)))
    return rows if row.seeds == 1 else rows.set_column(5, SCHEMA.field("reason"), pa.array(_reasons(rows, row)))


def _reasons(rows: pa.Table, row: Row) -> list[str | None]:
    grid = row.grid
    unit = {name: place for place, name in enumerate(grid.units)}
    key = {name: place for place, name in enumerate(grid.keys)}

    def told(one: Mapping[str, Any]) -> str | None:
        reason: str | None = one["reason"]
        if one["value"] is not None or one["unit"] not in unit or one["measure"] not in key:
            return reason
        lost = np.isnan(grid.value[unit[one["unit"]], key[one["measure"]]])
        return reason if lost else f"{reason} (in some seeds: the mean is over the others)"

    return [told(one) for one in rows.select(["unit", "measure", "value", "reason"]).to_pylist()]


def letters_of(
    reports: Sequence[ReportData], titles: Sequence[str]
) -> tuple[list[tuple[str, str]], list[Mapping[tuple[str, str], str]]]:
    """Return the notes on missing values as (letter, text), and of each report (row, measure) -> letters."""
    found = [gaps(report) for report in reports]
    reasons = list(dict.fromkeys(gap.reason for own in found for gap in own))
    letter = {reason: _letter(place) for place, reason in enumerate(reasons)}
    places: dict[str, list[str]] = {reason: [] for reason in reasons}
    for report, title, own in zip(reports, titles, found, strict=True):
        for note in notes(report, own):
            where = f"{title}: " if len(reports) > 1 else ""
            places[note.reason].append(f"{where}{'; '.join(note.places)}")
    marks: list[Mapping[tuple[str, str], str]] = []
    for own in found:
        told: dict[tuple[str, str], list[str]] = {}
        for gap in own:
            told.setdefault((gap.system, gap.measure), []).append(letter[gap.reason])
        marks.append({place: ",".join(sorted(dict.fromkeys(some))) for place, some in told.items()})
    return [(letter[reason], f"{reason} ({'; '.join(places[reason])})") for reason in reasons], marks


def _letter(place: int) -> str:
    high, low = divmod(place, len(ascii_lowercase))
    return (ascii_lowercase[high - 1] if high else "") + ascii_lowercase[low]

"""Pages of single queries beside a comparison: those that differ most between its runs, or that are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import FairRerankersError, InputError
from rerankers.stages.explain import JSON_FILE, PAGE, titles_of, write_query
from rerankers.stages.explain_sources import sources_of
from rerankers.stages.side_by_side import side_by_side

if TYPE_CHECKING:
    from rerankers.stages.compare_rows import Row
    from rerankers.stages.compare_sections import Section
    from rerankers.stages.explain_sources import Source

FOLDER = "queries"
MOST = 6
"""Runs that a page shows: more do not fit beside each other."""
FIRST_CHOICE = ("EEL", "utility")
"""Measures by which queries differ: the first that all runs have; then whichever they have."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What was written.

    Attributes
    ----------
    links
        (title, path relative to the comparison's folder).
    notes
        by what the queries were chosen, and what could not be shown.
    """

    links: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


def write_pages(sections: Sequence[Section], queries: int | Sequence[str] | None, output: Path) -> Pages:
    """Write a page a query into ``queries/`` of a comparison's folder; those of an earlier comparison go.

    A run that cannot be shown (its folder holds neither a policy nor the place of its run, or its collection has
    changed) is told, and leaves the comparison as it is.

    Parameters
    ----------
    sections
        one a collection.
    queries
        how many of each section, the ids of some, or None for none.
    output
        the comparison's folder.

    Raises
    ------
    InputError
        for ids that no section has.
    """
    _remove(output / FOLDER)
    if queries is None:
        return Pages()
    links, notes = list[tuple[str, str]](), list[str]()
    if not isinstance(queries, int):
        _check(queries, sections)
    for section in sections:
        rows = section.runs[:MOST]
        if len(section.runs) > MOST:
            notes.append(f"{_of(section)}: rankings side by side of the first {MOST} of {len(section.runs)} runs")
        sources, left_out = _sources(rows)
        notes += left_out
        if not sources:
            continue
        qids, by = (list(queries), "") if not isinstance(queries, int) else differing(rows, queries)
        if by:
            notes.append(f"{_of(section)}: rankings side by side of the queries whose {by} differs most between runs")
        for qid in qids:
            written, missing = _write(sources, qid, output, len(links))
            notes += missing
            if written is not None:
                links.append((f"{section.title}: {qid}" if len(sections) > 1 else f"query {qid}", written))
    return Pages(links, list(dict.fromkeys(notes)))


def differing(rows: Sequence[Row], many: int) -> tuple[list[str], str]:
    """Return the queries whose values differ most between runs, and the measure; of one run, those of highest value.

    Parameters
    ----------
    rows
        runs with values by query.
    many
        how many queries at most.
    """
    shared = [key for key in rows[0].grid.keys if all(key in row.grid.keys for row in rows)]
    key = next((name for name in FIRST_CHOICE if name in shared), shared[0] if shared else "")
    units = [unit for unit in rows[0].grid.units if all(unit in row.grid.units for row in rows)]
    if not key or not units:
        return [], ""
    places = [dict(zip(row.grid.units, range(len(row.grid.units)), strict=True)) for row in rows]
    value = np.array(
        [
            row.grid.value[[place[unit] for unit in units], row.grid.keys.index(key)]
            for row, place in zip(rows, places, strict=True)
        ]
    )
    gap = value.max(axis=0) - value.min(axis=0) if len(rows) > 1 else value[0]
    gap = np.where(np.isfinite(gap), gap, -np.inf)
    order = np.argsort(-gap, kind="stable")[:many]
    return [units[at] for at in order.tolist() if np.isfinite(gap[at])], key


def _sources(rows: Sequence[Row]) -> tuple[list[Source], list[str]]:
    """Return what can be shown of the runs, the first seed of each, and what cannot."""
    named: dict[Path, str] = {}
    for row in rows:
        named.setdefault(row.members[0].job.folder, row.name)
    found: list[Source] = []
    notes: list[str] = []
    for folder in named:
        try:
            found += [source for source in sources_of([folder], None, named) if source.queries]
        except FairRerankersError as error:
            notes.append(f"no rankings side by side of {folder.name}: {' '.join(str(error).split())}")
    return found, notes


def _write(sources: Sequence[Source], qid: str, output: Path, number: int) -> tuple[str | None, list[str]]:
    sides, notes = [], list[str]()
    for source in sources:
        try:
            sides += source.sides(qid)
        except FairRerankersError as error:
            notes.append(f"query {qid}: {' '.join(str(error).split())}")
    if not sides:
        return None, notes
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", qid).strip("-")[:40]
    place = Path(FOLDER) / f"{number + 1}-{plain}".rstrip("-")
    write_query(side_by_side(sides, titles=titles_of(sources, sides)), output / place)
    return f"{place.as_posix()}/{PAGE}", notes


def _check(qids: Sequence[str], sections: Sequence[Section]) -> None:
    known = {unit for section in sections for row in section.runs for unit in row.grid.units}
    for qid in qids:
        if qid not in known:
            raise InputError.one("queries", repr(qid), f"ids of the {len(known):,} queries of the results, or a number")


def _of(section: Section) -> str:
    return section.title or "queries"


def _remove(folder: Path) -> None:
    """Remove the pages of an earlier comparison, and folders that they leave empty."""
    for page in folder.glob(f"*/{PAGE}"):
        page.unlink(missing_ok=True)
        (page.parent / JSON_FILE).unlink(missing_ok=True)
        if not any(page.parent.iterdir()):
            page.parent.rmdir()

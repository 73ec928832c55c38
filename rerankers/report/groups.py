"""The pictures of group exposure against target, for each attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rerankers.report.data import ReportData, picture_names
from rerankers.report.dumbbells import GroupRow, group_figure
from rerankers.report.picture import Picture
from rerankers.report.text import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("attribute", "system", "group", "exposure", "target")
GROUPS_DRAWN = 16
SYSTEMS_DRAWN = 12  # a picture; more pictures follow


def group_rows(data: ReportData) -> dict[str, list[GroupRow]]:
    """Return the rows of each attribute, systems in the report's order, groups in their given order."""
    rank = {system: place for place, system in enumerate(data.systems)}
    found: dict[str, list[GroupRow]] = {}
    for row in data.group_exposure.to_pylist():
        if row["system"] in rank:
            value = GroupRow(row["attribute"], row["system"], row["group"], row["exposure"], row["target"])
            found.setdefault(row["attribute"], []).append(value)
    return {attribute: sorted(rows, key=lambda row: rank[row.system]) for attribute, rows in found.items()}


def group_exposure(data: ReportData) -> list[Picture]:
    """Return the pictures of every attribute: none without groups, more than one where systems are many."""
    pictures: list[Picture] = []
    for attribute, rows in group_rows(data).items():
        systems = list(dict.fromkeys(row.system for row in rows))
        for start in range(0, len(systems), SYSTEMS_DRAWN):
            shown = set(systems[start : start + SYSTEMS_DRAWN])
            name = f"group_exposure_{len(pictures) + 1}{_slug(attribute)}"
            title = f"Exposure of groups: {attribute}"
            if len(systems) > SYSTEMS_DRAWN:
                title += f", systems {start + 1} to {start + len(shown)}"
            pictures.append(_picture(name, title, attribute, data.units, [row for row in rows if row.system in shown]))
    return pictures


def _slug(attribute: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", attribute.lower()).strip("_")[:40]
    return f"_{plain}" if plain else ""


def _picture(name: str, title: str, attribute: str, units: str, rows: Sequence[GroupRow]) -> Picture:
    kept = _largest(rows)
    drawn = [row for row in rows if row.group in kept]
    caption = (
        f"Expected exposure of each group of {attribute} against its target, means over the {units}. A line leads from "
        "the target (bar) to the exposure given (dot); its length is the group's mean difference. Differences that "
        f"cancel out over the {units} are not seen here; the group loss has them."
    )
    groups = {row.group for row in rows}
    if len(groups) > len(kept):
        caption += f" The {len(kept)} largest of {len(groups)} groups are drawn."
    unknown = sum(row.exposure is None or row.target is None for row in drawn)
    if unknown:
        caption += f" {unknown} values are missing and not drawn."
    names = picture_names(list(dict.fromkeys(row.system for row in drawn)))
    alt = " ".join(_words(name, [row for row in drawn if row.system == system]) for system, name in names.items())
    listed = [(row.attribute, row.system, row.group, row.exposure, row.target) for row in drawn]
    figure: Callable[[], Figure] = lambda: group_figure(drawn, units)  # noqa: E731
    return Picture(name, title, caption, alt, COLUMNS, listed, figure)


def _words(name: str, rows: Sequence[GroupRow]) -> str:
    parts = [f"{row.group} {number(row.exposure)} (target {number(row.target)})" for row in rows]
    return f"{name}: {', '.join(parts)}."


def _largest(rows: Sequence[GroupRow]) -> list[str]:
    size: dict[str, float] = {}
    for row in rows:
        size[row.group] = max(size.get(row.group, 0.0), row.exposure or 0.0, row.target or 0.0)
    first = sorted(size, key=lambda group: -size[group])[:GROUPS_DRAWN]
    return [group for group in size if group in set(first)]

"""What the planes show: the systems as points, with their intervals and the lines of equal loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.report.data import picture_names
from rerankers.report.keys import LOSSES, UTILITIES, Key, attributes, bare_is_group_loss, find, in_order
from rerankers.report.text import number

if TYPE_CHECKING:
    from rerankers.report.data import ReportData

COLUMNS = ("panel", "kind", "name", "x", "x_low", "x_high", "y", "y_low", "y_high")
_SAME = 1e-9  # relative: targets that differ by rounding only
_SHORT = 0.04  # of the width: shorter pieces of a line in a corner are left out

Span = tuple[float, float] | None
Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One system: its means and their intervals."""

    system: str
    x: float
    y: float
    x_span: Span
    y_span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """A front in a plane: its name and its spots, along the curve."""

    name: str
    spots: Sequence[Spot]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plane. ``x`` and ``y`` are the keys; ``missing`` are systems without a value; ``target`` is EET or None."""

    title: str
    x: Key
    y: Key
    points: Sequence[Point]
    missing: Sequence[str]
    target: float | None = None
    bounding: Sequence[Bound] = ()

    def bounds(self) -> tuple[Spot, Spot]:
        """Return the limits of x and of y: every point with its intervals, and a margin."""
        spans: list[Spot] = []
        for axis in ("x", "y"):
            values = [getattr(point, axis) for point in self.points]
            values.extend(spot["xy".index(axis)] for front in self.bounding for spot in front.spots)
            for point in self.points:
                values.extend(getattr(point, f"{axis}_span") or ())
            low, high = min(values), max(values)
            margin = 0.09 * (high - low) or 0.1 * max(abs(high), 0.1)
            spans.append((low - margin, high + margin))
        return spans[0], spans[1]

    def equal_loss(self) -> list[tuple[float, Spot, Spot]]:
        """Return (loss, start, end) of the lines of equal loss inside the limits: EER = (EED + EET - EEL) / 2."""
        if self.target is None:
            return []
        from matplotlib.ticker import MaxNLocator

        (x_low, x_high), (y_low, y_high) = self.bounds()
        least, most = x_low - 2 * y_high + self.target, x_high - 2 * y_low + self.target
        lines = []
        for level in MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]).tick_values(max(least, 0.0), most):
            shift = self.target - float(level)
            start, end = max(x_low, 2 * y_low - shift), min(x_high, 2 * y_high - shift)
            if level >= 0 and end - start > _SHORT * (x_high - x_low):
                lines.append((float(level), (start, (start + shift) / 2), (end, (end + shift) / 2)))
        return lines

    def rows(self) -> list[tuple[str | float | None, ...]]:
        """Return what is drawn under `COLUMNS`: one row a point, two rows a line of equal loss."""
        none = (None, None)
        points = [
            (self.title, "point", p.system, p.x, *(p.x_span or none), p.y, *(p.y_span or none)) for p in self.points
        ]
        points += [(self.title, "front", f.name, x, *none, y, *none) for f in self.bounding for x, y in f.spots]
        lines = [
            (self.title, "line of equal loss", f"EEL = {level:g}", x, *none, y, *none)
            for level, *ends in self.equal_loss()
            for x, y in ends
        ]
        return [*points, *lines]

    def words(self) -> str:
        """Return the points in words."""
        names = picture_names([point.system for point in self.points])
        listed = "; ".join(
            f"{names[point.system]}: {self.x.label} {number(point.x)}, {self.y.label} {number(point.y)}"
            for point in self.points
        )
        fronts = "".join(
            f" The {front.name} goes from {self.x.label} {number(front.spots[0][0])}, {self.y.label} "
            f"{number(front.spots[0][1])} to {number(front.spots[-1][0])}, {number(front.spots[-1][1])}."
            for front in self.bounding
        )
        return f"{self.title}. {listed}.{fronts}"


def disparity_panels(data: ReportData) -> list[Panel]:
    """Return EED against EER, of documents and of each attribute's groups, where there is a point to draw."""
    keys = in_order(data.keys)
    panels = []
    for attribute in (None, *attributes(keys)):
        x, y = find(keys, "EED", attribute), find(keys, "EER", attribute)
        if x and y:
            target = _common(data, find(keys, "EET", attribute))
            bounds = _bounds(data, attribute, "disparity", "relevance")
            panels.append(_panel(data, _title(data, keys, attribute), x, y, target, bounds))
    return [panel for panel in panels if panel.points]


def loss_panels(data: ReportData) -> list[Panel]:
    """Return utility against each loss; without a loss, against AWRF."""
    keys = in_order(data.keys)
    x = next((found for base in UTILITIES if (found := find(keys, base, None))), None)
    if x is None:
        return []
    losses = [(find(keys, base, attribute), attribute) for attribute in (None, *attributes(keys)) for base in LOSSES]
    panels = [
        _panel(data, _title(data, keys, attribute), x, y, None, _bounds(data, attribute, "utility", "loss"))
        for y, attribute in losses
        if y
    ]
    if y := find(keys, "AWRF", None):
        panels.append(_panel(data, "Groups", x, y))
    return [panel for panel in panels if panel.points]


def _bounds(data: ReportData, attribute: str | None, x: str, y: str) -> list[Bound]:
    """Return the fronts of documents (attribute None) or of the groups of the one attribute that they are for."""
    if bare_is_group_loss(in_order(data.keys)):
        return []
    return [
        Bound(front.name, list(zip(getattr(front, x), getattr(front, y), strict=True)))
        for front in data.extras.fronts
        if front.groups == (attribute is not None)
    ]


def _panel(
    data: ReportData, title: str, x: Key, y: Key, target: float | None = None, bounding: Sequence[Bound] = ()
) -> Panel:
    points, missing = [], []
    for system in data.systems:
        x_mean, y_mean = data.mean(system, x.text), data.mean(system, y.text)
        if x_mean is None or y_mean is None:
            missing.append(system)
            continue
        spans = data.interval(system, x.text), data.interval(system, y.text)
        points.append(Point(system, x_mean, y_mean, *spans))
    return Panel(title, x, y, points, missing, target, bounding)


def _title(data: ReportData, keys: Sequence[Key], attribute: str | None) -> str:
    if attribute is None:
        return "Groups" if bare_is_group_loss(keys) else "Documents"
    name = data.attribute_name(attribute)
    return f"Groups: {name}" if name else "Groups"


def _common(data: ReportData, key: Key | None) -> float | None:
    # EET belongs to the queries, not to the system; where systems differ they were measured on different queries
    # and share no lines of equal loss
    values = [] if key is None else [data.mean(system, key.text) for system in data.systems]
    known = [value for value in values if value is not None]
    if not known or max(known) - min(known) > _SAME * max(1.0, abs(known[0])):
        return None
    return known[0]

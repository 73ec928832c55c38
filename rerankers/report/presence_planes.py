"""The trade-off of presence: utility against how neutral, and how balanced, what users see is; a curve a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers.report.data import ANCHOR, short_name
from rerankers.report.picture import Picture
from rerankers.report.style import (
    ANCHOR_MARKERS,
    COLOURS,
    METHOD_MARKERS,
    MUTED,
    PAPER,
    SMALL,
    WIDTH,
    drawing,
    new_figure,
)
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("labels", "measure", "family", "option", "value", "utility", "mean", "low", "high")
_HEIGHT = 2.9  # inches a row of panels
_KEY = 0.42  # inches below for the key
_BESIDE = {"random": (4, -9), "plackett_luce": (-12, -11), "ideal": (-9, 5)}  # points: where the name of an anchor is
FRONTS = "attainable"
"""How families of the best that lists allow begin: drawn in grey, without a band."""


@dataclass(frozen=True, slots=True)
class Plane:
    """One panel: whose labels measure, the keys of utility and of the measure, and what it is called.

    ``fronts`` are the families of the best that lists allow which belong here, ``left_out`` families not drawn here.
    """

    labels: str
    title: str
    utility: str
    key: str
    name: str
    fronts: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def presence_picture(rows: Sequence[Mapping[str, Any]], planes: Sequence[Plane], percent: str) -> Picture | None:
    """Return the picture, two panels a row; None where no system has two values.

    Parameters
    ----------
    rows
        of ``presence.json``: ``family``, ``option``, ``value``, ``anchor``, ``front`` and by key ``mean``.
    planes
        the panels.
    percent
        the coverage of the intervals, as text.
    """
    drawn = [(plane, _lines(rows, plane)) for plane in planes]
    table = [
        (plane.labels, plane.name, family, spot.option, spot.value, spot.x, spot.y, spot.low, spot.high)
        for plane, lines in drawn
        for family, spots in lines.items()
        for spot in spots
    ]
    if not table:
        return None
    caption = (
        f"Means over queries; bands are {percent} intervals. Towards the upper right both are better. Between two "
        "points of a curve every mixture of the two policies is reached or surpassed. Hollow: anchors. Grey lines: the "
        "best that the retrieved lists allow with relevance known; no reranker of them gets beyond. The ideal anchor "
        "also ranks judged documents that were not retrieved."
    )
    alt = " ".join(
        f"{plane.title}, {family}: " + "; ".join(f"{number(spot.x)}, {number(spot.y)}" for spot in spots) + "."
        for plane, lines in drawn
        for family, spots in lines.items()
    )
    return Picture(
        "presence",
        "Utility and presence",
        caption,
        alt,
        COLUMNS,
        table,
        lambda: _figure([one for one in drawn if one[1]]),
    )


@dataclass(frozen=True, slots=True)
class _Spot:
    anchor: bool
    option: str | None
    value: float | None
    x: float
    y: float
    low: float
    high: float


def _lines(rows: Sequence[Mapping[str, Any]], plane: Plane) -> dict[str, list[_Spot]]:
    lines: dict[str, list[_Spot]] = {}
    for row in rows:
        x, y = row["mean"][plane.utility]["mean"], row["mean"][plane.key]["mean"]
        if x is None or y is None or (row["front"] and row["family"] not in plane.fronts):
            continue
        if row["family"] in plane.left_out:
            continue
        low, high = row["mean"][plane.key]["low"], row["mean"][plane.key]["high"]
        ends = (y if low is None else low, y if high is None else high)
        family = ANCHOR + row["family"] if row["anchor"] else row["family"]
        lines.setdefault(family, []).append(_Spot(row["anchor"], row["option"], row["value"], x, y, *ends))
    return lines


def _figure(drawn: Sequence[tuple[Plane, Mapping[str, Sequence[_Spot]]]]) -> Figure:
    families = list(dict.fromkeys(family for _, lines in drawn for family in lines))
    curves = [family for family in families if not family.startswith((ANCHOR, FRONTS))]
    with drawing([*families, *(plane.title for plane, _ in drawn)]):
        down = -(-len(drawn) // 2)
        figure = new_figure(_HEIGHT * down + _KEY, WIDTH)
        grid = figure.subplots(down, 2, squeeze=False)
        for place, (plane, lines) in enumerate(drawn):
            _panel(grid[place // 2][place % 2], plane, lines, curves)
        for spare in range(len(drawn), 2 * down):
            grid[spare // 2][spare % 2].set_axis_off()
        handles = {
            text: handle for axes in figure.axes for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        height = _KEY / (_HEIGHT * down + _KEY)
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, frameon=False, fontsize=SMALL)
        figure.tight_layout(rect=(0.0, height, 1.0, 1.0))
        return figure


def _panel(axes: Axes, plane: Plane, lines: Mapping[str, Sequence[_Spot]], curves: Sequence[str]) -> None:
    for family, spots in lines.items():
        x, y = [spot.x for spot in spots], [spot.y for spot in spots]
        if family.startswith(ANCHOR):
            marker = ANCHOR_MARKERS.get(short_name(family), "o")
            axes.plot(x, y, linestyle="none", marker=marker, markerfacecolor=PAPER, color=MUTED, markersize=5, zorder=4)
            axes.annotate(
                short_name(family),
                (x[0], y[0]),
                xytext=_BESIDE.get(short_name(family), (4, 3)),
                textcoords="offset points",
                fontsize=SMALL - 1,
                color=MUTED,
            )
            continue
        if family.startswith(FRONTS):
            axes.plot(x, y, "--", color=MUTED, linewidth=1.0, label="attainable", zorder=2)
            continue
        place = curves.index(family)
        colour, marker = COLOURS[place % len(COLOURS)], METHOD_MARKERS[place % len(METHOD_MARKERS)]
        axes.plot(x, y, "-", color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=family, zorder=3)
        low, high = [spot.low for spot in spots], [spot.high for spot in spots]
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    axes.set_title(wrap(plane.title, 44, 2), loc="left")
    axes.set_xlabel(f"{plane.utility}, higher is better")
    axes.set_ylabel(f"{plane.name}, higher is better")
    axes.margins(0.08)
    axes.grid(True)
    axes.set_axisbelow(True)

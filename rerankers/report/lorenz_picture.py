"""The picture of Lorenz curves: exposure over documents, and relative to what relevance earns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.report.data import ANCHOR, picture_names
from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, GRID, INK, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rerankers.report.data import ReportData
    from rerankers.report.extras import ShareCurve

COLUMNS = ("panel", "system", "share_below", "share_of_exposure", "gini")
DRAWN = 8  # methods; the table has the others
TARGET = "target"
_HEIGHT, _KEY_LINE = 3.1, 0.17  # inches
_ANCHOR_STYLES = ("--", ":", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))


def lorenz_picture(data: ReportData) -> Picture | None:
    """Return the picture, a panel for all documents and one for relevant ones; None without a curve."""
    panels = [
        (title, axis, _chosen(data, curves))
        for title, axis, curves in (
            ("All documents", "share of documents", data.extras.documents),
            ("Relevant documents", "share of what is due", data.extras.relevant),
        )
        if curves
    ]
    if not panels:
        return None
    names = {**picture_names(data.systems), TARGET: TARGET}
    rows = [
        (title, curve.system, place / (len(curve.share) - 1), share, curve.gini)
        for title, _, curves in panels
        for curve in curves
        for place, share in enumerate(curve.share)
    ]
    alt = " ".join(
        f"{title}, Gini coefficients: "
        + "; ".join(f"{names[curve.system]} {number(curve.gini)}" for curve in curves)
        + "."
        for title, _, curves in panels
    )
    caption = (
        "Lorenz curves, means over the queries. Left: documents from the least to the most exposed against the share "
        "of all exposure that they have together; the target is curved too, since relevance earns exposure. Right: "
        "relevant documents from the least to the most exposed for what they are due; on the diagonal each has its "
        "due. A user looks at few documents, so that the left curves bend much under any ranking."
    )
    if len(data.methods) > DRAWN:
        caption += f" The first {DRAWN} of {len(data.methods)} systems are drawn, beside the anchors."
    return Picture("lorenz", "Lorenz curves", caption, alt, COLUMNS, rows, lambda: _figure(panels, names))


def gini_rows(data: ReportData) -> list[tuple[str, float | None, float | None]]:
    """Return (system, Gini coefficient over documents, relative to what is due) of every system, then the target."""
    found = [{curve.system: curve.gini for curve in curves} for curves in (data.extras.documents, data.extras.relevant)]
    systems = [system for system in [*data.systems, TARGET] if any(system in values for values in found)]
    due = {TARGET: 0.0} if found[1] else {}
    return [(system, found[0].get(system), {**due, **found[1]}.get(system)) for system in systems]


def _chosen(data: ReportData, curves: Sequence[ShareCurve]) -> list[ShareCurve]:
    shown = [*data.methods[:DRAWN], *data.anchors, TARGET]
    by_system = {curve.system: curve for curve in curves}
    return [by_system[system] for system in shown if system in by_system]


def _figure(panels: Sequence[tuple[str, str, Sequence[ShareCurve]]], names: dict[str, str]) -> Figure:
    with drawing([*names.values()]):
        listed = list(dict.fromkeys(curve.system for _, _, curves in panels for curve in curves))
        below = 0.1 + _KEY_LINE * -(-len(listed) // 4)
        width = WIDTH if len(panels) > 1 else WIDTH * 0.62
        figure = new_figure(_HEIGHT + below, width)
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, axis, curves) in zip(grid, panels, strict=True):
            _panel(axes, title, axis, curves, listed)
        handles = {h.get_label(): h for axes in grid for h in axes.get_lines() if h.get_label() in listed}
        figure.legend(
            [handles[system] for system in listed],
            [wrap(names[system], 26, 1) for system in listed],
            loc="lower center", ncols=4, frameon=False, fontsize=SMALL, borderaxespad=0.1,
        )  # fmt: skip
        height = _HEIGHT + below
        figure.subplots_adjust(
            left=0.6 / width, right=1 - 0.1 / width, bottom=(0.5 + below) / height, top=1 - 0.28 / height, wspace=0.3
        )
        return figure


def _panel(axes: Axes, title: str, axis: str, curves: Sequence[ShareCurve], listed: Sequence[str]) -> None:
    axes.plot((0, 1), (0, 1), color=GRID, linewidth=1.2, zorder=1)
    anchors = [system for system in listed if system.startswith(ANCHOR)]
    methods = [system for system in listed if system not in anchors and system != TARGET]
    for curve in reversed(curves):
        x = [place / (len(curve.share) - 1) for place in range(len(curve.share))]
        look: dict[str, object] = {"color": INK, "linewidth": 1.6, "linestyle": (0, (6, 2))}
        if curve.system in anchors:
            style = _ANCHOR_STYLES[anchors.index(curve.system) % len(_ANCHOR_STYLES)]
            look = {"color": MUTED, "linewidth": 1.0, "linestyle": style}
        elif curve.system in methods:
            look = {"color": COLOURS[methods.index(curve.system) % len(COLOURS)], "linewidth": 1.6}
        axes.plot(x, curve.share, label=curve.system, zorder=3, **look)  # type: ignore[arg-type]
    axes.set_title(title, loc="left")
    axes.set_xlabel(axis)
    axes.set_ylabel("share of exposure")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")

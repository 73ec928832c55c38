"""Drawing of planes: systems as points with intervals, labelled in place, up to two panels a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.data import ANCHOR, picture_names, short_name
from rerankers.report.extras import FRONT_NAMES
from rerankers.report.labels import label_points
from rerankers.report.points import Panel, Point
from rerankers.report.style import (
    ANCHOR_MARKERS,
    COLOURS,
    INK,
    METHOD_MARKERS,
    MUTED,
    PAPER,
    SMALL,
    WIDTH,
    drawing,
    new_figure,
)
from rerankers.report.text import cells, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 14  # with more systems than this, methods are labelled by number

_HEIGHT, _ALONE = 3.0, 0.66  # inches a panel; share of the text width when there is only one
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.62, 0.3, 0.48, 0.42  # inches around a panel
_KEY_LINE, _KEY_CELL = 0.14, 0.057  # inches
_FRONT_LINE = 0.24  # inches
_STYLES = dict(zip(FRONT_NAMES, ("--", "-.", ":"), strict=True))
_BETTER = {"higher": ", higher is better", "lower": ", lower is better", "": ""}


def numbered(panels: Sequence[Panel]) -> list[str]:
    """Return the systems of all panels in the order that fixes their colours and numbers."""
    return list(dict.fromkeys(point.system for panel in panels for point in panel.points))


def plane_figure(panels: Sequence[Panel]) -> Figure:
    """Draw panels, two a row, each with its systems as labelled points."""
    order = numbered(panels)
    with drawing([*order, *(panel.title for panel in panels)]):
        across = min(len(panels), 2)
        down = -(-len(panels) // across)
        width = WIDTH if across == 2 else WIDTH * _ALONE
        key = _key(order, width)
        fronts = list(dict.fromkeys(front.name for panel in panels for front in panel.bounding))
        below = _KEY_LINE * len(key)
        height = _HEIGHT * down + below + (_FRONT_LINE if fronts else 0.0)
        figure = new_figure(height, width)
        wide = width / across
        for index, panel in enumerate(panels):
            row, column = divmod(index, across)
            left, bottom = column * wide + _LEFT, height - (row + 1) * _HEIGHT + _BOTTOM
            size = (wide - _LEFT - _RIGHT) / width, (_HEIGHT - _BOTTOM - _TOP) / height
            draw_plane(figure.add_axes((left / width, bottom / height, *size)), panel, order)
        for line, text in enumerate(reversed(key)):
            figure.text(_LEFT / width, (0.06 + _KEY_LINE * line) / height, text, fontsize=SMALL)
        _legend(figure, fronts, (_LEFT / width, (0.04 + below) / height))
        return figure


def _legend(figure: Figure, fronts: Sequence[str], place: tuple[float, float]) -> None:
    from matplotlib.lines import Line2D

    if fronts:
        handles = [Line2D([], [], **_front_look(name), label=name) for name in fronts]
        figure.legend(
            handles=handles, loc="lower left", bbox_to_anchor=place, ncols=len(fronts), frameon=False, fontsize=SMALL,
            borderpad=0, borderaxespad=0, handlelength=3,
        )  # fmt: skip


def _front_look(name: str) -> dict[str, Any]:
    return {"linestyle": _STYLES.get(name, "-"), "color": INK, "linewidth": 1.0, "marker": ".", "markersize": 4}


def draw_plane(axes: Axes, panel: Panel, order: Sequence[str] | None = None) -> Axes:
    """Draw one panel on axes and return them.

    Parameters
    ----------
    axes
        empty axes of a figure with an Agg canvas, at their final size: labels are placed for it.
    order
        the systems that fix colours and numbers over several panels; by default those of this one.
    """
    order = numbered([panel]) if order is None else order
    x, y = panel.bounds()
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    axes.locator_params(nbins=6)
    axes.set_xlabel(f"{panel.x.label}{_BETTER[panel.x.better]}")
    axes.set_ylabel(f"{panel.y.label}{_BETTER[panel.y.better]}")
    axes.set_title(wrap(panel.title, 40, 1), loc="left", pad=15 if panel.target is not None else 6)
    axes.grid(panel.target is None)
    axes.set_axisbelow(True)
    _equal_loss(axes, panel)
    for front in panel.bounding:
        axes.plot(*zip(*front.spots, strict=True), **_front_look(front.name), zorder=1.5, alpha=0.75)
    for point in reversed(panel.points):
        _draw_point(axes, point, order)
    colours = [_colour(point.system, order) for point in panel.points]
    label_points(axes, panel.points, _texts(panel.points, order), colours)
    return axes


def _colour(system: str, order: Sequence[str]) -> str:
    return MUTED if system.startswith(ANCHOR) else COLOURS[order.index(system) % len(COLOURS)]


def _draw_point(axes: Axes, point: Point, order: Sequence[str]) -> None:
    anchor = point.system.startswith(ANCHOR)
    rank = order.index(point.system)
    colour = _colour(point.system, order)
    line: dict[str, Any] = {"color": colour, "linewidth": 0.8, "alpha": 0.65, "solid_capstyle": "butt", "zorder": 2}
    if point.x_span:
        axes.plot(point.x_span, (point.y, point.y), **line)
    if point.y_span:
        axes.plot((point.x, point.x), point.y_span, **line)
    shape = ANCHOR_MARKERS.get(short_name(point.system), "o") if anchor else METHOD_MARKERS[rank % len(METHOD_MARKERS)]
    axes.plot(
        [point.x],
        [point.y],
        linestyle="none",
        marker=shape,
        markersize=9 if shape == "*" else 5.5,
        markerfacecolor=PAPER if anchor else colour,
        markeredgecolor=colour,
        markeredgewidth=1.0,
        zorder=3 if anchor else 4,
        clip_on=False,
    )


def _equal_loss(axes: Axes, panel: Panel) -> None:
    right = axes.get_xlim()[1]
    for index, (level, start, end) in enumerate(panel.equal_loss()):
        axes.plot(*zip(start, end, strict=True), color=MUTED, linewidth=0.5, alpha=0.45, zorder=1)
        at_right = abs(end[0] - right) < 1e-9 * max(abs(right), 1.0)
        axes.annotate(
            f"EEL {level:g}" if index == 0 else f"{level:g}",
            end,
            xytext=(3, 0) if at_right else (0, 3),
            textcoords="offset points",
            ha="left" if at_right else "center",
            va="center" if at_right else "bottom",
            color=MUTED,
            fontsize=SMALL - 0.5,
            annotation_clip=False,
        )


def _key(order: Sequence[str], width: float) -> list[str]:
    """Return the lines that say which number is which method; none where methods are labelled by name."""
    if len(order) <= LABELLED:
        return []
    room = int((width - _LEFT) / _KEY_CELL)
    lines = [""]
    for number, system in enumerate(order, 1):
        if not system.startswith(ANCHOR):
            entry = f"{number} {wrap(system, 40, 1)}   "
            if cells(lines[-1] + entry) > room and lines[-1]:
                lines.append("")
            lines[-1] += entry
    return lines


def _texts(points: Sequence[Point], order: Sequence[str]) -> list[str]:
    if len(order) > LABELLED:
        return [
            short_name(point.system) if point.system.startswith(ANCHOR) else str(order.index(point.system) + 1)
            for point in points
        ]
    names = picture_names(order)
    return [wrap(names[point.system], 22, 2) for point in points]

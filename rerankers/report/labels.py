"""Labels of points, measured and put where they hide nothing, with a line to the point where they stand apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.data import ANCHOR
from rerankers.report.placing import LEADER, place
from rerankers.report.style import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rerankers.report.points import Point


def label_points(axes: Axes, points: Sequence[Point], texts: Sequence[str], colours: Sequence[str]) -> None:
    """Write one text beside each point, in its colour: methods bold, anchors not."""
    figure: Any = axes.figure
    scale = 72.0 / figure.dpi
    sizes = _sizes(axes, points, texts, figure.canvas.get_renderer(), scale)
    centres = [_spot(axes, point.x, point.y, scale) for point in points]
    (left, bottom), (right, top) = axes.bbox.get_points() * scale
    # labels may reach a little over the right and upper edges, where there is no axis
    frame = (left + 1, bottom + 1, right + 6, top + 2)
    placed = place(centres, sizes, frame, _bars(axes, points, scale))
    for point, text, colour, (dx, dy, reach) in zip(points, texts, colours, placed, strict=True):
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 4}
        axes.annotate(
            text,
            (point.x, point.y),
            xytext=(float(dx), float(dy)),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            arrowprops=line if reach >= LEADER else None,
            annotation_clip=False,
            zorder=5,
            **_font(point),
        )


def _font(point: Point) -> dict[str, Any]:
    return {"fontsize": SMALL, "fontweight": "normal" if point.system.startswith(ANCHOR) else "bold"}


def _sizes(
    axes: Axes, points: Sequence[Point], texts: Sequence[str], renderer: Any, scale: float
) -> list[tuple[float, float]]:
    sizes = []
    for point, text in zip(points, texts, strict=True):
        drawn = axes.text(0, 0, text, **_font(point))
        extent = drawn.get_window_extent(renderer)
        sizes.append((extent.width * scale + 1, extent.height * scale + 1))
        drawn.remove()
    return sizes


def _spot(axes: Axes, x: float, y: float, scale: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y)) * scale
    return float(across), float(up)


def _bars(axes: Axes, points: Sequence[Point], scale: float) -> list[tuple[float, float, float, float]]:
    ends = []
    for point in points:
        if point.x_span:
            ends.append(((point.x_span[0], point.y), (point.x_span[1], point.y)))
        if point.y_span:
            ends.append(((point.x, point.y_span[0]), (point.x, point.y_span[1])))
    boxes = []
    for low, high in ends:
        left, bottom = _spot(axes, *low, scale)
        right, top = _spot(axes, *high, scale)
        boxes.append((left - 0.5, bottom - 0.5, right + 0.5, top + 0.5))
    return boxes

"""Relevance against closeness to the target, an axis a plane: candidates, the front, rerankings, the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.picture import Picture
from rerankers.report.recommendation_tables import RELEVANCE, objectives, places, role
from rerankers.report.style import COLOURS, MUTED, SMALL, WIDTH, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLANES = 6
"""Axes of balance that a picture shows; tables have them all."""
_ACROSS = 2
_HEIGHT = 2.7  # inches a row of planes
KINDS = {
    "other": ("other candidates", "o", MUTED, 14, 0.45),
    "front": ("on the front", "o", COLOURS[0], 26, 1.0),
    "recommended": ("recommended", "D", COLOURS[1], 38, 1.0),
    "reranking": ("reranking of the original", "s", COLOURS[2], 24, 1.0),
    "original": ("original query", "*", COLOURS[3], 110, 1.0),
}
"""Kind -> words, marker, colour, size, opacity; drawn in this order."""

Row = tuple[str, str, str, float, float]


def trade_off_picture(name: str, topic: Mapping[str, Any]) -> Picture | None:
    """Return the picture of a topic, None where it has no axis or no point.

    Parameters
    ----------
    name
        unique on the page: a file name without suffix.
    topic
        of ``recommendations.json``.
    """
    axes = [axis for axis in objectives(topic) if axis != RELEVANCE]
    shown = axes[:PLANES]
    rows = [row for axis in shown for row in _rows(topic, axis)]
    if not rows:
        return None
    left_out = f" {len(axes) - len(shown)} axes are left to the tables." if len(axes) > len(shown) else ""
    told = [f"{kind} {text}: {axis} {number(y)} at relevance {number(x)}" for axis, kind, text, x, y in rows]
    return Picture(
        name,
        "Relevance and balance",
        "Each point is a query, or a reranking of the original one. Right: its documents are more like those of the "
        f"original query. Up: the distribution over groups is closer to the target.{left_out}",
        "; ".join(text for text in told if not text.startswith("other")),
        ["axis", "kind", "query or method", RELEVANCE, "closeness"],
        rows,
        lambda: _figure(shown, rows),
    )


def _rows(topic: Mapping[str, Any], axis: str) -> list[Row]:
    front = set(places(topic, "front"))
    rows: list[Row] = []
    for place, one in enumerate(topic["candidates"]):
        kind = role(topic, place)
        kind = kind if kind in KINDS else ("front" if place in front else "other")
        rows += _row(axis, kind, one["text"], one["objectives"])
    for one in topic.get("alternatives") or []:
        rows += _row(axis, "reranking", one["name"], one["objectives"])
    return rows


def _row(axis: str, kind: str, text: str, values: Mapping[str, float | None]) -> list[Row]:
    x, y = values.get(RELEVANCE), values.get(axis)
    return [] if x is None or y is None else [(axis, kind, text, x, y)]


def _figure(axes: Sequence[str], rows: Sequence[Row]) -> Figure:
    across = min(_ACROSS, len(axes))
    down = -(-len(axes) // across)
    figure = new_figure(_HEIGHT * down + 0.4, WIDTH)
    planes: list[Axes] = [figure.add_subplot(down, across, place + 1) for place in range(len(axes))]
    for axis, plane in zip(axes, planes, strict=True):
        for kind, (_, marker, colour, size, opacity) in KINDS.items():
            mine = [(x, y) for of, what, _, x, y in rows if of == axis and what == kind]
            if mine:
                x, y = zip(*mine, strict=True)
                plane.scatter(x, y, s=size, marker=marker, color=colour, alpha=opacity, linewidths=0)
        plane.set_title(wrap(axis, 40, 1))
        plane.set_xlabel("relevance to the original")
        plane.set_ylabel("closeness to the target")
        plane.margins(0.08)
        plane.grid(True)
        plane.set_axisbelow(True)
    drawn = [kind for kind in KINDS if any(row[1] == kind for row in rows)]
    # handles of their own: a kind may be missing from the first plane
    handles = [_handle(planes[0], kind) for kind in drawn]
    figure.tight_layout(rect=(0, 0.3 / figure.get_figheight(), 1, 1))
    labels = [KINDS[kind][0] for kind in drawn]
    figure.legend(handles, labels, loc="lower center", ncols=len(drawn), frameon=False, fontsize=SMALL)
    return figure


def _handle(plane: Axes, kind: str) -> Any:
    _, marker, colour, size, opacity = KINDS[kind]
    return plane.scatter([], [], s=size, marker=marker, color=colour, alpha=opacity, linewidths=0)

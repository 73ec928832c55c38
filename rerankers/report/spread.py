"""The distribution over queries: the loss of each, sorted, one curve a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.report.data import ANCHOR, decoded, picture_names
from rerankers.report.keys import LOSSES, UTILITIES, attributes, in_order
from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rerankers.report.data import ReportData
    from rerankers.report.keys import Key

COLUMNS = ("measure", "system", "place", "value")
DRAWN, PANELS, SPOTS = 6, 4, 400
_HEIGHT, _KEY = 2.6, 0.4  # inches
_STYLES = ("--", ":", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))


def spread_picture(data: ReportData) -> Picture | None:
    """Return the sorted losses of every query and system; None for fewer than two queries."""
    keys = _keys(data)
    drawn = [(key, curves) for key in keys if (curves := _curves(data, key))]
    if not drawn:
        return None
    rows = [
        (key.text, system, place, value)
        for key, curves in drawn
        for system, values in curves.items()
        for place, value in enumerate(values, 1)
    ]
    names = picture_names(data.systems)
    alt = " ".join(
        f"{key.text}: "
        + "; ".join(
            f"{names[system]} from {number(values[0])}, median {number(values[len(values) // 2])}, to "
            f"{number(values[-1])}"
            for system, values in curves.items()
        )
        + "."
        for key, curves in drawn
    )
    caption = (
        f"Every {data.unit} by its loss, from the smallest to the largest, each system sorted by itself; utility for "
        "comparison where it was measured. A mean can hide that few of them have nearly all of the loss: the last ones "
        "are named in the tables below."
    )
    if len(data.methods) > DRAWN:
        caption += f" The first {DRAWN} of {len(data.methods)} systems are drawn, beside the anchors."
    title = f"Distribution over {data.units}"
    return Picture("per_query", title, caption, alt, COLUMNS, rows, lambda: _figure(drawn, names, data.units))


def _keys(data: ReportData) -> list[Key]:
    keys = [key for key in in_order(data.keys) if not key.part]
    losses = [
        key
        for attribute in (None, *attributes(keys))
        for key in keys
        if key.base in LOSSES and key.attribute == attribute
    ]
    useful = [key for key in keys if key.base in UTILITIES and key.attribute is None][:1]
    return [*useful, *losses][:PANELS]


def _curves(data: ReportData, key: Key) -> dict[str, list[float]]:
    """Return system -> its sorted values, means over seeds, at most `SPOTS` of them; nothing for a single unit."""
    import pyarrow.compute as pc

    table = data.measures.filter(
        pc.and_(pc.equal(data.measures["measure"], key.text), pc.is_valid(data.measures["value"]))
    )
    if not len(table):
        return {}
    shown = [*data.methods[:DRAWN], *data.anchors]
    found: dict[str, list[float]] = {}
    grouped = decoded(table).group_by(["system", "unit"], use_threads=False).aggregate([("value", "mean")])
    for system in shown:
        mine = grouped.filter(pc.equal(grouped["system"], system))["value_mean"].drop_null().to_pylist()
        values = sorted(value for value in mine if value == value)
        if len(values) > SPOTS:
            values = [values[round(place * (len(values) - 1) / (SPOTS - 1))] for place in range(SPOTS)]
        if len(values) > 1:
            found[system] = values
    return found


def _figure(drawn: Sequence[tuple[Key, Mapping[str, Sequence[float]]]], names: Mapping[str, str], units: str) -> Figure:
    with drawing([*names.values(), *(key.text for key, _ in drawn)]):
        across = min(len(drawn), 2)
        down = -(-len(drawn) // across)
        height = _HEIGHT * down + _KEY
        width = WIDTH if across > 1 else WIDTH * 0.66
        figure = new_figure(height, width)
        grid = [axes for line in figure.subplots(down, across, squeeze=False) for axes in line]
        listed = list(dict.fromkeys(system for _, curves in drawn for system in curves))
        for axes, (key, curves) in zip(grid, drawn, strict=False):
            _panel(axes, key, curves, listed, units)
        for spare in grid[len(drawn) :]:
            spare.set_axis_off()
        handles = {str(line.get_label()): line for axes in grid for line in axes.get_lines()}
        figure.legend(
            [handles[system] for system in listed],
            [wrap(names[system], 26, 1) for system in listed],
            loc="lower center", ncols=4, frameon=False, fontsize=SMALL, borderaxespad=0.1,
        )  # fmt: skip
        figure.subplots_adjust(
            left=0.5 / width, right=1 - 0.15 / width, bottom=(_KEY + 0.48) / height, top=1 - 0.28 / height,
            wspace=0.2, hspace=0.42,
        )  # fmt: skip
        return figure


def _panel(axes: Axes, key: Key, curves: Mapping[str, Sequence[float]], listed: Sequence[str], units: str) -> None:
    anchors = [system for system in listed if system.startswith(ANCHOR)]
    methods = [system for system in listed if system not in anchors]
    for system, values in reversed(list(curves.items())):
        x = [(place + 0.5) / len(values) for place in range(len(values))]
        if system in methods:
            look: dict[str, object] = {"color": COLOURS[methods.index(system) % len(COLOURS)], "linewidth": 1.6}
        else:
            style = _STYLES[anchors.index(system) % len(_STYLES)]
            look = {"color": MUTED, "linewidth": 1.0, "linestyle": style}
        axes.plot(x, values, label=system, zorder=3 if system in methods else 2, **look)  # type: ignore[arg-type]
    axes.set_title(wrap(key.text, 40, 1), loc="left")
    axes.set_xlabel(f"share of the {units}, sorted")
    axes.set_xlim(0, 1)
    axes.grid(True)
    axes.set_axisbelow(True)

"""The placebo panel: each group loss beside what shuffled labels would give, and the excess with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.report.data import ANCHOR, picture_names
from rerankers.report.keys import attributes, in_order
from rerankers.report.picture import Picture
from rerankers.report.style import ABOVE, BELOW, INK, MUTED, PAPER, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import cells, number, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from rerankers.report.data import ReportData

COLUMNS = ("attribute", "system", "loss", "placebo", "excess", "low", "high", "p")
DRAWN = 30  # rows of a picture
READ = (
    "Read it so: a group loss says something of the groups only as far as it lies off its placebo, and only where the "
    "interval of the excess leaves out 0."
)
_LINE, _TOP, _BOTTOM = 0.2, 0.4, 0.42  # inches
_CELL = 0.058  # inches a cell at the small size


@dataclass(frozen=True, slots=True)
class PlaceboRow:
    """A group loss of a system, its placebo, the excess with its interval, and the p-value of the shuffles."""

    attribute: str
    system: str
    loss: float
    placebo: float
    excess: float
    span: tuple[float, float] | None
    p: float | None


def placebo_rows(data: ReportData) -> list[PlaceboRow]:
    """Return a row for every system and attribute with a group loss and its placebo."""
    found = []
    keys = in_order(data.keys)
    for attribute in attributes(keys):
        by_part = {key.part: key.text for key in keys if key.base == "EEL" and key.attribute == attribute}
        if not {"", "placebo"} <= set(by_part):
            continue
        for system in data.systems:
            loss, placebo = data.mean(system, by_part[""]), data.mean(system, by_part["placebo"])
            if loss is None or placebo is None:
                continue
            excess = by_part.get("excess", "")
            given = data.mean(system, excess)
            found.append(
                PlaceboRow(
                    data.attribute_name(attribute) or "groups",
                    system,
                    loss,
                    placebo,
                    loss - placebo if given is None else given,
                    data.interval(system, excess),
                    data.mean(system, by_part.get("excess_p", "")),
                )
            )
    return found


def placebo_picture(data: ReportData) -> Picture | None:
    """Return the picture, attribute by attribute; None without a placebo."""
    rows = placebo_rows(data)
    if not rows:
        return None
    names = picture_names(data.systems)
    drawn = rows[:DRAWN]
    caption = (
        f"Left: each group loss (dot) and its placebo, what shuffled group labels would give (bar), means over the "
        f"{data.units}. Right: the difference of the two, the excess, with its {data.percent} interval; in colour "
        f"where the interval leaves out 0. {READ}"
    )
    if len(rows) > DRAWN:
        caption += f" The first {DRAWN} of {len(rows)} are drawn; the CSV file has all."
    alt = " ".join(
        f"{row.attribute}, {names[row.system]}: loss {number(row.loss)}, placebo {number(row.placebo)}, excess "
        f"{number(row.excess)}{'' if row.p is None else f', p {number(row.p)}'}."
        for row in drawn
    )
    listed = [
        (row.attribute, row.system, row.loss, row.placebo, row.excess, *(row.span or (None, None)), row.p)
        for row in rows
    ]
    return Picture(
        "placebo", "Group losses and their placebo", caption, alt, COLUMNS, listed, lambda: _figure(drawn, names)
    )


def _figure(rows: Sequence[PlaceboRow], names: dict[str, str]) -> Figure:
    with drawing([*names.values(), *(row.attribute for row in rows)]):
        kinds = list(dict.fromkeys(row.attribute for row in rows))
        labels = [f"{wrap(row.attribute, 14, 1)}: {wrap(names[row.system], 20, 1)}" for row in rows]
        places = [place + 0.6 * kinds.index(row.attribute) for place, row in enumerate(rows)]
        height = _TOP + _BOTTOM + _LINE * (places[-1] + 1)
        figure = new_figure(height, WIDTH)
        left, right = figure.subplots(1, 2, sharey=True)
        for y, row in zip(places, rows, strict=True):
            colour = MUTED if row.system.startswith(ANCHOR) else INK
            left.plot((row.placebo, row.loss), (y, y), color=MUTED, linewidth=1.2, zorder=2)
            left.plot([row.placebo], [y], marker="|", markersize=9, color=INK, linestyle="none", zorder=3)
            left.plot([row.loss], [y], marker="o", markersize=4.5, color=colour, linestyle="none", zorder=4)
            certain = row.span is not None and (row.span[0] > 0 or row.span[1] < 0)
            mark = (BELOW if row.excess > 0 else ABOVE) if certain else MUTED
            if row.span is not None:
                right.plot(row.span, (y, y), color=mark, linewidth=1.4, solid_capstyle="butt", zorder=2)
            face = mark if certain else PAPER
            right.plot([row.excess], [y], marker="o", markersize=4.5, color=mark, markerfacecolor=face, zorder=3)
        right.axvline(0, color=INK, linewidth=0.8, zorder=1)
        left.set_yticks(places, labels, fontsize=SMALL)
        left.set_ylim(places[-1] + 0.7, -0.7)
        for axes, title in ((left, "loss (dot) and placebo (bar)"), (right, "excess, with interval")):
            axes.set_title(title, loc="left")
            axes.grid(True, axis="x")
            axes.set_axisbelow(True)
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
        names_wide = 0.25 + _CELL * max(cells(label) for label in labels)
        figure.subplots_adjust(
            left=names_wide / WIDTH, right=1 - 0.15 / WIDTH, bottom=0.32 / height, top=1 - 0.3 / height, wspace=0.08
        )
        return figure

"""The trade-off of families of policies: utility against loss, a curve each, with the band of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, METHOD_MARKERS, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("curve", "kind", "value", "utility", "utility_low", "utility_high", "loss", "loss_low", "loss_high")
_HEIGHT = 4.2  # inches
_STYLES = ("--", ":", "-.")  # of fronts
FRONT, SWEEP, ANCHOR, RUN = "front", "sweep", "anchor", "run"
MOST_NAMED = 16
"""Runs told apart by colour and mark; where there are more they are points of one colour."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One policy of a curve: the option's value, mean utility and loss, each with its interval."""

    value: float | None
    utility: tuple[float, float, float]
    loss: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve, a front, or a run or an anchor of a single spot; ``option`` is what moves along a curve."""

    name: str
    kind: str
    option: str
    spots: Sequence[Spot]


def trade_off(loss: str, lines: Sequence[Line], slug: str, percent: str) -> Picture:
    """Return the picture of utility against one loss.

    Parameters
    ----------
    loss
        what it is called.
    lines
        sweeps, runs, fronts and anchors.
    slug
        for the file's name.
    percent
        the coverage of the intervals, as text.
    """
    moved = ", ".join(dict.fromkeys(line.option for line in lines if line.kind == SWEEP))
    runs = sum(line.kind == RUN for line in lines)
    caption = f"Mean utility against mean {loss}{f' while {moved} moves' if moved else ''}; "
    caption += f"bands and bars are {percent} intervals over queries. Towards the lower right both are better."
    if moved:
        caption += " Every point between two of one curve is reached by choosing one of the two policies at random."
    if runs > MOST_NAMED:
        caption += f" The {runs} points are runs; their names are in the file of the numbers drawn."
    if any(line.kind == FRONT for line in lines):
        caption += " Grey: fronts, below which no policy of the same knowledge with at least so much utility gets."
    alt = " ".join(
        f"{line.name}: "
        + "; ".join(f"utility {number(s.utility[0])}, loss {number(s.loss[0])}" for s in line.spots)
        + "."
        for line in lines
    )
    rows = [(line.name, line.kind, spot.value, *spot.utility, *spot.loss) for line in lines for spot in line.spots]
    return Picture(
        f"trade_off_{slug}", f"Utility and {loss}", caption, alt, COLUMNS, rows, lambda: _figure(loss, lines)
    )


def _figure(loss: str, lines: Sequence[Line]) -> Figure:
    with drawing([line.name for line in lines]):
        figure = new_figure(_HEIGHT, WIDTH)
        axes = figure.add_subplot()
        place, fronts = 0, 0
        left, right = _span(lines)
        many = sum(line.kind == RUN for line in lines) > MOST_NAMED
        for line in lines:
            if line.kind == RUN and many:
                _point(axes, line, MUTED, ".", "")
                continue
            if line.kind == ANCHOR:
                _anchor(axes, line, line.spots[0].utility[0] < left + 0.3 * (right - left))
                continue
            if line.kind == FRONT:
                _front(axes, line, left, _STYLES[fronts % len(_STYLES)])
                fronts += 1
                continue
            # the mark changes with each round of colours too, so that no two of the first 64 look alike
            colour = COLOURS[place % len(COLOURS)]
            marker = METHOD_MARKERS[(place + place // len(COLOURS)) % len(METHOD_MARKERS)]
            place += 1
            if line.kind == RUN:
                _point(axes, line, colour, marker, wrap(line.name, 34, 2))
            else:
                _curve(axes, line, colour, marker, "-")
        axes.set_xlabel("utility, higher is better")
        axes.set_ylabel(f"{loss}, lower is better")
        axes.grid(True)
        axes.set_axisbelow(True)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL)
        figure.tight_layout()
        return figure


def _span(lines: Sequence[Line]) -> tuple[float, float]:
    x = [spot.utility[0] for line in lines for spot in line.spots]
    return min(x), max(x)


def _front(axes: Axes, line: Line, left: float, style: str) -> None:
    """Draw a front; from its policy of least utility on it goes on level, since "at least so much" is asked of it."""
    first = line.spots[0]
    x = [min(left, first.utility[0]), *(spot.utility[0] for spot in line.spots)]
    y = [first.loss[0], *(spot.loss[0] for spot in line.spots)]
    axes.plot(x, y, style, color=MUTED, linewidth=1.2, label=wrap(line.name, 34, 2), zorder=2)


def _curve(axes: Axes, line: Line, colour: str, marker: str, style: str) -> None:
    x = [spot.utility[0] for spot in line.spots]
    y = [spot.loss[0] for spot in line.spots]
    label = wrap(line.name, 34, 2)
    axes.plot(x, y, style, color=colour, marker=marker, markersize=4, linewidth=1.2, label=label, zorder=3)
    if line.kind == SWEEP:
        low, high = ([spot.loss[part] for spot in line.spots] for part in (1, 2))
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)


def _point(axes: Axes, line: Line, colour: str, marker: str, label: str) -> None:
    (spot,) = line.spots
    bars = [[[max(0.0, centre - low)], [max(0.0, high - centre)]] for centre, low, high in (spot.utility, spot.loss)]
    axes.errorbar(
        spot.utility[0],
        spot.loss[0],
        xerr=bars[0],
        yerr=bars[1],
        fmt=marker,
        color=colour,
        markersize=4.5,
        elinewidth=0.7,
        label=label or "_nolegend_",
        zorder=4,
    )


def _anchor(axes: Axes, line: Line, at_the_left: bool) -> None:
    (spot,) = line.spots
    place = spot.utility[0], spot.loss[0]
    axes.plot(*place, marker="o", markerfacecolor="none", color=MUTED, markersize=5)
    # a name to the left of the leftmost point would lie on the axis
    side = {"xytext": (5, 5), "ha": "left"} if at_the_left else {"xytext": (-5, 5), "ha": "right"}
    axes.annotate(line.name, place, textcoords="offset points", fontsize=SMALL, color=MUTED, **side)

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
FRONT, SWEEP, ANCHOR = "front", "sweep", "anchor"


@dataclass(frozen=True, slots=True)
class Spot:
    """One policy of a curve: the option's value, mean utility and loss, each with its interval."""

    value: float | None
    utility: tuple[float, float, float]
    loss: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve, a front, or an anchor of a single spot; ``option`` is what moves along it."""

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
        sweeps, fronts and anchors.
    slug
        for the file's name.
    percent
        the coverage of the intervals, as text.
    """
    moved = ", ".join(dict.fromkeys(line.option for line in lines if line.kind == SWEEP))
    caption = (
        f"Mean utility against mean {loss} while {moved} moves; bands and bars are {percent} intervals over queries. "
        "Towards the lower right both are better. Every point between two of one curve is reached by choosing one of "
        "the two policies at random."
    )
    if any(line.kind == FRONT for line in lines):
        caption += " Grey: fronts, below which no policy of the same knowledge gets."
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
        for line in lines:
            if line.kind == ANCHOR:
                _anchor(axes, line)
                continue
            if line.kind == FRONT:
                _curve(axes, line, MUTED, "", _STYLES[fronts % len(_STYLES)])
                fronts += 1
                continue
            _curve(axes, line, COLOURS[place % len(COLOURS)], METHOD_MARKERS[place % len(METHOD_MARKERS)], "-")
            place += 1
        axes.set_xlabel("utility, higher is better")
        axes.set_ylabel(f"{loss}, lower is better")
        axes.grid(True)
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL)
        figure.tight_layout()
        return figure


def _curve(axes: Axes, line: Line, colour: str, marker: str, style: str) -> None:
    x = [spot.utility[0] for spot in line.spots]
    y = [spot.loss[0] for spot in line.spots]
    label = wrap(line.name, 34, 2)
    axes.plot(x, y, style, color=colour, marker=marker, markersize=4, linewidth=1.2, label=label, zorder=3)
    if line.kind == SWEEP:
        low, high = ([spot.loss[part] for spot in line.spots] for part in (1, 2))
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)


def _anchor(axes: Axes, line: Line) -> None:
    (spot,) = line.spots
    place = spot.utility[0], spot.loss[0]
    axes.plot(*place, marker="o", markerfacecolor="none", color=MUTED, markersize=5)
    axes.annotate(line.name, place, xytext=(-5, 5), textcoords="offset points", ha="right", fontsize=SMALL, color=MUTED)

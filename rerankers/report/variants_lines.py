"""Lines with intervals, the form of most pictures of query variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, METHOD_MARKERS, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PREFIX = "variants_"
MOST = 12  # lines of a picture
_HEIGHT = 3.0  # inches


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is called, where its points are, and their intervals (None: none)."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spans: Sequence[tuple[float, float] | None] = ()
    dashed: bool = False


def line_of(name: str, rows: Sequence[Mapping[str, Any]], x: str | None = None) -> Line:
    """Return the rows that have a mean as a line, over one of their keys or over their place."""
    points = [(place if x is None else row[x], row) for place, row in enumerate(rows) if row["mean"] is not None]
    spans = [None if row["low"] is None else (row["low"], row["high"]) for _, row in points]
    return Line(name, [at for at, _ in points], [row["mean"] for _, row in points], spans)


def picture_of(
    name: str,
    title: str,
    caption: str,
    lines: Sequence[Line],
    ylabel: str,
    words: Sequence[str] | None,
    xlabel: str = "",
    apart: bool = False,
) -> Picture | None:
    """Return a picture of lines; ``words`` are what the places 0, 1, … are called, ``apart``: points without lines."""
    shown = [line for line in lines if len(line.y)][:MOST]
    if not shown:
        return None
    rows = []
    for line in shown:
        for place, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
            span = line.spans[place] if place < len(line.spans) else None
            at = words[int(x)] if words is not None else x
            rows.append((line.name, at, y, *((None, None) if span is None else span)))
    left_out = len([line for line in lines if len(line.y)]) - len(shown)
    if left_out:
        caption += f" {left_out} more lines are in variants.json."
    alt = "; ".join(f"{row[0]} at {row[1]}: {number(row[2])}" for row in rows)
    columns = ("line", xlabel or "at", ylabel, "low", "high")
    draw: Callable[[], Figure] = lambda: _figure(shown, ylabel, words, xlabel, apart)  # noqa: E731
    return Picture(f"{PREFIX}{name}", title, caption, alt, columns, rows, draw)


def _figure(lines: Sequence[Line], ylabel: str, words: Sequence[str] | None, xlabel: str, apart: bool) -> Figure:
    from matplotlib.ticker import MaxNLocator

    with drawing([*(line.name for line in lines), *(words or ())]):
        figure = new_figure(_HEIGHT, WIDTH)
        axes = figure.add_subplot()
        for place, line in enumerate(lines):
            colour = MUTED if line.dashed and apart else COLOURS[place % len(COLOURS)]
            beside = 0.0 if words is None else (0.6 if apart else 0.12) / max(len(lines), 2)
            if words is None and any(line.spans for line in lines):
                beside = 0.008 * max(at for line in lines for at in line.x)
            shift = (place - (len(lines) - 1) / 2) * beside
            x = [at + shift for at in line.x]
            for at, span in zip(x, line.spans, strict=False):
                if span is not None:
                    axes.plot([at, at], list(span), "-", color=colour, linewidth=1.0, alpha=0.6)
            style = "" if apart else "--" if line.dashed else "-"
            marker = METHOD_MARKERS[place % len(METHOD_MARKERS)]
            axes.plot(
                x,
                line.y,
                linestyle=style or "none",
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.2,
                label=wrap(line.name, 30, 2),
            )
        if words is not None:
            axes.set_xticks(range(len(words)), [wrap(word, 14, 2) for word in words])
            axes.set_xlim(-0.5, len(words) - 0.5)
        axes.set_ylim(bottom=min(0.0, *(value for line in lines for value in line.y)))
        if words is None:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(True, axis="y")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL)
        figure.tight_layout()
        return figure

"""Pictures of training: loss by iteration, and how often what is said to be relevant is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, GRID, INK, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = ("fit", "iteration", "seconds", "measure", "value")
BINS = ("part", "predicted", "observed", "low", "high", "pairs")
_HEIGHT = 2.7  # inches a panel
_FINAL = "final"


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One measured value of a training curve."""

    fit: str
    iteration: int
    seconds: float
    measure: str
    value: float


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability curve: mean prediction, observed rate with its interval, and pairs in it."""

    part: str
    predicted: float
    observed: float
    low: float
    high: float
    pairs: float


def training_curves(rows: Sequence[CurveRow]) -> Picture | None:
    """Return the curves of every measure, a panel each: the final fit in colour, the fits of folds in grey."""
    if not rows:
        return None
    measures = list(dict.fromkeys(row.measure for row in rows))
    alt = " ".join(_ends(measure, [row for row in rows if row.measure == measure]) for measure in measures)
    return Picture(
        "training_curves",
        "Training",
        "What was minimised, by iteration: train is the objective on the queries that were fitted on, valid the same "
        "on those held back, monitor what early stopping looked at. The final fit is drawn in colour, the fits without "
        "a fold each in grey; the final fit holds nothing back and stops where they stopped.",
        alt,
        CURVES,
        [(row.fit, row.iteration, row.seconds, row.measure, row.value) for row in rows],
        lambda: _curves_figure(rows, measures),
    )


def reliability_picture(bins: Sequence[Bin]) -> Picture | None:
    """Return the reliability curves, a panel for all pairs and each group."""
    if not bins:
        return None
    parts = list(dict.fromkeys(one.part for one in bins))
    alt = " ".join(
        f"{part}: "
        + ", ".join(f"{number(one.predicted)} said, {number(one.observed)} seen" for one in bins if one.part == part)
        + "."
        for part in parts
    )
    return Picture(
        "reliability",
        "Reliability of the probabilities",
        "Pairs in bins of equal size by predicted probability of relevance: the mean prediction against the share that "
        "was judged relevant, with its interval. On the diagonal a probability means what it says. Each prediction "
        "comes from a model that saw neither the query nor its judgments, and a calibration of other queries.",
        alt,
        BINS,
        [(one.part, one.predicted, one.observed, one.low, one.high, one.pairs) for one in bins],
        lambda: _reliability_figure(bins, parts),
    )


def _ends(measure: str, rows: Sequence[CurveRow]) -> str:
    last: Mapping[str, CurveRow] = {row.fit: row for row in rows}
    return f"{measure} ends at " + ", ".join(f"{number(row.value)} ({fit})" for fit, row in last.items()) + "."


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    across = min(count, 3)
    down = -(-count // across)
    figure = new_figure(_HEIGHT * down, WIDTH if across > 1 else WIDTH * 0.66)
    grid = figure.subplots(down, across, squeeze=False)
    axes = [one for row in grid for one in row]
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def _curves_figure(rows: Sequence[CurveRow], measures: Sequence[str]) -> Figure:
    with drawing([*measures]):
        figure, panels = _panels(len(measures))
        for place, (axes, measure) in enumerate(zip(panels, measures, strict=True)):
            mine = [row for row in rows if row.measure == measure]
            for fit in dict.fromkeys(row.fit for row in mine):
                points = [(row.iteration, row.value) for row in mine if row.fit == fit]
                colour = COLOURS[place % len(COLOURS)] if fit == _FINAL else MUTED
                wide = 1.4 if fit == _FINAL else 0.6
                axes.plot(*zip(*points, strict=True), color=colour, linewidth=wide, zorder=3 if fit == _FINAL else 2)
            axes.set_title(wrap(measure, 34, 1), loc="left")
            axes.set_xlabel("iteration")
            axes.grid(True)
            axes.set_axisbelow(True)
        figure.tight_layout()
        return figure


def _reliability_figure(bins: Sequence[Bin], parts: Sequence[str]) -> Figure:
    top = max(max(one.predicted, one.high) for one in bins)
    with drawing([*parts]):
        figure, panels = _panels(len(parts))
        for place, (axes, part) in enumerate(zip(panels, parts, strict=True)):
            mine = [one for one in bins if one.part == part]
            colour = COLOURS[place % len(COLOURS)]
            axes.plot((0, top), (0, top), color=GRID, linewidth=1.0, zorder=1)
            for one in mine:
                axes.plot((one.predicted, one.predicted), (one.low, one.high), color=colour, linewidth=0.8, alpha=0.65)
            axes.plot(
                [one.predicted for one in mine], [one.observed for one in mine], color=colour, marker="o", markersize=4
            )
            axes.set_title(wrap(part, 34, 1), loc="left")
            axes.set_xlabel("predicted", color=INK, fontsize=SMALL + 1)
            axes.set_ylabel("observed", color=INK, fontsize=SMALL + 1)
            axes.set_xlim(0, top * 1.03)
            axes.set_ylim(0, top * 1.03)
        figure.tight_layout()
        return figure

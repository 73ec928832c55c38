"""Exposure along a sequence: what groups had been given and due after each impression, and the loss on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, INK, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import number, wrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rerankers.report.extras import Trace

COLUMNS = ("panel", "name", "impressions", "given", "due")
GROUPS, PANELS = 8, 4  # drawn a panel; attributes drawn
_HEIGHT = 2.9  # inches a row of panels
_STYLES = ("-", "--", ":", "-.")
LOSS = "loss"


def sequence_picture(trace: Trace) -> Picture:
    """Return the picture: a panel for each attribute, then one for the losses."""
    attributes = list(trace.given)[:PANELS]
    rows: list[tuple[str | float | None, ...]] = [
        (attribute, group, impression, given, due)
        for attribute, groups in trace.given.items()
        for group, values in groups.items()
        for impression, given, due in zip(trace.impression, values, trace.due[attribute][group], strict=True)
    ]
    rows += [
        (LOSS, name, impression, value, None)
        for name, values in trace.loss.items()
        for impression, value in zip(trace.impression, values, strict=True)
    ]
    caption = (
        "Lines: exposure that the documents of each group had been given up to an impression, added up; broken lines "
        "of the same colour: what they had been due by the judgments. Losses: of documents and of groups by query, the "
        "squared distance of mean exposure so far and target, mean over the queries asked so far; and of all queries "
        "together, the squared distance of what groups were given and due an impression, so that one query may make up "
        "for another. The scale is logarithmic."
    )
    if trace.left_out:
        caption += f" {trace.left_out:,} impressions of queries without judgments do not count."
    if any(len(groups) > GROUPS for groups in trace.given.values()) or len(trace.given) > PANELS:
        caption += f" The {GROUPS} largest groups of the first {PANELS} attributes are drawn; the CSV file has all."
    return Picture(
        "sequence",
        "Exposure along the sequence",
        caption,
        _words(trace),
        COLUMNS,
        rows,
        lambda: _figure(trace, attributes),
    )


def _words(trace: Trace) -> str:
    ends = [
        f"{attribute}, {group}: given {number(values[-1])}, due {number(trace.due[attribute][group][-1])}"
        for attribute, groups in trace.given.items()
        for group, values in groups.items()
    ]
    losses = [f"{name} {number(values[0])} at first, {number(values[-1])} at the end" for name, values in _known(trace)]
    return f"After {trace.impression[-1]:,} impressions. {'; '.join([*ends, *losses])}."


def _known(trace: Trace) -> list[tuple[str, list[float]]]:
    found = [(name, [value for value in values if value is not None]) for name, values in trace.loss.items()]
    return [(name, values) for name, values in found if values]


def _figure(trace: Trace, attributes: Sequence[str]) -> Figure:
    names = [group for attribute in attributes for group in trace.given[attribute]]
    with drawing([*attributes, *names, *trace.loss]):
        panels = len(attributes) + 1
        across = min(panels, 2)
        down = -(-panels // across)
        figure = new_figure(_HEIGHT * down, WIDTH if across > 1 else WIDTH * 0.66)
        grid = [axes for line in figure.subplots(down, across, squeeze=False) for axes in line]
        for axes, attribute in zip(grid, attributes, strict=False):
            _groups(axes, attribute, trace)
        _losses(grid[len(attributes)], trace)
        for spare in grid[panels:]:
            spare.set_axis_off()
        for axes in grid[:panels]:
            axes.set_xlabel("impressions served")
            axes.grid(True)
            axes.set_axisbelow(True)
            axes.legend(frameon=False, fontsize=SMALL - 0.5, loc="best", handlelength=1.6, labelspacing=0.25)
        figure.tight_layout()
        return figure


def _groups(axes: Axes, attribute: str, trace: Trace) -> None:
    given: Mapping[str, Sequence[float]] = trace.given[attribute]
    due = trace.due[attribute]
    largest = sorted(given, key=lambda group: -max(given[group][-1], due[group][-1]))[:GROUPS]
    for place, group in enumerate(one for one in given if one in largest):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(trace.impression, given[group], color=colour, linewidth=1.5, label=wrap(group, 24, 1))
        axes.plot(trace.impression, due[group], color=colour, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.set_title(wrap(f"Exposure: {attribute}", 40, 1), loc="left")


def _losses(axes: Axes, trace: Trace) -> None:
    positive = False
    for place, (name, values) in enumerate(trace.loss.items()):
        spots = [(x, y) for x, y in zip(trace.impression, values, strict=True) if y is not None]
        if not spots:
            continue
        colour = INK if place == 0 else COLOURS[(place - 1) // 2 % len(COLOURS)]
        style = "-" if place == 0 else _STYLES[(place - 1) % 2]
        axes.plot(*zip(*spots, strict=True), color=colour, linestyle=style, linewidth=1.3, label=wrap(name, 34, 1))
        positive = positive or any(y > 0 for _, y in spots)
    if positive:
        axes.set_yscale("log")
        # the default writes powers as formulas, which pictures do not parse since names may hold dollar signs
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda _value, _place: "")
    axes.set_title("Loss of what had been served", loc="left")

"""Recall of due exposure against depth, a curve a group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.picture import Picture
from rerankers.report.style import COLOURS, METHOD_MARKERS, MUTED, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import clean, number, wrap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT = 3.2  # inches
_MOST = 12  # groups a picture shows


def recall_pictures(found: Mapping[str, Any]) -> list[Picture]:
    """Return one picture an attribute of ``headroom.json``: its groups beside all documents."""
    everything, *groups = found["recall"]
    attributes = list(dict.fromkeys(row["attribute"] for row in groups)) or [""]
    return [
        _picture(found, number_, attribute, [everything, *(row for row in groups if row["attribute"] == attribute)])
        for number_, attribute in enumerate(attributes)
        if everything["due"] > 0
    ]


def _picture(found: Mapping[str, Any], place: int, attribute: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    shown = [row for row in rows if row["due"] > 0]
    left_out = len(shown) - _MOST
    lines = [shown[0], *sorted(shown[1:], key=lambda row: -row["due"])[: _MOST - 1]]
    depths = found["depths"]
    caption = "Part of the exposure due to relevant documents that the first documents of each list can receive."
    if left_out > 0:
        caption += f" {left_out} groups that are due less are left out."
    table = [
        (row["group"], depth, value) for row in lines for depth, value in zip(depths, row["recall_due"], strict=True)
    ]
    alt = "; ".join(f"{group} {number(value)} at {depth}" for group, depth, value in table)
    slug = re.sub(r"[^A-Za-z0-9]+", "_", attribute).strip("_") or "all"
    return Picture(
        f"headroom_{place}_{slug}",
        f"Recall of due exposure{f' by {clean(attribute)}' if attribute else ''}",
        caption,
        alt,
        ("group", "depth", "recall_due"),
        table,
        lambda: _figure(depths, lines),
    )


def _figure(depths: Sequence[int], rows: Sequence[Mapping[str, Any]]) -> Figure:
    with drawing([row["group"] for row in rows]):
        figure = new_figure(_HEIGHT, WIDTH)
        axes = figure.add_subplot()
        for place, row in enumerate(rows):
            colour = MUTED if place == 0 else COLOURS[(place - 1) % len(COLOURS)]
            style = "--" if place == 0 else "-"
            marker = METHOD_MARKERS[place % len(METHOD_MARKERS)]
            label = wrap(row["group"], 34, 2)
            axes.plot(
                depths, row["recall_due"], style, color=colour, marker=marker, markersize=4, linewidth=1.2, label=label
            )
        axes.set_xscale("log")
        axes.set_xticks(depths, [f"{depth:,}" for depth in depths])
        axes.minorticks_off()
        axes.set_ylim(0.0, 1.02)
        axes.set_xlabel("documents of each list")
        axes.set_ylabel("recall of due exposure")
        axes.grid(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL)
        figure.tight_layout()
        return figure

"""comparison.csv: every number of a comparison, one row each, in full precision."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.stages.compare_optimum import SHARE
from rerankers.stages.sweeps import UTILITY

if TYPE_CHECKING:
    from rerankers.stages.compare_rows import Row
    from rerankers.stages.compare_sheets import Shown

HEADER = (
    "collection", "run", "kind", "folder", "preset", "tier", "measure", "mean", "low", "high", "seeds", "seed_sd",
    "queries",
)  # fmt: skip
"""``kind`` is run, anchor or front; of a front ``mean`` is what it has with 90 % of the static utility."""


def comma_separated(parts: Sequence[Shown], labels: Mapping[Path, str]) -> str:
    """Return one row a collection, run and measure; a cell is empty where there is no value.

    Parameters
    ----------
    labels
        what the jobs' folders are called.
    """
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(HEADER)
    for one in parts:
        title = one.section.title
        for row in one.section.rows:
            kind = "anchor" if row.is_anchor else "run"
            folders = "; ".join(labels[member.job.folder] for member in row.members)
            for key in one.report.keys:
                if key in row.means:
                    low, high = row.intervals.get(key) or (None, None)
                    about = [title, row.name, kind, folders, row.members[0].job.preset, row.tier, key]
                    numbers = [row.means[key], low, high, row.seeds, row.spread.get(key), _queries(row, key)]
                    out.writerow([*about, *numbers])
        for found in one.best.points:
            name = f"{found.name} at {SHARE:.0%} of the static utility"
            point = found.point
            for key, numbers in (
                (UTILITY, [point.utility if point.loss is not None else None, None, None]),
                (found.loss, [point.loss, point.low, point.high]),
            ):
                out.writerow([title, name, "front", None, None, None, key, *numbers, None, None, None])
    return text.getvalue()


def distances_csv(parts: Sequence[Shown]) -> str:
    """Return how far runs lie above fronts at their own utility, in full precision."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["collection", "run", "loss", "front", "utility", "value", "least", "above", "low", "high"])
    for one in parts:
        for row in one.best.distances:
            numbers = [row.utility, row.value, row.least, row.above, row.low, row.high]
            out.writerow([one.section.title, row.run, row.loss, row.front, *numbers])
    return text.getvalue()


def _queries(row: Row, key: str) -> int | None:
    """Return how many queries have a value, None for what is told beside the queries' values."""
    if key not in row.grid.keys:
        return None
    return int(np.sum(~np.isnan(row.grid.value[:, row.grid.keys.index(key)])))

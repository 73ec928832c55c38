"""Differences over collections: each collection counts once, whatever its number of queries."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.report.comparison_table import Column, Line, Part, Sheet, Value, decimals_of
from rerankers.stages.compare_sheets import mark_of, title_of

if TYPE_CHECKING:
    from rerankers.report.keys import Key
    from rerankers.stages.compare_options import TableOptions
    from rerankers.stages.compare_sheets import Shown

NOTE = (
    "The mean of each collection's mean difference, a collection counting once; least and greatest "
    "of them; in how many the run is better (and in how many of these the test within the collection says so). No test "
    "is made over collections: they are few, and no sample."
)

HEADER = ("measure", "run", "baseline", "mean", "least", "greatest", "collections", "better_in", "by_test_in")


@dataclass(frozen=True, slots=True)
class Across:
    """One run less another in one measure, over the collections that have both.

    Attributes
    ----------
    key, run, baseline
        which.
    mean, least, greatest
        of the collections' mean differences.
    collections
        how many have both.
    better, told
        in how many the run is better, and in how many of these a test tells so; None for measures without a better.
    """

    key: Key
    run: str
    baseline: str
    mean: float
    least: float
    greatest: float
    collections: int
    better: int | None
    told: int | None


def across(parts: Sequence[Shown], correction: str) -> list[Across]:
    """Return the differences over collections, of pairs that two collections or more have."""
    found: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
    keys = {}
    for one in parts:
        for row in one.against.rows:
            if row.interval.mean is None:
                continue
            keys[row.key.text] = row.key
            mark = mark_of(row, one.against, correction)
            found.setdefault((row.key.text, row.run, row.baseline), []).append((row.interval.mean, mark))
    out = []
    for (text, run, baseline), values in found.items():
        if len(values) < 2:
            continue
        key = keys[text]
        means = np.array([mean for mean, _ in values])
        won = None if not key.better else int(np.sum(means > 0 if key.better == "higher" else means < 0))
        told = None if won is None else sum(mark == "better" for _, mark in values)
        ends = float(means.min()), float(means.max())
        out.append(Across(key, run, baseline, float(means.mean()), *ends, len(values), won, told))
    return out


def across_sheet(rows: Sequence[Across], options: TableOptions) -> Sheet | None:
    """Return the table of them; None where there are none."""
    if not rows:
        return None
    body = []
    alone = len({row.baseline for row in rows}) == 1
    for text in dict.fromkeys(row.key.text for row in rows):
        own = [row for row in rows if row.key.text == text]
        title = title_of(own[0].key)
        body.append(
            Part(
                f"{title}, {own[0].key.better} is better" if own[0].key.better else title,
                [_line(row, alone) for row in own],
            )
        )
    spans = [Value(row.mean, row.least, row.greatest) for row in rows]
    decimals = options.decimals if options.decimals is not None else decimals_of(spans)
    numbers = [Column(title, "", decimals) for title in ("mean difference", "least", "greatest")]
    columns = [*numbers, Column("collections"), Column("better in")]
    head = f"minus {rows[0].baseline}" if alone else "run minus baseline"
    return Sheet("Over collections", head, columns, body, [NOTE], "collections")


def _line(row: Across, alone: bool) -> Line:
    won = "" if row.better is None else f"{row.better} ({row.told})"
    values = [Value(row.mean), Value(row.least), Value(row.greatest)]
    name = row.run if alone else f"{row.run} − {row.baseline}"
    return Line(name, [*values, str(row.collections), won])


def across_csv(rows: Sequence[Across]) -> str:
    """Return the differences over collections in full precision."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(HEADER)
    for row in rows:
        out.writerow([row.key.text, row.run, row.baseline, row.mean, row.least, row.greatest, row.collections,
                      row.better, row.told])  # fmt: skip
    return text.getvalue()


def across_sentences(rows: Sequence[Across], main: Sequence[str]) -> list[str]:
    """Say the differences over collections in some measures."""
    return [
        f"over {row.collections} collections, {row.key.text}: {row.run} minus {row.baseline} {row.mean:+.4f} "
        f"(from {row.least:+.4f} to {row.greatest:+.4f})"
        + ("" if row.better is None else f", better in {row.better}, by the test in {row.told}")
        for row in rows
        if row.key.text in main
    ]

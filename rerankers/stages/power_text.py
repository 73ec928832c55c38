"""Detectable differences and variances as they are shown: on the terminal, in power.md and in power.json."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rerankers.report.text import clean, number
from rerankers.stages.differences_text import clean_line
from rerankers.stages.variance_split import SMALL_SHARE
from rerankers.stats.paired import FEW_UNITS

if TYPE_CHECKING:
    from rerankers.stages.power import Power
    from rerankers.stages.power_numbers import PairPower
    from rerankers.stages.variance_split import Split
    from rerankers.stats.bootstrap import Interval

MOST_LINES = 24
"""Rows of a table on the terminal; of more pairs only the range is shown, of more systems the first."""
SOURCES = ("queries", "seeds", "rest", "draws")
NOTHING = "-"


def lines(found: Power) -> list[str]:
    """Return what the terminal shows."""
    out: list[str] = []
    if found.pairs:
        out += [heading(found), *_aligned(*_pair_table(found, MOST_LINES))]
    if found.splits:
        out += ["", "variance of a query's value by source, and what it would take", *_aligned(*_split_table(found))]
    return [clean_line(line) for line in [*out, *sentences(found)]]


def markdown(found: Power) -> str:
    """Return tables of all pairs and of the variances of all systems."""
    out = ["# Power", "", heading(found) + ".", ""]
    if found.pairs:
        out += ["## Detectable differences", "", *_grid(*_pair_table(found, len(found.pairs))), ""]
        out += [
            "sd: of the paired differences over queries, with its 95 % bootstrap interval. Detectable and needed: of "
            "the two-sided paired t test, by the noncentral t distribution. They speak of true differences; that of "
            "the observed ones is in `fair-rerank compare`.",
            "",
        ]
    if found.splits:
        out += ["## Where the variance comes from", "", *_grid(*_split_table(found, every=True)), ""]
        out += [
            "Variances of a query's value (random effects; brackets: 95 %), `rest` being what a query and a seed have "
            "together. `labels` is the part of `queries` that would change if the group labels of a query were dealt "
            "out anew among its documents. se: of the mean of one seed, over these queries.",
            "",
        ]
    return "\n".join([*out, *(f"- {sentence}" for sentence in sentences(found)), ""])


def heading(found: Power) -> str:
    """Return what is asked, in a line."""
    how = found.options
    return f"differences found with probability {how.power:g} by a two-sided test of size {how.alpha:g}"


def sentences(found: Power) -> list[str]:
    """Return what limits the numbers."""
    out = []
    if any(row.other is None for row in found.pairs):
        out.append(
            f"one system only: its comparisons are with another whose values vary as much and correlate by "
            f"{found.options.correlation:g} over queries (correlation=…)"
        )
    fewest = min((row.units for row in found.pairs), default=FEW_UNITS)
    if fewest < FEW_UNITS:
        out.append(f"caution: only {fewest} queries (fewer than {FEW_UNITS}): the deviations themselves are uncertain")
    below = sorted({row.measure for row in found.splits for part in row.parts.values() if (part.mean or 0.0) < 0})
    if below:
        out.append(f"note: variances below 0 ({', '.join(below)}) are estimates near 0, where noise is all there is")
    return out + [f"note: {note}" for note in found.notes]


def json_text(found: Power) -> str:
    """Return everything in full precision."""
    content = {
        "options": dataclasses.asdict(found.options),
        "pairs": [_plain(row) for row in found.pairs],
        "splits": [_plain(row) for row in found.splits],
        "notes": sentences(found),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _pair_table(found: Power, most: int) -> tuple[list[str], list[list[str]]]:
    sought = found.options.differences
    header = ["measure", "run", "with", "queries", "corr.", "sd", "detectable"]
    header += [f"queries for {difference:g}" for difference in sought]
    if len(found.pairs) <= most:
        return header, [_pair(row, sought) for row in found.pairs]
    rows = []
    for measure, group in groupby(found.pairs, key=lambda row: row.measure):
        own = list(group)
        spans = [
            [row.correlation for row in own],
            [row.deviation.mean for row in own],
            [row.detectable for row in own],
        ]
        needed: list[list[Any]] = [[row.queries[difference] for row in own] for difference in sought]
        units = [row.units for row in own]
        rows.append(
            [measure, f"{len(own)} pairs", "", _span(units, ",d"), *(_span(values) for values in spans)]
            + [_span(values, ",d") for values in needed]
        )
    return header, rows


def _pair(row: PairPower, sought: Sequence[float]) -> list[str]:
    return [
        row.measure,
        row.run,
        row.other or NOTHING,
        f"{row.units:,}",
        NOTHING if row.correlation is None else f"{row.correlation:.2f}",
        _spread(row.deviation),
        _number(row.detectable),
        *(_count(row.queries[difference]) for difference in sought),
    ]


def _split_table(found: Power, every: bool = False) -> tuple[list[str], list[list[str]]]:
    sources = [source for source in SOURCES if any(source in row.parts for row in found.splits)]
    labels = any(row.labels is not None for row in found.splits)
    drawn = any(row.draws_for_precision is not None for row in found.splits)
    header = ["measure", "system", *sources, *(["labels"] if labels else []), "se of the mean"]
    header += [f"draws for ±{found.options.precision:g}", f"draws for {SMALL_SHARE:.0%} of queries"] if drawn else []
    rows = found.splits if every else found.splits[:MOST_LINES]
    return header, [_split(row, sources, labels, drawn, every) for row in rows]


def _split(row: Split, sources: Sequence[str], labels: bool, drawn: bool, every: bool) -> list[str]:
    told = _spread if every else _short
    cells = [row.measure, row.system if row.repetitions == 1 else f"{row.system} ({row.repetitions} seeds)"]
    cells += [told(row.parts[source]) if source in row.parts else NOTHING for source in sources]
    if labels:
        cells.append(NOTHING if row.labels is None else told(row.labels))
    cells.append(_number(sum(error**2 for error in row.error.values()) ** 0.5))
    return cells + ([_count(row.draws_for_precision), _count(row.draws_for_queries)] if drawn else [])


def _plain(row: Any) -> dict[str, Any]:
    """Return a row as JSON has it; a mapping's numbers become texts."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if isinstance(value, dict):
            return {f"{key:g}" if isinstance(key, float) else key: plain(one) for key, one in value.items()}
        return value

    found: dict[str, Any] = plain(row)
    return found


def _span(values: Sequence[Any], form: str = "") -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    ends = [format(end, form) if form else number(end) for end in (min(known), max(known))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _short(value: Interval) -> str:
    return _number(value.mean)


def _spread(value: Interval) -> str:
    if value.low is None or value.high is None:
        return _number(value.mean)
    return f"{number(value.mean)} [{number(value.low)}, {number(value.high)}]"


def _number(value: float | None) -> str:
    return NOTHING if value is None else number(value)


def _count(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [header, *rows]
    width = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, width, strict=True)).rstrip() for row in cells]


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---"] * len(header)), *(line(row) for row in rows)]

"""Means with intervals over the whole table, and the three files that hold the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.files import atomic_path, write_text
from rerankers.measures.grid import Grid, grids
from rerankers.measures.scores import REASONS
from rerankers.measures.table import SCHEMA
from rerankers.stats.batches import MOST_UNITS
from rerankers.stats.paired import STUDENTIZED, paired_intervals
from rerankers.values.table import ParquetWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evidence import Evidence
    from rerankers.measures.table import UnitScores
    from rerankers.stats import Interval

PER_QUERY_LIMIT = 20_000
_ROWS, _UNITS = 1 << 20, 4096  # rows of a group of the parquet file; units that are made rows at once
PARQUET_FILE, JSON_FILE, CSV_FILE = "measures.parquet", "measures.json", "measures.csv"


def summarise(
    table: pa.Table,
    *,
    options: Mapping[str, Any],
    tier: str | None = None,
    counts: Mapping[str, Any] | None = None,
    preset: str | None = None,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
    method: str = STUDENTIZED,
    evidence: Mapping[str, Evidence] | None = None,
) -> dict[str, Any]:
    """Return the content of ``measures.json``.

    Means are over the units that have a value, of the mean over the seeds of a unit. Sums are rounded once, and
    intervals resample units in the order of their names: the order of the table's rows changes no bit.

    Parameters
    ----------
    table
        the whole result table, all systems and blocks.
    options, tier, counts, preset
        how the results came about; written as they are. To the counts are added, where they are not 0, the units
        that lack a value by reason and ``per_query_left_out``.
    seed, resamples, level, method
        of the bootstrap, see `paired_intervals`; the same resamples serve every measure and every system with the
        same number of units.
    evidence
        system -> what stands behind its measures of groups: ``mean`` and ``interval`` get further keys, and the
        system ``excess_test`` and ``decomposition`` (`Evidence.summary`).

    Returns
    -------
    dict
        ``preset``, ``options``, ``tier``, ``counts`` and ``runs``: name -> ``mean``, ``interval``, ``per_query``.
        A mean without a value and an interval without two are None. ``per_query`` has the first 20,000 units.
    """
    return _summary(
        grids(table),
        missing_units(table),
        {"options": dict(options), "tier": tier, "counts": counts, "preset": preset},
        {"seed": seed, "resamples": resamples, "level": level, "method": method},
        evidence,
    )


def summarise_scores(
    scores: Mapping[str, UnitScores],
    *,
    options: Mapping[str, Any],
    tier: str | None = None,
    counts: Mapping[str, Any] | None = None,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
    method: str = STUDENTIZED,
    evidence: Mapping[str, Evidence] | None = None,
) -> dict[str, Any]:
    """Return what `summarise` returns of a table of one seed: system -> values, which may be mapped from a file."""
    return _summary(
        {system: Grid(list(one.units), list(one.keys), one.value) for system, one in scores.items()},
        _missing(scores),
        {"options": dict(options), "tier": tier, "counts": counts, "preset": None},
        {"seed": seed, "resamples": resamples, "level": level, "method": method},
        evidence,
    )


def _summary(
    found: Mapping[str, Grid],
    missing: Mapping[str, int],
    told: Mapping[str, Any],
    bootstrap: Mapping[str, Any],
    evidence: Mapping[str, Evidence] | None,
) -> dict[str, Any]:
    intervals = _intervals(found, **bootstrap)
    runs: dict[str, dict[str, Any]] = {
        system: {
            "mean": {key: interval.mean for key, interval in zip(grid.keys, intervals[system], strict=True)},
            "interval": {key: _pair(interval) for key, interval in zip(grid.keys, intervals[system], strict=True)},
            "per_query": per_query(grid, PER_QUERY_LIMIT),
        }
        for system, grid in found.items()
    }
    own = {name: value for name, value in bootstrap.items() if name != "method"}
    for system, behind in (evidence or {}).items():
        if system in runs:
            parts = behind.summary(**own)
            runs[system]["mean"] |= parts.pop("mean")
            runs[system]["interval"] |= parts.pop("interval")
            runs[system] |= {name: part for name, part in parts.items() if part}
    left_out = max((len(grid.units) - PER_QUERY_LIMIT for grid in found.values()), default=0)
    added = dict(missing) | ({"per_query_left_out": left_out} if left_out > 0 else {})
    return {
        "preset": told["preset"],
        "options": told["options"],
        "tier": told["tier"],
        "counts": {**(told["counts"] or {}), **added},
        "runs": runs,
    }


def _intervals(found: Mapping[str, Grid], **bootstrap: Any) -> dict[str, list[Interval]]:
    """Return the intervals of every system; systems with the same units are resampled together, in one pass."""
    together: dict[tuple[str, ...], dict[str, NDArray[np.int64]]] = {}
    for system, grid in found.items():
        order = np.argsort(np.array(grid.units, dtype=np.str_), kind="stable")
        units = tuple(grid.units[position] for position in order)
        together.setdefault(units, {})[system] = order
    out: dict[str, list[Interval]] = {}
    for units, orders in together.items():
        # very many are told one system at a time, which changes no bit
        parts = [[system] for system in orders] if len(units) > MOST_UNITS else [list(orders)]
        for systems in parts:
            values = [found[system].value[orders[system]] for system in systems]
            intervals = iter(paired_intervals(np.hstack(values) if len(values) > 1 else values[0], **bootstrap))
            out |= {system: list(islice(intervals, len(found[system].keys))) for system in systems}
    return {system: out[system] for system in found}


def per_query(grid: Grid, limit: int) -> dict[str, dict[str, float | None]]:
    """Return unit -> key -> value of the first ``limit`` units, None where there is none."""
    rows = grid.value[:limit].tolist()
    return {
        unit: {key: None if value != value else value for key, value in zip(grid.keys, row, strict=True)}
        for unit, row in zip(grid.units[:limit], rows, strict=True)
    }


def missing_units(table: pa.Table) -> dict[str, int]:
    """Return reason -> number of units for which some measure of some system has no value for it."""
    import pyarrow.compute as pc

    lost = table.filter(pc.is_valid(table["reason"]))
    counted = lost.group_by("reason", use_threads=False).aggregate([("unit", "count_distinct")])
    return dict(sorted(zip(counted["reason"].to_pylist(), counted["unit_count_distinct"].to_pylist(), strict=True)))


def _missing(scores: Mapping[str, UnitScores]) -> dict[str, int]:
    """Return what `missing_units` returns of the table of these values."""
    lost: dict[str, set[str]] = {}
    for one in scores.values():
        reason = np.asarray(one.reason)
        for code in np.unique(reason[reason >= 0]).tolist():
            rows = np.flatnonzero(np.any(reason == code, axis=1)).tolist()
            lost.setdefault(REASONS[code], set()).update(one.units[row] for row in rows)
    return {reason: len(units) for reason, units in sorted(lost.items())}


def write_results(folder: Path, table: pa.Table, summary: Mapping[str, Any]) -> None:
    """Write ``measures.parquet`` (everything), ``measures.json`` (the summary) and ``measures.csv``.

    The csv has the rows of the parquet file, up to the units that the summary lists too.
    """
    _write(folder, [table], [first_units(table, PER_QUERY_LIMIT)], summary)


def write_scores(folder: Path, scores: Mapping[str, UnitScores], summary: Mapping[str, Any]) -> None:
    """Write the files of `write_results` from values, some units at a time."""
    _write(
        folder,
        (table for system, one in scores.items() for table in one.tables(system, _UNITS)),
        (one.first(PER_QUERY_LIMIT).table(system) for system, one in scores.items()),
        summary,
    )


def _write(folder: Path, tables: Iterable[pa.Table], first: Iterable[pa.Table], summary: Mapping[str, Any]) -> None:
    import pyarrow.csv

    with ParquetWriter(folder / PARQUET_FILE, schema=SCHEMA, rows=_ROWS) as writer:
        for table in tables:
            writer.write(table)
    write_text(folder / JSON_FILE, json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    with (
        atomic_path(folder / CSV_FILE) as temporary,
        temporary.open("wb") as stream,
        pyarrow.csv.CSVWriter(stream, SCHEMA) as lines,
    ):
        for table in first:
            lines.write_table(table)


def first_units(table: pa.Table, limit: int) -> pa.Table:
    """Return the rows of the first ``limit`` units to appear."""
    import pyarrow.compute as pc

    units = pc.unique(table["unit"])
    return table if len(units) <= limit else table.filter(pc.is_in(table["unit"], value_set=units[:limit]))


def _pair(interval: Interval) -> list[float] | None:
    return None if interval.low is None or interval.high is None else [interval.low, interval.high]

"""Means with intervals over the whole table, and the three files that hold the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.files import atomic_path, write_text
from rerankers.measures.grid import Grid, grids
from rerankers.stats.paired import STUDENTIZED, paired_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evidence import Evidence
    from rerankers.stats import Interval

PER_QUERY_LIMIT = 20_000
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
    found = grids(table)
    intervals = _intervals(found, seed=seed, resamples=resamples, level=level, method=method)
    runs: dict[str, dict[str, Any]] = {
        system: {
            "mean": {key: interval.mean for key, interval in zip(grid.keys, intervals[system], strict=True)},
            "interval": {key: _pair(interval) for key, interval in zip(grid.keys, intervals[system], strict=True)},
            "per_query": per_query(grid, PER_QUERY_LIMIT),
        }
        for system, grid in found.items()
    }
    for system, behind in (evidence or {}).items():
        if system in runs:
            parts = behind.summary(seed=seed, resamples=resamples, level=level)
            runs[system]["mean"] |= parts.pop("mean")
            runs[system]["interval"] |= parts.pop("interval")
            runs[system] |= {name: part for name, part in parts.items() if part}
    left_out = max((len(grid.units) - PER_QUERY_LIMIT for grid in found.values()), default=0)
    added = missing_units(table) | ({"per_query_left_out": left_out} if left_out > 0 else {})
    return {
        "preset": preset,
        "options": dict(options),
        "tier": tier,
        "counts": {**(counts or {}), **added},
        "runs": runs,
    }


def _intervals(found: Mapping[str, Grid], **bootstrap: Any) -> dict[str, list[Interval]]:
    """Return the intervals of every system; systems with the same units are resampled together, in one pass."""
    together: dict[tuple[str, ...], dict[str, NDArray[np.float64]]] = {}
    for system, grid in found.items():
        order = np.argsort(np.array(grid.units, dtype=np.str_), kind="stable")
        units = tuple(grid.units[position] for position in order)
        together.setdefault(units, {})[system] = grid.value[order]
    out: dict[str, list[Interval]] = {}
    for values in together.values():
        intervals = iter(paired_intervals(np.hstack(list(values.values())), **bootstrap))
        out |= {system: list(islice(intervals, value.shape[1])) for system, value in values.items()}
    return out


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


def write_results(folder: Path, table: pa.Table, summary: Mapping[str, Any]) -> None:
    """Write ``measures.parquet`` (everything), ``measures.json`` (the summary) and ``measures.csv``.

    The csv has the rows of the parquet file, up to the units that the summary lists too.
    """
    import pyarrow.csv
    import pyarrow.parquet

    with atomic_path(folder / PARQUET_FILE) as temporary:
        pyarrow.parquet.write_table(table, temporary, compression="zstd")
    write_text(folder / JSON_FILE, json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    with atomic_path(folder / CSV_FILE) as temporary:
        pyarrow.csv.write_csv(first_units(table, PER_QUERY_LIMIT), temporary)


def first_units(table: pa.Table, limit: int) -> pa.Table:
    """Return the rows of the first ``limit`` units to appear."""
    import pyarrow.compute as pc

    units = pc.unique(table["unit"])
    return table if len(units) <= limit else table.filter(pc.is_in(table["unit"], value_set=units[:limit]))


def _pair(interval: Interval) -> list[float] | None:
    return None if interval.low is None or interval.high is None else [interval.low, interval.high]

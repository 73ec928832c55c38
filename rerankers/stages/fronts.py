"""Fronts that jobs leave beside their measures: the best that can be had, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.stats.trade_off import Curve

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

FILE = "fronts.parquet"
SCHEMA = pa.schema(
    [("front", pa.string()), ("weight", pa.float64()), ("unit", pa.string()), ("measure", pa.string()),
     ("value", pa.float64())]
)  # fmt: skip
"""A front's policies are told apart by the weight of utility that they are best for."""
UTILITY = "utility"


def write_fronts(folder: Path, fronts: Mapping[str, Mapping[float, Mapping[str, Mapping[str, float]]]]) -> None:
    """Write fronts: name -> weight -> measure (``utility`` among them) -> unit -> value."""
    import pyarrow.parquet as pq

    rows = [
        (front, weight, unit, measure, value)
        for front, points in fronts.items()
        for weight, measures in points.items()
        for measure, values in measures.items()
        for unit, value in values.items()
    ]
    arrays = [pa.array([row[place] for row in rows], field.type) for place, field in enumerate(SCHEMA)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), folder / FILE, compression="zstd")


def read_fronts(jobs: Sequence[JobResults], loss: str, units: Sequence[str]) -> dict[str, Curve]:
    """Return the fronts of the first job that has them, as curves over some queries.

    Raises
    ------
    InputError
        for a damaged file.
    """
    import pyarrow.parquet as pq

    for job in jobs:
        path = job.folder / FILE
        if not path.is_file():
            continue
        try:
            table = pq.read_table(path).cast(SCHEMA)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError.one(str(path), f"damaged fronts ({error})", "what a job writes") from error
        return _curves(table, loss, units)
    return {}


def _curves(table: pa.Table, loss: str, units: Sequence[str]) -> dict[str, Curve]:
    points: dict[str, dict[float, dict[str, dict[str, float]]]] = {}
    for row in table.to_pylist():
        if row["measure"] in (UTILITY, loss):
            measures = points.setdefault(row["front"], {}).setdefault(row["weight"], {})
            measures.setdefault(row["measure"], {})[row["unit"]] = row["value"]
    found = {}
    for front, by_weight in points.items():
        parts = [
            np.array(
                [[by_weight[weight].get(key, {}).get(unit, np.nan) for unit in units] for weight in sorted(by_weight)]
            )
            for key in (UTILITY, loss)
        ]
        if all(np.all(np.isfinite(part)) for part in parts):
            found[front] = Curve(*parts)
    return found

"""The primary result: one row a system, seed, unit and measure, in an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers.measures.plan import plan
from rerankers.measures.scores import REASONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.scores import Scores

SCHEMA = pa.schema(
    [
        pa.field("system", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("reason", pa.string()),
    ]
)


def measure_block(evaluation: Evaluation, measures: Sequence[Measure], units: Sequence[str], system: str) -> pa.Table:
    """Return the results of one block, all measures of a unit together, so that blocks concatenate to the whole.

    Parameters
    ----------
    evaluation
        the block, B rows.
    measures
        what to compute; group measures stand for one key an attribute (`plan`).
    units
        names of the B rows: query ids.
    system
        name of what is judged. The seed is the evaluation's.

    Raises
    ------
    ConfigError
        when a measure does not suit the evaluation (an unknown attribute, a browsing model without patience).
    """
    planned = plan(measures, tuple(evaluation.groups))
    scores = [measure.per_unit(evaluation, units) for measure in planned.values()]
    return result_table(system, evaluation.options.seed, units, list(planned), scores)


def result_table(
    system: str, seed: int, units: Sequence[str], keys: Sequence[str], scores: Sequence[Scores]
) -> pa.Table:
    """Return the rows of one system: B units by the measures ``keys``, unit by unit."""
    value = np.array([score.value for score in scores]).reshape(len(keys), len(units)).T.ravel()
    reason = np.array([score.reason for score in scores], dtype=np.int8).reshape(len(keys), len(units)).T.ravel()
    rows = len(value)
    columns = [
        _repeat(system, rows),
        pa.array(np.full(rows, seed, dtype=np.int64)),
        _pick(units, np.repeat(np.arange(len(units)), len(keys))),
        _pick(keys, np.tile(np.arange(len(keys)), len(units))),
        pa.array(value, mask=reason >= 0),
        _words(reason),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def concat(tables: Iterable[pa.Table]) -> pa.Table:
    """Return blocks and systems one after another as one table."""
    return pa.concat_tables([SCHEMA.empty_table(), *tables]).combine_chunks()


def _words(reason: NDArray[np.int8]) -> pa.StringArray:
    if reason.max(initial=-1) < 0:
        return pa.nulls(len(reason), pa.string())
    return pa.array(REASONS, pa.string()).take(pa.array(reason, mask=reason < 0))


def _repeat(text: str, times: int) -> pa.StringArray:
    return pa.repeat(pa.scalar(text, pa.string()), times)


def _pick(names: Sequence[str], index: NDArray[np.int64]) -> pa.StringArray:
    return pa.array(names, pa.string()).take(pa.array(index))

"""The primary result: one row a system, seed, unit and measure, in an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, eq=False)
class UnitScores:
    """The values of one system, a row a unit: what the result table holds, at a tenth of the size.

    Attributes
    ----------
    seed
        of the draws behind the values.
    units
        the B names of the rows, query ids.
    keys
        the K measures.
    value
        float64 (B, K), NaN where there is no value.
    reason
        int8 (B, K), index into `REASONS`, or -1 where there is a value.
    """

    seed: int
    units: Sequence[str]
    keys: tuple[str, ...]
    value: NDArray[np.float64]
    reason: NDArray[np.int8]

    def table(self, system: str) -> pa.Table:
        """Return the rows of the result table, unit by unit."""
        cells = self.value.size
        reason = self.reason.ravel()
        columns = [
            _repeat(system, cells),
            pa.array(np.full(cells, self.seed, dtype=np.int64)),
            _pick(self.units, np.repeat(np.arange(len(self.units)), len(self.keys))),
            _pick(self.keys, np.tile(np.arange(len(self.keys)), len(self.units))),
            pa.array(self.value.ravel(), mask=reason >= 0),
            _words(reason),
        ]
        return pa.Table.from_arrays(columns, schema=SCHEMA)

    def tables(self, system: str, rows: int) -> Iterator[pa.Table]:
        """Yield the rows of the result table, those of ``rows`` units at a time."""
        for start in range(0, len(self.units), rows):
            yield self.first(start + rows, start).table(system)

    def first(self, stop: int, start: int = 0) -> UnitScores:
        """Return the units from ``start`` to before ``stop``."""
        some = slice(start, stop)
        return UnitScores(
            self.seed, self.units[some], self.keys, np.asarray(self.value[some]), np.asarray(self.reason[some])
        )


def score_block(evaluation: Evaluation, measures: Sequence[Measure], units: Sequence[str]) -> UnitScores:
    """Return the values of one block of a system.

    Parameters
    ----------
    evaluation
        the block, B rows.
    measures
        what to compute; group measures stand for one key an attribute (`plan`).
    units
        names of the B rows: query ids. The seed is the evaluation's.

    Raises
    ------
    ConfigError
        when a measure does not suit the evaluation (an unknown attribute, a browsing model without patience).
    """
    planned = plan(measures, tuple(evaluation.groups))
    scores = [measure.per_unit(evaluation, units) for measure in planned.values()]
    return unit_scores(evaluation.options.seed, units, list(planned), scores)


def unit_scores(seed: int, units: Sequence[str], keys: Sequence[str], scores: Sequence[Scores]) -> UnitScores:
    """Return the values of B units by the measures ``keys``."""
    shape = (len(keys), len(units))
    value = np.array([score.value for score in scores], dtype=np.float64).reshape(shape).T
    reason = np.array([score.reason for score in scores], dtype=np.int8).reshape(shape).T
    return UnitScores(seed, units, tuple(keys), np.ascontiguousarray(value), np.ascontiguousarray(reason))


def measure_block(evaluation: Evaluation, measures: Sequence[Measure], units: Sequence[str], system: str) -> pa.Table:
    """Return the results of one block as rows of the result table; see `score_block`.

    All measures of a unit stand together, so that blocks concatenate to the whole.
    """
    return score_block(evaluation, measures, units).table(system)


def result_table(
    system: str, seed: int, units: Sequence[str], keys: Sequence[str], scores: Sequence[Scores]
) -> pa.Table:
    """Return the rows of one system: B units by the measures ``keys``, unit by unit."""
    return unit_scores(seed, units, keys, scores).table(system)


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

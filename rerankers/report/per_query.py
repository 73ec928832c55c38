"""The per-query table of one system: the queries with the largest loss first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerankers.report.data import decoded
from rerankers.report.keys import LOSSES, Key, in_order
from rerankers.report.tables import Cell
from rerankers.report.text import number, words

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.report.data import ReportData

SHOWN = 100
_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class QueryTable:
    """The queries of one system, sorted by ``by``: (query, cells) rows, and how many queries there are in all."""

    system: str
    by: Key
    columns: Sequence[Key]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    total: int


def query_table(data: ReportData, system: str, shown: int = SHOWN) -> QueryTable | None:
    """Return the first ``shown`` queries of a system by its loss, or None where it has no value per query.

    Values are means over the seeds. The loss is ``EEL`` where there is one, else the first loss, else the first
    measure (largest first all the same). Ties are broken by query id; queries without a value come last.
    """
    import pyarrow.compute as pc

    table = decoded(data.measures.filter(pc.equal(data.measures["system"], system)))
    columns = [key for key in in_order(pc.unique(table["measure"]).to_pylist()) if not key.part and key.base != "EET"]
    if not columns:
        return None
    losses = [key for loss in LOSSES for key in columns if key.base == loss]
    by = next((key for key in losses if key.attribute is None), [*losses, *columns][0])
    sorted_units = _means(table.filter(pc.equal(table["measure"], by.text))).sort_by(
        [("value_mean", "descending"), ("unit", "ascending")]
    )
    units = sorted_units["unit"].slice(0, shown)
    kept = ([key for key in columns if key.main] or columns)[:_COLUMNS]
    if by not in kept:
        kept = [*kept[: _COLUMNS - 1], by]
    wanted = table.filter(pc.is_in(table["unit"], value_set=units.combine_chunks()))
    values = {(row["unit"], row["measure"]): row for row in _means(wanted).to_pylist()}
    rows = [(unit, [_cell(values.get((unit, key.text))) for key in kept]) for unit in units.to_pylist()]
    return QueryTable(system, by, kept, rows, len(sorted_units))


def _means(table: pa.Table) -> pa.Table:
    return table.group_by(["unit", "measure"], use_threads=False).aggregate([("value", "mean"), ("reason", "max")])


def _cell(row: dict[str, object] | None) -> Cell:
    if row is None:
        return Cell(number(None), reason="not computed")
    value = row["value_mean"]
    if not isinstance(value, float) or value != value:
        return Cell(number(None), reason=words(str(row["reason_max"] or "no reason given")))
    return Cell(number(value))

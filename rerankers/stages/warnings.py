"""What a reviewer would object to, said before he does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

FEW_QUERIES = 30
LOSSES = ("EEL", "group_EEL")
RANDOM, WORST_FIRST = "anchor:random", "anchor:worst_first"


def warnings_of(table: pa.Table, summary: Mapping[str, Any]) -> list[str]:
    """Return sentences about what limits the results.

    Parameters
    ----------
    table
        the result table.
    summary
        the content of ``measures.json``.
    """
    return [*_few_queries(table, summary), *_beaten_by_careless_anchors(summary["runs"])]


def _few_queries(table: pa.Table, summary: Mapping[str, Any]) -> list[str]:
    system = next(iter(summary["runs"]), None)
    if system is None:
        return ["there is no query: nothing was measured"]
    rows = table.filter(pc.and_(pc.equal(table["system"], system), pc.is_valid(table["value"])))
    queries = len(pc.unique(rows["unit"]))
    if queries == 0:
        return ["no query has a judgment: no measure has a value"]
    if queries < FEW_QUERIES:
        return [f"only {queries} queries were measured: intervals are wide, and differences between systems uncertain"]
    return []


def _beaten_by_careless_anchors(runs: Mapping[str, Any]) -> list[str]:
    """Losses fall with randomness alone: say so where a careless anchor is better than a system."""
    out = []
    for name, run in runs.items():
        if name.startswith("anchor:"):
            continue
        for loss in LOSSES:
            value = run["mean"].get(loss)
            beaten = [
                anchor
                for anchor in (RANDOM, WORST_FIRST)
                if value is not None and (other := runs.get(anchor, {}).get("mean", {}).get(loss)) is not None
                if other < value
            ]
            if beaten:
                out.append(
                    f"{name} has a higher {loss} than {' and '.join(beaten)}: a low loss alone is no merit, "
                    "read it beside utility"
                )
    return out

"""What a reviewer would object to is said."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rerankers.stages.warnings import warnings_of


def table(queries: int, value: float | None = 0.5) -> pa.Table:
    return pa.table(
        {
            "system": ["mine"] * queries,
            "unit": [f"q{query}" for query in range(queries)],
            "value": pa.array([value] * queries, pa.float64()),
        }
    )


def summary(mine: float | None, random: float) -> dict[str, Any]:
    return {"runs": {"mine": {"mean": {"EEL": mine}}, "anchor:random": {"mean": {"EEL": random}}}}


def test_few_queries() -> None:
    assert any("only 5 queries" in text for text in warnings_of(table(5), summary(0.1, 0.2)))
    assert warnings_of(table(30), summary(0.1, 0.2)) == []


def test_nothing_measured() -> None:
    assert any("no query has a judgment" in text for text in warnings_of(table(3, None), summary(None, 0.2)))
    assert any("no query" in text for text in warnings_of(table(0), {"runs": {}}))


def test_a_careless_anchor_with_a_lower_loss() -> None:
    found = warnings_of(table(40), summary(0.3, 0.2))
    assert len(found) == 1
    assert "than anchor:random" in found[0]
    assert "beside utility" in found[0]

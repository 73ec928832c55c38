"""The spread over seeds is told of the measures whose mean over seeds is, over the queries that all seeds have."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from rerankers.measures.grid import Grid
from rerankers.measures.table import SCHEMA
from rerankers.stages.compare_report import _lacking
from rerankers.stages.compare_seeds import beside, mean_grid, spread


def grid(*values: float, key: str = "EEL") -> Grid:
    return Grid([f"q{place}" for place in range(len(values))], [key], np.array(values)[:, None])


def test_a_p_value_and_a_ratio_have_neither_mean_nor_spread_over_seeds() -> None:
    first = {"EEL": 1.0, "group_EEL_excess_p": 0.2, "group_EEL_systematic": 0.1, "group_EEL_systematic_share": 0.3}
    second = {"EEL": 2.0, "group_EEL_excess_p": 0.6, "group_EEL_systematic": 0.3, "group_EEL_systematic_share": 0.5}
    means = beside([first, second], {"EEL": 1.5})
    assert means["group_EEL_excess_p"] is None
    assert means["group_EEL_systematic_share"] is None
    found = spread([first, second], [grid(1.0), grid(2.0)])
    assert found == pytest.approx({"EEL": 0.5**0.5, "group_EEL_systematic": 0.2 * 0.5**0.5})


def test_a_query_that_one_seed_lacks_is_no_spread_of_seeds() -> None:
    same = spread([{"EEL": 2.0}, {"EEL": 1.5}], [grid(1.0, 2.0, 3.0), grid(1.0, 2.0, np.nan)])
    assert same == {"EEL": 0.0}
    assert spread([{"EEL": 1.0}, {"EEL": 2.0}], [grid(1.0, np.nan), grid(np.nan, 2.0)]) == {}


def test_what_one_seed_lacks_and_another_has_is_told_as_that(tmp_path: Path) -> None:
    rows = [("a", 1, "q0", "EEL", None, "lost"), ("a", 1, "q1", "EEL", 1.0, None), ("a", 1, "q2", "EEL", None, "lost")]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)
    member = SimpleNamespace(job=SimpleNamespace(table=table), system="a")
    pooled = mean_grid([grid(np.nan, 1.0, np.nan), grid(2.0, 1.0, np.nan)])
    row: Any = SimpleNamespace(name="both", seeds=2, grid=pooled)
    found = _lacking(cast("Any", member), row)
    assert found["system"].unique().to_pylist() == ["both"]
    assert found["reason"].to_pylist() == ["lost (in some seeds: the mean is over the others)", None, "lost"]
    row.seeds = 1
    assert _lacking(cast("Any", member), row)["reason"].to_pylist() == ["lost", None, "lost"]

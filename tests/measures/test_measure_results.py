"""The result table, its means and intervals, and the files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from measure_worlds import random_rankings, world

from rerankers._base.errors import ConfigError
from rerankers.measures import parse_many
from rerankers.measures import summary as summaries
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.grid import grids
from rerankers.measures.plan import default_measures, plan
from rerankers.measures.scores import Scores
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import SCHEMA, concat, measure_block, result_table


def results(seed: int = 0, system: str = "ours", queries: int = 30, attributes: int = 1) -> pa.Table:
    made = world(seed, queries=queries, attributes=attributes)
    evaluation = Evaluation(random_rankings(seed, made.candidates), made.judgments, made.groups, Options(seed=seed))
    return measure_block(evaluation, default_measures(tuple(made.groups)), made.qids, system)


def test_a_value_or_a_reason_never_both_and_never_neither() -> None:
    table = results()
    assert table.schema == SCHEMA
    assert len(table) == 30 * 15
    for value, reason in zip(table["value"].to_pylist(), table["reason"].to_pylist(), strict=True):
        assert (value is None) == (reason is not None)
        assert value is None or math.isfinite(value)
    assert {"query_not_judged", "no_relevant_document"} <= set(table["reason"].to_pylist())


def test_units_come_one_after_another_with_all_their_measures() -> None:
    scores = [
        Scores.of(np.array([1.0, 2.0]), ("no_groups", np.array([False, True]))),
        Scores.of(np.array([3.0, 4.0])),
    ]
    rows = result_table("s", 5, ["q1", "q2"], ["A", "B"], scores).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("s", 5, "q1", "A", 1.0, None),
        ("s", 5, "q1", "B", 3.0, None),
        ("s", 5, "q2", "A", None, "no_groups"),
        ("s", 5, "q2", "B", 4.0, None),
    ]


def test_the_first_reason_is_kept() -> None:
    both = np.array([True, True])
    scores = Scores.of(np.zeros(2), ("query_not_judged", np.array([True, False])), ("no_groups", both))
    assert scores.reason.tolist() == [0, 3]
    assert np.all(np.isnan(scores.value))


def test_keys_of_group_measures() -> None:
    asked = parse_many("EEL group_EEL group_EED(p=0.7)@5 EEL(group='b') AP")
    assert list(plan(asked, ("b",))) == ["EEL", "group_EEL", "group_EED(p=0.7)@5", "EEL(group='b')", "AP"]
    assert list(plan(asked, ("a", "b"))) == [
        "EEL",
        "EEL(group='a')",
        "EEL(group='b')",
        "EED(group='a',p=0.7)@5",
        "EED(group='b',p=0.7)@5",
        "AP",
    ]
    parts = parse_many("group_EEL_placebo group_EEL_systematic group_EEL(p=0.7)@5_excess")
    assert list(plan(parts, ("b",))) == ["group_EEL_placebo", "group_EEL(p=0.7)@5_excess"]
    assert list(plan(parts[:1], ("a", "b"))) == ["EEL(group='a')_placebo", "EEL(group='b')_placebo"]
    assert list(plan(asked, ())) == [str(measure) for measure in asked]
    with pytest.raises(ConfigError, match="Did you mean 'economy'"):
        plan(parse_many("EEL(group=econmy)"), ("economy", "gender"))


def test_several_attributes_give_the_values_of_each_alone() -> None:
    both, one = results(3, attributes=2), results(3, attributes=1)
    value = {(row["unit"], row["measure"]): row["value"] for row in both.to_pylist()}
    alone = {(row["unit"], row["measure"]): row["value"] for row in one.to_pylist()}
    assert not any(key.startswith("group_") for _, key in value)
    for (unit, key), expected in alone.items():
        if key.startswith("group_"):
            name, _, part = key.removeprefix("group_").partition("_")
            assert value[unit, f"{name}(group='economy')" + (f"_{part}" if part else "")] == expected


def test_means_leave_nulls_out_and_say_how_many() -> None:
    table = results()
    summary = summarise(table, options={"universe": "union"}, tier="blind", counts={"x": 3})
    rows = table.to_pylist()
    run = summary["runs"]["ours"]
    for key, mean in run["mean"].items():
        values = [row["value"] for row in rows if row["measure"] == key and row["value"] is not None]
        assert mean == math.fsum(values) / len(values)
        low, high = run["interval"][key]
        assert low <= mean <= high
    unjudged = {row["unit"] for row in rows if row["reason"] == "query_not_judged"}
    assert summary["counts"]["x"] == 3
    assert summary["counts"]["query_not_judged"] == len(unjudged)
    assert (summary["preset"], summary["tier"], summary["options"]) == (None, "blind", {"universe": "union"})
    assert run["per_query"]["q0"] == {row["measure"]: row["value"] for row in rows if row["unit"] == "q0"}


def test_the_order_of_rows_changes_no_bit_of_the_summary() -> None:
    table = concat([results(0), results(1, "theirs")])
    order = np.random.default_rng(0).permutation(len(table))
    first, second = (summarise(t, options={}) for t in (table, table.take(pa.array(order))))
    for system in ("ours", "theirs"):
        for part in ("mean", "interval", "per_query"):
            assert first["runs"][system][part] == second["runs"][system][part]


def test_systems_share_their_resamples() -> None:
    table = concat([results(0), results(0, "twin")])
    runs = summarise(table, options={})["runs"]
    assert runs["ours"]["interval"] == runs["twin"]["interval"]


def test_seeds_are_averaged_within_a_unit_first() -> None:
    def part(seed: int, values: list[float], missing: list[bool]) -> pa.Table:
        return result_table(
            "s", seed, ["a", "b"], ["X"], [Scores.of(np.array(values), ("no_groups", np.array(missing)))]
        )

    table = concat([part(1, [1.0, 2.0], [False, False]), part(2, [3.0, 9.0], [False, True])])
    assert grids(table)["s"].value.tolist() == [[2.0], [2.0]]
    assert summarise(table, options={})["runs"]["s"]["mean"] == {"X": 2.0}


def test_nothing_to_average_is_null() -> None:
    table = result_table("s", 0, ["a", "b"], ["X"], [Scores.of(np.zeros(2), ("no_groups", True))])
    run = summarise(table, options={})["runs"]["s"]
    assert run["mean"] == {"X": None}
    assert run["interval"] == {"X": None}
    one = result_table("s", 0, ["a"], ["X"], [Scores.of(np.ones(1))])
    assert summarise(one, options={})["runs"]["s"]["interval"] == {"X": None}
    assert summarise(SCHEMA.empty_table(), options={})["runs"] == {}


def test_files(tmp_path: Path) -> None:
    table = results()
    summary = summarise(table, options={})
    write_results(tmp_path, table, summary)
    assert pyarrow.parquet.read_table(tmp_path / "measures.parquet").equals(table)
    assert json.loads((tmp_path / "measures.json").read_text()) == summary
    text = pyarrow.csv.read_csv(tmp_path / "measures.csv")
    assert text.column_names == table.column_names
    assert text["unit"].to_pylist() == table["unit"].to_pylist()
    values = zip(text["value"].to_pylist(), table["value"].to_pylist(), strict=True)
    assert all(a == b for a, b in values)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_many_queries_stop_in_the_summary_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "PER_QUERY_LIMIT", 10)
    table = results()
    summary = summarise(table, options={})
    assert list(summary["runs"]["ours"]["per_query"]) == [f"q{number}" for number in range(10)]
    assert summary["counts"]["per_query_left_out"] == 20
    assert summary["runs"]["ours"]["mean"]["EED"] == pytest.approx(
        np.mean([row["value"] for row in table.to_pylist() if row["measure"] == "EED" and row["value"] is not None])
    )
    write_results(tmp_path, table, summary)
    assert len(pyarrow.parquet.read_table(tmp_path / "measures.parquet")) == len(table)
    assert len(set(pyarrow.csv.read_csv(tmp_path / "measures.csv")["unit"].to_pylist())) == 10

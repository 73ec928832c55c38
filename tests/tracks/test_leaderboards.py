"""The published tables are as published, and runs are placed in them only where their numbers may stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.tracks.leaderboards import (
    FOLDER,
    INDEX,
    Entry,
    Leaderboard,
    leaderboard,
    leaderboards,
    read_leaderboard,
)
from rerankers.tracks.placing import check_comparable, merged, standing
from rerankers.tracks.preset import PRESETS, options_of, preset

# name, runs, (first run, its value), (last run, its value), sum of the column by which runs are placed
SIZES = [
    ("trec2019-level", 10, ("uognleMaxUtil", 0.0799), ("fair_random", 0.0326), 0.4971),
    ("trec2019-h-index", 10, ("uognleMaxUtil", 0.0656), ("fair_random", 0.0405), 0.5943),
    ("trec2020-rerank", 23, ("NLE_META_9_1", 0.4283), ("Deltr-gammas", 1.0668), 17.2272),
    ("trec2020-retrieval", 3, ("UW_t_bm25", 0.748239), ("UW_Kt_r25g25c50", 0.821013), 2.338241),
    ("trec2021-task1", 13, ("UoGTrDExpDisT1", 0.1761), ("RMITRetRerank_2", 0.0026), 1.3074),
    ("trec2021-task2", 11, ("RUN_task2", 14.901), ("UoGTrLambT2", 28.822), 232.931),
    ("trec2022-task1", 27, ("tmt5", 0.3626), ("rmit_cidda_ir_2", 0.2345), 7.4173),
    ("trec2022-task2", 11, ("tmt5_p_e", 1.829), ("UogTRelvOnlyT2", 14.59), 71.967),
]


@pytest.mark.parametrize(("name", "runs", "first", "last", "total"), SIZES, ids=[row[0] for row in SIZES])
def test_every_table(name: str, runs: int, first: tuple[str, float], last: tuple[str, float], total: float) -> None:
    table = leaderboard(name)
    assert len(table.entries) == runs
    for entry, (run, value) in ((table.entries[0], first), (table.entries[-1], last)):
        assert (entry.run, entry.values[table.column]) == (run, value)
    assert sum(entry.values[table.column] for entry in table.entries) == pytest.approx(total, abs=1e-9)
    assert table.source
    assert table.caveats
    assert all(table.columns.values())
    assert set(table.presets) <= set(PRESETS)
    assert all("official" in name for name in table.presets)
    assert set(table.constant) <= {"EET", "group_EET"}


def test_the_index_names_every_table_and_nothing_else() -> None:
    assert leaderboards() == tuple(name for name, *_ in SIZES)
    named = {node["file"] for node in yaml.safe_load(INDEX.read_text()).values()}
    assert named == {path.name for path in FOLDER.glob("*.csv")} - {"deltr.csv", "published.csv"}


@pytest.mark.parametrize("prefix", ["", "group_"])
def test_2020_loss_is_disparity_minus_twice_relevance_plus_target(prefix: str) -> None:
    """Four printed decimals: the identity holds to 2e-4 at worst for every run."""
    table = leaderboard("trec2020-rerank")
    target = table.constant[f"{prefix}EET"][0]
    assert target == {"": 0.603817, "group_": 1.240907}[prefix]
    for entry in table.entries:
        loss, disparity, relevance = (entry.values[f"{prefix}{key}"] for key in ("EEL", "EED", "EER"))
        assert loss == pytest.approx(disparity - 2 * relevance + target, abs=2.001e-4), entry.run


@pytest.mark.parametrize(
    ("name", "prefix", "within"), [("trec2020-retrieval", "group_", 3e-6), ("trec2021-task2", "", 2.5e-3)]
)
def test_the_target_is_one_constant_elsewhere_too(name: str, prefix: str, within: float) -> None:
    table = leaderboard(name)
    for entry in table.entries:
        loss, disparity, relevance = (entry.values[f"{prefix}{key}"] for key in ("EEL", "EED", "EER"))
        assert loss - disparity + 2 * relevance == pytest.approx(table.constant[f"{prefix}EET"][0], abs=within)


@pytest.mark.parametrize("name", ["trec2021-task1", "trec2022-task1"])
def test_scores_are_near_the_product_and_awrf_in_its_range(name: str) -> None:
    for entry in leaderboard(name).entries:
        values = entry.values
        assert values["score"] == pytest.approx(values["nDCG"] * values["AWRF"], rel=0.2, abs=0.001)
        assert 0.3068 < values["AWRF"] <= 1


def test_all_tables_but_2019_are_in_the_order_of_their_measure() -> None:
    for name in leaderboards():
        table = leaderboard(name)
        values = [entry.values[table.column] for entry in table.entries]
        if not name.startswith("trec2019"):
            assert values == sorted(values, reverse=table.better == "higher"), name


@pytest.mark.shared_data
def test_2020_equals_the_reference_means(shared: Path) -> None:
    import json

    reference = json.loads((shared / "oracles/trec/eel_2020_real_runs.json").read_text())
    expected = reference["all_official_rerank_runs_mean_from_pilmus_thesis"]
    names = {"difference": "EEL", "disparity": "EED", "relevance": "EER"}
    table = leaderboard("trec2020-rerank")
    assert {entry.run for entry in table.entries} == set(expected)
    for entry in table.entries:
        for theirs, ours in names.items():
            assert entry.values[f"group_{ours}"] == pytest.approx(expected[entry.run][theirs], abs=5.1e-5)
            assert entry.values[ours] == pytest.approx(expected[entry.run][f"{theirs}_ind"], abs=5.1e-5)


NODE: dict[str, Any] = {
    "title": "t",
    "file": "t.csv",
    "key": "score",
    "column": "score",
    "better": "higher",
    "presets": ["trec2021_task1_official"],
    "units": 2,
    "constant": {},
    "status": "official",
    "source": "s",
    "caveats": ["c"],
    "columns": {"run": "name", "note": "text", "score": "number"},
}


def read(folder: Path, text: str, **changes: Any) -> Leaderboard:
    (folder / "t.csv").write_text(text)
    return read_leaderboard("t", {**NODE, **changes}, folder)


def test_a_table_is_read(tmp_path: Path) -> None:
    table = read(tmp_path, 'run,note,score\na,"x, y",0.50\nb,,0.125\n')
    assert table.entries == (Entry("a", {"score": 0.5}, {"note": "x, y"}), Entry("b", {"score": 0.125}, {"note": ""}))
    assert table.decimals == 3


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("", {}, "empty file"),
        ("run,score\na,1\n", {}, "expected run,note,score"),
        ("run,note,score\na,,1\nb,,x\nb,,2\n", {}, "t.csv:3: found score 'x'"),
        ("run,note,score\na,,1\na,,2\n", {}, "t.csv:3: found run 'a' again"),
        ("run,note,score\na,,nan\n", {}, "a number"),
        ("run,note,score\na,1\n", {}, "2 fields"),
        ("run,note,score\na,,1\n", {"better": "more"}, "one of lower, higher"),
        ("run,note,score\na,,1\n", {"status": "rumour"}, "official, orientation, order"),
        ("run,note,score\na,,1\n", {"column": "other"}, "column 'other'"),
    ],
)
def test_damaged_tables(tmp_path: Path, text: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        read(tmp_path, text, **changes)


def test_a_wrong_name_is_mended() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'trec2020-rerank'"):
        leaderboard("trec2020-rerun")


def test_places() -> None:
    table = leaderboard("trec2020-rerank")
    best = standing(table, "x", 0.4)
    assert (best.rank, best.ahead, best.behind) == (1, (), ("NLE_META_9_1", "NLE_META_99_1"))
    between = standing(table, "x", 0.43)
    assert (between.rank, between.of, between.level) == (3, 23, ())
    assert between.ahead == ("NLE_META_9_1", "NLE_META_99_1")
    # 0.87506 is printed as 0.8751
    itself = standing(table, "x", 0.8750602721)
    assert (itself.rank, itself.level, itself.ahead[-1], itself.behind[0]) == (
        15,
        ("UW_bm25",),
        "UoGTrBComPro",
        "UoGTrBRel",
    )
    last = standing(table, "x", 2.0)
    assert (last.rank, last.behind) == (24, ())
    higher = standing(leaderboard("trec2022-task1"), "x", 0.3)
    assert (higher.rank, higher.ahead[-1], higher.behind[0]) == (5, "UoGTrExpE2", "0mt5")


@given(st.sampled_from([name for name in leaderboards() if name != "trec2022-task2"]), st.floats(0, 40))
def test_a_place_counts_the_better_runs(name: str, value: float) -> None:
    table = leaderboard(name)
    stands = standing(table, "mine", value)
    own = round(value, table.decimals)
    values = [entry.values[table.column] for entry in table.entries]
    better = [other for other in values if (other < own if table.better == "lower" else other > own)]
    assert stands.rank == 1 + len(better)
    assert len(stands.level) == values.count(own)
    rows = merged(table, [stands])
    assert [run for _, run, _, published in rows if not published] == ["mine"]
    assert len(rows) == len(values) + 1
    assert [run for _, run, _, _ in rows].index("mine") == len(better) + len(stands.level)


def fits(table: Leaderboard, **changes: Any) -> None:
    name = table.presets[0]
    given: dict[str, Any] = {
        "where": "folder",
        "preset_name": name,
        "options": {**options_of(preset(name)), "seed": 3},
        "means": {key: value for key, (value, _) in table.constant.items()},
        "units": table.units,
    }
    check_comparable(table, **{**given, **changes})


@pytest.mark.parametrize("name", [name for name in leaderboards() if name != "trec2022-task2"])
def test_what_may_be_placed(name: str) -> None:
    table = leaderboard(name)
    fits(table)
    with pytest.raises(ConfigError, match=f"no preset; .* preset={table.presets[0]} only"):
        fits(table, preset_name=None)
    with pytest.raises(ConfigError, match=f"Type: fair-rerank evaluate preset={table.presets[0]}"):
        fits(table, preset_name=table.presets[0].replace("official", "corrected"))
    with pytest.raises(ConfigError, match="other judgments"):
        fits(table, units=table.units + 1)
    for key, (value, within) in table.constant.items():
        for wrong in (value + 3 * within, None, "nan"):
            with pytest.raises(ConfigError, match=f"mean {key} is"):
                fits(table, means={**{k: v for k, (v, _) in table.constant.items()}, key: wrong})


def test_changed_options_and_the_alias() -> None:
    table = leaderboard("trec2020-rerank")
    options = options_of(preset("trec2020_official"))
    fits(table, preset_name="trec2020_official", options={**options, "attribute": "level"})
    with pytest.raises(ConfigError, match=r"preset\.patience was 0\.9"):
        fits(table, options={**options, "patience": 0.9})
    with pytest.raises(ConfigError, match=r"preset\.attribute was h_class"):
        fits(table, options={**options, "attribute": "h_class"})


def test_nothing_is_placed_where_only_the_order_is_known() -> None:
    with pytest.raises(ConfigError, match="faulty version"):
        fits(leaderboard("trec2022-task2"))

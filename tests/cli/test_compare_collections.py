"""Several collections in one comparison: a section each, rows matched by their configs, differences over them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError
from rerankers.stages.compare import compare_from_config
from tests.cli.compare_jobs import write

pytestmark = pytest.mark.slow


def compare(*folders: Path, **words: Any) -> None:
    config = {"results": [str(folder) for folder in folders], "leaderboard": None, "mix": [], "output": None}
    compare_from_config(config | {"queries": None} | words)


def world(path: str, **method: Any) -> dict[str, Any]:
    """Return a config on a collection of files, with a first-stage run of its own."""
    return {
        "collection": {"_target_": "rerankers.collections.Jsonl", "path": f"data/{path}"},
        "retriever": {"path": f"runs/{path}.run", "k": 100},
        "method": {"_target_": "rerankers.methods.kl_tilt.KlTilt", **method},
    }


@pytest.fixture
def crossed(tmp_path: Path) -> Path:
    """Write two methods on two collections; the fairer one wins on one of them only."""
    for path, better in (("north", 0.3), ("south", 0.7)):
        how = {"mark": path, "name": path, "prefix": path[0], "units": 40 if path == "north" else 30}
        write(tmp_path / "sweep" / f"{path}0", world(path, strength=0), loss=0.5, **how)
        write(tmp_path / "sweep" / f"{path}1", world(path, strength=1), loss=better, **how)
    return tmp_path / "sweep"


def test_a_design_needs_no_asking(crossed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    compare(crossed, output=str(out))
    told = capsys.readouterr().out
    assert (
        "2 collections; 2 of 2 rows are in all of them; matched by all options but collection.path, retriever.path"
        in told
    )
    assert "better in 1, by the test in 1" in told
    rows = list(csv.DictReader((out / "comparison.csv").read_text().splitlines()))
    assert {(row["collection"], row["run"]) for row in rows if row["kind"] == "run"} == {
        (name, f"kl strength={strength}") for name in ("north", "south") for strength in (0, 1)
    }
    assert {row["collection"] for row in rows if row["kind"] == "anchor"} == {"north", "south"}  # anchors of its own
    tests = list(csv.DictReader((out / "differences.csv").read_text().splitlines()))
    assert {(row["collection"], row["units"]) for row in tests} == {("north", "40"), ("south", "30")}
    by_measure = {row["measure"]: row for row in csv.DictReader((out / "collections.csv").read_text().splitlines())}
    own = [float(row["difference"]) for row in tests if row["measure"] == "EEL"]
    over = by_measure["EEL"]
    assert float(over["mean"]) == pytest.approx(sum(own) / 2)
    assert [float(over["least"]), float(over["greatest"])] == sorted(own)
    assert (over["collections"], over["better_in"], over["by_test_in"]) == ("2", "1", "1")
    page = (out / "comparison.md").read_text()
    assert "| *north* |" in page
    assert "No test is made over collections" in page
    assert sorted(path.name for path in (out / "figures").glob("*.png")) == [
        "trade_off_eel_1.png",
        "trade_off_eel_2.png",
    ]


def test_what_is_not_crossed_is_refused_and_shown_when_asked(
    crossed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = [crossed / "north0", crossed / "north1", crossed / "south1"]
    with pytest.raises(ConfigError, match=r"other queries: .*mix=\[queries\]"):
        compare(*some)
    compare(*some, mix=["queries"])
    told = capsys.readouterr().out
    assert "1 of 2 rows are in all of them" in told
    assert "south: has no kl strength=0; its own first run is the baseline there" in told
    compare(*some, mix=["queries"], baseline="kl strength=0")
    assert "south: has no kl strength=0, so no differences are shown there" in capsys.readouterr().out


def test_other_methods_on_other_collections_are_not_one_row(tmp_path: Path) -> None:
    write(tmp_path / "a", world("north", strength=0), mark="north", prefix="n")
    write(tmp_path / "b", world("south", strength=1), mark="south", prefix="s")
    with pytest.raises(ConfigError, match="other queries"):
        compare(tmp_path / "a", tmp_path / "b")


def test_queries_that_overlap_stand_in_one_table_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a", world("north", strength=0), units=40)
    write(tmp_path / "b", world("north", strength=1), units=38)
    with pytest.raises(ConfigError, match="38 and 40 other queries"):
        compare(tmp_path / "a", tmp_path / "b")
    compare(tmp_path / "a", tmp_path / "b", mix=["queries"])
    told = capsys.readouterr().out
    assert "paired over 38 queries" in told
    assert "not all jobs have the same queries; means are of each one's own" in told

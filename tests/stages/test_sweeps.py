"""Sweeps as curves, fronts beside them, losses at matched utility."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from rerankers._base.errors import InputError
from rerankers.measures.table import SCHEMA
from rerankers.stages.compare import compare_from_config
from rerankers.stages.fronts import FILE, write_fronts
from rerankers.stages.gathered import read_results
from rerankers.stages.sweeps import configurations, expanded, families, repetitions
from rerankers.stages.trade_offs import trade_offs

UNITS = [f"q{number}" for number in range(12)]


def write_job(folder: Path, utility: float, loss: float, config: dict[str, object], system: str = "m") -> Path:
    """Write the results of a made-up job: query i has utility + i / 100."""
    folder.mkdir(parents=True)
    systems = {system: (utility, loss), "anchor:deterministic": (1.0, 2.0)}
    rows = [
        (name, 0, unit, measure, mean + place / 100, None)
        for name, values in systems.items()
        for measure, mean in zip(("utility", "EEL"), values, strict=True)
        for place, unit in enumerate(UNITS)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), folder / "measures.parquet")
    runs = {
        name: {"mean": {"utility": u + 0.055, "EEL": e + 0.055}, "interval": {}, "per_query": {}}
        for name, (u, e) in systems.items()
    }
    options = {"browsing": "rbp", "confidence": 0.95, "resamples": 60}
    found = {"preset": None, "tier": "blind", "options": options, "counts": {}, "runs": runs}
    (folder / "measures.json").write_text(json.dumps(found))
    (folder / "config.yaml").write_text(yaml.safe_dump(config | {"output": str(folder)}))
    return folder


def write_sweep(folder: Path, offset: float = 0.0, **words: object) -> Path:
    for number, weight in enumerate((0.0, 1.0, 2.0, 10.0)):
        config = {"method": {"weight": weight, **words}, "seed": 0}
        write_job(folder / str(number), 1.0 - weight / 20, 1.0 - weight / 12 + offset, config)
    return folder


def test_a_sweep_stands_for_its_jobs(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep")
    write_job(sweep / "10", 0.5, 0.5, {})
    assert [path.name for path in expanded([sweep])] == ["0", "1", "2", "3", "10"]
    assert expanded([sweep / "1", sweep / "1"]) == [sweep / "1"]
    assert expanded([tmp_path / "nothing"]) == [tmp_path / "nothing"]  # reading it says what is wrong


def test_families_and_repetitions(tmp_path: Path) -> None:
    one, two = write_sweep(tmp_path / "one", kind="a"), write_sweep(tmp_path / "two", 0.3, kind="b")
    extra = write_job(tmp_path / "extra", 1.1, 1.1, {"method": {"weight": 0.0, "kind": "a"}, "seed": 1})
    jobs = [read_results(folder) for folder in expanded([one, two, extra])]
    found = {family.name: family for family in families(jobs)}
    assert list(found) == ["m (method.kind=a)", "m (method.kind=b)"]
    family = found["m (method.kind=a)"]
    assert (family.option, family.values) == ("method.weight", (0.0, 1.0, 2.0, 10.0))
    assert [len(point) for point in family.jobs] == [2, 1, 1, 1]
    curve = family.curve("EEL", UNITS)
    assert curve is not None
    assert curve.utility.shape == (4, 12)
    assert curve.utility[0, 0] == pytest.approx(1.05)  # the mean of both seeds
    assert family.curve("nothing", UNITS) is None


def test_no_curve_of_two_points_or_of_words(tmp_path: Path) -> None:
    folders = [
        write_job(tmp_path / str(number), 1.0, 1.0, {"method": {"weight": weight, "kind": f"k{number}"}})
        for number, weight in enumerate((0.0, 1.0, 1.0))
    ]
    jobs = [read_results(folder) for folder in folders]
    assert families(jobs) == []
    assert not trade_offs(jobs, 0.95, 50).pictures


def test_fronts_and_matched_utility(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = write_sweep(tmp_path / "sweep")
    points = {
        weight: {
            "utility": {unit: 1.0 - weight / 10 + place / 100 for place, unit in enumerate(UNITS)},
            "EEL": {unit: 0.5 - weight / 10 + place / 100 for place, unit in enumerate(UNITS)},
        }
        for weight in (0.0, 1.0, 4.0)
    }
    write_fronts(sweep / "0", {"true front": points})
    output = tmp_path / "out"
    config = {"results": [str(sweep)], "leaderboard": None, "mix": [], "output": str(output)}
    compare_from_config(config)
    assert "EEL at 90% of the static utility (0.9495): m 0.8792" in capsys.readouterr().out
    rows = list(csv.DictReader((output / "matched.csv").read_text().splitlines()))
    assert [(row["curve"], row["share"]) for row in rows] == [
        (name, share) for name in ("m", "true front") for share in ("0.8", "0.9", "0.95")
    ]
    sweep_row, front_row = rows[1], rows[4]
    assert float(sweep_row["utility"]) == pytest.approx(0.9 * 1.055)
    # the curve falls by 1/12 in loss for every 1/20 in utility, the front by 1 for 1
    assert float(sweep_row["mean"]) == pytest.approx(1.055 - (1.055 - 0.9495) * 20 / 12)
    assert float(front_row["mean"]) == pytest.approx(0.555 - (1.055 - 0.9495))
    assert float(front_row["d_high"]) < 0
    drawn = list(csv.DictReader((output / "figures" / "trade_off_eel.csv").read_text().splitlines()))
    assert {row["kind"] for row in drawn} == {"sweep", "front", "anchor"}
    assert "![Utility and EEL](figures/trade_off_eel.png)" in (output / "comparison.md").read_text()
    assert (output / "figures" / "trade_off_eel.png").stat().st_size > 5000


def test_damaged_files(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep")
    jobs = [read_results(folder) for folder in expanded([sweep])]
    (sweep / "0" / FILE).write_text("no parquet")
    with pytest.raises(InputError, match="damaged fronts"):
        trade_offs(jobs, 0.95, 50)
    (sweep / "0" / "config.yaml").write_text("a: [")
    with pytest.raises(InputError, match="the config that a job writes"):
        families(jobs)


def test_gaps_to_the_front(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, better = write_sweep(tmp_path / "first", 0.3, kind="a"), write_sweep(tmp_path / "second", 0.15, kind="b")
    curve = {
        weight: {
            "utility": {unit: 1.0 - weight / 20 + place / 100 for place, unit in enumerate(UNITS)},
            "EEL": {unit: 1.0 - weight / 12 + place / 100 for place, unit in enumerate(UNITS)},
        }
        for weight in (0.0, 1.0, 2.0, 10.0)
    }
    write_fronts(first / "0", {"true front, documents": curve, "true front, groups": curve})
    config = {"results": [str(first), str(better)], "leaderboard": None, "mix": [], "output": str(tmp_path / "out")}
    compare_from_config(config)
    told = capsys.readouterr().out
    assert "EEL, mean of 80% to 95% of the static utility: m (method.kind=b) is 0.1500" in told
    assert "50% [50%, 50%] of the first curve's gap closed" in told
    assert "8 configurations compared" in told
    rows = list(csv.DictReader((tmp_path / "out" / "gaps.csv").read_text().splitlines()))
    assert {row["front"] for row in rows} == {"true front, documents"}  # the other is of another loss
    assert [(row["curve"], row["share"]) for row in rows[:4]] == [
        ("m (method.kind=a)", share) for share in ("0.8", "0.9", "0.95", "")
    ]
    assert [float(row["gap"]) for row in rows] == pytest.approx([0.3] * 4 + [0.15] * 4)
    assert [row["closed"] for row in rows[:4]] == [""] * 4
    assert (
        "| EEL | true front, documents | m (method.kind=b) | 90% | 0.1500"
        in (tmp_path / "out" / "comparison.md").read_text()
    )


def test_seeds_are_no_configurations_and_models_count_by_their_training(tmp_path: Path) -> None:
    for number in (0, 1):
        model = {"model": {"rounds": 10}, "seed": number, "output": f"m{number}"}
        write_job(tmp_path / f"model{number}", 1.0, 1.0, model)
    other = {"model": {"rounds": 20}, "seed": 0}
    write_job(tmp_path / "model2", 1.0, 1.0, other)
    jobs = [
        read_results(
            write_job(
                tmp_path / str(number), 1.0, 1.0, {"method": {"model": str(tmp_path / f"model{number}")}, "seed": 0}
            )
        )
        for number in (0, 1, 2)
    ]
    found = repetitions(jobs)
    assert sorted(len(homes) for homes in found.values()) == [1, 2]
    assert configurations(jobs) == [2]


def test_sweeps_of_different_numbers_make_curves_of_their_own(tmp_path: Path) -> None:
    one = write_sweep(tmp_path / "one")
    for number, heat in enumerate((0.5, 1.0, 2.0)):
        write_job(
            tmp_path / "two" / str(number), 1.0 - heat / 10, 1.2 - heat / 8, {"method": {"heat": heat}, "seed": 0}
        )
    jobs = [read_results(folder) for folder in expanded([one, tmp_path / "two"])]
    found = families(jobs)
    assert [(family.option, family.values) for family in found] == [
        ("method.weight", (0.0, 1.0, 2.0, 10.0)),
        ("method.heat", (0.5, 1.0, 2.0)),
    ]
    assert len({family.name for family in found}) == 2
    assert {row.curve for row in trade_offs(jobs, 0.95, 60).matched["EEL"]} == {family.name for family in found}

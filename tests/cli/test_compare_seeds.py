"""Rows of a comparison: seeds together, names by what differs, anchors once, marks, the best of a column."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers.stages.compare import compare_from_config
from rerankers.stats.paired import paired_intervals
from tests.cli.compare_jobs import fronts, write


def method(**options: Any) -> dict[str, Any]:
    return {"method": {"_target_": "rerankers.methods.kl_tilt.KlTilt", **options}}


def compare(capsys: pytest.CaptureFixture[str], *folders: Path, **words: Any) -> str:
    config = {"results": [str(folder) for folder in folders], "leaderboard": None, "mix": [], "output": None}
    compare_from_config(
        config | {"queries": None} | {key: str(v) if isinstance(v, Path) else v for key, v in words.items()}
    )
    return capsys.readouterr().out


def rows(output: Path, name: str = "comparison.csv") -> list[dict[str, str]]:
    return list(csv.DictReader((output / name).read_text().splitlines()))


def grid(tmp_path: Path) -> Path:
    """Write a sweep of two temperatures and three seeds."""
    for place, (heat, seed) in enumerate([(heat, seed) for heat in (0.5, 2.0) for seed in (0, 1, 2)]):
        write(tmp_path / "sweep" / str(place), method(temperature=heat), seed=seed, loss=0.6 - heat / 10, noise=0.05)
    return tmp_path / "sweep"


def test_seeds_are_one_row_whose_interval_is_over_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep, out = grid(tmp_path), tmp_path / "out"
    told = compare(capsys, sweep, output=out)
    assert "2 rows are means over 3 seeds" in told
    found = {(row["run"], row["measure"]): row for row in rows(out)}
    names = {run for run, _ in found if not run.startswith("anchor:")}
    assert names == {"kl temperature=0.5", "kl temperature=2.0"}
    row = found["kl temperature=0.5", "EEL"]
    values = []
    for place in (0, 1, 2):
        lines = csv.DictReader((sweep / str(place) / "measures.csv").read_text().splitlines())
        values.append([float(line["value"]) for line in lines if (line["system"], line["measure"]) == ("kl", "EEL")])
    table = np.array(values)
    (span,) = paired_intervals(table.mean(axis=0)[:, None], resamples=60)
    assert float(row["mean"]) == pytest.approx(table.mean(), rel=1e-12)
    assert [float(row["low"]), float(row["high"])] == [span.low, span.high]
    assert float(row["seed_sd"]) == pytest.approx(table.mean(axis=1).std(ddof=1), rel=1e-12)
    assert (row["seeds"], row["folder"], row["queries"]) == ("3", "0; 1; 2", "40")
    # the anchors do not depend on the seed: they stand once, as the mean of nothing
    anchor = found["anchor:random", "EEL"]
    assert (anchor["seeds"], anchor["seed_sd"]) == ("1", "")
    assert "## Spread over seeds" in (out / "comparison.md").read_text()
    page = (out / "comparison.html").read_text()
    assert page.count("<svg") == 1  # utility against EEL
    assert re.findall(r"(?:src|href)=['\"](?!#)[^'\"]*", page) == []
    assert "://" not in page  # nothing is loaded


def test_seeds_apart_are_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    compare(capsys, grid(tmp_path), output=out, seeds="apart", formats=["csv"])
    names = list(dict.fromkeys(row["run"] for row in rows(out) if row["kind"] == "run"))
    assert names == [f"kl temperature={heat} seed={seed}" for heat in (0.5, 2.0) for seed in (0, 1, 2)]
    assert sorted(path.name for path in out.glob("comparison.*")) == ["comparison.csv"]


def test_the_same_job_twice_is_no_repetition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, seed in (("a", 0), ("b", 1), ("again/a", 0)):
        write(tmp_path / folder, method(temperature=1), seed=seed)
    told = compare(capsys, tmp_path / "a", tmp_path / "b", tmp_path / "again/a", output=tmp_path / "out")
    assert "1 row is the mean over 2 seeds" in told
    names = list(dict.fromkeys(row["run"] for row in rows(tmp_path / "out") if row["kind"] == "run"))
    assert names == [f"{tmp_path.name}/a/kl", "again/a/kl"]


def test_baseline_by_its_folder_and_marks_by_the_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "plain", method(temperature=1), loss=0.6, utility=0.4)
    write(tmp_path / "fair", method(temperature=2), loss=0.4, utility=0.3, seed=0, noise=0.02)
    out = tmp_path / "out"
    compare(capsys, tmp_path / "fair", tmp_path / "plain", output=out, baseline="plain")
    text = (out / "comparison.md").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("| kl temperature=2 | 0.")][:1]
    assert re.search(r"\| 0\.2\d+‡ \[.*\| \*\*0\.4\d+\*\*† \[", line)
    assert "† better, ‡ worse than kl temperature=1" in text
    assert "max-T adjusted" in text
    compare(capsys, tmp_path / "fair", tmp_path / "plain", output=out, correction="none", alpha=1e-6)
    assert "†" not in (out / "comparison.md").read_text().split("## Differences")[0].split("In brackets")[0]


def test_the_best_is_a_run_and_ties_are_all_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, heat in enumerate((1, 2, 3)):
        write(tmp_path / str(place), method(temperature=heat), loss=0.6 if heat < 3 else 0.9, utility=0.4, noise=0.0)
    out = tmp_path / "out"
    compare(capsys, *(tmp_path / str(place) for place in range(3)), output=out)
    table = (out / "comparison.md").read_text().split("## Results")[1].split("In brackets")[0]
    bold = [line for line in table.splitlines() if "**" in line]
    assert len(bold) == 3  # utility ties in all three
    assert sum(line.count("**") // 2 == 2 for line in bold) == 2  # the losses of two
    assert not any("**" in line for line in table.splitlines() if line.startswith(("| random", "| determ")))
    alone = tmp_path / "alone"
    compare(capsys, tmp_path / "0", output=alone)
    assert "**" not in (alone / "comparison.md").read_text()


def test_fronts_stand_in_the_table_and_beside_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, heat in (("a", 1), ("b", 2)):
        write(tmp_path / name, method(temperature=heat), loss=0.9, utility=0.4, noise=0.0)
    told = compare(capsys, tmp_path / "a", tmp_path / "b", output=tmp_path / "none")
    assert told.count("the optimum is not in the table. Type: fair-rerank run … measures.fronts=true") == 1
    fronts(tmp_path / "a")
    out = tmp_path / "out"
    told = compare(capsys, tmp_path / "a", tmp_path / "b", output=out)
    assert "1 of 2 jobs have no fronts.parquet" in told
    (utility, loss) = [row for row in rows(out) if row["kind"] == "front"]
    hard = float(np.random.default_rng(7).normal(size=40).mean() * 0.1)
    assert utility["run"] == "oracle front, documents at 90% of the static utility"
    assert float(utility["mean"]) == pytest.approx(0.9 * (0.6 + hard))
    # on the front's line loss is 0.1 + utility, less twice the queries' mean hardness
    assert float(loss["mean"]) == pytest.approx(0.1 + 0.9 * (0.6 + hard) - 2 * hard)
    (beside,) = rows(out, "optimum.csv")
    assert (beside["run"], beside["front"]) == ("kl temperature=1", "oracle front, documents")
    assert float(beside["least"]) == pytest.approx(0.5 - hard)
    assert float(beside["above"]) == pytest.approx(0.4)
    assert float(beside["low"]) <= float(beside["above"]) <= float(beside["high"])
    assert "best that can be had with 90% of the static utility" in (out / "comparison.tex").read_text().replace(
        "\\", ""
    )


def test_a_sweep_of_other_tiers_tells_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "sweep" / "0", method(temperature=1), system="blind_one")
    write(tmp_path / "sweep" / "1", method(temperature=1), system="fair", tier="given_groups")
    compare(capsys, tmp_path / "sweep", output=tmp_path / "out")
    table = (tmp_path / "out" / "comparison.md").read_text().split("## Results")[1]
    assert "| system | tier | utility ↑ | EEL ↓ |" in table
    assert "| fair | given groups |" in table


def test_parts_without_a_mean_over_seeds_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = {"group_EEL": 0.3, "group_EEL_placebo": 0.2, "group_EEL_excess": 0.1}
    for seed in (0, 1):
        folder = write(tmp_path / "sweep" / str(seed), method(temperature=1.0), seed=seed, noise=0.05, more=more)
        summary = folder / "measures.json"
        found = json.loads(summary.read_text())
        for run in found["runs"].values():  # these two are of all queries together
            run["mean"] |= {"group_EEL_excess_p": 0.2, "group_EEL_systematic_share": 0.4}
        summary.write_text(json.dumps(found))
    said = (
        "has no mean over seeds (seeds=apart shows it seed by seed) (group_EEL_excess_p, group_EEL_systematic_share: kl"
    )
    told = compare(capsys, tmp_path / "sweep")
    assert f"-: {said}" in told
    assert "no labels were shuffled" not in told
    assert said not in compare(capsys, tmp_path / "sweep", seeds="apart")


def test_groups_of_other_attributes_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, attribute in enumerate(["region", "maker"]):
        config = {**method(temperature=1.0), "groups": {"attribute": attribute}}
        folder = write(tmp_path / "sweep" / str(place), config, loss=0.6 + place / 10, more={"group_EEL": 0.3})
        summary = folder / "measures.json"
        found = json.loads(summary.read_text())
        found["options"]["groups"] = {"attribute": attribute}
        summary.write_text(json.dumps(found))
    said = "caution: jobs: measures of groups are about region, maker, each job's own groups"
    out = tmp_path / "out"
    assert said in compare(capsys, tmp_path / "sweep", output=out)
    assert said in (out / "comparison.md").read_text()
    assert "caution: jobs" not in compare(capsys, tmp_path / "sweep" / "0", tmp_path / "sweep" / "0")

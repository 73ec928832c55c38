"""``power``: detectable differences from stored results, variance by source, draws and queries needed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers.measures.scores import Scores
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import concat, result_table
from rerankers.stages.drawn import drawn_of
from rerankers.stats.power import detectable_difference
from tests.cli.conftest import Run

OPTIONS = {"browsing": "GERR", "universe": "union", "cutoff": None}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(folder: Path, values: dict[str, np.ndarray], config: dict[str, Any] | None = None) -> Path:
    tables = []
    for system, value in values.items():
        scores = [Scores(value, np.full(len(value), -1, dtype=np.int8))]
        tables.append(result_table(system, 0, [f"q{unit:03}" for unit in range(len(value))], ["EEL"], scores))
    folder.mkdir(parents=True)
    table = concat(tables)
    write_results(folder, table, summarise(table, options=OPTIONS, tier="blind", resamples=20))
    if config is not None:
        (folder / "config.yaml").write_text(json.dumps(config))
    return folder


def found(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "power.json").read_text())
    return read


def test_pairs_and_a_single_run(command: Run, here: Path) -> None:
    draw = np.random.default_rng(0)
    one, two = draw.normal(size=(2, 80))
    stored(here / "a", {"one": one, "two": two, "anchor:random": one})
    code, out, err = command("power", "a", "output=out", "differences=[0.5,1e-7]", "alpha=0.01", "power=0.9")
    assert (code, err) == (0, "")
    (row,) = found(here / "out")["pairs"]
    deviation = float((one - two).std(ddof=1))
    assert (row["run"], row["other"], row["units"]) == ("one", "two", 80)
    assert row["deviation"]["mean"] == pytest.approx(deviation)
    assert row["deviation"]["low"] < deviation < row["deviation"]["high"]
    assert row["detectable"] == pytest.approx(detectable_difference(deviation, 80, 0.9, 0.01))
    assert row["correlation"] == pytest.approx(np.corrcoef(one, two)[0, 1])
    assert row["queries"]["1e-07"] is None  # more than a billion
    assert "found with probability 0.9 by a two-sided test of size 0.01" in out
    assert "note: a: nothing is told of draws and labels: there is no config.yaml" in out
    assert "| EEL | one | two | 80 |" in (here / "out" / "power.md").read_text()
    assert command("power", "a", "anchors=true", "output=more")[0] == 0
    assert len(found(here / "more")["pairs"]) == 3
    stored(here / "b", {"one": one})
    code, out, _ = command("power", "b", "correlation=0.8", "output=single")
    assert code == 0
    assert "correlate by 0.8" in out
    (row,) = found(here / "single")["pairs"]
    assert row["other"] is None
    assert row["deviation"]["mean"] == pytest.approx(one.std(ddof=1) * math.sqrt(0.4))


def test_seeds_of_one_configuration(command: Run, here: Path) -> None:
    draw = np.random.default_rng(1)
    query = draw.normal(size=100)
    for seed, shift in enumerate((-0.5, 0.0, 0.5)):
        config = {"method": {"temperature": 1.0}, "seed": seed, "universe": "union"}
        stored(here / f"s{seed}", {"m": query + shift + 0.2 * draw.normal(size=100)}, config)
    code, out, _ = command("power", "s0", "s1", "s2", "output=out")
    assert code == 0
    assert "m (3 seeds)" in out
    (row,) = found(here / "out")["splits"]
    parts = {source: part["mean"] for source, part in row["parts"].items()}
    assert set(parts) == {"queries", "seeds", "rest"}
    assert parts["queries"] == pytest.approx(query.var(ddof=1), rel=0.15)
    assert parts["seeds"] == pytest.approx(0.25, rel=0.2)
    assert parts["rest"] == pytest.approx(0.04, rel=0.25)
    assert row["error"]["seeds"] == pytest.approx(math.sqrt(parts["seeds"]))
    assert row["error"]["queries"] == pytest.approx(math.sqrt(parts["queries"] / 100))


@pytest.mark.slow
def test_draws_and_labels_of_real_jobs(command: Run, here: Path, tiny: Path, tiny_run: Path) -> None:
    job = ("collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}")
    more = ("groups.attribute=seniority", "samples=40", "measures.resamples=20")
    for name, words in {"exact": (), "drawn": ("measures.exposure=draws",)}.items():
        code, _, err = command("run", *job, *more, *words, f"output={name}")
        assert code == 0, err
    code, out, err = command("power", "exact", "drawn", "mix=[options]", "precision=0.02", "output=out")
    assert (code, err) == (0, "")
    assert "draws for ±0.02" in out
    splits = {(row["measure"], row["system"]): row for row in found(here / "out")["splits"]}
    drawn = splits["group_EEL", "drawn/plackett_luce"]
    exact = splits["group_EEL", "exact/plackett_luce"]
    assert "draws" in drawn["parts"]
    assert "draws" not in exact["parts"]  # a closed form has no noise
    assert exact["labels"]["mean"] > 0
    assert (drawn["draws"], drawn["draws_for_precision"]) == (40, exact["draws_for_precision"])
    utility = splits["utility", "drawn/plackett_luce"]
    assert utility["labels"] is None
    assert 2 < utility["draws_for_precision"] < 400


def test_files_of_a_job_that_are_gone(command: Run, here: Path, tiny: Path, tiny_run: Path) -> None:
    words = ("missing_query=zero_exposure", "measures.resamples=20", "output=judged")
    assert command("evaluate", f"run={tiny_run}", f"qrels={tiny / 'qrels.txt'}", *words)[0] == 0
    assert command("power", "judged")[0] == 0
    tiny_run.unlink()
    code, _, err = command("power", "judged")
    assert code == 3
    assert "without: draws=false" in err
    assert command("power", "judged", "draws=false")[0] == 0


@pytest.mark.slow
def test_variance_of_draws_is_that_of_repeated_jobs(command: Run, here: Path, tiny: Path, tiny_run: Path) -> None:
    """Values of many independently drawn files scatter as the variance that is told from one file alone."""
    words = (
        "collection=jsonl",
        f"collection.path={tiny}",
        "retriever=run_file",
        f"retriever.run={tiny_run}",
        "groups.attribute=seniority",
        "samples=200",
        "measures.resamples=20",
        "measures.exposure=draws",
    )
    values: dict[str, list[list[float]]] = {"EEL": [], "group_EEL": [], "utility": []}
    for seed in range(12):
        assert command("run", *words, f"seed={seed}", f"output=job{seed}")[0] == 0
        own = json.loads((here / f"job{seed}" / "measures.json").read_text())["runs"]["plackett_luce"]["per_query"]
        for key, rows in values.items():
            rows.append([own[unit][key] for unit in ("q1", "q2", "q3")])
    drawn, reason = drawn_of(here / "job0")
    told = drawn["plackett_luce"]
    assert reason == ""
    assert told.units == ("q1", "q2", "q3")
    assert told.draws.tolist() == [200, 200, 200]
    for key, rows in values.items():
        scatter = np.var(rows, axis=0, ddof=1).sum()
        assert told.by_draws[key].sum() == pytest.approx(scatter, rel=0.9), key
        assert told.by_draws[key].sum() > scatter / 3


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ((), "results: no value", 2),
        (("none",), "none/measures.json: no such file", 3),
        (("results=[]",), "expected folders", 2),
        (("a", "power=0.01"), "power: found 0.01", 2),
        (("a", "alpha=0"), "alpha: found 0", 2),
        (("a", "correlation=2"), "correlation: found 2", 2),
        (("a", "precision=0"), "precision: found 0", 2),
        (("a", "differences=[0.1,x]"), "differences: found 'x'", 2),
        (("a", "anchors=maybe"), "anchors: found 'maybe'", 2),
        (("a", "measures=[EER]"), "Did you mean 'EEL'?", 2),
        (("a", "mix=[tires]"), "Did you mean 'tier'?", 2),
        (("a", "output=file"), "output: found the file file", 2),
    ],
)
def test_wrong_words(command: Run, here: Path, words: tuple[str, ...], message: str, code: int) -> None:
    (here / "file").write_text("")
    stored(here / "a", {"one": np.arange(5.0), "two": np.zeros(5)})
    found_code, _, err = command("power", *words)
    assert message in err
    assert found_code == code


def test_odd_values(command: Run, here: Path) -> None:
    stored(here / "a", {"one": np.array([1.0]), "two": np.array([2.0])})
    code, out, err = command("power", "a", "output=out")
    assert (code, err) == (0, "")
    assert found(here / "out")["pairs"][0]["detectable"] is None
    assert "caution: only 1 queries" in out
    stored(here / "b", {"one": np.array([0.0, 1.0, 2.0]), "two": np.array([1.0, 2.0, 3.0])})
    assert command("power", "b", "output=same")[0] == 0
    row = found(here / "same")["pairs"][0]  # one is the other and 1: every true difference is found at once
    assert (row["detectable"], row["queries"]["0.01"]) == (0.0, 2)


@pytest.mark.shared_data
def test_detectable_differences_of_2020(command: Run, here: Path, shared: Path) -> None:
    folder = shared / "data" / "trec-fair-2020"
    runs = ",".join(str(path) for path in sorted((folder / "rerank_submissions").glob("UW_*.jsonl.gz")))
    code, _, err = command(
        "evaluate",
        "preset=trec2020_rerank_official",
        f"run=[{runs}]",
        f"qrels={folder / 'TREC-Fair-Ranking-eval-sample.json'}",
        f"groups={folder / 'merged-annotations.json'}",
        "measures.resamples=20",
        "output=judged",
    )
    assert code == 0, err
    code, out, _ = command("power", "judged", "measures=[group_EEL]", "output=out")
    assert code == 0
    assert "a preset judged them by rules of its own" in out
    detectable = [row["detectable"] for row in found(here / "out")["pairs"]]
    assert [min(detectable), max(detectable)] == pytest.approx([0.11, 0.21], abs=0.005)

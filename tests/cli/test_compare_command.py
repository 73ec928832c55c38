"""``compare``: several results in one table, refusals, and places among published runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers.measures.scores import Scores
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import concat, result_table
from rerankers.tracks.preset import options_of, preset
from tests.cli.conftest import Run

PLAIN = {"browsing": "GERR", "universe": "union", "cutoff": None, "groups": {"unknown": "count", "mixed": "own_group"}}
RANDOM = "anchor:random"


def results(
    folder: Path,
    runs: Mapping[str, Mapping[str, float]],
    *,
    units: int = 3,
    name: str | None = None,
    tier: str = "blind",
    options: Mapping[str, Any] = PLAIN,
    counts: Mapping[str, Any] | None = None,
) -> Path:
    """Write results in which the mean of a measure is as given, queries being spread around it."""
    spread = np.linspace(-1, 1, units) * 0.01
    present = np.full(units, -1, dtype=np.int8)
    tables = []
    for system, means in runs.items():
        scores = [Scores(mean + (0 if "EET" in key else spread), present) for key, mean in means.items()]
        scores = [Scores(np.broadcast_to(one.value, (units,)).copy(), present) for one in scores]
        tables.append(result_table(system, 0, [f"q{unit}" for unit in range(units)], list(means), scores))
    table = concat(tables)
    folder.mkdir(parents=True)
    summary = summarise(table, options=options, tier=tier, counts=counts, preset=name, resamples=50)
    write_results(folder, table, summary)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_results_in_one_table(command: Run, here: Path) -> None:
    random = {"utility": 0.2, "EEL": 0.5}
    results(here / "a", {"one": {"utility": 0.3, "EEL": 0.4}, RANDOM: random})
    results(here / "b, 2", {"two": {"utility": 0.31, "EEL": 0.6}, RANDOM: random})
    code, out, err = command("compare", "a", "b, 2", "output=out")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["system", "utility", "EEL"]
    assert [line.split() for line in lines[2:5]] == [
        ["one", "0.3000", "0.4000"],
        ["two", "0.3100", "0.6000"],
        [RANDOM, "0.2000", "0.5000"],
    ]
    shown = (here / "out" / "comparison.md").read_text()
    assert "2 jobs, 2 systems, no preset, 3 queries" in shown
    assert "| two | blind | b, 2 |" in shown
    assert "| one | 0.300 [0.2" in shown  # two digits of the intervals' half-width
    assert "| **0.310** [0.2" in shown
    rows = list(csv.DictReader((here / "out" / "comparison.csv").read_text().splitlines()))
    assert [(row["run"], row["folder"], row["measure"]) for row in rows] == [
        ("one", "a", "utility"),
        ("one", "a", "EEL"),
        ("two", "b, 2", "utility"),
        ("two", "b, 2", "EEL"),
        (RANDOM, "a", "utility"),
        (RANDOM, "a", "EEL"),
    ]
    for row in rows:
        assert float(row["low"]) <= float(row["mean"]) <= float(row["high"])


def test_runs_of_one_name_carry_their_folder_and_anchors_that_differ_too(command: Run, here: Path) -> None:
    for name, value in (("a", 0.1), ("b", 0.2)):
        results(here / name, {"pl": {"EEL": value}, RANDOM: {"EEL": value}})
    code, out, _ = command("compare", "a", "b")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:6]] == ["a/pl", "b/pl", RANDOM, RANDOM]
    assert f"{RANDOM} (b)" in out
    results(here / "sub" / "a", {"pl": {"EEL": 0.3}})
    code, out, _ = command("compare", "a", "sub/a")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["a/pl", "sub/a/pl"]


def test_test_collections_that_differ_though_their_queries_are_called_alike(command: Run, here: Path) -> None:
    for name, mark in (("a", "one"), ("b", "two"), ("c", "one"), ("d", None)):
        results(here / name, {name: {"EEL": 0.1}})
        if mark:
            (here / name / "metadata.yaml").write_text(f"data: {{test collection: {{name: x, fingerprint: {mark}}}}}\n")
    (here / "d" / "metadata.yaml").write_text("[damaged")
    code, _, err = command("compare", "a", "b")
    assert code == 2
    assert "other test collections" in err
    assert "mix=[queries]" in err
    for words in (("b", "mix=[queries]"), ("c",), ("d",)):
        assert command("compare", "a", *words)[0] == 0


def test_a_run_named_twice_stands_once(command: Run, here: Path) -> None:
    results(here / "a", {"pl": {"EEL": 0.1}})
    (here / "same").symlink_to(here / "a")
    code, out, _ = command("compare", "a", "./a", "same")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["pl", "named"]
    assert "named more than once, compared once: a, same" in out


@pytest.mark.parametrize(
    ("aspect", "changes", "message"),
    [
        ("preset", {"name": "trec2020_official"}, "preset is trec2020_official and no preset"),
        ("tier", {"tier": "judged"}, "tier is judged and blind"),
        ("options", {"options": {**PLAIN, "universe": "judged"}}, "option universe is judged and union"),
        ("options", {"options": {**PLAIN, "groups": {"unknown": "drop"}}}, "option groups.unknown is drop and count"),
        ("queries", {"units": 4}, "4 and 3 other queries"),
    ],
)
def test_what_is_not_comparable(command: Run, here: Path, aspect: str, changes: dict[str, Any], message: str) -> None:
    results(here / "a", {"one": {"EEL": 0.1}})
    results(here / "b", {"two": {"EEL": 0.2}}, **changes)
    code, out, err = command("compare", "a", "b", "output=out")
    assert (code, out) == (2, "")
    assert message in err
    assert f"mix=[{aspect}]" in err
    assert not (here / "out").exists()
    code, out, _ = command("compare", "a", "b", f"mix=[{aspect}]", "output=out")
    assert code == 0
    assert "two" in out


def test_options_of_estimation_may_differ(command: Run, here: Path) -> None:
    results(here / "a", {"one": {"EEL": 0.1}}, options={**PLAIN, "seed": 1, "samples": 10})
    results(here / "b", {"two": {"EEL": 0.2}}, options={**PLAIN, "seed": 2, "samples": 20, "other": 1})
    assert command("compare", "a", "b")[0] == 0


FOUND = {"group_EEL": 0.43, "group_EET": 1.240907, "EET": 0.603817}


def judged(folder: Path, name: str = "trec2020_official", loss: float = 0.43, **changes: Any) -> Path:
    options = {**options_of(preset(name)), **changes.pop("option", {})}
    runs = {
        "mine": {**FOUND, "group_EEL": loss, **changes.pop("means", {})},
        RANDOM: {**FOUND, "group_EEL": 0.4097},
        "anchor:ideal": {**FOUND, "group_EEL": 0.0},
    }
    return results(folder, runs, **{"units": 200, "name": name, "tier": "unknown", "options": options, **changes})


def test_places_among_published_runs(command: Run, here: Path) -> None:
    judged(here / "a", counts={"run mine": {"queries_missing_from_run": 2}})
    code, out, err = command("compare", "a", "leaderboard=trec2020-rerank", "output=out")
    assert (code, err) == (0, "")
    assert (
        "mine (0.4300) is at place 3 beside 23 published runs; behind NLE_META_9_1, NLE_META_99_1; "
        "ahead of NLE_META_PKL, NLE_TEXT_9_1" in out
    )
    assert "warning: mine lacks 2 queries" in out
    assert f"{RANDOM} (0.4097) would be at place 1 beside 23 published runs; ahead of NLE_META_9_1" in out
    assert "uniform shuffling is better than every run here" in out
    shown = (here / "out" / "comparison.md").read_text()
    assert "| 2 | NLE_META_99_1 | 0.4289 |\n| (3) | **mine** | 0.4300 |\n| 3 | NLE_META_PKL | 0.4327 |" in shown
    assert shown.count("NLE_META_99_1 |") == 1
    assert "Source: means over the 200 evaluation queries" in shown


@pytest.mark.parametrize(
    ("changes", "board", "message"),
    [
        ({"name": "trec2020_corrected"}, "trec2020-rerank", "evaluate preset=trec2020_rerank_official"),
        ({}, "trec2020-retrieval", "evaluate preset=trec2020_retrieval_official"),
        ({"option": {"patience": 0.9}}, "trec2020-rerank", "preset.patience was 0.9"),
        ({"units": 199}, "trec2020-rerank", "means over 199"),
        ({"means": {"group_EET": 1.1}}, "trec2020-rerank", "other judgments or groups"),
        ({}, "trec2022-task2", "no run can be placed"),
        ({}, "trec2020", "expected one of trec2019-level"),
    ],
)
def test_what_is_not_placed(command: Run, here: Path, changes: dict[str, Any], board: str, message: str) -> None:
    judged(here / "a", **changes)
    assert command("compare", "a")[0] == 0  # it may be shown
    code, out, err = command("compare", "a", f"leaderboard={board}")
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ((), "results: no value", 2),
        (("none",), "none/measures.json: no such file", 3),
        (("bad",), "bad/measures.json: found no JSON", 1),
        (("short",), "no tier, counts", 1),
        (("hollow",), "run 'x' without means and intervals", 1),
        (("a", "mix=[tires]"), "Did you mean 'tier'?", 2),
        (("a", "output=file"), "output: found the file file", 2),
        (("a", "leaderbord=x"), "Did you mean leaderboard?", 2),
        (("results=[]",), "expected folders", 2),
    ],
)
def test_wrong_words(command: Run, here: Path, words: tuple[str, ...], message: str, code: int) -> None:
    (here / "file").write_text("")
    for name in ("a", "bad", "short", "hollow"):
        results(here / name, {"one": {"EEL": 0.1}})
    (here / "bad" / "measures.json").write_text("{")
    kept = {"preset": None, "options": {}, "runs": {}}
    (here / "short" / "measures.json").write_text(json.dumps(kept))
    hollow = {**kept, "tier": None, "counts": {}, "runs": {"x": {"mean": {}}}}
    (here / "hollow" / "measures.json").write_text(json.dumps(hollow))
    found, _, err = command("compare", *words)
    assert message in err
    assert found == code


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": "x"}, "options that are no table"),
        ({"runs": {}}, "no run;"),
        ({"runs": {"x": {"mean": {"EEL": "x"}, "interval": {}}}}, "the mean 'x' of EEL of run 'x'"),
        ({"runs": {"x": {"mean": {}, "interval": {"EEL": [0.1]}}}}, "the interval [0.1] of EEL of run 'x'"),
        ({"runs": {"x": {"mean": {}, "interval": {"EEL": "y"}}}}, "the interval 'y' of EEL of run 'x'"),
    ],
)
@pytest.mark.parametrize("stage", ["compare", "power"])
def test_what_no_job_writes(command: Run, here: Path, stage: str, changes: dict[str, Any], message: str) -> None:
    results(here / "a", {"one": {"EEL": 0.1}})
    path = here / "a" / "measures.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    code, _, err = command(stage, "a")
    assert code == 1
    assert "a/measures.json: found " in err
    assert message in err


@pytest.mark.slow
def test_results_of_evaluate(command: Run, here: Path, tiny: Path, tiny_run: Path) -> None:
    for name, words in {"a": (), "b": (), "c": ("universe=judged",)}.items():
        code, _, err = command(
            "evaluate",
            f"run={tiny_run}",
            f"qrels={tiny / 'qrels.txt'}",
            "missing_query=zero_exposure",
            "measures.resamples=50",
            f"output={name}",
            *words,
        )
        assert code == 0, err
    code, out, err = command("compare", "a", "b", "output=out")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["a/first", "b/first"]
    assert out.count("anchor:ideal") == 1
    code, _, err = command("compare", "a", "c")
    assert code == 2
    assert "option universe is judged and union" in err


@pytest.mark.shared_data
def test_the_published_submissions_stand_where_they_stand(command: Run, here: Path, shared: Path) -> None:
    folder = shared / "data" / "trec-fair-2020"
    code, _, err = command(
        "evaluate",
        "preset=trec2020_official",
        f"run={folder / 'rerank_submissions' / 'UW_bm25.jsonl.gz'}",
        f"qrels={folder / 'TREC-Fair-Ranking-eval-sample.json'}",
        f"groups={folder / 'merged-annotations.json'}",
        "measures.resamples=50",
        "output=judged",
    )
    assert code == 0, err
    code, out, err = command("compare", "judged", "leaderboard=trec2020-rerank")
    assert (code, err) == (0, "")
    assert "UW_bm25 (0.8751) is at place 15 beside 23 published runs" in out
    assert "level with UW_bm25; ahead of UoGTrBRel" in out
    assert f"{RANDOM} (0.4097) would be at place 1" in out
    assert "anchor:worst_first (0.7023) would be at place 9" in out


def spread_results(folder: Path, shifts: Mapping[str, float], units: int = 40, seed: int = 0, **words: Any) -> Path:
    """Write results in which every query has a value of its own, and runs differ by a shift and some noise."""
    draw = np.random.default_rng(seed)
    hardness = draw.gamma(1.0, 0.3, units)
    present = np.full(units, -1, dtype=np.int8)
    tables = []
    for system, shift in shifts.items():
        values = [hardness + shift + 0.05 * draw.normal(size=units) for _ in range(2)]
        scores = [Scores(values[0], present), Scores(1 - values[1], present)]
        tables.append(result_table(system, 0, [f"q{unit:02}" for unit in range(units)], ["EEL", "utility"], scores))
    folder.mkdir(parents=True)
    table = concat(tables)
    write_results(folder, table, summarise(table, options=PLAIN, tier=words.get("tier", "blind"), resamples=50))
    return folder


def difference_rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "differences.csv").read_text().splitlines()))


def test_differences_to_the_first_run(command: Run, here: Path) -> None:
    spread_results(here / "a", {"one": 0.0, "two": 0.1, "three": 0.001, RANDOM: 0.3})
    code, out, err = command("compare", "a", "output=out", "margin=0.05")
    assert (code, err) == (0, "")
    assert "differences, paired over 40 queries; 4 comparisons, 10,000 sign patterns" in out
    rows = difference_rows(here / "out")
    assert [(row["measure"], row["run"], row["baseline"]) for row in rows] == [
        ("utility", "two", "one"),
        ("utility", "three", "one"),
        ("EEL", "two", "one"),
        ("EEL", "three", "one"),
    ]
    two, three, loss = rows[0], rows[1], rows[2]
    assert float(two["difference"]) == pytest.approx(-0.1, abs=0.03)
    assert float(two["p"]) == 1e-4 <= float(two["p_max_t"]) <= float(two["p_holm"])
    assert float(two["low"]) < float(two["difference"]) < float(two["high"]) < 0
    assert (three["same"], two["same"], loss["same"]) == ("True", "False", "")
    assert three["same_bootstrap"] == "True"
    assert float(three["p_same"]) < 0.05 < float(three["p"])
    shown = (here / "out" / "comparison.md").read_text()
    assert "| utility | two | one | -0." in shown
    assert "against a margin of 0.05" in shown
    assert "caution" not in out


def test_all_pairs_chosen_measures_and_an_anchor_as_baseline(command: Run, here: Path) -> None:
    spread_results(here / "a", {"one": 0.0, "two": 0.1, "three": 0.2, RANDOM: 0.3})
    assert command("compare", "a", "output=all", "pairs=all", "measures=[EEL]")[0] == 0
    assert [(row["run"], row["baseline"]) for row in difference_rows(here / "all")] == [
        ("two", "one"),
        ("three", "one"),
        ("three", "two"),
    ]
    assert command("compare", "a", "output=to", f"baseline={RANDOM}", "measures=[utility]")[0] == 0
    rows = difference_rows(here / "to")
    assert [(row["run"], row["baseline"]) for row in rows] == [(run, RANDOM) for run in ("one", "two", "three")]
    assert all(float(row["difference"]) > 0 for row in rows)


def test_clusters_are_the_units(command: Run, here: Path) -> None:
    spread_results(here / "a", {"one": 0.0, "two": 0.1})
    lines = ["qid,cluster", *(f"q{unit:02},topic {unit // 4}" for unit in range(40))]
    (here / "topics of mine.csv").write_text("\n".join(lines))
    code, out, _ = command("compare", "a", "clusters=topics of mine.csv", "output=out")
    assert code == 0
    assert "paired over 10 clusters of queries; 2 comparisons, all sign patterns" in out
    assert "caution: only 10 clusters" in out
    assert {row["units"] for row in difference_rows(here / "out")} == {"10"}
    (here / "short.csv").write_text("qid,cluster\nq00,a\nq00,b\nq01\n")
    code, _, err = command("compare", "a", "clusters=short.csv")
    assert code == 1
    assert "short.csv:3: found query q00 again" in err
    assert "short.csv:4: found 1 cells" in err
    (here / "short.csv").write_text("qid,cluster\nq00,a\n")
    assert "found no line of query q39" in command("compare", "a", "clusters=short.csv")[2]
    assert command("compare", "a", "clusters=none.csv")[0] == 3


def test_tiers_are_told_and_not_mixed_unasked(command: Run, here: Path) -> None:
    spread_results(here / "a", {"one": 0.0, RANDOM: 0.3, "anchor:ideal": 0.1, "anchor:deterministic": 0.2})
    spread_results(here / "b", {"two": 0.0}, tier="given_groups")
    code, _, err = command("compare", "a", "b")
    assert code == 2
    assert "tier is given_groups and blind" in err
    assert "mix=[tier]" in err
    code, out, _ = command("compare", "a", "b", "mix=[tier]", "output=out")
    assert code == 0
    assert "tiers: one: blind; two: given_groups; anchors random, deterministic: blind; anchors ideal: judged" in out
    assert "2 configurations compared; no correction beyond max-T within this table" in out
    rows = list(csv.DictReader((here / "out" / "comparison.csv").read_text().splitlines()))
    assert {row["run"]: row["tier"] for row in rows} == {
        "one": "blind",
        RANDOM: "blind",
        "anchor:ideal": "judged",
        "anchor:deterministic": "blind",
        "two": "given_groups",
    }


def test_few_queries_and_missing_values(command: Run, here: Path) -> None:
    results(here / "a", {"one": {"EEL": 0.1, "utility": 0.1}, "two": {"EEL": 0.2}}, units=5)
    code, out, _ = command("compare", "a", "output=out")
    assert code == 0
    assert "caution: only 5 queries (fewer than 30)" in out
    (row,) = difference_rows(here / "out")  # no pair has utility
    assert (row["measure"], row["low"], row["p"]) == ("EEL", "", "0.0625")  # 2 of 32 sign patterns


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("baseline=oen", "Did you mean 'one'?"),
        ("pairs=some", "pairs: found 'some'"),
        ("measures=[EEl]", "Did you mean 'EEL'?"),
        ("measures=[]", "measures: found an empty list"),
        ("margin=0", "margin: found 0"),
        ("alpha=1", "alpha: found 1"),
        ("permutations=0", "permutations: found 0"),
    ],
)
def test_wrong_options_of_differences(command: Run, here: Path, word: str, message: str) -> None:
    spread_results(here / "a", {"one": 0.0, "two": 0.1})
    code, _, err = command("compare", "a", word)
    assert code == 2
    assert message in err

"""Commands that read folders of results which were damaged since: an answer, or one clear error and its exit code."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tree_damage import harm

from rerankers.cli import main
from rerankers.collections import Generated, write_jsonl
from rerankers.stages.fit import FILE as FIT

pytestmark = pytest.mark.slow
FEW = ["measures.resamples=5", "measures.permutations=3", "measures.fronts=false"]
GRID = ["grid.browsing=[rbp]", "grid.patience=[0.5]", "grid.target=[population]", "grid.unknown=[count]"]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of two jobs over a run file, and of judging that file."""
    folder = tmp_path_factory.mktemp("jobs")
    world = Generated(documents=60, topics=3).load()
    write_jsonl(world, folder / "world")
    judged = [line.split() for line in (folder / "world" / "qrels.txt").read_text().splitlines()]
    (folder / "a.run").write_text(
        "".join(f"{qid} Q0 {docno} 1 {9 - i % 9} x\n" for i, (qid, _, docno, _) in enumerate(judged))
    )
    given = ["collection=jsonl", f"collection.path={folder / 'world'}", f"paths.cache={folder / 'cache'}"]
    first = ["retriever=run_file", f"retriever.run={folder / 'a.run'}", "samples=4"]
    for name, method in (("one", "uniform"), ("two", "plackett_luce")):
        assert main(["run", *given, *first, *FEW, f"method={method}", f"output={folder / name}"]) == 0
    files = [f"run={folder / 'a.run'}", f"qrels={folder / 'world' / 'qrels.txt'}"]
    assert main(["evaluate", *files, *FEW, f"output={folder / 'judged'}"]) == 0
    return folder


@pytest.fixture
def here(jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return copies of the folders, made the working directory."""
    for name in ("one", "two", "judged"):
        shutil.copytree(jobs / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a YAML or JSON file says."""
    value = (json.loads if path.suffix == ".json" else yaml.safe_load)(path.read_text())
    change(value)
    path.write_text(json.dumps(value) if path.suffix == ".json" else yaml.safe_dump(value))


def rename_run(found: Any) -> None:
    found["runs"] = {f"{name}!": run for name, run in found["runs"].items()}


@pytest.mark.parametrize("words", [["compare", "one", "two"], ["power", "one", "two"]])
def test_runs_without_rows_are_told(words: list[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(here / "one" / "measures.json", rename_run)
    assert main([*words, "mix=[tier]"]) == 1
    assert "of which measures.parquet has no row" in capsys.readouterr().err


def test_configs_need_not_say_which_packages_are_allowed(here: Path) -> None:
    changed(here / "one" / "config.yaml", lambda config: config.pop("allow_targets"))
    assert main(["power", "one"]) == 0


@pytest.mark.parametrize(
    ("folder", "key", "says"),
    [
        ("judged", "run", "no run"),
        ("judged", "missing_query", "no missing_query"),
        ("judged", "groups.path", "no path"),
        ("one", "measures.cutoff", "no cutoff"),
    ],
)
def test_configs_that_lack_options_are_told_by_power(
    folder: str, key: str, says: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group, _, name = key.rpartition(".")
    changed(here / folder / "config.yaml", lambda config: (config[group] if group else config).pop(name))
    assert main(["power", folder]) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("key", ["collection", "groups"])
def test_configs_that_lack_parts_are_told_by_meta(key: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(here / "two" / "config.yaml", lambda config: config.pop(key))
    assert main(["meta", "one", "two", "axioms=false", *GRID]) == 1
    assert f"config.yaml: found no {key}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "temperature,EEL,kept\n0.5,1,0\n",
        "temperature,EEL,kept\n[,1,1\n",
        "temperature,EEL,kept\n-1,1,1\n",
        "temperature,EEL,kept\n{},1,1\n",
        'temperature,EEL,kept\n"0.5,1,1\n',
        "temperature,EEL,kept\n\udcff,1,1\n",
    ],
)
def test_damaged_trials_of_a_fit_are_told(text: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "two" / FIT).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["explain", "two", "query=1"]) == 1
    assert "fit.csv: found no trial that is kept, or damaged options of it" in capsys.readouterr().err


COMMANDS = {
    "compare": ["compare", "one", "two", "judged", "mix=[tier,options,queries]"],
    "power": ["power", "one", "two", "judged", "mix=[tier,options,queries]", "output=o"],
    "explain": ["explain", "one", "two", "query=1", "output=o"],
    "meta": ["meta", "one", "two", "axioms=false", *GRID, "output=o"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_damaged_folders_are_read_or_told(
    name: str, here: Path, jobs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(15):
        chance = random.Random(f"{name} {seed}")
        folder = here / chance.choice(["one", "judged"] if "judged" in COMMANDS[name] else ["one"])
        files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".yaml", ".parquet"))
        harm(chance.choice(files), chance)
        code = main(COMMANDS[name])
        assert code in (0, 1, 2, 3)
        said = capsys.readouterr()
        assert said.err.strip() or not code, seed
        shutil.rmtree(folder)
        shutil.copytree(jobs / folder.name, folder)

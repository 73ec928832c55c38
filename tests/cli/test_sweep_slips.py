"""Slips in sweeps that would cost results: what is refused before any point runs, and what is told at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers._base.logs import job_log
from rerankers._sweep import _check_outputs
from rerankers._sweep_plan import Planned
from rerankers.stages import sweep_states, sweep_table
from rerankers.stages.sweep_inputs import input_stamps
from rerankers.stages.sweep_states import DONE, State

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hydra.sweep.subdir=${seed}/x",), "hydra.sweep.subdir: found '1/x'; expected the name of one folder"),
        (("hydra.sweep.subdir=.${seed}",), "hydra.sweep.subdir: found '.1'"),
        (("hydra/launcher=joblib", "hydra.launcher.njobs=2"), "Did you mean hydra.launcher.n_jobs?"),
        (("hydra.launcher.n_jobs=2",), "Without hydra/launcher=NAME there are few; NAME is one of joblib,"),
        (("+experiment=cacm",), "+ adds one that there is not. Type: experiment=cacm"),
        (("+samples=5,6",), "+samples=5: samples is an option already"),
        (("samples=range(3",), "samples=range(3: cannot be read as an override"),
        (("samples=1,",), "samples=1,: cannot be read as an override"),
        (("samples=rang(3)",), "Unknown function 'rang'"),
        (("collection.path=a\udcff",), "collection.path=a\\udcff: found bytes that are not UTF-8"),
    ],
)
def test_what_is_refused(command: Run, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    code, out, err = command("run", "--multirun", "seed=1,2", f"output={tmp_path / 'sweep'}", *words)
    assert (code, said in err) == (2, True), err
    assert "Traceback" not in out + err
    assert "hydra.cc" not in err
    assert not (tmp_path / "sweep").exists()


def test_points_that_write_to_one_place_are_refused(command: Run, tmp_path: Path) -> None:
    words = ("results=[a]", "decimals=2,3")
    code, _, err = command("compare", "--multirun", *words, f"output={tmp_path / 'one'}")
    assert code == 2
    assert f"found {tmp_path / 'one'} for several points of a sweep" in err
    assert not (tmp_path / "one").exists()
    points = [
        Planned(".", (), {"output": place, "name": name}, {}) for place, name in (("a", "x"), ("b", "x"), ("a", "y"))
    ]
    _check_outputs("choose", points)  # of one folder, but of files with different names
    _check_outputs("explain", [Planned(".", (), {"output": None}, {})] * 2)


def test_the_table_is_told_where_its_file_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep_states.clear(tmp_path)
    sweep_states.write(tmp_path, State("0", ("seed=1",), DONE))
    (tmp_path / sweep_table.CSV_FILE).mkdir()
    assert sweep_table.finish(tmp_path, "run", ["0"], [("seed=1",)]) == ConfigError.exit_code
    out, err = capsys.readouterr()
    assert "point  seed  state" in out
    assert "sweep.csv: cannot be written" in err


def test_what_is_typed_next_can_be_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "it's one"
    sweep_states.clear(folder)
    for name in ("0", "1"):
        sweep_states.write(folder, State(name, (f"seed={name}",), DONE))
        (folder / name).mkdir()
        (folder / name / "measures.json").write_text('{"runs": {"m": {"mean": {"EEL": 1.0}}}}')
    assert sweep_table.finish(folder, "run", ["0", "1"], [("seed=0",), ("seed=1",)]) == 0
    assert f"fair-rerank compare '{tmp_path}/it'\"'\"'s one'" in capsys.readouterr().out


def test_an_unexpected_error_before_there_are_results_is_logged(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), job_log("fair-rerank run", tmp_path / "point"):
        raise RuntimeError("out of order")
    assert "RuntimeError: out of order" in (tmp_path / "point" / "log.txt").read_text()
    with pytest.raises(ConfigError), job_log("fair-rerank run", tmp_path / "other"):
        raise ConfigError("seed: found x")
    assert not (tmp_path / "other").exists()


def test_folders_that_own_classes_name_are_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a").write_text("a")
    assert input_stamps({"collection": {"_target_": "mine.World", "archive": "letters"}}, tmp_path / "out")
    assert not input_stamps(
        {"collection": {"_target_": "rerankers.collections.X", "archive": "letters"}}, tmp_path / "o"
    )

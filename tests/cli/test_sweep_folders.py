"""Which points of a sweep are done, and where their folders are, without running any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import rerankers
from rerankers._base.errors import ConfigError
from rerankers.stages.sweep_inputs import changed, input_stamps
from rerankers.stages.sweep_places import EARLIER, arrange, sweep_lock
from rerankers.stages.sweep_record import Made, is_done, point_of, read_record, write_record


def results(folder: Path, made: Made, text: str = "x") -> Path:
    """Leave what a finished job leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "measures.json").write_text(text)
    (folder / "metadata.yaml").write_text(f"made: {text} {os.urandom(4).hex()}")
    write_record(folder, "run", made)
    return folder


def made(**config: Any) -> Made:
    return Made(point_of("run", config), {})


def test_inputs_are_known_by_their_content(tmp_path: Path) -> None:
    file, folder, own = tmp_path / "qrels.txt", tmp_path / "docs", tmp_path / "out"
    file.write_text("1 0 a 1\n")
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.jsonl").write_text("{}")
    config = {"qrels": str(file), "collection": {"_target_": "x.Y", "path": str(folder)}, "samples": 5, "seed": "null"}
    first = input_stamps(config, own)
    assert sorted(first) == sorted([str(file), str(folder / "deep" / "a.jsonl")])
    os.utime(file, ns=(1, 1))  # touched, with the same content
    assert changed(first, input_stamps(config, own)) is None
    file.write_text("1 0 a 2\n")
    os.utime(file, ns=(2, 2))  # as long as before
    assert changed(first, input_stamps(config, own)) == str(file)
    file.write_text("1 0 a 1\n")
    (folder / "more.jsonl").write_text("{}")
    assert changed(first, input_stamps(config, own)) == str(folder / "more.jsonl")


def test_a_file_is_read_again_only_when_size_or_time_differ(tmp_path: Path) -> None:
    file = tmp_path / "a.run"
    file.write_text("abc")
    stamps = input_stamps({"run": str(file)}, tmp_path / "out")
    known = {path: (size, time, "known") for path, (size, time, _) in stamps.items()}
    assert input_stamps({"run": str(file)}, tmp_path / "out", known) == known
    os.utime(file, ns=(5, 5))
    assert input_stamps({"run": str(file)}, tmp_path / "out", known)[str(file)][2] == stamps[str(file)][2]


def test_what_is_written_is_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("out", "cache", "union"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    (tmp_path / "ledger.sqlite").write_text("x")
    config = {"output": "out", "paths": {"cache": "cache"}, "ledger": {"path": "ledger.sqlite"}, "universe": "union"}
    assert input_stamps(config, tmp_path / "out") == {}
    within = input_stamps({"collection": {"path": "."}}, tmp_path / "out")
    assert str(tmp_path / "out" / "file") not in within
    assert str(tmp_path / "union" / "file") in within


def test_own_classes_are_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "sweep_own_class.py"
    module.write_text("class A: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    first = input_stamps({"allow_targets": ["sweep_own_class"]}, tmp_path / "out")
    assert list(first) == [str(module)]
    module.write_text("class A: power = 2\n")
    assert changed(first, input_stamps({"allow_targets": ["sweep_own_class"]}, tmp_path / "out")) == str(module)


def test_a_point_is_its_config_but_not_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    one = point_of("run", {"seed": 1, "output": "a", "paths": {"cache": "x"}})
    assert one == point_of("run", {"seed": 1, "output": "b", "paths": {"cache": "y"}, "resume": True})
    assert one != point_of("run", {"seed": 2, "output": "a"})
    assert one != point_of("train", {"seed": 1, "output": "a"})
    monkeypatch.setattr(rerankers, "__version__", "0.0.0")
    assert one != point_of("run", {"seed": 1, "output": "a"})


def test_results_are_done_while_they_are_whole_and_their_own(tmp_path: Path) -> None:
    point = made(seed=1)
    folder = results(tmp_path / "0", point)
    assert is_done(folder, point)
    assert not is_done(folder, made(seed=2))
    (folder / "metadata.yaml").write_text("of a job that was run here without a record")
    assert read_record(folder) is None
    results(folder, point)
    (folder / "measures.json").unlink()
    assert not is_done(folder, point)
    results(folder, point)
    for broken in ("", "{}", "[1]", '{"point": 1}', "\udcff"):
        (folder / "inputs.json").write_bytes(broken.encode("utf-8", "surrogateescape"))
        assert read_record(folder) is None


def test_nothing_is_recorded_without_results(tmp_path: Path) -> None:
    write_record(tmp_path, "run", made(seed=1))
    assert list(tmp_path.iterdir()) == []


def grid(*seeds: int) -> dict[str, Made]:
    return {str(number): made(seed=seed) for number, seed in enumerate(seeds)}


def seen(folder: Path, points: dict[str, Made]) -> dict[str, bool]:
    return {name: is_done(folder / name, one) for name, one in points.items()}


def test_a_longer_grid_keeps_what_is_there_under_new_numbers(tmp_path: Path) -> None:
    for name, one in grid(10, 11, 20, 21).items():
        results(tmp_path / name, one, text=name)
    longer = grid(10, 11, 12, 20, 21, 22)
    done, aside = arrange(tmp_path, longer)
    assert (done, aside) == ({"0", "1", "3", "4"}, [])
    assert (tmp_path / "3" / "measures.json").read_text() == "2"
    assert not (tmp_path / "2").exists()
    assert not (tmp_path / EARLIER).exists()


def test_a_shorter_or_other_grid_puts_the_rest_aside_and_takes_it_back(tmp_path: Path) -> None:
    whole = grid(1, 2, 3)
    for name, one in whole.items():
        results(tmp_path / name, one, text=name)
    done, aside = arrange(tmp_path, grid(3, 9))
    assert done == {"0"}
    assert sorted(aside) == ["0", "1"]
    assert (tmp_path / "0" / "measures.json").read_text() == "2"
    assert not (tmp_path / "1").exists()
    assert arrange(tmp_path, whole)[0] == {"0", "1", "2"}
    assert [(tmp_path / str(one) / "measures.json").read_text() for one in range(3)] == ["0", "1", "2"]


def test_swapped_points_change_places(tmp_path: Path) -> None:
    for name, one in grid(1, 2).items():
        results(tmp_path / name, one, text=name)
    assert arrange(tmp_path, grid(2, 1)) == ({"0", "1"}, [])
    assert (tmp_path / "0" / "measures.json").read_text() == "1"


def test_a_stop_between_two_moves_loses_nothing(tmp_path: Path) -> None:
    point = made(seed=1)
    results(tmp_path / EARLIER / point.point, point)
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "log.txt").write_text("of a job that failed")
    assert arrange(tmp_path, {"0": point}) == ({"0"}, [])


def test_results_without_a_record_and_folders_of_the_users_own(tmp_path: Path) -> None:
    point = made(seed=1)
    results(tmp_path / "0", point)
    (tmp_path / "0" / "inputs.json").unlink()  # of an earlier version, or of a job that was not part of a sweep
    for name in ("notes", "7"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("keep")
    assert arrange(tmp_path, {"0": point}) == (set(), ["0"])
    assert (tmp_path / EARLIER / "unknown-0" / "measures.json").exists()
    assert (tmp_path / "notes" / "mine.txt").exists()
    assert (tmp_path / "7" / "mine.txt").exists()


def test_two_of_one_point_are_both_kept(tmp_path: Path) -> None:
    point = made(seed=1)
    for name in ("4", "5"):
        results(tmp_path / name, point, text=name)
    done, aside = arrange(tmp_path, {"0": point})
    assert done == {"0"}
    assert len(aside) == 1
    assert len(list((tmp_path / EARLIER).iterdir())) == 1


def test_one_sweep_a_folder(tmp_path: Path) -> None:
    with sweep_lock(tmp_path / "s"), pytest.raises(ConfigError, match="another sweep"), sweep_lock(tmp_path / "s"):
        pass
    with sweep_lock(tmp_path / "s"):
        pass
    assert list((tmp_path / "s").iterdir()) == []

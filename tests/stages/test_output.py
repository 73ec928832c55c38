"""One job at a time writes to a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.stages import output
from rerankers.stages.output import FINISHED, LOCK, UNFINISHED, claimed


def test_a_second_job_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path / "out"), pytest.raises(ConfigError, match="another job"), claimed(tmp_path / "out"):
        pass
    with claimed(tmp_path / "out") as folder:
        assert folder.is_dir()
    assert list((tmp_path / "out").iterdir()) == []


def test_results_appear_only_when_the_job_is_done(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "figures").mkdir(parents=True)
    for name in ("a.txt", "metadata.yaml", "figures/utility_loss.png", "figures/mine.png"):
        (out / name).write_text("old")
    with pytest.raises(ZeroDivisionError), claimed(out) as staging:
        (staging / "a.txt").write_text(str(1 / 0))
    assert (out / "a.txt").read_text() == "old"
    with claimed(out) as staging:
        (staging / "figures").mkdir()
        for name in ("a.txt", "metadata.yaml", "figures/b.png"):
            (staging / name).write_text("new")
        assert (out / "a.txt").read_text() == "old"
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert names == ["a.txt", "figures/b.png", "figures/mine.png", "metadata.yaml"]
    assert (out / "a.txt").read_text() == "new"


def test_what_a_killed_job_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / UNFINISHED).mkdir()
    (tmp_path / UNFINISHED / "run.parquet").write_text("half")
    with claimed(tmp_path) as staging:
        assert list(staging.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"), claimed(tmp_path / "file" / "out"):
        pass


def test_a_stopped_move_is_completed_by_the_next_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a.txt", "b.txt", "figures/c.png", "metadata.yaml"]
    for stop in range(1, 5):
        out = tmp_path / str(stop)
        out.mkdir()
        for name in ("a.txt", "metadata.yaml"):
            (out / name).write_text("old")
        moved = []

        def replace(source: Path, target: Path, moved: list[Path] = moved, stop: int = stop) -> None:
            if len(moved) == stop - 1:
                raise KeyboardInterrupt
            moved.append(target)
            os.rename(source, target)

        with monkeypatch.context() as patched:
            patched.setattr(output.os, "replace", replace)
            with pytest.raises(KeyboardInterrupt), claimed(out) as staging:
                fill(staging, names)
        assert (out / FINISHED).is_dir()
        with pytest.raises(ZeroDivisionError), claimed(out):
            raise ZeroDivisionError
        assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == names
        assert {(out / name).read_text() for name in names} == {"new"}


def fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("new")


@pytest.mark.parametrize("blocked", ["a.txt/inside", "figures"])
def test_what_is_in_the_way_is_named_before_anything_changes(tmp_path: Path, blocked: str) -> None:
    place = tmp_path / blocked
    place.parent.mkdir(exist_ok=True)
    place.write_text("mine")
    (tmp_path / "metadata.yaml").write_text("old")
    with pytest.raises(ConfigError, match=blocked.partition("/")[0]), claimed(tmp_path) as staging:
        fill(staging, ["a.txt", "metadata.yaml", "figures/c.png"])
    assert (tmp_path / "metadata.yaml").read_text() == "old"
    assert place.read_text() == "mine"


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LOCK).symlink_to(precious)
    with pytest.raises(ConfigError, match="cannot be written"), claimed(tmp_path / "out"):
        pass
    assert precious.read_text() == "mine"

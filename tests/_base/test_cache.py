"""The stage cache never shows a half entry."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers._base.cache import ENTRY, StageCache
from rerankers._base.errors import ConfigError


def test_made_once_and_found_again(tmp_path: Path) -> None:
    cache = StageCache(tmp_path)
    made = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "value.txt").write_text("7")

    first, found_first = cache.get_or_make("stage-1", {"a": 1}, make)
    second, found_second = cache.get_or_make("stage-1", {"a": 1}, make)
    other, _ = cache.get_or_make("stage-1", {"a": 2}, make)
    assert (found_first, found_second) == (False, True)
    assert first == second != other
    assert (second / "value.txt").read_text() == "7"
    assert len(made) == 2


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    cache = StageCache(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        cache.get_or_make("stage-1", {"a": 1}, fail)
    assert list((tmp_path / "stage-1").iterdir()) == []


def test_another_process_may_finish_first(tmp_path: Path) -> None:
    cache = StageCache(tmp_path)

    def make(folder: Path) -> None:
        if not cache.folder("stage-1", {}).exists():
            cache.get_or_make("stage-1", {}, lambda inner: (inner / "who").write_text("other") and None)
        (folder / "who").write_text("mine")

    target, _ = cache.get_or_make("stage-1", {}, make)
    assert (target / "who").read_text() == "other"
    assert len(list((tmp_path / "stage-1").iterdir())) == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda entry: (entry / "value.txt").write_text("8"),
        lambda entry: (entry / "value.txt").unlink(),
        lambda entry: (entry / "more").write_text(""),
        lambda entry: (entry / ENTRY).write_text('{"stage": "stage-1"'),
        lambda entry: (entry / ENTRY).write_text('{"stage": "stage-1", "inputs": {}}'),
        lambda entry: (entry / ENTRY).unlink(),
        lambda entry: (shutil.rmtree(entry), entry.write_text("a file")),
    ],
)
def test_damaged_entries_are_made_again(harm: Callable[[Path], object], tmp_path: Path) -> None:
    cache = StageCache(tmp_path)

    def make(folder: Path) -> None:
        (folder / "value.txt").write_text("7")

    entry, _ = cache.get_or_make("stage-1", {"a": 1}, make)
    harm(entry)
    assert cache.get_or_make("stage-1", {"a": 1}, make) == (entry, False)
    assert (entry / "value.txt").read_text() == "7"
    assert cache.get_or_make("stage-1", {"a": 1}, make) == (entry, True)
    assert list((tmp_path / "stage-1").iterdir()) == [entry]


def test_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        StageCache(blocker).get_or_make("stage-1", {}, lambda folder: None)

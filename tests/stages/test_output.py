"""One job at a time writes to a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.stages.output import claimed


def test_a_second_job_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path / "out"), pytest.raises(ConfigError, match="another job"), claimed(tmp_path / "out"):
        pass
    with claimed(tmp_path / "out") as folder:
        assert folder.is_dir()
    assert list((tmp_path / "out").iterdir()) == []


def test_results_appear_only_when_the_job_is_done(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "figures").mkdir(parents=True)
    for name in ("a.txt", "figures/utility_loss.png", "figures/mine.png"):
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
    (tmp_path / ".unfinished").mkdir()
    (tmp_path / ".unfinished" / "run.parquet").write_text("half")
    with claimed(tmp_path) as staging:
        assert list(staging.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"), claimed(tmp_path / "file" / "out"):
        pass

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


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"), claimed(tmp_path / "file" / "out"):
        pass

"""The files of a report: equal for equal data, replaced whole, written in any environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.report import ReportData, write_report

Build = Callable[..., ReportData]


def test_the_same_data_gives_the_same_files(tmp_path: Path, report: Build) -> None:
    write_report(tmp_path / "a", report())
    write_report(tmp_path / "b", report())
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(names) == 9
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_pictures_of_an_earlier_report_go_and_other_files_stay(tmp_path: Path, report: Build) -> None:
    write_report(tmp_path, report())
    (tmp_path / "figures/mine.png").write_bytes(b"")
    write_report(tmp_path, report(groups={}))
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.png")) == [
        "disparity_relevance.png",
        "mine.png",
        "per_query.png",
        "utility_loss.png",
    ]
    assert not list(tmp_path.rglob(".*"))


def test_a_folder_that_cannot_be_written_is_a_config_error(tmp_path: Path, report: Build) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        write_report(tmp_path / "file", report())


def test_import_is_cheap_and_an_unwritable_config_folder_is_no_matter(tmp_path: Path) -> None:
    code = (
        "import sys, rerankers.report as r\n"
        "assert not {'matplotlib', 'jinja2', 'rich', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "import pyarrow as pa\n"
        "names = ('system', 'seed', 'unit', 'measure', 'value', 'reason')\n"
        "m = pa.table({name: pa.array([], pa.string()) for name in names})\n"
        "g = pa.table({'system': ['m'], 'attribute': ['a'], 'group': ['x'], 'exposure': [0.5], 'target': [0.25]})\n"
        "d = r.ReportData('t', {}, {}, 'blind', {}, [], m, {'m': {'utility': 1.0, 'EEL': 0.5}}, {}, g)\n"
        "from pathlib import Path\n"
        f"r.write_report(Path({str(tmp_path)!r}), d)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLCONFIGDIR": str(blocked / "matplotlib")},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "report.html").stat().st_size > 10_000

"""Beside a distribution called ``rerankers`` the package refuses to run, and says what to type."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rerankers._guard import clashing_version


@pytest.mark.parametrize("folder", ["rerankers-0.10.0.dist-info", "rerankers-0.10.0-py3.11.egg-info"])
def test_refuses_in_both_orders(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    for code in ("import rerankers", "import runpy; runpy.run_module('rerankers', run_name='__main__')"):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); {code}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0
        assert "'rerankers' 0.10.0" in done.stderr
        assert "pip uninstall -y rerankers fair-rerankers" in done.stderr


def test_looks_at_the_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fair_rerankers-0.1.0.dist-info", "rerankers-extra.txt", "rerankersx-1.dist-info", "rerankers"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), "/nowhere"])
    assert clashing_version() is None

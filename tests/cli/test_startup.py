"""Asking for help costs no heavy import."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"torch", "numba", "pandas", "numpy", "pyarrow", "scipy", "matplotlib", "lightgbm", "jnius", "pyserini"}


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["evaluate", "--help"], ["run", "--cfg", "job"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom rerankers.cli import main\n"
        "try:\n    code = main(sys.argv[1:])\nexcept SystemExit as stop:\n    code = stop.code or 0\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert "rerankers" in loaded
    assert not loaded & HEAVY


def test_importing_the_package_is_light() -> None:
    code = "import sys, rerankers; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & HEAVY

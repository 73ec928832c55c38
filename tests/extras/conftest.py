"""Environments with one extra each, beside the one that the tests run in."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def python_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from the name of an extra to the interpreter of an environment that has it.

    The environment sees the packages of this one behind its own, so that pip installs only what is missing, or is
    needed in another release; nothing is changed here. Where pip cannot have the packages the test is skipped.
    """
    made: dict[str, Path] = {}

    def make(extra: str) -> Path:
        if extra not in made:
            made[extra] = _environment(tmp_path_factory.mktemp(extra), extra)
        return made[extra]

    return make


def _environment(folder: Path, extra: str) -> Path:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][extra]
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    (own / "beside.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the packages of the extra {extra} cannot be installed: {done.stderr.strip()[-300:]}")
    return python

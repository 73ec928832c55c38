"""The layers of the package are a contract: see [tool.importlinter] in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_no_module_imports_above_its_layer() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as m; m()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_no_rule_is_about_a_module_that_is_gone() -> None:
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    named = {name.strip() for c in contracts for layer in c.get("layers", []) for name in layer.split("|")}
    named |= {name for c in contracts for name in c.get("source_modules", [])}
    assert named
    for name in named:
        path = ROOT / Path(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), name

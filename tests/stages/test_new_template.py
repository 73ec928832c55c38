"""``fair-rerank new``: what it writes is clean, passes its own test, runs as printed, and overwrites nothing."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.cli import main
from rerankers.stages.new import GROUPS, class_name, commands, new

pytestmark = pytest.mark.slow

KINDS = sorted(GROUPS)
BIN = Path(sys.executable).parent


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Return a function that puts a folder on the path; what is imported from there is forgotten again."""
    before = set(sys.modules)
    yield lambda folder: monkeypatch.syspath_prepend(str(folder))
    for name in set(sys.modules) - before:
        if name.removeprefix("test_") == "mine_to_try":
            del sys.modules[name]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_clean_and_passes_its_own_test(kind: str, tmp_path: Path, importable: Callable[[Path], None]) -> None:
    folder = tmp_path / "a b"  # people have blanks in their folders
    written = new(kind, "mine_to_try", folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(written) == sorted(path.relative_to(folder).as_posix() for path in files)
    assert not list(tmp_path.glob(".*")), "no draft is left behind"
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert "${" not in text
    assert "NAME" not in text
    for words in (["check", "--no-cache", "."], ["format", "--no-cache", "--check", "."]):
        done = subprocess.run([str(BIN / "ruff"), *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    importable(folder)
    tests = vars(importlib.import_module("test_mine_to_try"))
    own = [test for name, test in tests.items() if name.startswith("test_")]
    assert len(own) >= 2
    for test in own:
        test()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_strictly_typed(kind: str, tmp_path: Path) -> None:
    new(kind, "mine_to_try", tmp_path / "mine")
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "."]
    done = subprocess.run(words, cwd=tmp_path / "mine", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_printed_commands_work_as_they_are(kind: str, tmp_path: Path) -> None:
    shell = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    shell |= {"FAIR_RERANK_CACHE": str(tmp_path / "cache")}
    shell.pop("PYTHONPATH", None)
    made = subprocess.run(
        ["fair-rerank", "new", kind, "mine_to_try"], cwd=tmp_path, env=shell, capture_output=True, text=True, check=True
    )
    printed = made.stdout.splitlines()[-3:]
    assert printed == commands(kind, "mine_to_try", Path("mine_to_try"))
    assert "\n".join(printed) in (tmp_path / "mine_to_try" / "README.md").read_text(encoding="utf-8")
    quick = "samples=3 measures.resamples=20 measures.permutations=0"
    for line in (printed[0], *(f"{one} {quick}" for one in printed[1:])):
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=shell, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "outputs" / "mine_to_try" / "report.html").is_file()
    assert (tmp_path / "outputs" / "mine_to_try_sweep" / "1" / "measures.json").is_file()


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for place in (tmp_path / "mine", tmp_path / "link"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        with pytest.raises(ConfigError, match="it is there already"):
            new("method", "mine_to_try", place)
    assert not list((tmp_path / "mine").iterdir())


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("method", "Sharp", "small letters"),
        ("method", "two words", "small letters"),
        ("method", "1st", "small letters"),
        ("method", "a-b", "small letters"),
        ("method", "_x", "small letters"),
        ("method", "../x", "small letters"),
        ("method", "scharf_ß", "small letters"),
        ("method", "class", "a word of Python"),
        ("method", "statistics", "a word of Python"),
        ("method", "uniform", "an option of method"),
        ("collection", "jsonl", "an option of collection"),
        ("measure", "default", "an option of measures"),
        ("measure", "eel", "there is a measure of this name"),
        ("measure", "group_mine", "group_ at the beginning"),
        ("measure", "mine_excess", "_excess at the end"),
        ("method", "numpy", "a module that is there already"),
    ],
)
def test_names_that_are_taken_or_none(kind: str, name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        new(kind, name, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "method", "mine_to_try"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == commands("method", "mine_to_try", Path("mine_to_try"))
    assert main(["new", "method", "mine_to_try"]) == 2
    assert "it is there already" in capsys.readouterr().err
    assert main(["new", "metod", "x"]) == 2
    assert main(["new"]) == 2
    assert main(["new", "--help"]) == 0
    assert "method|collection|measure" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "mine_to_try")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="file"):
        new("method", "mine_to_try", tmp_path / "file" / "mine")


def test_class_names() -> None:
    assert [class_name(name) for name in ("sharp", "two_words", "x2_y")] == ["Sharp", "TwoWords", "X2Y"]

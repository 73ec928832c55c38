"""Published code to compare with, imported from checkouts that the user has made. None of it is part of this project.

``--peers DIR`` names a folder with any of these checkouts; the commits are those the comparison was written for::

    git clone https://github.com/diazf/expeval
    git -C expeval checkout 69ab070f9e3fb186910412c1c0d98ec35cb933bc
    git clone https://github.com/naver/expohedron
    git -C expohedron checkout 30bf2522fb5bff60bd14de52920c52f579fb490a
    git clone https://github.com/HarrieO/2022-SIGIR-plackett-luce
    git -C 2022-SIGIR-plackett-luce checkout b2f3e7bd2c9167fbd42f4555e61235e2f4b47b06

Mind their licences: expeval names none, expohedron is for non-commercial use (CC BY-NC-SA), the last one is MIT.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

EXPEVAL, EXPOHEDRON, PL_RANK = "expeval", "expohedron", "2022-SIGIR-plackett-luce"


@dataclass(frozen=True, slots=True)
class Peers:
    """The folder with the checkouts, or None."""

    folder: Path | None

    def held(self) -> list[str]:
        """Return the checkouts there are."""
        return [name for name in (EXPEVAL, EXPOHEDRON, PL_RANK) if self.has(name)]

    def has(self, name: str) -> bool:
        """Whether there is a checkout."""
        return self.folder is not None and (self.folder / name).is_dir()

    def commit(self, name: str) -> str:
        """Return the commit of a checkout, shortened, with a plus where files differ from it."""
        assert self.folder is not None
        folder = self.folder / name
        if not (folder / ".git").exists():
            return "commit unknown"
        head = _git(folder, "rev-parse", "--short=7", "HEAD")
        return head + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")

    def label(self, name: str) -> str:
        """Return what a table calls the published code."""
        return f"{name} @{self.commit(name)} (published)"

    def load(self, name: str, *modules: str) -> list[ModuleType]:
        """Import modules of a checkout; their names (utils, data, metrics, …) stay free for others."""
        assert self.folder is not None
        with _first_in_path(self.folder / name), _removed_numpy_alias():
            return [importlib.import_module(module) for module in modules]


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def _first_in_path(folder: Path) -> Iterator[None]:
    """Let a folder's modules be found first, and forget them by name afterwards."""
    here = str(folder.resolve())
    known = set(sys.modules)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # leave the checkout as it is
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        sys.dont_write_bytecode = written
        for module in set(sys.modules) - known:
            if str(getattr(sys.modules[module], "__file__", None) or "").startswith(here):
                del sys.modules[module]


@contextmanager
def _removed_numpy_alias() -> Iterator[None]:
    """Give numpy, in memory and during the import only, the alias ``float`` that it has dropped: expohedron asks it."""
    vars(np)["float"] = float
    try:
        yield
    finally:
        del vars(np)["float"]

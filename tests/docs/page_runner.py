"""Runs the blocks of one page, in order, in one folder, and says where a page is wrong."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from page_blocks import ROOT, RUN, Block, agrees

from rerankers.cli import main

LIMIT_S = 600
_SHELL = re.compile(r"[|&;<>()$`\\*?{}~]|^\s*(?!fair-rerank )\S", re.M)
"""What makes a block more than plain commands of ours: then a shell runs it."""
_WHOLE_HEAD = 'head() { command head "$@"; cat >/dev/null; }\n'
"""`head` that reads on to the end: under `pipefail`, what writes to it must not end by a broken pipe."""


class WrongPageError(AssertionError):
    """A block failed, or printed something else than the page shows."""


class Page:
    """The state that blocks of a page share: the folder they run in and the names that Python blocks bind."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__page__"}

    def run(self, blocks: list[Block]) -> int:
        """Run all blocks and return how many ran; WrongPageError names the page and the line of the first wrong one."""
        before = set(sys.modules)
        sys.path.insert(0, str(self.folder))
        try:
            return sum(self._one(block) for block in blocks)
        finally:
            sys.path.remove(str(self.folder))
            for module in set(sys.modules) - before:
                # The next page may have a file of the same name.
                if str(getattr(sys.modules[module], "__file__", None) or "").startswith(str(self.folder)):
                    del sys.modules[module]

    def _one(self, block: Block) -> bool:
        """Run a block, or write its file; return whether it was run."""
        if block.file is not None:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
            return False
        if block.language not in RUN:
            return False
        printed = self._python(block) if block.language == "python" else self._bash(block)
        if block.expected is not None and not agrees(printed, block.expected):
            raise WrongPageError(
                f"{self.name}:{block.line}: the page shows\n{block.expected}\nbut what is printed is\n{printed}"
            )
        return True

    def _python(self, block: Block) -> str:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.code, self.name, "exec")
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                exec(code, self.names)
        except Exception as error:
            raise WrongPageError(
                f"{self.name}:{block.line}: {type(error).__name__}: {error}\n{printed.getvalue()}"
            ) from error
        return printed.getvalue()

    def _bash(self, block: Block) -> str:
        code = (
            re.sub(r"\\\n\s*", "", re.sub(r"(^|\s)#.*$", "", block.code, flags=re.M))
            if "<<" not in block.code
            else block.code
        )
        if _SHELL.search(code):
            return self._shell(block)
        return "".join(self._command(block, line) for line in code.splitlines() if line.strip())

    def _command(self, block: Block, line: str) -> str:
        """Run one command of ours in this process: that saves its start."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(shlex.split(line)[1:])
        if code != 0:
            raise WrongPageError(f"{self.name}:{block.line}: {line.strip()} ended with {code}\n{printed.getvalue()}")
        return printed.getvalue()

    def _shell(self, block: Block) -> str:
        """Run a block by bash, where `fair-rerank` and `python` are those of this environment."""
        env = os.environ | {
            "PATH": os.pathsep.join(
                [str(self._commands()), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
            ),
            "PYTHONPATH": str(ROOT),
        }
        try:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", _WHOLE_HEAD + block.code],
                cwd=self.folder,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise WrongPageError(f"{self.name}:{block.line}: not done after {LIMIT_S} seconds") from error
        if done.returncode != 0:
            raise WrongPageError(f"{self.name}:{block.line}: ended with {done.returncode}\n{done.stdout}")
        return done.stdout

    def _commands(self) -> Path:
        """Return a folder with a `fair-rerank`, also where the package is not installed but on the path."""
        folder = self.folder.parent / "commands"
        folder.mkdir(exist_ok=True)
        command = folder / "fair-rerank"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rerankers "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        return folder

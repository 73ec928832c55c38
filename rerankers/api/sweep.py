"""A sweep from Python: the command's own multirun in a process of its own, so that nothing here is touched by it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, FairRerankersError, InputError, MissingError, Problem
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.api.job import Done
from rerankers.api.keeper import Keeper
from rerankers.api.outcome import Outcome
from rerankers.api.parts import Parts, parts_of
from rerankers.api.quiet import Said
from rerankers.api.result import Result
from rerankers.api.words import Override
from rerankers.stages.output import LAST

Place = str | Path | None
COMMANDS = ("run", "train", "evaluate")


class Sweep(Outcome):
    """The jobs of a sweep: a sequence of `Result`, in the order of their folders ``0``, ``1``, …."""

    def __init__(self, done: Done) -> None:
        super().__init__(done)
        self.folder: Path = done.folder or Path()

    @property
    def folders(self) -> list[Path]:
        """The folders of the jobs that have results."""
        found = (path for path in self.folder.iterdir() if path.is_dir() and path.name.isdecimal())
        return sorted((path for path in found if (path / LAST).is_file()), key=lambda path: int(path.name))

    @classmethod
    def read(cls, folder: str | Path) -> Sweep:
        """Return the sweep that was left in a folder.

        Raises
        ------
        MissingError
            when there is no such folder.
        """
        place = Path(folder)
        if not place.is_dir():
            raise MissingError(f"{place}: no such folder; expected one of a sweep")
        return cls(Done("run", place, {}, Said(), None, "", None))

    def __len__(self) -> int:
        return len(self.folders)

    def __getitem__(self, place: int) -> Result:
        return Result.read(self.folders[place])

    def __iter__(self) -> Iterator[Result]:
        return (Result.read(folder) for folder in self.folders)

    def __repr__(self) -> str:
        return f"Sweep({len(self)} jobs, folder={str(self.folder)!r})"


def sweep(
    *overrides: Override,
    output: Place = None,
    config_dir: Place = None,
    verbose: bool = False,
    command: str = "run",
    **options: Any,
) -> Sweep:
    """Run a job for every combination of values: ``sweep(method=["plackett_luce", "kl_tilt"], seed=range(5))``.

    The command's own multirun does it, in a process of its own: the same words as behind ``--multirun``, the same
    folders, the same resuming. A sweep that was stopped continues with the same call, if ``output`` is a folder.

    Parameters
    ----------
    *overrides
        words as on the command line: ``"method=plackett_luce,kl_tilt"``, ``"seed=range(5)"``; or mappings.
    output
        folder of the sweep, with a folder for each job; None: a temporary one.
    config_dir, verbose
        as of `run`.
    command
        ``run``, ``train`` or ``evaluate``.
    **options
        as of `run`; a list or a range is several values to go through. Lists that are one value are written as text:
        ``measures="[nDCG@10,EEL]"``. Frames become files as in `run`. Objects that have no file form cannot leave
        this process: call `run` in a loop for those.

    Returns
    -------
    Sweep

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command. Jobs that were done before stay, and `Sweep.read` has them.
    """
    if command not in COMMANDS:
        raise ConfigError(f"command: found {command!r}; expected one of {', '.join(COMMANDS)}")
    keeper = Keeper() if output is None else None
    folder = Path(keeper.name) if keeper is not None else Path(str(output))
    parts = _with_inputs(command, overrides, options, folder)
    own = [] if config_dir is None else ["--config-dir", str(config_dir)]
    words = ["--multirun", *own, *parts.words, f"output={folder}"]
    said = _in_a_process(command, words, verbose)
    repeated = f"fair-rerank {command} --multirun {' '.join(parts.words)}"
    return Sweep(Done(command, folder, {}, said, None, repeated, keeper))


def _with_inputs(command: str, overrides: tuple[Override, ...], options: Mapping[str, Any], folder: Path) -> Parts:
    """Sort out the options; files of what is in memory lie in a folder named by their content.

    A sweep that is resumed looks at the names of its inputs, since what lies in its own folder is no input to it.
    """
    with tempfile.TemporaryDirectory(prefix="fair-rerank-") as place:
        parts = parts_of(command, overrides, {key: _choice(key, value) for key, value in options.items()}, Path(place))
        if parts.nodes:
            raise ConfigError(
                f"{', '.join(parts.nodes)}: found an object; expected options or frames, since a sweep runs in a "
                "process of its own. Call run in a loop for objects"
            )
        files = sorted(path for path in Path(place).rglob("*") if path.is_file())
        if files:
            mark = fingerprint([(path.relative_to(place).as_posix(), file_fingerprint(path)) for path in files])
            kept = folder / "inputs" / mark[:16]
            shutil.copytree(place, kept, dirs_exist_ok=True)
            parts.words = [word.replace(place, str(kept)) for word in parts.words]
    return parts


def _choice(key: str, value: Any) -> Any:
    """Return several plain values as Hydra's choice; everything else as it is."""
    if key in ("run", "groups", "qrels", "collection", "predicted", "results", "candidates"):
        return value
    items = list(value) if isinstance(value, list | tuple | range) else None
    if not items or not all(one is None or isinstance(one, bool | int | float | str) for one in items):
        return value
    return ",".join("null" if one is None else str(one).lower() if isinstance(one, bool) else str(one) for one in items)


def _in_a_process(command: str, words: list[str], verbose: bool) -> Said:
    """Run the command and return what it printed.

    Raises
    ------
    FairRerankersError
        of the kind that its exit code stands for.
    """
    line = [sys.executable, "-m", "rerankers", command, *words]
    pipe = None if verbose else subprocess.PIPE
    # A session of its own: an interrupt of a notebook reaches this process alone, and is handed on below.
    process = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        out, err = process.communicate()
    except BaseException:
        _stop(process)
        raise
    text = (err or "").strip() or f"fair-rerank {command} ended with exit code {process.returncode}"
    if process.returncode:
        raise _error(process.returncode, text)
    return Said(out or "", err or "")


def _stop(process: subprocess.Popen[str]) -> None:
    """Interrupt the command as ctrl-c does, and wait until its jobs have put their files in order."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _error(code: int, text: str) -> FairRerankersError:
    if code == MissingError.exit_code:
        return MissingError(text)
    if code == InputError.exit_code:
        return InputError([Problem("sweep", text, "jobs that end well")])
    return ConfigError(text)

"""The folders that are compared: sweeps written out, jobs that are not done counted, and where the output goes."""

from __future__ import annotations

import csv
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import ConfigError
from rerankers._base.files import unwritable
from rerankers.measures.summary import JSON_FILE
from rerankers.stages.output import LOCK, UNFINISHED
from rerankers.stages.sweeps import expanded

STARTED = ("config.yaml", "metadata.yaml", ".hydra", LOCK, UNFINISHED)
"""What a job that did not come to its end may have left."""
TABLE = "sweep.csv"
NAMED = 8


@dataclass(frozen=True, slots=True)
class Folders:
    """What is compared.

    Attributes
    ----------
    done
        folders of results, each once.
    unfinished
        sweep's folder -> the names in it of jobs without results.
    again
        folders that were given more than once.
    one_sweep
        whether they are the jobs of a single sweep's folder.
    """

    done: Sequence[Path]
    unfinished: dict[Path, list[str]]
    again: Sequence[Path]
    one_sweep: bool = False

    def sentences(self) -> list[str]:
        """Say what is not in the comparison, and why."""
        said = []
        for sweep, names in self.unfinished.items():
            shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
            done = sum(folder.parent == sweep for folder in self.done)
            said.append(
                f"{sweep}: {len(names)} of {len(names) + done} jobs have no results and are not compared: {shown}. "
                "The sweep's command, typed again, computes them"
            )
        if self.again:
            said.append(f"named more than once, compared once: {', '.join(str(folder) for folder in self.again)}")
        return said


def compared_folders(given: Sequence[Path]) -> Folders:
    """Write out sweeps' folders as their jobs; a folder that is named twice, whatever the spelling, stands once."""
    done: dict[Path, Path] = {}
    unfinished: dict[Path, list[str]] = {}
    again: dict[Path, None] = {}
    for folder in given:
        for one in expanded([folder]):
            place = one.resolve()
            if place in done:
                again[one] = None
            done.setdefault(place, one)
        if (folder / JSON_FILE).exists():
            continue
        if missing := _unfinished(folder):
            unfinished[folder] = missing
    one_sweep = len(given) == 1 and len(done) > 1
    return Folders(list(done.values()), unfinished, list(again), one_sweep)


def _unfinished(sweep: Path) -> list[str]:
    """Return the names of jobs in a sweep's folder that left no results, none where it is no sweep's folder."""
    try:
        inside = [path for path in sweep.iterdir() if path.is_dir()]
    except OSError:
        return []  # no folder: reading it says what is wrong
    jobs = [path for path in inside if (path / JSON_FILE).exists()]
    if not jobs:
        return []
    started = {path.name for path in inside if any((path / name).exists() for name in STARTED)}
    names = {path.name for path in jobs}
    if all(name.isdecimal() for name in names):
        # a sweep's jobs are numbered without holes: those up to its last one, and those that its own table lists
        started |= {str(number) for number in range(max(int(name) for name in names))} | _listed(sweep)
    return sorted(started - names, key=lambda name: (0, int(name), "") if name.isdecimal() else (1, 0, name))


def _listed(sweep: Path) -> set[str]:
    """Return the points in the table that a sweep keeps, none without one that can be read."""
    try:
        with (sweep / TABLE).open(encoding="utf-8", newline="") as stream:
            return {row["point"] for row in csv.DictReader(stream) if (row.get("point") or "").isdecimal()}
    except (OSError, UnicodeDecodeError, csv.Error):
        return set()


def check_output(output: Path | None, folders: Sequence[Path]) -> None:
    """Refuse an output that cannot be written, or that is a compared job's own folder or inside it.

    Raises
    ------
    ConfigError
        before anything is computed.
    """
    if output is None:
        return
    if output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    place = output.resolve()
    for folder in folders:
        if place == folder.resolve() or folder.resolve() in place.parents:
            raise ConfigError(
                f"output: found {output}, in the folder of the compared job {folder}; expected another folder. "
                "Type: output=DIR"
            )
    _try(output)


def _try(folder: Path) -> None:
    """Write a file into a folder and take it away again, with the folders that were made for it."""
    made: list[Path] = []
    probe = folder / f".{uuid.uuid4().hex}"
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir()
            made.append(path)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        for path in reversed(made):
            path.rmdir()

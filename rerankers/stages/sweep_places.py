"""The numbered folders of a sweep: each holds its own point's results or nothing, whatever the grid was before.

Folders are numbered in the order of the grid, so a grid with one value more numbers its points differently. What is
there already is moved to its new number; what the new grid does not have is kept in ``earlier/``, from where a later
grid that has it takes it back. Moves are renames, made before any point runs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rerankers._base.errors import ConfigError
from rerankers._base.files import unwritable
from rerankers.stages.output import LAST
from rerankers.stages.sweep_record import Made, is_done, read_record

EARLIER = "earlier"
LOCK = ".fair-rerank-sweep.lock"


@contextmanager
def sweep_lock(folder: Path) -> Iterator[None]:
    """Hold a sweep's folder; the lock is the operating system's, so that a killed sweep leaves none behind.

    Raises
    ------
    ConfigError
        when the folder cannot be written, or another sweep holds it.
    """
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644), "w")
    except OSError as error:
        raise unwritable(folder, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.fstat(stream.fileno()).st_ino == path.stat().st_ino
        except (BlockingIOError, FileNotFoundError):
            held = False
        if not held:
            raise ConfigError(f"{folder}: another sweep is running there; wait for it, or choose another: output=DIR")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # while it is held: nobody can have taken it over


def arrange(folder: Path, points: Mapping[str, Made]) -> tuple[set[str], list[str]]:
    """Bring what a sweep's folder holds to where it belongs.

    Parameters
    ----------
    folder
        of the sweep.
    points
        name of a point's folder -> what its results are made from.

    Returns
    -------
    tuple
        the names of the points that are done, and the folders that were put aside and not taken back.
    """
    aside = []
    try:
        for place in sorted(folder.iterdir()) if folder.is_dir() else ():
            numbered = place.name.isdecimal() or place.name in points
            if place.is_dir() and numbered and (place / LAST).is_file() and not _at_home(place, points):
                aside.append((place.name, put_aside(folder, place)))
        done = {name for name, made in points.items() if is_done(folder / name, made) or take_back(folder, name, made)}
    except OSError as error:
        raise unwritable(folder, error) from error
    return done, [name for name, kept in aside if kept.exists()]


def put_aside(folder: Path, place: Path) -> Path:
    """Move a folder of results to ``earlier/``, under the fingerprint of its point; return where it is."""
    record = read_record(place)
    stem = f"unknown-{place.name}" if record is None else record.point
    target, number = folder / EARLIER / stem, 1
    while target.exists():
        number += 1
        target = folder / EARLIER / f"{stem}-{number}"
    target.parent.mkdir(exist_ok=True)
    os.rename(place, target)
    return target


def take_back(folder: Path, name: str, made: Made) -> bool:
    """Move a point's results from ``earlier/`` to its own folder, where they are there; return whether they were."""
    for place in sorted((folder / EARLIER).glob(f"{made.point}*")):
        if is_done(place, made):
            _make_way(folder / name)
            if not (folder / name).exists():
                os.rename(place, folder / name)
                _remove_empty(folder / EARLIER)
                return True
    return False


def _at_home(place: Path, points: Mapping[str, Made]) -> bool:
    return place.name in points and is_done(place, points[place.name])


def _make_way(place: Path) -> None:
    """Remove what a failed or killed job has left: a folder with no results, but its log."""
    if place.is_dir():
        (place / "log.txt").unlink(missing_ok=True)
        _remove_empty(place)


def _remove_empty(place: Path) -> None:
    try:
        place.rmdir()
    except OSError:  # something is in it
        return

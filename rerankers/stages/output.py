"""The folder of a job's results: claimed by one process at a time, changed only when the job is done."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rerankers._base.errors import ConfigError
from rerankers._base.files import unwritable
from rerankers._base.logs import log_to
from rerankers.report import remove_pictures

LOCK = ".fair-rerank.lock"
UNFINISHED = ".fair-rerank-unfinished"
FINISHED = ".fair-rerank-finished"
OWN = (
    *("run.parquet", "run.trec.gz", "policy.parquet", "measures.parquet", "measures.json", "measures.csv"),
    *("report.html", "config.yaml", "relevance.json", "fronts.parquet"),
    *("model.yaml", "queries.parquet", "calibration.yaml", "training.csv", "validation.parquet"),
)
"""Files that jobs write: those that an earlier job left and this one does not go."""
OWN_FOLDERS = ("final", "fold-*")
"""Folders of a model's scorers, likewise."""
LAST = "metadata.yaml"
"""The file that is taken away first and put in place last: where it is, the folder is of one job."""


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """Hold the folder's lock, yield a staging folder inside it, and move its files into place at the end.

    A job that fails or is killed leaves the results of an earlier job as they were. One that is killed while its
    files are moved has its move completed by the next job here. The lock is the operating system's, so a killed
    job leaves none behind.

    Raises
    ------
    ConfigError
        when the folder cannot be written, or another process is writing there.
    """
    lock = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = os.fdopen(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644), "w")
    except OSError as error:
        raise unwritable(folder, error) from error
    with stream:
        if not _locked(stream, lock):
            raise ConfigError(f"{folder}: another job is writing there; choose another folder: output=DIR")
        try:
            log_to(folder)
            with _staged(folder) as staging:
                yield staging
        finally:
            lock.unlink(missing_ok=True)  # while it is held: nobody can have taken it over


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    unfinished, finished = folder / UNFINISHED, folder / FINISHED
    try:
        if finished.is_dir():
            _publish(finished, folder)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        yield unfinished
        _check_places(unfinished, folder)
        try:
            os.rename(unfinished, finished)  # from here on the job is done, whatever stops the moving
            _publish(finished, folder)
        except OSError as error:
            raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _files(staging: Path) -> list[Path]:
    places = [path.relative_to(staging) for path in staging.rglob("*") if path.is_file()]
    return sorted(places, key=lambda place: (place.name == LAST, place))


def _check_places(staging: Path, folder: Path) -> None:
    """Raise `ConfigError` when something of the user's is where a file has to go, before anything is changed."""
    for place in _files(staging):
        target = folder / place
        if target.is_dir():
            raise ConfigError(f"{target}: cannot be written, it is a folder; move it, or choose another output=DIR")
        if target.parent.exists() and not target.parent.is_dir():
            raise ConfigError(
                f"{target.parent}: found a file; expected a folder, or nothing. Choose another output=DIR"
            )


def _publish(staging: Path, folder: Path) -> None:
    """Move every file to its place; pictures that an earlier job drew go."""
    files = _files(staging)
    if (folder / LAST).exists():  # a move that goes on after a stop has already been here
        remove_pictures(folder)
        if (folder / "model.yaml").exists():
            for path in (path for pattern in OWN_FOLDERS for path in folder.glob(pattern)):
                shutil.rmtree(path, ignore_errors=True)
        for name in OWN:
            (folder / name).unlink(missing_ok=True)
        (folder / LAST).unlink()
    for place in files:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / place, folder / place)
    shutil.rmtree(staging)


def _locked(stream: IO[str], path: Path) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The file may have been removed by its last holder between our opening and our locking it.
        return os.fstat(stream.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False

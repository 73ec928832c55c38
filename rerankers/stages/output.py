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
from rerankers.report import remove_pictures

LOCK = ".lock"
STAGING = ".unfinished"
LAST = "metadata.yaml"
"""The file that is taken away first and put in place last: where it is, the folder is of one job."""


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """Hold the folder's lock, yield a staging folder inside it, and move its files into place at the end.

    A job that fails or is killed leaves the results of an earlier job as they were. The lock is the operating
    system's, so a killed job leaves none behind; its staging folder is removed by the next job.

    Raises
    ------
    ConfigError
        when the folder cannot be written, or another process is writing there.
    """
    lock = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = lock.open("w")
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        if not _locked(stream, lock):
            raise ConfigError(f"{folder}: another job is writing there; choose another folder: output=DIR")
        staging = folder / STAGING
        try:
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            yield staging
            _publish(staging, folder)
        except OSError as error:
            raise unwritable(folder, error) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            lock.unlink(missing_ok=True)  # while it is held: nobody can have taken it over
    finally:
        stream.close()


def _publish(staging: Path, folder: Path) -> None:
    """Move every file to its place; pictures that an earlier job drew go."""
    remove_pictures(folder)
    (folder / LAST).unlink(missing_ok=True)
    files = sorted((path.relative_to(staging) for path in staging.rglob("*") if path.is_file()), key=_last)
    for place in files:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / place, folder / place)


def _last(place: Path) -> tuple[bool, Path]:
    return place.name == LAST, place


def _locked(stream: IO[str], path: Path) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The file may have been removed by its last holder between our opening and our locking it.
        return os.fstat(stream.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False

"""The folder of a job's results: claimed by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rerankers._base.errors import ConfigError
from rerankers._base.files import unwritable

LOCK = ".lock"


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """Make the folder, hold its lock while the job writes there, and yield it.

    The lock is the operating system's, so a killed job leaves none behind.

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
        try:
            yield folder
        finally:
            lock.unlink(missing_ok=True)  # while it is held: nobody can have taken it over
    finally:
        stream.close()


def _locked(stream: IO[str], path: Path) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The file may have been removed by its last holder between our opening and our locking it.
        return os.fstat(stream.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False

"""Where a job keeps its checkpoints: in the cache, by what it depends on, for one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rerankers._base.files import unwritable

_LOCK = ".lock"


@contextmanager
def checkpoints(folder: Path) -> Iterator[Path | None]:
    """Yield a folder for checkpoints, which is removed if the job succeeds and stays if it does not.

    None where another process is at the same job: it goes without checkpoints, and ends with the same bits.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    lock = folder.with_name(f"{folder.name}{_LOCK}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
    finally:
        os.close(stream)

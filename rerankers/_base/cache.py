"""The stage cache: a stage's output is found again by the fingerprint of everything that went into it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import unwritable
from rerankers._base.fingerprint import fingerprint
from rerankers._base.own_files import own_mapping

logger = logging.getLogger(__name__)
ENTRY = "entry.json"
LEFTOVER_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class StageCache:
    """A folder of finished stage outputs, one folder an entry, safe for several processes.

    An entry appears by one rename when it is complete, so a killed job leaves no half entry and the next job
    continues from the stages that were finished. An entry knows the checksums of its files, so that one that was
    changed or damaged since is made again, and its bytes reach no reader.
    """

    root: Path

    def folder(self, stage: str, inputs: Mapping[str, object]) -> Path:
        """Return where the entry of these inputs is, or would be."""
        return self.root / stage / fingerprint(stage, dict(inputs))

    def get_or_make(self, stage: str, inputs: Mapping[str, object], make: Callable[[Path], None]) -> tuple[Path, bool]:
        """Return (the entry's folder, whether it was found), making it first if it is not there or not whole.

        Parameters
        ----------
        stage
            name and version of the stage, for instance ``"candidates-1"``: a new version never reads old entries.
        inputs
            everything the output depends on.
        make
            writes the output into the folder it is given.

        Raises
        ------
        ConfigError
            when the cache folder cannot be written.
        """
        target = self.folder(stage, inputs)
        if is_whole(target):
            return target, True
        remove_leftovers(target.parent)
        temporary = target.with_name(f".{uuid.uuid4().hex}")
        try:
            temporary.mkdir(parents=True)
            make(temporary)
            known = {key: str(value) for key, value in inputs.items()}
            entry = {"stage": stage, "inputs": known, "files": _checksums(temporary)}
            (temporary / ENTRY).write_text(json.dumps(entry, indent=1), encoding="utf-8")
            self._publish(temporary, target)
        except OSError as error:
            raise unwritable(target, error) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return target, False

    @staticmethod
    def _publish(temporary: Path, target: Path) -> None:
        try:
            os.rename(temporary, target)
        except OSError:
            # Another process may have finished the same entry first: equal inputs, equal content.
            if is_whole(target):
                return
            _put_aside(target)
            os.rename(temporary, target)


def is_whole(entry: Path) -> bool:
    """Return whether an entry is there, and every file of it as it was written."""
    try:
        known = own_mapping(entry / ENTRY, "an entry of the cache").get("files")
        return known is not None and known == _checksums(entry)
    except (MissingError, InputError, OSError):
        return False


def _checksums(folder: Path) -> dict[str, str]:
    """Return file -> SHA-256 of its bytes, of all files in a folder but the entry's own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / ENTRY:
            with path.open("rb") as stream:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _put_aside(entry: Path) -> None:
    """Take away what stands in the place of an entry and is none, by one rename: others may be at it too."""
    aside = entry.with_name(f".{uuid.uuid4().hex}")
    os.rename(entry, aside)
    logger.info("%s: changed or damaged since it was written; it was made again", entry)
    if aside.is_dir():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        aside.unlink()


def remove_leftovers(folder: Path) -> None:
    """Remove what killed jobs left: hidden folders that nobody has touched for a day."""
    for path in folder.glob(".*"):
        try:
            if path.is_dir() and time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
        except FileNotFoundError:  # another job has removed it
            continue

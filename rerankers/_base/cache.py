"""The stage cache: a stage's output is found again by the fingerprint of everything that went into it."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.files import unwritable
from rerankers._base.fingerprint import fingerprint

ENTRY = "entry.json"
LEFTOVER_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class StageCache:
    """A folder of finished stage outputs, one folder an entry, safe for several processes.

    An entry appears by one rename when it is complete, so a killed job leaves no half entry and the next job
    continues from the stages that were finished.
    """

    root: Path

    def folder(self, stage: str, inputs: Mapping[str, object]) -> Path:
        """Return where the entry of these inputs is, or would be."""
        return self.root / stage / fingerprint(stage, dict(inputs))

    def get_or_make(self, stage: str, inputs: Mapping[str, object], make: Callable[[Path], None]) -> tuple[Path, bool]:
        """Return (the entry's folder, whether it was found), making it first if it is not there.

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
        if (target / ENTRY).is_file():
            return target, True
        remove_leftovers(target.parent)
        temporary = target.with_name(f".{uuid.uuid4().hex}")
        try:
            temporary.mkdir(parents=True)
            make(temporary)
            text = json.dumps({"stage": stage, "inputs": {key: str(value) for key, value in inputs.items()}}, indent=1)
            (temporary / ENTRY).write_text(text, encoding="utf-8")
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
            # Another process finished the same entry first: equal inputs, equal content.
            if not (target / ENTRY).is_file():
                raise


def remove_leftovers(folder: Path) -> None:
    """Remove what killed jobs left: hidden folders that nobody has touched for a day."""
    for path in folder.glob(".*"):
        try:
            if path.is_dir() and time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
        except FileNotFoundError:  # another job has removed it
            continue

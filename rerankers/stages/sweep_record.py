"""What a folder of results was made from: the record that says whether a point of a sweep is done.

A point is done when its folder holds complete results of the same command, config, package version and input files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import rerankers
from rerankers._base.errors import MissingError
from rerankers._base.files import write_text
from rerankers._base.fingerprint import fingerprint
from rerankers._base.own_files import own_json
from rerankers.stages.output import LAST
from rerankers.stages.sweep_inputs import Stamp, changed, input_stamps

FILE = "inputs.json"
"""Beside the results: written after them, and bound to them by the checksum of their metadata."""
FREE = ("output", "paths", "resume", "execution")
"""Options on which no result depends: where results and caches are, and who computes."""
FORM = 1


@dataclass(frozen=True, slots=True)
class Made:
    """What results are made from.

    Attributes
    ----------
    point
        fingerprint of command, package version and resolved config, without `FREE`.
    inputs
        path -> size, time and SHA-256 of every file that the config names.
    """

    point: str
    inputs: Mapping[str, Stamp]


@dataclass(frozen=True, slots=True)
class Record:
    """The content of `FILE`."""

    point: str
    inputs: Mapping[str, Stamp]
    package: str
    command: str
    metadata: str
    files: tuple[str, ...]
    form: int = FORM


def point_of(command: str, config: Mapping[str, Any]) -> str:
    """Return the fingerprint of a command and its resolved config under this version of the package."""
    kept = {str(key): value for key, value in config.items() if key not in FREE}
    return fingerprint(command, rerankers.__version__, kept)


def made_from(command: str, config: Mapping[str, Any], own: Path, seen: Mapping[str, Stamp] | None = None) -> Made:
    """Return what a job would be made from now; see `input_stamps` for ``own`` and ``seen``."""
    return Made(point_of(command, config), input_stamps(config, own, seen))


def write_record(folder: Path, command: str, made: Made) -> None:
    """Say in a folder of finished results what they were made from; nothing where there are no results."""
    if not (folder / LAST).is_file():
        return
    files = tuple(sorted(path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")))
    record = Record(made.point, made.inputs, rerankers.__version__, command, _digest(folder), files)
    write_text(folder / FILE, json.dumps(asdict(record), indent=1) + "\n")


def read_record(folder: Path) -> Record | None:
    """Return the record of complete results; None without one, or where the results are others or not whole."""
    try:
        found = own_json(folder / FILE, "the record of a job")
        record = Record(**{**found, "files": tuple(found["files"])})
        stamps = {str(path): (int(size), int(time), str(sha)) for path, (size, time, sha) in record.inputs.items()}
        whole = record.form == FORM and record.metadata == _digest(folder)
        if not whole or not all((folder / name).exists() for name in record.files):
            return None
        return Record(record.point, stamps, record.package, record.command, record.metadata, record.files)
    except (MissingError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # no record, or one that something else has written: then nothing is known of the results


def is_done(folder: Path, made: Made) -> bool:
    """Return whether a folder holds complete results made from the same."""
    record = read_record(folder)
    return record is not None and record.point == made.point and changed(record.inputs, made.inputs) is None


def _digest(folder: Path) -> str:
    return hashlib.sha256((folder / LAST).read_bytes()).hexdigest()

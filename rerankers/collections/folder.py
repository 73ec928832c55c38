"""Find the files of a collection in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.files import COMPRESSED


def collection_folder(path: str) -> Path:
    """Return the folder.

    Raises
    ------
    MissingError
        when there is none.
    ConfigError
        when the path is a file.
    """
    folder = Path(path)
    if folder.is_file():
        raise ConfigError(f"collection.path: found the file {path}; expected the folder that holds the collection")
    if not folder.is_dir():
        raise MissingError(f"{path}: no such folder. Check collection.path; relative paths start at {Path.cwd()}")
    return folder


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the one file with one of ``names``, plain or compressed; None when there is none.

    Raises
    ------
    InputError
        when there are several.
    """
    found = [folder / f"{name}{suffix}" for name in names for suffix in ("", *COMPRESSED)]
    found = [path for path in found if path.is_file()]
    if len(found) > 1:
        listed = ", ".join(path.name for path in found)
        raise InputError.one(str(folder), listed, "only one of them", mend="Move the others elsewhere.")
    return found[0] if found else None


def need_file(folder: Path, names: Sequence[str]) -> Path:
    """Return the one file with one of ``names``, plain or compressed.

    Raises
    ------
    MissingError
        when there is none; the text says what the folder holds instead.
    """
    found = find_file(folder, names)
    if found is None:
        held = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
        raise MissingError(f"{folder}: no {' or '.join(names)} (.gz or .zst too); the folder holds {held}")
    return found


def format_of(path: Path) -> str:
    """Return the suffix that names the format, ``".csv"`` for ``a.b.csv.gz``; empty when there is none."""
    return Path(unpacked_name(path)).suffix


def unpacked_name(path: Path) -> str:
    """Return the file's name without a suffix of compression."""
    return path.stem if path.suffix in COMPRESSED else path.name

"""The files that a config names: what is in them, known by size, time and SHA-256, so that a change is noticed."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Stamp = tuple[int, int, str]
"""Size in bytes, time of the last change in nanoseconds, SHA-256."""

FOLDER_KEYS = frozenset({"path", "run", "runs", "model", "qrels", "policy", "corpus", "input", "data", "results"})
"""Last part of keys whose value may be a folder, as that of any option of the user's own classes may be; elsewhere only
what has a slash in it is taken for one."""
WRITTEN = frozenset({"output", "paths", "ledger", "resume", "optimise"})
"""Options that name what a job writes, or nothing at all."""

_known: dict[tuple[str, int, int], str] = {}


def input_stamps(config: Mapping[str, Any], own: Path, seen: Mapping[str, Stamp] | None = None) -> dict[str, Stamp]:
    """Return the stamps of every file that a config names, by path; of a folder, those of all files in it.

    The modules of the packages in ``allow_targets`` are among them: classes of the user's own are an input too.

    Parameters
    ----------
    config
        plain and resolved.
    own
        the folder that results go to: what is in it is no input, although a named folder may hold it.
    seen
        earlier stamps: a file whose size and time have not changed is not read again.
    """
    named = [path for key, path in _named(config, "") if key.partition(".")[0] not in WRITTEN]
    stamps: dict[str, Stamp] = {}
    for path in dict.fromkeys([*named, *_modules(config)]):
        for file in _files(path, own.resolve()):
            stamps[str(file)] = _stamp(file, (seen or {}).get(str(file)))
    return stamps


def changed(stamps: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> str | None:
    """Return a file that is not as it was, or is new or gone; None where all content is the same."""
    for path in [*stamps, *now]:
        if path not in now or path not in stamps or stamps[path][2] != now[path][2]:
            return path
    return None


def _named(node: Any, key: str, own: bool = False) -> Iterator[tuple[str, Path]]:
    """Yield (key, path) of every text that is the name of a file, or of a folder where folders are named."""
    if isinstance(node, Mapping):
        own = own or not str(node.get("_target_", "rerankers.")).startswith("rerankers.")
        for name, value in node.items():
            if name != "_target_":
                yield from _named(value, f"{key}.{name}" if key else str(name), own)
    elif isinstance(node, list):
        for value in node:
            yield from _named(value, key, own)
    elif isinstance(node, str) and node and len(node) < 4096 and "\0" not in node:
        path = Path(node).expanduser()
        folder = own or os.sep in node or key.rpartition(".")[2] in FOLDER_KEYS
        if _exists(path, folder):
            yield key, path


def _exists(path: Path, folder: bool) -> bool:
    try:
        return path.is_file() or (folder and path.is_dir())
    except OSError:  # a text too long for a name
        return False


def _modules(config: Mapping[str, Any]) -> list[Path]:
    """Return the places of the user's own packages; those that cannot be found are told of when a job is built."""
    allowed = config.get("allow_targets") or []
    places: list[Path] = []
    for name in allowed if isinstance(allowed, list) else [allowed]:
        try:
            found = importlib.util.find_spec(str(name).partition(".")[0])
        except (ImportError, ValueError):
            continue
        if found is not None and found.submodule_search_locations is not None:
            places += [file for place in found.submodule_search_locations for file in sorted(Path(place).rglob("*.py"))]
        elif found is not None and found.origin and Path(found.origin).is_file():
            places.append(Path(found.origin))
    return places


def _files(path: Path, own: Path) -> Iterator[Path]:
    path = Path(os.path.abspath(path))
    if not path.is_dir():
        yield path
        return
    for place, folders, names in os.walk(path):
        here = Path(place).resolve()
        if here == own or own in here.parents:
            folders.clear()
            continue
        folders.sort()
        yield from (Path(place) / name for name in sorted(names) if not name.startswith(".fair-rerank"))


def _stamp(file: Path, seen: Stamp | None) -> Stamp:
    """Return a file's stamp. What cannot be read has none of its own: the job says what is wrong with it."""
    try:
        found = file.stat()
        size, time = found.st_size, found.st_mtime_ns
        if seen is not None and tuple(seen[:2]) == (size, time):
            return size, time, seen[2]
        key = (str(file), size, time)
        if key not in _known:
            with file.open("rb") as stream:
                _known[key] = hashlib.file_digest(stream, "sha256").hexdigest()
        return size, time, _known[key]
    except OSError as error:
        return 0, 0, f"not readable: {error.strerror}"

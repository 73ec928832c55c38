"""Values of options that become files: collections, groups, runs, judgments and results that a caller has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rerankers.api.frames import is_frame, is_table
from rerankers.api.inputs import COLLECTION_PARTS, collection_folder, groups_file, qrels_file, run_file
from rerankers.api.words import written
from rerankers.runs import Run, run_name

FILES_OF_GROUPS = frozenset({"evaluate", "labels", "meta", "submit", "choose"})
"""Commands in which ``groups`` names a file."""


def as_file(command: str, key: str, value: Any, inputs: Path) -> list[str] | None:
    """Return the words that name the file of a value, None where it is nothing that becomes a file."""
    writer = _WRITERS.get(key)
    if writer is None or isinstance(value, str | Path) or value is None:
        return None
    if callable(getattr(value, "align", None)) and not is_frame(value):  # frames of pandas have one of their own
        return None
    return writer(command, value, inputs)


def _of_collection(command: str, value: Any, inputs: Path) -> list[str] | None:
    if not isinstance(value, Mapping):
        return None
    if not any(part in value for part in COLLECTION_PARTS):
        return [written(f"collection.{key}", one) for key, one in value.items()]
    return ["collection=jsonl", f"collection.path={collection_folder(value, inputs / 'collection')}"]


def _of_groups(command: str, value: Any, inputs: Path) -> list[str] | None:
    options = ("attribute", "unknown", "mixed", "order", "path", "field", "at_least", "groups")
    if isinstance(value, Mapping) and value and all(key in options for key in value) and not is_table(value):
        return [written(f"groups.{key}", one) for key, one in value.items()]
    path = groups_file(value, inputs)
    return [f"groups={path}"] if command in FILES_OF_GROUPS else ["groups=file", f"groups.path={path}"]


def _of_run(command: str, value: Any, inputs: Path) -> list[str] | None:
    """Return the runs of ``evaluate`` and other commands: one, a list, or runs by name."""
    if isinstance(value, Mapping) and value and all(_is_source(one) for one in value.values()):
        paths = [_path_of_run(one, str(name), inputs, named=True) for name, one in value.items()]
    elif isinstance(value, list | tuple) and not is_table(value):
        paths = [_path_of_run(one, f"run{place}", inputs) for place, one in enumerate(value)]
    else:
        paths = [_path_of_run(value, "run", inputs)]
    return [written("run", paths[0] if len(paths) == 1 else paths)]


def _is_source(value: Any) -> bool:
    """Return whether a value of a mapping is a run of its own, not the rankings of a query."""
    if isinstance(value, Mapping):  # {qid: {docno: score}} is a run by name, {docno: score} the ranking of a query
        return bool(value) and all(isinstance(one, Mapping | list | tuple) for one in value.values())
    return isinstance(value, str | Path | Run) or hasattr(value, "folder") or is_frame(value)


def _path_of_run(value: Any, name: str, inputs: Path, named: bool = False) -> Path:
    """Return where a run is, written if it is in memory, or if it has to be called otherwise than it is."""
    place = getattr(value, "folder", value)
    path = Path(place) if isinstance(place, str | Path) else None
    if path is not None and (not named or run_name(path) == name):
        return path
    own = value.name if isinstance(value, Run) and not named else name
    return run_file(value if path is None else path, inputs, own)


def _of_qrels(command: str, value: Any, inputs: Path) -> list[str] | None:
    return [f"qrels={qrels_file(value, inputs)}"]


def _of_predicted(command: str, value: Any, inputs: Path) -> list[str] | None:
    return [f"predicted={groups_file(value, inputs, 'predicted.csv')}"]


def _of_results(command: str, value: Any, inputs: Path) -> list[str] | None:
    several = value if isinstance(value, list | tuple) else [value]
    places: list[Any] = [getattr(one, "folder", one) for one in several]
    return [written("results", [Path(place) for place in places])]


_WRITERS: Mapping[str, Callable[[str, Any, Path], list[str] | None]] = {
    "collection": _of_collection,
    "groups": _of_groups,
    "run": _of_run,
    "qrels": _of_qrels,
    "predicted": _of_predicted,
    "results": _of_results,
}

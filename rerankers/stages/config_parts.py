"""Parts of a resolved config that several commands have."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._conf import ALLOWED, build
from rerankers.collections import FileGroups
from rerankers.collections.annotation_groups import AnnotationGroups
from rerankers.collections.annotations import annotation_form
from rerankers.labels.groups import LabelFileGroups
from rerankers.labels.label_records import is_label_file
from rerankers.measures.own_names import know
from rerankers.stages.sweep_states import said

if TYPE_CHECKING:
    from rerankers.report import ReportData
    from rerankers.stages.results import MeasureOptions

NEEDED = {
    "collection": "load",
    "retriever": "retrieve",
    "method": "policy",
    "target": "bind",
    "browsing": "bind",
    "groups": "align",
    "execution": "map",
    "features": "compute",
    "model": "fit",
    "objective": "bind",
    "calibration": "fit",
    "fit": "choose",
    "labeller": "label",
    "llm": "session",
}

OF_SWEEPS = frozenset({"resume", "optimise"})
"""Keys of `run`, `evaluate` and `train` that are about a job among others, not about the job."""


def build_part(config: Mapping[str, Any], key: str) -> Any:
    """Return the object of a config group, which must offer what `NEEDED` says."""
    allowed = texts(config.get("allow_targets") or [])  # stored configs may lack it
    ALLOWED.set(tuple(allowed))
    built = build(config[key], allowed, key)
    if not callable(getattr(built, NEEDED[key], None)):
        raise ConfigError(f"{key}: found {type(built).__name__}, which has no {NEEDED[key]}; expected a {key}")
    return built


def need_parts(config: Mapping[str, Any], path: Path, parts: Iterable[str], others: Iterable[str] = ()) -> None:
    """Raise `InputError` unless a stored config has its parts, which are mappings, and other options."""
    parts = tuple(parts)
    lacks = [key for key in (*parts, *others) if key not in config]
    lacks += [f"options of {key}" for key in parts if key in config and not isinstance(config[key], Mapping)]
    if lacks:
        raise InputError.one(str(path), f"no {', '.join(lacks)}", "the config of a job, as it was written")


def measure_options(config: Mapping[str, Any]) -> MeasureOptions:
    """Return the options of `measures`."""
    from rerankers.stages.results import MeasureOptions

    node = {"_target_": f"{MeasureOptions.__module__}.{MeasureOptions.__qualname__}", **config["measures"]}
    know_own_measures(config)
    options: MeasureOptions = build(node, where="measures")
    return options


def know_own_measures(config: Mapping[str, Any]) -> None:
    """Make the measures of the user's own that ``measures.own`` describes known by their names, for this job."""
    know({})
    nodes = (config["measures"].get("own") if isinstance(config["measures"], Mapping) else None) or {}
    if not isinstance(nodes, Mapping):
        raise ConfigError(
            f"measures.own: found {nodes!r}; expected names with a class each. "
            "Type: 'measures.own={coverage: {_target_: mypackage.Coverage}}'"
        )
    if not nodes:
        return
    from rerankers.measures.own import own_definitions

    allowed = texts(config.get("allow_targets", []))
    made = {str(name): build(node, allowed, f"measures.own.{name}") for name, node in nodes.items()}
    know(own_definitions(made))


def file_groups(node: Mapping[str, Any]) -> FileGroups | AnnotationGroups | LabelFileGroups | None:
    """Return what aligns a group file; the words are checked even where there is no file."""
    path = node["path"] or ""
    if path and is_label_file(path):
        return _label_groups(node)
    kind = AnnotationGroups if path and annotation_form(path) is not None else FileGroups
    target = f"{kind.__module__}.{kind.__qualname__}"
    groups: FileGroups | AnnotationGroups = build({"_target_": target, **node, "path": path}, where="groups")
    return groups if path else None


def _label_groups(node: Mapping[str, Any]) -> LabelFileGroups:
    """Return what aligns a label file: one label a document, so that nothing is mixed, of one attribute."""
    for key, usual in (("mixed", "own_group"), ("order", None)):
        if node.get(key, usual) != usual:
            raise ConfigError(f"groups.{key}: found {node[key]!r}, which has no effect: {node['path']} holds labels")
    if isinstance(node["attribute"], list):
        raise ConfigError(f"groups.attribute: found {node['attribute']}; expected one name for a label file")
    given = {key: node[key] for key in ("path", "unknown", "attribute") if node[key] is not None}
    target = f"{LabelFileGroups.__module__}.{LabelFileGroups.__qualname__}"
    groups: LabelFileGroups = build({"_target_": target, **given}, where="groups")
    return groups


def whole_number(config: Mapping[str, Any], key: str) -> int:
    """Return an option that is a whole number of 64 bits."""
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{key}: found {value!r}; expected a whole number")
    if not -(2**63) <= value < 2**63:
        raise ConfigError(f"{key}: found {value}; expected a whole number of 64 bits")
    return value


def texts(value: Any) -> list[str]:
    """Return a list of texts; a single text is a list of one."""
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def check_keys(config: Mapping[str, Any], keys: frozenset[str]) -> None:
    """Raise `ConfigError` for an option that a command does not have, or lacks."""
    for key in config:
        if key not in keys:
            choose("option", key, sorted(keys))
    for key in sorted(keys):
        if key not in config:
            raise ConfigError(f"{key}: taken away; expected a value")


def cache_folder(config: Mapping[str, Any]) -> Path:
    """Return the folder of the cache."""
    place = config["paths"].get("cache") if isinstance(config["paths"], Mapping) else None
    if not isinstance(place, str):
        raise ConfigError(f"paths.cache: found {place!r}; expected a folder")
    return Path(place).expanduser().absolute()


def command_line(command: str, words: Sequence[str]) -> str:
    """Return what repeats a job."""
    return shlex.join(["fair-rerank", command, *words])


def show(report: ReportData, folder: Path, config: Mapping[str, Any], differences: Sequence[str] = ()) -> None:
    """Print the table of a job, its warnings, and where its report is; in a sweep, all points together are told of."""
    collected = said.get()
    if collected is not None:
        collected += [*(f"differs from the corrected form: {one}" for one in differences), *report.warnings]
        return
    from rerankers.report import terminal_table

    terminal_table(report, every=bool(config["measures"]["names"] or config["measures"].get("own")))
    if "fitted" in report.summary:
        print(f"fitted: {report.summary['fitted']}")
    for difference in differences:
        print(f"differs from the corrected form: {difference}")
    for warning in report.warnings:
        print(f"warning: {warning}")
    print(f"report: {folder / 'report.html'}")

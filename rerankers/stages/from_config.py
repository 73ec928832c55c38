"""From a resolved config to a job: the only place that knows the names of the config."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers._conf import build
from rerankers.collections import FileGroups
from rerankers.collections.annotation_groups import AnnotationGroups
from rerankers.collections.annotations import annotation_form
from rerankers.report import terminal_table
from rerankers.stages.evaluate import EvaluateJob, evaluate
from rerankers.stages.preset import PresetJob, evaluate_preset
from rerankers.stages.results import MeasureOptions
from rerankers.stages.run import RunJob, run
from rerankers.tracks.preset import PRESETS, Inputs

if TYPE_CHECKING:
    from rerankers.report import ReportData


_BOTH = "browsing groups measures paths samples seed universe output"
RUN_KEYS = frozenset(f"{_BOTH} collection retriever method execution allow_targets".split())
NEEDED = {
    "collection": "load",
    "retriever": "retrieve",
    "method": "policy",
    "browsing": "bind",
    "groups": "align",
    "execution": "map",
}
EVALUATE_KEYS = frozenset(f"{_BOTH} run qrels missing_query sequence targets".split())
SUPERSEDED = {
    "browsing": {"_target_": "rerankers.exposure.GERR", "patience": 0.5, "satisfaction": 0.5, "cutoff": None},
    "universe": "union",
    "missing_query": "error",
    "groups.unknown": "count",
    "groups.mixed": "own_group",
}
"""Options whose place a preset's own take, with what they are unless somebody sets them."""


def run_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str], name: str) -> None:
    """Run the job of a config of ``conf/run.yaml``'s form.

    Parameters
    ----------
    config
        plain and resolved.
    folder
        of the results.
    words
        the overrides, for the metadata.
    name
        the chosen method's name.
    """
    _no_preset(config)
    _known(config, RUN_KEYS)

    def part(key: str) -> Any:
        built = build(config[key], _texts(config["allow_targets"]), key)
        if not callable(getattr(built, NEEDED[key], None)):
            raise ConfigError(f"{key}: found {type(built).__name__}, which has no {NEEDED[key]}; expected a {key}")
        return built

    job = RunJob(
        name=name,
        collection=part("collection"),
        retriever=part("retriever"),
        method=part("method"),
        browsing=part("browsing"),
        groups=part("groups"),
        measures=_measures(config),
        execution=part("execution"),
        cache=_cache(config),
        samples=_whole(config, "samples"),
        seed=_whole(config, "seed"),
        universe=str(config["universe"]),
        config=config,
        command=_command("run", words),
    )
    _show(run(job, folder.absolute()), folder, config)


def evaluate_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/evaluate.yaml``'s form."""
    _known({key: value for key, value in config.items() if key != "preset"}, EVALUATE_KEYS)
    if config.get("preset") is not None:
        report, differences = evaluate_preset(_preset_job(config, words), folder.absolute())
        _show(report, folder, config, differences)
        return
    for word in ("sequence", "targets"):
        if config[word] is not None:
            raise ConfigError(f"{word}: found {config[word]}; expected null, or a preset that uses it: preset=NAME")
    runs = _texts(config["run"])
    job = EvaluateJob(
        runs=[Path(one) for one in runs],
        qrels=Path(str(config["qrels"])),
        groups=_file_groups(config["groups"]),
        missing_query=str(config["missing_query"]),
        universe=str(config["universe"]),
        browsing=build(config["browsing"], where="browsing"),
        measures=_measures(config),
        samples=_whole(config, "samples"),
        seed=_whole(config, "seed"),
        config=config,
        command=_command("evaluate", words),
    )
    _show(evaluate(job, folder.absolute()), folder, config)


def _preset_job(config: Mapping[str, Any], words: Sequence[str]) -> PresetJob:
    """Return the job of a preset; options that would have no effect beside it are refused."""
    node = config["preset"]
    if not isinstance(node, Mapping):
        choose("preset", str(node), PRESETS)
        raise ConfigError(f"preset: found {node!r}; expected the options of a preset")
    preset = build(node, where="preset")
    if not callable(getattr(preset, "evaluate", None)):
        raise ConfigError(f"preset: found {type(preset).__name__}, which has no evaluate; expected a preset")
    for option, usual in SUPERSEDED.items():
        outer, _, inner = option.partition(".")
        found = config[outer][inner] if inner else config[outer]
        if found != usual:
            raise ConfigError(
                f"{option}: found {found!r}, which has no effect with preset={preset.name}. Leave it out, and look at "
                "the options of the preset: fair-rerank evaluate preset=NAME --help"
            )
    groups = config["groups"]
    known = {item.name for item in dataclasses.fields(preset)}
    given = {word: groups[word] for word in ("attribute", "order") if groups[word] is not None}
    for word in given:
        if word not in known:
            raise ConfigError(f"groups.{word}: found {groups[word]!r}, which has no effect with preset={preset.name}")
    if isinstance(given.get("attribute"), list):
        raise ConfigError(f"groups.attribute: found {given['attribute']}; expected one attribute with a preset")
    if given:
        preset = dataclasses.replace(preset, **given)
    files = {word: None if config[word] is None else Path(str(config[word])) for word in ("sequence", "targets")}
    inputs = Inputs(
        runs=tuple(Path(one) for one in _texts(config["run"])),
        qrels=Path(str(config["qrels"])),
        groups=None if groups["path"] is None else Path(str(groups["path"])),
        seed=_whole(config, "seed"),
        **files,
    )
    return PresetJob(preset, inputs, _measures(config), config, _command("evaluate", words))


def _file_groups(node: Mapping[str, Any]) -> FileGroups | AnnotationGroups | None:
    """Return what aligns a group file; the words are checked even where there is no file."""
    path = node["path"] or ""
    kind = AnnotationGroups if path and annotation_form(path) is not None else FileGroups
    target = f"{kind.__module__}.{kind.__qualname__}"
    groups: FileGroups | AnnotationGroups = build({"_target_": target, **node, "path": path}, where="groups")
    return groups if path else None


def _measures(config: Mapping[str, Any]) -> MeasureOptions:
    node = {"_target_": f"{MeasureOptions.__module__}.{MeasureOptions.__qualname__}", **config["measures"]}
    options: MeasureOptions = build(node, where="measures")
    return options


def _no_preset(config: Mapping[str, Any]) -> None:
    if "preset" in config:
        name = config["preset"].get("name") if isinstance(config["preset"], Mapping) else config["preset"]
        raise ConfigError(
            f"preset: found {name}; expected none, since presets judge run files. Leave it out, and then type: "
            f"fair-rerank evaluate preset={name} run=DIR qrels=FILE, DIR being this job's output"
        )


def _whole(config: Mapping[str, Any], key: str) -> int:
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{key}: found {value!r}; expected a whole number")
    if not -(2**63) <= value < 2**63:
        raise ConfigError(f"{key}: found {value}; expected a whole number of 64 bits")
    return value


def _texts(value: Any) -> list[str]:
    """Return a list of texts; a single text is a list of one."""
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _known(config: Mapping[str, Any], keys: frozenset[str]) -> None:
    for key in config:
        if key not in keys:
            choose("option", key, sorted(keys))
    for key in sorted(keys):
        if key not in config:
            raise ConfigError(f"{key}: taken away; expected a value")


def _cache(config: Mapping[str, Any]) -> Path:
    place = config["paths"].get("cache") if isinstance(config["paths"], Mapping) else None
    if not isinstance(place, str):
        raise ConfigError(f"paths.cache: found {place!r}; expected a folder")
    return Path(place).expanduser().absolute()


def _command(command: str, words: Sequence[str]) -> str:
    return shlex.join(["fair-rerank", command, *words])


def _show(report: ReportData, folder: Path, config: Mapping[str, Any], differences: Sequence[str] = ()) -> None:
    terminal_table(report, every=config["measures"]["names"] is not None)
    for difference in differences:
        print(f"differs from the corrected form: {difference}")
    for warning in report.warnings:
        print(f"warning: {warning}")
    print(f"report: {folder / 'report.html'}")

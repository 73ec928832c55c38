"""From a resolved config to a job: the only place that knows the names of the config."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers._conf import build
from rerankers.collections import FileGroups
from rerankers.report import terminal_table
from rerankers.stages.evaluate import EvaluateJob, evaluate
from rerankers.stages.results import MeasureOptions
from rerankers.stages.run import RunJob, run

if TYPE_CHECKING:
    from rerankers.report import ReportData


_BOTH = "browsing groups measures paths samples seed universe preset output"
RUN_KEYS = frozenset(f"{_BOTH} collection retriever method execution allow_targets".split())
NEEDED = {
    "collection": "load",
    "retriever": "retrieve",
    "method": "policy",
    "browsing": "bind",
    "groups": "align",
    "execution": "map",
}
EVALUATE_KEYS = frozenset(f"{_BOTH} run qrels missing_query".split())


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
    _known(config, RUN_KEYS)
    _no_preset(config)

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
    _known(config, EVALUATE_KEYS)
    _no_preset(config)
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


def _file_groups(node: Mapping[str, Any]) -> FileGroups | None:
    """Return what aligns a group file; the words are checked even where there is no file."""
    target = f"{FileGroups.__module__}.{FileGroups.__qualname__}"
    groups: FileGroups = build({"_target_": target, **node, "path": node["path"] or ""}, where="groups")
    return groups if node["path"] else None


def _measures(config: Mapping[str, Any]) -> MeasureOptions:
    node = {"_target_": f"{MeasureOptions.__module__}.{MeasureOptions.__qualname__}", **config["measures"]}
    options: MeasureOptions = build(node, where="measures")
    return options


def _no_preset(config: Mapping[str, Any]) -> None:
    if config["preset"] is not None:
        raise ConfigError(f"preset: found {config['preset']!r}; expected null, since this version has no presets")


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


def _show(report: ReportData, folder: Path, config: Mapping[str, Any]) -> None:
    terminal_table(report, every=config["measures"]["names"] is not None)
    for warning in report.warnings:
        print(f"warning: {warning}")
    print(f"report: {folder / 'report.html'}")

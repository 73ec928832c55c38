"""``labels``: what unknown, wrong or sampled group labels leave of a result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy
from rerankers._conf import build
from rerankers.measures.unknown_labels import MEASURES
from rerankers.stages.config_parts import build_part, check_keys, command_line, file_groups, texts, whole_number
from rerankers.stages.evaluate import EvaluateJob
from rerankers.stages.label_inputs import LabelledRuns, runs_of_job, runs_of_preset
from rerankers.stages.label_options import BoundsOptions, ConfusionOptions, DesignOptions, FlipOptions
from rerankers.stages.label_results import Subject, bounds_study, confusion_study, design_study, flips_study
from rerankers.stages.label_text import Told, told
from rerankers.stages.preset_options import refuse_superseded, with_groups
from rerankers.stages.results import MeasureOptions
from rerankers.tracks.preset import Inputs
from rerankers.tracks.trec2020 import Trec2020
from rerankers.values.groups import UNKNOWN_POLICIES

JSON_FILE, TEXT_FILE = "labels.json", "labels.md"
OPTIONS: Mapping[str, Any] = {
    "bounds": BoundsOptions,
    "flips": FlipOptions,
    "design": DesignOptions,
    "confusion": ConfusionOptions,
}
"""Study -> its options, which are a section of the config."""
_FILES = ("run", "qrels", "groups", "missing_query", "universe", "browsing", "measure", "seed", "output")
KEYS = frozenset([*_FILES, "study", "allow_targets", *OPTIONS])


def labels_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Do the studies of a config of ``conf/labels.yaml``'s form: results into ``folder``, a table to the terminal.

    Parameters
    ----------
    config
        plain and resolved.
    folder
        for ``labels.json`` and ``labels.md``.
    words
        the overrides, for the command that repeats the job.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    check_keys({key: value for key, value in config.items() if key != "preset"}, KEYS)
    measure = choose("measure", str(config["measure"]), MEASURES)
    studies = list(dict.fromkeys(choose("study", one, OPTIONS) for one in texts(config["study"])))
    if not studies:
        raise ConfigError(f"study: found an empty list; expected one or more of {', '.join(OPTIONS)}")
    options = {study: _options(config, study) for study in OPTIONS}
    if "confusion" in studies and options["confusion"].path is None:
        raise ConfigError("confusion.path: no value; expected a CSV true,label,value. Type: confusion.path=FILE")
    if folder.is_file():
        raise ConfigError(f"output: found the file {folder}; expected a folder. Type: output=DIR")
    log_to(folder)
    source = _source(config)
    seed = whole_number(config, "seed")
    counts: dict[str, Mapping[str, int]] = dict(source.counts)
    found: dict[str, Any] = {}
    shown: list[Told] = []
    for attribute, alignment in source.alignments.items():
        subject = Subject(source, alignment, measure)
        known = alignment.unknown[source.population] == 0
        part: dict[str, Any] = {
            "groups": list(alignment.groups),
            "documents": len(known),
            "documents_without_label": int(np.sum(~known)),
        }
        for study in studies:
            with busy(f"{attribute}: {study}"):
                part[study] = _study(study, subject, options[study], seed, counts)
            shown.append(told(study, attribute, measure, part[study]))
        found[attribute] = part
    preset = config.get("preset")
    summary = {
        "preset": preset["name"] if isinstance(preset, Mapping) else None,
        "measure": measure,
        "studies": studies,
        "options": {key: value for key, value in config.items() if key not in ("run", "output")},
        "command": command_line("labels", words),
        "counts": {part: dict(of_part) for part, of_part in counts.items()},
        "queries": len(source.units),
        "attributes": found,
    }
    write_text(folder / JSON_FILE, json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / TEXT_FILE, _markdown(source, found, shown))
    for one in shown:
        print("\n".join(one.plain()), end="\n\n")
    print(f"labels: {folder / TEXT_FILE}, {folder / JSON_FILE}")


def _study(
    study: str, subject: Subject, options: Any, seed: int, counts: dict[str, Mapping[str, int]]
) -> dict[str, Any]:
    if study == "bounds":
        return bounds_study(subject, options)
    if study == "flips":
        return flips_study(subject, options, seed)
    if study == "confusion":
        return confusion_study(subject, options)
    result, met = design_study(subject, options)
    if met:
        counts["design"] = met
    return result


def _options(config: Mapping[str, Any], study: str) -> Any:
    kind, node = OPTIONS[study], config[study]
    if not isinstance(node, Mapping):
        raise ConfigError(f"{study}: found {node!r}; expected its options, for instance study={study}")
    return build({"_target_": f"{kind.__module__}.{kind.__qualname__}", **node}, where=study)


def _source(config: Mapping[str, Any]) -> LabelledRuns:
    """Read the files, by the rules of a preset where there is one."""
    groups = config["groups"]
    if not isinstance(groups, Mapping):
        raise ConfigError(f"groups: found {groups!r}; expected its options, for instance groups.path=FILE")
    path = None if groups["path"] is None else str(groups["path"])
    paths = tuple(Path(one) for one in texts(config["run"]))
    if config.get("preset") is not None:
        inputs = Inputs(paths, Path(str(config["qrels"])), None if path is None else Path(path))
        return runs_of_preset(_preset(config, groups), inputs)
    unknown = choose("groups.unknown", str(groups["unknown"]), UNKNOWN_POLICIES)
    # Counted as a group of their own, unknown documents can be told apart again.
    aligned = file_groups({**groups, "unknown": "count"})
    job = EvaluateJob(
        runs=paths,
        qrels=Path(str(config["qrels"])),
        groups=aligned,
        missing_query=str(config["missing_query"]),
        universe=str(config["universe"]),
        browsing=build_part(config, "browsing"),
        measures=MeasureOptions(),
        samples=1,  # anchors, which are not looked at here
        seed=0,
        config=config,
        command="",
    )
    return runs_of_job(job, unknown)


def _preset(config: Mapping[str, Any], groups: Mapping[str, Any]) -> Trec2020:
    """Return a preset of 2020, the only ones whose loss is a sum over groups of documents."""
    node = config["preset"]
    built = build(node, where="preset") if isinstance(node, Mapping) else node
    if not isinstance(built, Trec2020):
        name = getattr(built, "name", built)
        raise ConfigError(f"preset: found {name}; expected one of 2020, whose loss is a sum over groups of documents")
    refuse_superseded(config, built.name)
    return with_groups(built, groups)


def _markdown(source: LabelledRuns, found: Mapping[str, Any], shown: Sequence[Told]) -> str:
    lines = ["# What the labels leave of the result", "", f"{len(source.units):,} queries.", ""]
    lines += [
        f"- {attribute}: {', '.join(part['groups'])}; {part['documents_without_label']:,} of {part['documents']:,} "
        "documents have no label"
        for attribute, part in found.items()
    ]
    return "\n".join([*lines, "", *(line for one in shown for line in one.markdown())])

"""From a resolved config of ``presence`` to its job, and from the job to its files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers.stages.config_parts import (
    build_part,
    cache_folder,
    check_keys,
    command_line,
    know_own_measures,
    texts,
    whole_number,
)
from rerankers.stages.metadata import Stopwatch, write_metadata
from rerankers.stages.output import claimed
from rerankers.stages.presence import PresenceJob, presence
from rerankers.stages.presence_files import TIER, write_presence
from rerankers.stages.presence_systems import Grid
from rerankers.stages.presence_text import terminal

OF_PARTS = ("collection", "retriever", "groups", "target", "browsing", "execution", "paths", "allow_targets", "output")
OF_GRID = tuple(item.name for item in dataclasses.fields(Grid))
OF_MEASURES = ("given", "cutoff", "alpha", "neutral_share", "measures", "samples", "universe")
OF_BOOTSTRAP = ("seed", "confidence", "resamples")
KEYS = frozenset((*OF_PARTS, *OF_GRID, *OF_MEASURES, *OF_BOOTSTRAP))


def presence_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/presence.yaml``'s form, print its table and write its files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    check_keys(config, KEYS)
    job = _job(config)
    watch = Stopwatch()
    with claimed(folder.absolute()) as staging:
        found, table = presence(job)
        watch.lap("presence")
        found["command"] = command_line("presence", words)
        write_presence(staging, found, table, config)
        watch.lap("report")
        write_metadata(
            staging,
            command=found["command"],
            method={"name": "presence", "tier": TIER, "options": found["options"]},
            data={"test collection": found["test collection"], "topics": found["queries"]},
            goal={"evaluation": {"interval": "studentized bootstrap over queries"}},
            seconds=watch.seconds,
        )
        write_text(staging / "config.yaml", yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True))
    for line in terminal(found):
        print(line)
    print(f"report: {folder / 'report.html'}; numbers: {folder / 'presence.json'}")


def _job(config: Mapping[str, Any]) -> PresenceJob:
    browsing = config["browsing"]
    if isinstance(browsing, Mapping) and browsing.get("cutoff", 0) is None:
        config = {**config, "browsing": {**browsing, "cutoff": whole_number(config, "cutoff")}}
    retriever = config["retriever"]
    if isinstance(retriever, Mapping) and str(retriever.get("_target_")).endswith(".GivenCandidates"):
        config = {**config, "retriever": {key: value for key, value in retriever.items() if key != "k"}}
    part = partial(build_part, config)
    grid: dict[str, Any] = {
        key: _number(key, config[key]) if key == "tilt_temperature" else _numbers(key, config[key]) for key in OF_GRID
    }
    know_own_measures(config)
    named = config["measures"].get("names") if isinstance(config["measures"], Mapping) else config["measures"]
    return PresenceJob(
        collection=part("collection"),
        retriever=part("retriever"),
        groups=part("groups"),
        target=part("target"),
        browsing=part("browsing"),
        execution=part("execution"),
        cache=cache_folder(config),
        grid=Grid(**grid),
        given=None if config["given"] is None else str(config["given"]),
        measures=texts(named or []),
        universe=str(config["universe"]),
        alpha=_number("alpha", config["alpha"]),
        neutral_share=_number("neutral_share", config["neutral_share"]),
        confidence=_number("confidence", config["confidence"]),
        cutoff=whole_number(config, "cutoff"),
        samples=whole_number(config, "samples"),
        seed=whole_number(config, "seed"),
        resamples=whole_number(config, "resamples"),
    )


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key}: found {value!r}; expected a number")
    return float(value)


def _numbers(key: str, value: Any) -> tuple[float, ...]:
    return tuple(_number(key, one) for one in (value if isinstance(value, list) else [value]))

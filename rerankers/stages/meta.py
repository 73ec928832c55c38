"""Whether measures agree on the order of systems, whatever is assumed about users, targets and unknown groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy
from rerankers.measures.axioms import check_axioms
from rerankers.stages.config_parts import file_groups, know_own_measures, texts, whole_number
from rerankers.stages.meta_agreement import summarise
from rerankers.stages.meta_grid import AXES, Grid, measure_all, ways_of
from rerankers.stages.meta_systems import (
    Answers,
    Ground,
    answers_of,
    folders_of,
    ground_of_files,
    ground_of_jobs,
    systems_of,
)
from rerankers.stages.meta_text import markdown, printed
from rerankers.stages.validate import known_keys, one_path

KEYS = (
    "results",
    "qrels",
    "groups",
    "attribute",
    "measures",
    "grid",
    "level",
    "samples",
    "axioms",
    "allow_targets",
    "output",
)
PARTS = {"groups": ("path", "mixed", "order"), "measures": ("names", "own"), "grid": AXES}
JSON_FILE, TEXT_FILE = "meta.json", "meta.md"


def meta_from_config(config: Mapping[str, Any]) -> None:
    """Compare measures as a config of ``conf/meta.yaml``'s form says: print tables, and write them where asked to.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    for part, keys in PARTS.items():
        if not isinstance(config[part], Mapping):
            raise ConfigError(f"{part}: found {config[part]!r}; expected {', '.join(f'{part}.{key}' for key in keys)}")
        known_keys(config[part], keys)
    output = one_path(config, "output")
    if output is not None and output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    know_own_measures(config)
    names, asked = texts(config["measures"]["names"]), config["grid"]
    grid = Grid(
        texts(asked["browsing"]),
        [_number("grid.patience", one) for one in _list(asked["patience"])],
        texts(asked["target"]),
        texts(asked["unknown"]),
        [_depth(one) for one in _list(asked["cutoff"])],
    )
    level = _number("level", config["level"])
    if not 0 < level < 1:
        raise ConfigError(f"level: found {level}; expected a number between 0 and 1")
    samples = whole_number(config, "samples")
    if samples < 1:
        raise ConfigError(f"samples: found {samples}; expected 1 or more")
    answers = answers_of(folders_of(texts(config["results"])), samples)
    ground = _ground(config, answers, grid)
    attribute = _attribute(config["attribute"], ground)
    ways = ways_of(names, grid, attribute)
    systems, queries = systems_of(answers, ground)
    if output is not None:
        log_to(output)
    with busy(f"{len(ways):,} ways to measure"):
        found = summarise(measure_all(ways, systems), list(systems), len(queries), level)
    axioms = check_axioms(names) if config["axioms"] else []
    for line in printed(found, axioms):
        print(line)
    if output is not None:
        options = {key: config[key] for key in KEYS if key != "output"}
        record = {"options": options, "attribute": attribute, **found.record(), "axioms": [a.record() for a in axioms]}
        write_text(output / JSON_FILE, json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        write_text(output / TEXT_FILE, markdown(found, axioms))
        print(f"meta-evaluation: {output / TEXT_FILE}, {output / JSON_FILE}")


def _ground(config: Mapping[str, Any], answers: list[Answers], grid: Grid) -> Ground:
    qrels, node = one_path(config, "qrels"), config["groups"]
    if qrels is None:
        if node["path"] is not None:
            raise ConfigError(f"groups: found {node['path']} without qrels; expected both, for run files")
        return ground_of_jobs(folders_of(texts(config["results"])), answers, config["attribute"], grid.unknown)
    groups = None
    if node["path"] is not None:
        groups = file_groups({**node, "attribute": config["attribute"], "unknown": "count"})  # grid.unknown follows
    return ground_of_files(qrels, groups, answers, grid.unknown)


def _attribute(asked: Any, ground: Ground) -> str | None:
    """Return the one attribute that is compared, None where there are no groups."""
    if asked is not None:
        if not ground.attributes:
            raise ConfigError(
                f"attribute: found {asked!r}, although there are no groups; expected null, or groups=FILE"
            )
        return choose("attribute", str(asked), ground.attributes)
    if len(ground.attributes) > 1:
        raise ConfigError(
            f"attribute: found {', '.join(ground.attributes)}; expected one of them. Type: "
            f"attribute={ground.attributes[0]}"
        )
    return next(iter(ground.attributes), None)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key}: found {value!r}; expected a number")
    return float(value)


def _depth(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"grid.cutoff: found {value!r}; expected whole numbers of at least 1, or null")
    return value

"""The numbers that an optimising sweep looks at, and what is to be said of results that were tuned on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.own_files import own_json

KEY = "optimise"
ANCHOR = "anchor:"
JSON_FILE = "measures.json"
TRAINING = ("train",)
DIRECTIONS = {"higher": "maximize", "lower": "minimize"}


def objectives(config: Mapping[str, Any]) -> list[str]:
    """Return the measures to optimise as keys of ``measures.json``, none for null.

    Raises
    ------
    ConfigError
        for what is no measure, an empty list, or a measure twice.
    """
    value = config.get(KEY)
    if value is None:
        return []
    from rerankers.measures.names import parse

    texts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    if not texts:
        raise ConfigError(f"{KEY}: found an empty list; expected measures, or null")
    measures = config.get("measures")
    own = bool(measures.get("own")) if isinstance(measures, Mapping) else False
    keys = []
    for text in texts:
        try:
            keys.append(str(parse(text)))
        except ConfigError as error:
            if not own:  # else it may be one of the user's own, whose names the job knows
                raise ConfigError(f"{KEY}: {error}") from error
            keys.append(text)
    if len(set(keys)) < len(keys):
        raise ConfigError(f"{KEY}: found {', '.join(keys)}; expected each measure once")
    return keys


def directions(keys: Sequence[str]) -> list[str]:
    """Return ``maximize`` or ``minimize`` for each measure, ``""`` where neither more nor less is better by itself."""
    from rerankers.report.keys import parse

    return [DIRECTIONS.get(parse(key).better, "") for key in keys]


def read_means(folder: Path) -> dict[str, dict[str, float | None]]:
    """Return the means of every measured system of a job, anchors apart, by measure; none where there are no results.

    Raises
    ------
    InputError
        for a file that is not what a job writes.
    """
    path = folder / JSON_FILE
    if not path.is_file():
        return {}
    try:
        runs = own_json(path, "the results of a job")["runs"]
        return {str(name): dict(run["mean"]) for name, run in runs.items() if not name.startswith(ANCHOR)}
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError.one(str(path), f"{type(error).__name__}: {error}", "the results of a job") from error


def value_of(folder: Path, keys: Sequence[str]) -> float | list[float] | None:
    """Return the means that a sweep optimises: a number, a list for several measures, None for none.

    Raises
    ------
    ConfigError
        when a measure was not measured, or has no mean; with what there is.
    """
    if not keys:
        return None
    means = next(iter(read_means(folder).values()), {})
    found = []
    for key in keys:
        value = means.get(key)
        if key not in means:
            known = ", ".join(name for name in means if not name.endswith(("_placebo", "_excess")))
            raise ConfigError(
                f"{KEY}: {key} was not measured; expected one of {known or 'none: the job measures nothing'}. "
                f"measures.names says what is measured"
            )
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ConfigError(f"{KEY}: {key} has no mean here (its value is {value}); the report says why")
        found.append(float(value))
    return found if len(found) > 1 else found[0]


def tuned_on(config: Mapping[str, Any]) -> str | None:
    """Return which queries a job's options are chosen on by a sweep, None where it optimises nothing.

    ``training queries`` where the collection's split is one of training, else ``evaluation queries``: those that are
    reported.
    """
    if not config.get(KEY):
        return None
    collection = config.get("collection")
    split = collection.get("split") if isinstance(collection, Mapping) else None
    return "training queries" if split in TRAINING else "evaluation queries"


def tuning(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the metadata says of a job whose options a sweep chooses; nothing for other jobs."""
    queries = tuned_on(config)
    return {} if queries is None else {"optimised": {"measures": config[KEY], "tuned on": queries}}


def tuning_warnings(config: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of results whose queries are those that a sweep optimises on."""
    if tuned_on(config) != "evaluation queries":
        return []
    measures = ", ".join([str(one) for one in config[KEY]] if isinstance(config[KEY], list) else [str(config[KEY])])
    return [
        f"tuned on evaluation queries: a sweep that optimises {measures} chooses by the queries reported here, so the "
        "best point looks better than it is. Optimise on others (collection.split=train), then run the best point "
        "once with collection.split=eval; or let training queries choose inside a run (fit=search)"
    ]

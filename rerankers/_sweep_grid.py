"""Overrides that are swept, taken apart: their values, and the points of the grid that they span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.types import Override

from rerankers._base.errors import ConfigError


def written(override: Override) -> list[str]:
    """Return an override once for each of its values; a range without values gives its ends."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}" if not key.startswith("~") else str(override.input_line)]
    if override.is_discrete_sweep():
        return [f"{key}={value}" for value in override.sweep_string_iterator()]
    value: Any = override.value()
    return [f"{key}={value.start}", f"{key}={value.end}"]


def firsts(overrides: Sequence[Override]) -> list[str]:
    """Return the first value of each override.

    Raises
    ------
    ConfigError
        for a sweep without values.
    """
    found = []
    for override in overrides:
        values = written(override)
        if not values:
            raise ConfigError(f"{override.input_line}: found no value to sweep over; expected one or more")
        found.append(values[0])
    return found


def points(overrides: Sequence[Override]) -> list[list[str]]:
    """Return the overrides of every point of the grid, the last one moving fastest.

    Raises
    ------
    ConfigError
        for a sweep between two ends, which has no values to go through.
    """
    for override in overrides:
        if override.is_sweep_override() and not override.is_discrete_sweep():
            raise ConfigError(
                f"{override.input_line}: has no values to go through; expected some, for instance a,b or range(5), "
                "or a sweeper that chooses them: hydra/sweeper=optuna"
            )
    deleted = {override.get_key_element(): str(override.input_line) for override in overrides}
    return [
        [deleted.get(word.rstrip("="), word) if word.startswith("~") else word for word in point]
        for batch in BasicSweeper.split_arguments(list(overrides), None)
        for point in batch
    ]


def config_name(words: Sequence[str]) -> str | None:
    """Return the root config that ``--config-name`` asks for."""
    for place, word in enumerate(words):
        flag, _, value = word.partition("=")
        if flag in ("--config-name", "-cn"):
            return value or (words[place + 1] if place + 1 < len(words) else None)
    return None

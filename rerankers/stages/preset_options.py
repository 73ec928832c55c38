"""What a preset takes from the command line besides its own options, and what has no effect beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from rerankers._base.errors import ConfigError

SUPERSEDED = {
    "browsing": {"_target_": "rerankers.exposure.GERR", "patience": 0.5, "satisfaction": 0.5, "cutoff": None},
    "universe": "union",
    "missing_query": "error",
    "groups.unknown": "count",
    "groups.mixed": "own_group",
}
"""Options whose place a preset's own take, with what they are unless somebody sets them."""

P = TypeVar("P")


def refuse_superseded(config: Mapping[str, Any], preset: str) -> None:
    """Raise `ConfigError` for an option that would have no effect beside a preset."""
    for option, usual in SUPERSEDED.items():
        outer, _, inner = option.partition(".")
        found = config[outer][inner] if inner else config[outer]
        if found != usual:
            raise ConfigError(
                f"{option}: found {found!r}, which has no effect with preset={preset}. Leave it out, and look at "
                "the options of the preset: fair-rerank evaluate preset=NAME --help"
            )


def with_groups(preset: P, groups: Mapping[str, Any]) -> P:
    """Return a preset with the attribute and the order of groups that are set beside it.

    Raises
    ------
    ConfigError
        for words that the preset does not have, and several attributes.
    """
    name = getattr(preset, "name", type(preset).__name__)
    kind: Any = preset
    known = {item.name for item in dataclasses.fields(kind)}
    given = {word: groups[word] for word in ("attribute", "order") if groups[word] is not None}
    for word in given:
        if word not in known:
            raise ConfigError(f"groups.{word}: found {groups[word]!r}, which has no effect with preset={name}")
    if isinstance(given.get("attribute"), list):
        raise ConfigError(f"groups.attribute: found {given['attribute']}; expected one attribute with a preset")
    changed: P = dataclasses.replace(kind, **given)
    return changed

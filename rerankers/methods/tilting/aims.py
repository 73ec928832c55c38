"""What methods that aim at a target share: which attributes, which groups of them, and which shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, choose
from rerankers.methods.targets.base import aligned, all_but_unknown
from rerankers.methods.targets.candidates import EqualExposure
from rerankers.methods.tilting.problem import Aim

if TYPE_CHECKING:
    from rerankers.methods.targets.base import Target
    from rerankers.values import Block

UNKNOWN = ("target", "keep")


def check_unknown(value: str) -> None:
    """Raise `ConfigError` unless the option ``unknown`` has one of its values."""
    choose("method.unknown", value, UNKNOWN)


def check_between(name: str, value: float, low: float = 0.0, high: float = 1.0) -> None:
    """Raise `ConfigError` unless an option lies between two numbers, or is one of them."""
    if not (math.isfinite(value) and low <= value <= high):
        raise ConfigError(f"method.{name}: found {value}; expected a number between {low:g} and {high:g}")


def check_temperature(value: float, least: float = 1e-300) -> None:
    """Raise `ConfigError` unless a temperature is positive, and finite with its inverse."""
    if not (math.isfinite(value) and value >= least):
        raise ConfigError(f"method.temperature: found {value}; expected a positive number")


def attributes_of(block: Block, wanted: list[str] | None, method: str, option: str = "method.attributes") -> list[str]:
    """Return the attributes that a method looks at: those that are named, else all of the block.

    Raises
    ------
    ConfigError
        where there are none, or a name is none of them.
    """
    if not block.groups:
        raise ConfigError(f"method={method}: found no groups; expected some, for instance groups=file groups.path=FILE")
    names = list(block.groups) if wanted is None else list(wanted)
    for name in names:
        choose(option, name, block.groups)
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{option}: found {names}; expected at least one attribute, each once, or null")
    return names


def aims_of(block: Block, attributes: list[str], unknown: str) -> list[Aim]:
    """Return what a block's target wants of some attributes; equal exposure where the block names no target.

    Parameters
    ----------
    block
        with the groups.
    attributes
        of the block.
    unknown
        ``target``: documents of the group "unknown" are a group like any other where the target speaks of it;
        ``keep``: never.
    """
    target: Target = EqualExposure() if block.target is None else block.target
    aims = []
    for attribute in attributes:
        alignment = aligned(block, attribute)
        about = target.about(alignment.groups, attribute)
        if unknown == "keep":
            about = about & all_but_unknown(alignment.groups)
        aims.append(Aim(alignment, about, target.bind(block, attribute)))
    return aims

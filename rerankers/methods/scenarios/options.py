"""Options that the optimal methods share, their checks, and the groups that they look at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.methods.targets.base import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.values import Block, GroupAlignment


def check_weights(options: Mapping[str, float]) -> None:
    """Raise `ConfigError` for weights that are negative or not finite, and where neither loss has one.

    ``options`` are those named ``individual`` and ``group``, and any others.
    """
    for name, value in options.items():
        if not (math.isfinite(value) and value >= 0):
            raise ConfigError(f"method.{name}: found {value}; expected a finite weight of at least 0")
    if options["individual"] == 0 and options["group"] == 0:
        raise ConfigError("method.individual: found 0, and 0 for group; expected one of them above 0")


def check_floor(floor: float | None) -> None:
    """Raise `ConfigError` unless a floor is a share of the static ranking's utility."""
    if floor is not None and not 0 <= floor <= 1:
        raise ConfigError(f"method.floor: found {floor}; expected a share of the greatest utility, 0 to 1, or null")


def check_search(tolerance: float, max_iterations: int) -> None:
    """Raise `ConfigError` unless a search may take a step and knows when to end."""
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ConfigError(f"method.tolerance: found {tolerance}; expected a finite number of at least 0")
    if max_iterations < 1:
        raise ConfigError(f"method.max_iterations: found {max_iterations}; expected at least 1")


def tier_of(group: float) -> str:
    """Return the tier of a method: ``given_groups`` where a group loss has weight, ``blind`` where none has."""
    return "given_groups" if group > 0 else "blind"


def groups_of(block: Block, group: float, attribute: str | None) -> GroupAlignment | None:
    """Return the alignment whose groups a method looks at; None where the group loss has no weight.

    Raises
    ------
    ConfigError
        where the block does not have it, or has several and none is named.
    """
    if group == 0:
        return None
    if attribute is None:
        if len(block.groups) != 1:
            found = ", ".join(block.groups) or "none"
            raise ConfigError(f"method.attribute: found null; expected one of the attributes of groups=… ({found})")
        attribute = next(iter(block.groups))
    return aligned(block, attribute)


def membership(alignment: GroupAlignment | None, docs: NDArray[np.int32]) -> NDArray[np.float64] | None:
    """Return how much each of n documents belongs to the groups that any of them belongs to: float64 (G, n).

    "unknown" is a group like any other where ``groups.unknown=count`` has made it one.
    """
    if alignment is None:
        return None
    item, group, weight = alignment.entries(docs)
    present, place = np.unique(group, return_inverse=True)
    matrix = np.zeros((len(present), len(docs)))
    np.add.at(matrix, (place, item), weight)
    return matrix

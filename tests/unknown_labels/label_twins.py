"""Plain twins: every completion, every labelling and every sample, one after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def values_of(measure: str, exposure: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return what is added up on the left and on the right of the product."""
    return {
        "group_EEL": (exposure - target, exposure - target),
        "group_EED": (exposure, exposure),
        "group_EER": (exposure, target),
        "group_EET": (target, target),
    }[measure]


def product_of_sums(left: Floats, right: Floats, labels: Sequence[int], groups: int) -> float:
    """Return the sum over groups of the product of sums; other labels belong to no group."""
    total = 0.0
    for group in range(groups):
        own = [place for place, label in enumerate(labels) if label == group]
        total += sum(left[place] for place in own) * sum(right[place] for place in own)
    return float(total)


def completions(labels: Sequence[int], groups: int, none: bool = False) -> Iterator[list[int]]:
    """Yield every way to fill in the labels that are -1; ``none`` is the label G."""
    unknown = [place for place, label in enumerate(labels) if label < 0]
    for choice in itertools.product(range(groups + none), repeat=len(unknown)):
        filled = list(labels)
        for place, group in zip(unknown, choice, strict=True):
            filled[place] = group
        yield filled


def extremes(
    left: Floats, right: Floats, labels: Sequence[int], groups: int, none: bool = False
) -> tuple[float, float]:
    """Return the least and the greatest value over all completions."""
    found = [product_of_sums(left, right, filled, groups) for filled in completions(labels, groups, none)]
    return min(found), max(found)


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of some of n documents."""
    for size in range(n + 1):
        yield from itertools.combinations(range(n), size)

"""Sums of documents over groups, enumerated: documents of the same values are counted, not told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAME = 1e-13
"""Values that differ by less than this part of the largest one are the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Documents by their values.

    Attributes
    ----------
    value
        float64 (kinds, d).
    members
        the documents of each kind, int64.
    """

    value: NDArray[np.float64]
    members: list[NDArray[np.int64]]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Kinds:
        """Sort documents, float64 (n, d), into kinds, those with the largest values first."""
        scale = float(np.abs(values).max(initial=0.0)) or 1.0
        _, first, kind = np.unique(np.round(values / (scale * SAME)), axis=0, return_index=True, return_inverse=True)
        size = np.abs(values[first]).max(axis=1, initial=0.0)
        rank = np.lexsort((np.arange(len(first)), -size))
        kind = kind.reshape(-1)
        return cls(values[first][rank], [np.flatnonzero(kind == one) for one in rank.tolist()])

    def ways(self, choices: int) -> list[int]:
        """Return in how many ways each kind's documents can be given to the choices, order not counting."""
        return [math.comb(len(own) + choices - 1, choices - 1) if choices else 0 for own in self.members]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """All sums that some kinds can make.

    Attributes
    ----------
    value
        float64 (N, G * d): group by group, what is given to it.
    given
        int (N, kinds): which composition of each kind that is.
    """

    value: NDArray[np.float64]
    given: NDArray[np.int64]


@lru_cache(maxsize=256)
def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return every way to write a whole number as an ordered sum of ``parts`` numbers from 0, int64 (ways, parts)."""
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    blocks = []
    for first in range(total + 1):
        rest = compositions(total - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(blocks)


def all_sums(kinds: Kinds, chosen: list[int], groups: int, choices: int) -> Sums:
    """Return every sum of the chosen kinds over ``groups`` groups; with ``choices`` > ``groups`` the last adds 0."""
    width = kinds.value.shape[1]
    value = np.zeros((1, groups * width))
    given = np.zeros((1, 0), dtype=np.int64)
    for kind in chosen:
        count = compositions(len(kinds.members[kind]), choices)
        step = (count[:, :groups, None] * kinds.value[kind]).reshape(len(count), -1)
        value = (value[:, None, :] + step[None, :, :]).reshape(-1, groups * width)
        given = np.column_stack([np.repeat(given, len(count), axis=0), np.tile(np.arange(len(count)), len(given))])
    return Sums(value, given)


def halves(ways: list[int]) -> tuple[list[int], list[int]]:
    """Split kinds so that both halves have about as many sums."""
    sides: tuple[list[int], list[int]] = ([], [])
    size = [1, 1]
    for kind in sorted(range(len(ways)), key=lambda one: (-ways[one], one)):
        side = int(size[1] < size[0])
        sides[side].append(kind)
        size[side] *= ways[kind]
    return sides


def spell_out(
    kinds: Kinds, chosen: list[int], given: NDArray[np.int64], choices: int, choice: NDArray[np.int64]
) -> None:
    """Write the choices of a row of `Sums.given` into ``choice``, int64 (n,)."""
    for kind, which in zip(chosen, given.tolist(), strict=True):
        count = compositions(len(kinds.members[kind]), choices)[which]
        choice[kinds.members[kind]] = np.repeat(np.arange(choices), count)

"""What sets of candidates do to each other on one topic, at equal numbers of candidates.

A larger set covers more, has more points on the front and dominates more volume for no other reason than its size, so
every set is cut down to the size of the smallest: all ways of doing so are gone through where they are few, otherwise
some are drawn, and what is reported is their mean with their spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.streams import generator
from rerankers.queries.hypervolume import front_volume
from rerankers.queries.pareto import dominance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Floats32 = NDArray[np.float32]

COVERAGE: Final = "coverage"
FRONT_SHARE: Final = "front_share"
FRONT_ORIGIN: Final = "front_origin"
HYPERVOLUME: Final = "hypervolume"
PAIR_RATE: Final = "pair_rate"
RAW_COUNT: Final = "raw_count"
OF_SETS: Final = (FRONT_SHARE, FRONT_ORIGIN, HYPERVOLUME)
OF_PAIRS: Final = (COVERAGE, PAIR_RATE, RAW_COUNT)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The measures of k sets for R choices of their members.

    Attributes
    ----------
    of_sets
        measure -> float64 (R, k). ``front_share``: the share of a set's own members that are on the joint front;
        ``front_origin``: the share of the joint front that are members of the set (a query that two sets contain
        counts in both); ``hypervolume``: of the set alone, from 0.
    of_pairs
        measure -> float64 (R, k, k), of the first set over the second. ``coverage``: the share of the second that at
        least one member of the first dominates (Zitzler and Thiele 1998); ``raw_count``: how many pairs are such that
        the member of the first dominates that of the second; ``pair_rate``: the same out of all pairs.
    """

    of_sets: Mapping[str, Floats]
    of_pairs: Mapping[str, Floats]


def equal_choices(
    sizes: Sequence[int], seed: int, names: Sequence[str], most: int = 1000, draws: int = 200
) -> tuple[list[Bools], bool]:
    """Return choices of equally many members of every set.

    Parameters
    ----------
    sizes
        of the k sets, each at least 1; as many as the smallest has are taken of all.
    seed, names
        key of the draws, such as topic and generators.
    most
        all choices are gone through where there are at most so many.
    draws
        how many are drawn otherwise.

    Returns
    -------
    list of k arrays bool (R, size), and whether the R choices are all there are
    """
    least = min(sizes)
    if prod(comb(size, least) for size in sizes) <= most:
        ways = [[_mask(size, chosen) for chosen in combinations(range(size), least)] for size in sizes]
        rows = list(product(*ways))
        return [np.array([row[place] for row in rows]) for place in range(len(sizes))], True
    draw = generator(seed, "contest", *names)
    found = []
    for size in sizes:
        order = np.argsort(draw.random((draws, size)), axis=1)
        found.append(np.argsort(order, axis=1) < least if size > least else np.ones((draws, size), dtype=bool))
    return found, False


def shares(sets: Sequence[Floats], choices: Sequence[Bools]) -> Shares:
    """Return the measures of sets for each choice of their members.

    Parameters
    ----------
    sets
        k arrays float64 (n, d), points of which every coordinate is to be high, without not-a-number.
    choices
        k arrays bool (R, n); at least one member of each set is chosen in each row.
    """
    part = np.concatenate([[0], np.cumsum([len(points) for points in sets])])
    every = np.concatenate(list(sets))
    # counts of at most the number of candidates: exact in single precision, whatever the order of the sums
    beats = dominance(every, every).astype(np.float32)
    present = np.concatenate(list(choices), axis=1)
    on_front = present & (present.astype(np.float32) @ beats == 0)
    slices = [slice(start, stop) for start, stop in pairwise(part)]
    members = np.stack([chosen.sum(axis=1) for chosen in choices], axis=1).astype(np.float64)
    front = np.stack([on_front[:, one].sum(axis=1) for one in slices], axis=1).astype(np.float64)
    k, rows = len(sets), len(present)
    coverage, raw = np.zeros((rows, k, k)), np.zeros((rows, k, k))
    for first, over in enumerate(slices):
        hits = choices[first].astype(np.float32) @ beats[over]
        for second, under in enumerate(slices):
            here = hits[:, under] * choices[second]
            coverage[:, first, second] = (here > 0).sum(axis=1) / members[:, second]
            raw[:, first, second] = here.sum(axis=1, dtype=np.float64)
    pairs = members[:, :, None] * members[:, None, :]
    return Shares(
        {
            FRONT_SHARE: front / members,
            FRONT_ORIGIN: front / front.sum(axis=1, keepdims=True),
            HYPERVOLUME: np.stack(
                [_volumes(sets[place], choices[place], beats[one, one]) for place, one in enumerate(slices)], axis=1
            ),
        },
        {COVERAGE: coverage, PAIR_RATE: raw / pairs, RAW_COUNT: raw},
    )


def all_of(sets: Sequence[Floats]) -> list[Bools]:
    """Return the one choice that leaves nothing out."""
    return [np.ones((1, len(points)), dtype=bool) for points in sets]


def _volumes(points: Floats, chosen: Bools, beats: Floats32) -> Floats:
    """Return the hypervolume of each choice; choices with the same front share it."""
    front = chosen & (chosen.astype(np.float32) @ beats == 0) & np.all(points > 0, axis=1)
    known: dict[bytes, float] = {}
    for row in front:
        key = row.tobytes()
        if key not in known:
            known[key] = front_volume(points[row])
    return np.array([known[row.tobytes()] for row in front])


def _mask(size: int, chosen: Sequence[int]) -> Bools:
    mask = np.zeros(size, dtype=bool)
    mask[list(chosen)] = True
    return mask

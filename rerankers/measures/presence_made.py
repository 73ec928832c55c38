"""Label lists with known properties: what measures of gender presence are tried on, and what people are asked about."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import generator

Labels = tuple[str, ...]
LETTERS: Final = ("N", "M", "F")
_MIRROR = {"M": "F", "F": "M"}


@dataclass(frozen=True, slots=True)
class KnownList:
    """A list whose properties are known since it was made to have them.

    Attributes
    ----------
    name
        what kind it is: ``alternating``, ``male first``, ``female first``, ``neutral first``, ``neutral last``,
        ``one gender``, ``all neutral`` or ``random``.
    labels
        best rank first, of `LETTERS`.
    neutral
        share of neutral documents.
    leads
        the gender with more exposure under 1/log2(1+rank): ``male``, ``female`` or ``neither``.
    """

    name: str
    labels: Labels
    neutral: float
    leads: str

    @classmethod
    def of(cls, name: str, labels: Sequence[str]) -> KnownList:
        """Build with the properties that the labels have."""
        gap = lead(labels)
        leads = "neither" if abs(gap) < 1e-12 else "male" if gap > 0 else "female"
        return cls(name, tuple(labels), labels.count("N") / max(len(labels), 1), leads)


def lead(labels: Sequence[str]) -> float:
    """Return exposure of M minus that of F, under 1/log2(1+rank)."""
    sign = {"M": 1.0, "F": -1.0}
    return math.fsum(sign.get(label, 0.0) / math.log2(rank + 2) for rank, label in enumerate(labels))


def mirrored(labels: Sequence[str]) -> Labels:
    """Return the list with M and F exchanged."""
    return tuple(_MIRROR.get(label, label) for label in labels)


def ups(labels: Labels, label: str) -> Iterator[Labels]:
    """Yield every list in which one document of a label has moved one rank up, past one of another label."""
    for place in range(1, len(labels)):
        if labels[place] == label != labels[place - 1]:
            yield (*labels[: place - 1], label, labels[place - 1], *labels[place + 1 :])


def orders(counts: Mapping[str, int], limit: int = 1000, seed: int = 0) -> list[Labels]:
    """Return the distinct orders of a composition: all of them, or ``limit`` that are drawn.

    Parameters
    ----------
    counts
        label -> number of documents.
    limit
        most orders that are returned; where there are more, they are drawn uniformly without repeats.
    seed
        of the draw.

    Raises
    ------
    InputError
        for a limit below 1 and negative counts.
    """
    if limit < 1 or any(number < 0 for number in counts.values()):
        raise InputError.one("orders", f"limit {limit}, counts {dict(counts)}", "a limit of at least 1, counts of 0 on")
    pool = [label for label, number in counts.items() for _ in range(number)]
    number = math.factorial(len(pool))
    for count in Counter(pool).values():
        number //= math.factorial(count)
    if number <= limit:
        return sorted(_distinct(Counter(pool), len(pool)))
    rng = generator(seed, "presence orders", "".join(pool))
    found: dict[Labels, None] = {}
    while len(found) < limit:
        found[tuple(np.array(pool)[rng.permutation(len(pool))].tolist())] = None
    return list(found)


def _distinct(left: Counter[str], size: int) -> Iterator[Labels]:
    if size == 0:
        yield ()
        return
    for label in [label for label, number in left.items() if number]:
        left[label] -= 1
        for rest in _distinct(left, size - 1):
            yield (label, *rest)
        left[label] += 1


def all_lists(size: int) -> list[Labels]:
    """Return every list of a length: 3^size of them."""
    return list(itertools.product(LETTERS, repeat=size))


def known_lists(size: int = 10, seed: int = 0, number: int = 40) -> list[KnownList]:
    """Return lists of one length: the extreme ones, concentrated ones, and ``number`` that are drawn.

    Parameters
    ----------
    size
        documents a list, at least 2.
    seed, number
        of the random ones: each has a neutral share and a share of men among the rest that are drawn first.

    Raises
    ------
    InputError
        for a size below 2.
    """
    if size < 2:
        raise InputError.one("size", str(size), "at least 2 documents")
    half, rest = size // 2, size - size // 2
    made = [
        KnownList.of("all neutral", ["N"] * size),
        KnownList.of("one gender", ["M"] * size),
        KnownList.of("alternating", ["MF"[rank % 2] for rank in range(size)]),
        KnownList.of("male first", ["M"] * half + ["F"] * rest),
        KnownList.of("female first", ["F"] * half + ["M"] * rest),
        KnownList.of("neutral first", ["N"] * half + ["M"] * rest),
        KnownList.of("neutral last", ["M"] * half + ["N"] * rest),
    ]
    rng = generator(seed, "presence lists", str(size))
    for _ in range(number):
        neutral, male = rng.random(2)
        labels = np.where(rng.random(size) < neutral, "N", np.where(rng.random(size) < male, "M", "F"))
        made.append(KnownList.of("random", labels.tolist()))
    return made

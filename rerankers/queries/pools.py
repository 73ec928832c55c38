"""Pools of documents that the variants of a topic retrieve, counted for all topics and depths at once.

The pool P_k of a set of variants is the union of their first k documents. Documents are codes, a pool is known by the
best rank that any variant gives each document, and the counts at every depth are sums of one histogram of those ranks:
nothing is a set of texts, and no loop goes over depths or documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.ranked import Ranked

    Ints = NDArray[np.int64]

NEVER = int(np.iinfo(np.int64).max)
"""The rank of a document that no variant retrieves."""


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Numbers of documents, int64 of one shape, mostly (topics, depths).

    Attributes
    ----------
    all, relevant, unjudged
        documents; those judged relevant; those without a judgment.
    """

    all: Ints
    relevant: Ints
    unjudged: Ints


@dataclass(frozen=True, slots=True, eq=False)
class PoolTally:
    """What two pools hold: the human one, the generated one, and what is in both."""

    human: Sizes
    generated: Sizes
    both: Sizes


@dataclass(frozen=True, slots=True, eq=False)
class TopicPools:
    """Every (topic, document) that the variants of a set retrieve, by ascending key.

    Attributes
    ----------
    key
        int64 (N,), topic row * width + document code, one entry for each variant that retrieves the document.
    rank
        int64 (N,), 0-based.
    topics, width
        number of topics, and one more than the largest document code.
    """

    key: Ints
    rank: Ints
    topics: int
    width: int
    _best: list[tuple[Ints, Ints]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, rankings: Sequence[Sequence[Ranked]], width: int) -> TopicPools:
        """Return the pools of topics, each a sequence of rankings whose codes are below ``width``.

        Raises
        ------
        InputError
            for codes so large that topics and documents have no common key.
        """
        if len(rankings) * width > NEVER:
            raise InputError.one("docs", f"codes up to {width - 1}", f"codes below {NEVER // len(rankings)}")
        parts = [(row, one.docs) for row, found in enumerate(rankings) for one in found]
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), len(rankings), width)
        key = np.concatenate([docs + row * width for row, docs in parts])
        rank = np.concatenate([np.arange(len(docs)) for _, docs in parts])
        return cls.of_keys(key, rank, len(rankings), width)

    @classmethod
    def of_keys(cls, key: Ints, rank: Ints, topics: int, width: int) -> TopicPools:
        """Return the pools of keys in any order, with the rank that each has in a ranking."""
        order = np.argsort(key, kind="stable")
        return cls(key[order], rank[order], topics, width)

    def best(self) -> tuple[Ints, Ints]:
        """Return the distinct keys, ascending, and the best rank of each; looked for once."""
        if not len(self.key):
            return self.key, self.rank
        if not self._best:
            start = np.flatnonzero(np.concatenate([[True], self.key[1:] != self.key[:-1]]))
            self._best.append((self.key[start], np.minimum.reduceat(self.rank, start)))
        return self._best[0]

    def variants(self, keys: Ints, depth: int) -> Ints:
        """Return how many variants have each key among their first ``depth`` documents, int64 (keys,).

        ``keys`` ascend and are distinct.
        """
        seen = self.key[self.rank < depth]
        return np.searchsorted(seen, keys, side="right") - np.searchsorted(seen, keys, side="left")


def width_of(*found: Mapping[str, Sequence[Ranked]]) -> int:
    """Return one more than the largest document code in rankings by topic."""
    codes = [int(one.docs.max()) for by_topic in found for each in by_topic.values() for one in each if len(one)]
    return max(codes, default=-1) + 1


def keys_of(docs: Sequence[Ints], width: int) -> Ints:
    """Return the keys of document codes by topic row, ascending and distinct; codes from ``width`` on are left out."""
    parts = [one[one < width] + row * width for row, one in enumerate(docs)]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def tally(human: TopicPools, generated: TopicPools, judged: Ints, relevant: Ints, depths: Sequence[int]) -> PoolTally:
    """Count what two sets of pools hold at every depth.

    Parameters
    ----------
    human, generated
        of the same topics and width.
    judged, relevant
        int64, ascending distinct keys (see `keys_of`); all relevant ones are judged.
    depths
        D depths, each at least 1.

    Returns
    -------
    PoolTally of int64 (topics, D)
    """
    if (human.topics, human.width) != (generated.topics, generated.width):
        found = f"{human.topics} topics of width {human.width} and {generated.topics} of width {generated.width}"
        raise InputError.one("pools", found, "the same topics and width")
    (one, first), (two, second) = human.best(), generated.best()
    key = merged(one, two)
    ranks = np.full((2, len(key)), NEVER)
    ranks[0, np.searchsorted(key, one)] = first
    ranks[1, np.searchsorted(key, two)] = second
    flags = (np.ones(len(key), bool), among(key, relevant), ~among(key, judged))
    topic = key // max(human.width, 1)

    def sizes(rank: Ints) -> Sizes:
        return Sizes(*(_within(topic[flag], rank[flag], human.topics, depths) for flag in flags))

    return PoolTally(sizes(ranks[0]), sizes(ranks[1]), sizes(ranks.max(axis=0)))


def merged(one: Ints, two: Ints) -> Ints:
    """Return the distinct numbers of two ascending arrays, ascending."""
    both = np.sort(np.concatenate([one, two]), kind="stable")  # two runs: the stable sort merges them
    return both[np.concatenate([[True], both[1:] != both[:-1]])] if len(both) else both


def among(numbers: Ints, ascending: Ints) -> NDArray[np.bool_]:
    """Return which numbers are in an ascending array, bool of their shape."""
    if not len(ascending):
        return np.zeros(len(numbers), dtype=bool)
    found: NDArray[np.bool_] = ascending[np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)] == numbers
    return found


def _within(topic: Ints, rank: Ints, topics: int, depths: Sequence[int]) -> Ints:
    """Return how many documents of each topic have a rank below each depth, int64 (topics, depths)."""
    order = np.argsort(depths, kind="stable")
    bins = np.searchsorted(np.asarray(depths)[order], rank, side="right")  # of the first depth that reaches the rank
    width = len(depths) + 1
    histogram = np.bincount(topic * width + bins, minlength=topics * width).reshape(topics, width)
    out = np.empty((topics, len(depths)), dtype=np.int64)
    out[:, order] = np.cumsum(histogram[:, :-1], axis=1)
    return out

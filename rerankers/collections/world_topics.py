"""Information needs of a generated world, and the queries that express them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator
from rerankers.collections.world import BLOCK
from rerankers.collections.world_text import draw_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.collections.world import World

QUERY_WORDS = (4, 9)
TOPICAL_QUERY = 0.9
FACETS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """What each of T topics is about.

    Attributes
    ----------
    source
        int64 (T,), the document a topic was written from, always relevant to it.
    themes, shares
        int64 and float64 (T, 2), the two heaviest themes of the source, and their shares among the two.
    """

    source: NDArray[np.int64]
    themes: NDArray[np.int64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, world: World, topics: int) -> Needs:
        """Draw the topics of a world; topic t does not depend on how many there are."""
        seed, documents = world.spec.seed, world.spec.documents
        source = np.array([generator(seed, "source", topic).integers(documents) for topic in range(topics)], np.int64)
        themes = np.empty((topics, FACETS), np.int64)
        shares = np.empty((topics, FACETS))
        for block in np.unique(source // BLOCK).tolist():
            profile = world.profile(block)
            inside = np.flatnonzero(source // BLOCK == block)
            themes[inside] = profile.themes[source[inside] - profile.first, :FACETS]
            shares[inside] = profile.shares[source[inside] - profile.first, :FACETS]
        return cls(source, themes, shares / shares.sum(axis=1, keepdims=True))

    def query(self, world: World, topic: int, variant: int) -> list[int]:
        """Draw the words of one query on a topic, each once: word codes.

        Like a text, but short: 4 to 8 words, each with probability `TOPICAL_QUERY` from the topic's themes.
        """
        rng = generator(world.spec.seed, "query", topic, variant)
        size = int(rng.integers(*QUERY_WORDS))
        rows = slice(topic, topic + 1)
        drawn = draw_words(
            rng,
            np.zeros(8 * size, np.int64),
            np.full(8 * size, TOPICAL_QUERY),
            self.themes[rows],
            self.shares[rows],
            world.words_of,
            world.vocabulary,
        )
        return list(dict.fromkeys(drawn.tolist()))[:size]

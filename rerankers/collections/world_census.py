"""One pass over the blocks of a world: who wrote what, how good it is, and what is related to the topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.streams import generator
from rerankers.collections.world_relevance import Pairs, related
from rerankers.values.authors import Authors
from rerankers.values.ids import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.collections.world import World
    from rerankers.collections.world_topics import Needs


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """What the pass found.

    Attributes
    ----------
    quality
        float32 (N,), of the documents.
    author_indptr, author
        int64 (N + 1,), int32 (entries,), the author lists in codes of `People`.
    pairs
        the related (topic, document) pairs, by topic, then document.
    """

    quality: NDArray[np.float32]
    author_indptr: NDArray[np.int64]
    author: NDArray[np.int32]
    pairs: Pairs

    @classmethod
    def of(cls, world: World, needs: Needs) -> Census:
        """Go through the blocks."""
        quality, sizes, authors, found = [], [], [], []
        for block in world.blocks:
            profile = world.profile(block)
            written = profile.team >= 0
            quality.append(profile.quality.astype(np.float32))
            sizes.append(written.sum(axis=1))
            authors.append(profile.team[written].astype(np.int32))
            found.append(related(needs, profile))
        topic, doc, score = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((doc, topic))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        pairs = Pairs(topic[order], doc[order], score[order])
        return cls(np.concatenate(quality), indptr, np.concatenate(authors), pairs)

    def authors(self) -> tuple[Authors, NDArray[np.int64]]:
        """Return the author lists under ids, and the code in `People` of each author who has written."""
        people, code = np.unique(self.author, return_inverse=True)
        ids = Ids.of(numbered("a", people + 1))
        return Authors(ids, self.author_indptr, code.astype(np.int32)), people.astype(np.int64)


def numbered(letter: str, numbers: NDArray[np.integer]) -> pa.LargeStringArray:
    """Return names such as ``a017``, all equally long, so that they sort by number."""
    digits = pc.cast(pa.array(numbers), pa.large_string())
    width = len(str(int(numbers.max(initial=0))))
    return pc.binary_join_element_wise(
        pa.scalar(letter, pa.large_string()), pc.utf8_lpad(digits, width, "0"), pa.scalar("", pa.large_string())
    )


def pool(
    seed: int, topics: int, documents: int, sample: int, pairs: Pairs, probability: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the judged pairs: those with ρ > 0, and a uniform sample of other documents for each topic.

    Returns
    -------
    indptr, doc, probability
        int64 (topics + 1,), int64 (m,) ascending within a topic, float64 (m,).
    """
    ends = np.searchsorted(pairs.topic, np.arange(topics + 1))
    lengths, docs, values = [], [], []
    for topic in range(topics):
        row = slice(ends[topic], ends[topic + 1])
        kept = probability[row] > 0
        likely = pairs.doc[row][kept]
        drawn = np.unique(generator(seed, "pool", topic).integers(documents, size=sample))
        others = np.setdiff1d(drawn, likely, assume_unique=True)
        doc = np.concatenate([likely, others])
        order = np.argsort(doc)
        docs.append(doc[order])
        values.append(np.concatenate([probability[row][kept], np.zeros(len(others))])[order])
        lengths.append(len(doc))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return indptr, np.concatenate(docs), np.concatenate(values)

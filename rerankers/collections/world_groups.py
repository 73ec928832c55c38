"""The group labels of a generated world, as annotators would see them and as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator
from rerankers.collections.group_rows import spread
from rerankers.collections.world_people import CAREERS, ECONOMIES, ESTABLISHED_PAPERS, REGIONS
from rerankers.values.labels import NO_LABEL, Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.collections.world_people import People
    from rerankers.values.authors import Authors

ACCESS = ("closed", "open")
OPEN_SHARE = 0.4


def author_labels(
    seed: int, people: People, who: NDArray[np.int64], authors: Authors, unknown_share: float
) -> tuple[dict[str, Labels], dict[str, NDArray[np.int32]]]:
    """Return the labels of ``economy``, ``career`` and ``region`` by document, and the true ones behind them.

    Parameters
    ----------
    seed
        of the world.
    people
        all who might write.
    who
        int64 (A,), the code in ``people`` of each author of ``authors``.
    authors
        the author lists.
    unknown_share
        probability that the label of an author is not known, independent for each attribute and author.

    Returns
    -------
    labels, true
        attribute -> labels; attribute -> int32 (entries,), the codes as they would be if all were known.
    """
    career = (authors.papers >= ESTABLISHED_PAPERS).astype(np.int32)
    attributes = {
        "economy": (ECONOMIES, people.economy[who].astype(np.int32)),
        "career": (CAREERS, career),
        "region": (REGIONS, people.region[who].astype(np.int32)),
    }
    labels, true = {}, {}
    one_each = np.arange(len(who) + 1, dtype=np.int64)
    for attribute, (groups, code) in attributes.items():
        hidden = generator(seed, "unknown", attribute).random(len(people.home))[who] < unknown_share
        seen = np.where(hidden, np.int32(NO_LABEL), code)
        labels[attribute] = spread(authors, attribute, groups, one_each, seen)
        true[attribute] = code[authors.author]
    return labels, true


def access_labels(seed: int, documents: int, unknown_share: float) -> tuple[Labels, NDArray[np.int32]]:
    """Return the labels of ``access``, one a document and independent of everything else, and the true ones."""
    rng = generator(seed, "access")
    true = (rng.random(documents) < OPEN_SHARE).astype(np.int32)
    seen = np.where(rng.random(documents) < unknown_share, np.int32(NO_LABEL), true)
    return Labels("access", ACCESS, "document", np.arange(documents + 1, dtype=np.int64), seen), true

"""Who cites whom, and what follows for documents and authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.authors import Authors

FIRST_YEAR, YEARS, GROWTH = 1995, 30, 0.6
REFERENCES = 4.0  # mean number of references inside the collection
COPIED = 0.5


def years(documents: int) -> NDArray[np.int64]:
    """Return the year of each document, ascending by number: 1995 + ⌊30 (i / N)^0.6⌋, ever more a year."""
    return FIRST_YEAR + (YEARS * (np.arange(documents) / documents) ** GROWTH).astype(np.int64)


def citation_counts(seed: int, quality: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return how often each document is cited, int64 (N,): preferential attachment with quality.

    Document i draws a Poisson number (mean `REFERENCES`) of references to documents before it. With probability 1/2
    a reference copies the target of a uniformly drawn reference of an earlier document, which prefers what is cited
    already in proportion to its citations; else it goes to the better of two uniformly drawn earlier documents.
    References of a document to one target count once.

    Parameters
    ----------
    quality
        (N,), of the documents in their order.
    """
    size = len(quality)
    rng = generator(seed, "citations")
    number = rng.poisson(REFERENCES, size)
    number[0] = 0
    # References are numbered by citing document; there are fewer than 2^31 of them.
    citing = np.repeat(np.arange(size, dtype=np.int32), number)
    first, second = (_below(rng, citing) for _ in range(2))
    target = np.where(quality[first] >= quality[second], first, second)
    earlier = (np.cumsum(number) - number).astype(np.int32)[citing]  # references of documents before this one
    copied = (rng.random(len(citing)) < COPIED) & (earlier > 0)
    source = np.where(copied, _below(rng, earlier), np.arange(len(citing), dtype=np.int32))
    while not np.array_equal(further := source[source], source):  # copies of copies
        source = further
    edge = citing * np.int64(size) + target[source]
    edge.sort()
    new = np.append(True, edge[1:] != edge[:-1])[: len(edge)]
    return np.bincount(edge[new] % size, minlength=size).astype(np.int64)


def _below(rng: np.random.Generator, bound: NDArray[np.int32]) -> NDArray[np.int32]:
    """Draw whole numbers from 0 to below each bound; 0 where the bound is 0."""
    return (rng.random(len(bound)) * bound).astype(np.int32)


def author_facts(authors: Authors, cited: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Return ``n_papers``, ``n_citations`` and ``h_index`` of each author, float64 (A,).

    Parameters
    ----------
    authors
        the author lists, every author with an id.
    cited
        int64 (D,), citations of each document.
    """
    size = len(authors.ids)
    citations = cited[authors.doc]
    order = np.lexsort((-citations, authors.author))
    papers = authors.papers
    start = np.cumsum(papers) - papers
    rank = np.arange(len(order)) - start[authors.author[order]] + 1
    reached = citations[order] >= rank
    return {
        "n_papers": papers.astype(np.float64),
        "n_citations": np.bincount(authors.author, weights=citations, minlength=size).astype(np.float64),
        "h_index": np.bincount(authors.author[order], weights=reached, minlength=size).astype(np.float64),
    }

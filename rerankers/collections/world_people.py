"""Authors, their groups and their teams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

ECONOMIES = ("advanced", "developing")
CAREERS = ("early", "established")
REGIONS = ("east", "north", "south", "west")
ADVANCED_SHARE = 0.65
REGION_SHARES = (0.2, 0.4, 0.3, 0.1)
ESTABLISHED_PAPERS = 3
TEAM_SIZES = (0.02, 0.33, 0.30, 0.20, 0.10, 0.05)  # probability of 0, 1, 2, … authors
_AUTHORS_A_DOCUMENT = 2  # potential authors; many of them never write
_HEAD = (
    400.0  # how much steeper the first ranks are; makes the most productive author write about 1 % at 2,000 documents
)


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """All who might write, the most productive first.

    Attributes
    ----------
    home
        int32 (A,), the theme each writes about.
    economy, region
        int8 (A,), codes of `ECONOMIES` and `REGIONS`, independent of everything else.
    of_economy
        for each economy its author codes, ascending.
    """

    home: NDArray[np.int32]
    economy: NDArray[np.int8]
    region: NDArray[np.int8]
    of_economy: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, seed: int, documents: int, themes: int) -> People:
        """Draw the authors of a world."""
        size = max(5, _AUTHORS_A_DOCUMENT * documents)
        home = generator(seed, "home").integers(themes, size=size, dtype=np.int32)
        economy = (generator(seed, "economy").random(size) >= ADVANCED_SHARE).astype(np.int8)
        bounds = np.cumsum(REGION_SHARES[:-1])
        region = np.searchsorted(bounds, generator(seed, "region").random(size), side="right").astype(np.int8)
        return cls(home, economy, region, tuple(np.flatnonzero(economy == code) for code in (0, 1)))

    def teams(self, rng: np.random.Generator, documents: int, collaboration: float) -> NDArray[np.int64]:
        """Draw author lists: int64 (documents, 5), -1 where there is no author; each author once a document.

        The first author is drawn by productivity; each further one with probability ``collaboration`` from everybody,
        else from the first one's economy, by productivity again. One who is in the team already is not added twice.
        """
        longest = len(TEAM_SIZES) - 1
        size = np.searchsorted(np.cumsum(TEAM_SIZES[:-1]), rng.random(documents), side="right")
        anybody = productivity_ranks(rng.random((documents, longest)), len(self.home))
        team = anybody.copy()
        lead = self.economy[anybody[:, 0]]
        same = rng.random((documents, longest)) >= collaboration
        u = rng.random((documents, longest))
        for economy, members in enumerate(self.of_economy):
            if len(members):
                colleagues = members[productivity_ranks(u, len(members))]
                team = np.where(same & (lead == economy)[:, None], colleagues, team)
        team[:, 0] = anybody[:, 0]
        team[np.arange(longest) >= size[:, None]] = -1
        for place in range(1, longest):
            twice = (team[:, :place] == team[:, place : place + 1]).any(axis=1)
            team[twice, place] = -1
        return team


def productivity_ranks(u: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return 0-based ranks by the law of Zipf and Mandelbrot with exponent 0.8.

    P(rank < r) = ((1 + r/q)^0.2 - 1) / (401^0.2 - 1) with q = size / 400, so that the number of documents of the most
    productive authors does not depend on the size of the world.
    """
    top = (1.0 + _HEAD) ** 0.2 - 1.0
    ranks: NDArray[np.int64] = (size / _HEAD * ((1.0 + u * top) ** 5 - 1.0)).astype(np.int64)
    return np.minimum(ranks, size - 1, out=ranks)

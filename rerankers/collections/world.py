"""The generated world: documents as functions of a seed and their number, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator
from rerankers.collections.world_people import People
from rerankers.collections.world_text import draw_words, theme_words, vocabulary_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1024  # documents drawn from one random stream
DOCUMENTS_A_THEME = 20
_FEWEST_THEMES = 8  # a document has its theme and one within distance 3 on either side: these must differ
_AT_HOME = 0.75
_TOPICAL_TITLE, _TOPICAL_ABSTRACT = 0.8, 0.5
_TITLE_WORDS = (4, 10)
_ABSTRACT_WORDS, _ABSTRACT_SPREAD, _ABSTRACT_LIMITS = 90, 0.4, (15, 300)


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """What the documents depend on (see `Generated` for the meaning)."""

    seed: int
    documents: int
    bias: float
    collaboration: float


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What a block of documents is about, before any word of it.

    Attributes
    ----------
    first
        code of the first document.
    team
        int64 (b, 5), author codes, -1 where there is none.
    themes, shares
        int64 and float64 (b, 3), the themes of each document, the main one first, and their shares.
    quality
        float64 (b,), standard normal.
    favoured
        float64 (b,), share of authors from advanced economies; 1/2 without authors.
    """

    first: int
    team: NDArray[np.int64]
    themes: NDArray[np.int64]
    shares: NDArray[np.float64]
    quality: NDArray[np.float64]
    favoured: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """All that documents share.

    Attributes
    ----------
    spec
        seed, size and options.
    people
        the authors.
    words_of
        int32 (themes, 80), words of each theme.
    vocabulary
        number of words.
    """

    spec: WorldSpec
    people: People
    words_of: NDArray[np.int32]
    vocabulary: int

    @classmethod
    def of(cls, spec: WorldSpec) -> World:
        """Draw what documents share."""
        themes = max(_FEWEST_THEMES, spec.documents // DOCUMENTS_A_THEME)
        vocabulary = vocabulary_size(spec.documents)
        people = People.of(spec.seed, spec.documents, themes)
        return cls(spec, people, theme_words(spec.seed, themes, vocabulary), vocabulary)

    @property
    def blocks(self) -> range:
        """Numbers of the blocks."""
        return range(-(-self.spec.documents // BLOCK))

    def profile(self, block: int) -> Profile:
        """Draw what the documents of a block are about; a function of the spec and the block alone."""
        first = block * BLOCK
        size = min(BLOCK, self.spec.documents - first)
        rng = generator(self.spec.seed, "profile", block)
        team = self.people.teams(rng, size, self.spec.collaboration)
        written = (team >= 0).sum(axis=1)
        advanced = ((self.people.economy[team] == 0) & (team >= 0)).sum(axis=1)
        favoured = np.where(written > 0, advanced / np.maximum(written, 1), 0.5)
        themes = len(self.words_of)
        at_home = (rng.random(size) < _AT_HOME) & (written > 0)
        main = np.where(at_home, self.people.home[team[:, 0]], rng.integers(themes, size=size))
        side = rng.choice([-1, 1], size=size)
        offset = rng.integers(1, 4, size=(size, 2)) * side[:, None] * [1, -1]
        about = np.column_stack([main, (main[:, None] + offset) % themes])
        mass = -np.sort(-(rng.standard_exponential((size, 3)) ** 2), axis=1)
        shares = mass / mass.sum(axis=1, keepdims=True)
        return Profile(first, team, about, shares, rng.standard_normal(size), favoured)

    def texts(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw the texts of a block: word codes of title, abstract, title, …, and int64 (b, 2), where each ends."""
        profile = self.profile(block)
        size = len(profile.quality)
        rng = generator(self.spec.seed, "text", block)
        title = rng.integers(*_TITLE_WORDS, size=size)
        abstract = np.exp(np.log(_ABSTRACT_WORDS) + _ABSTRACT_SPREAD * rng.standard_normal(size)).astype(np.int64)
        lengths = np.column_stack([title, np.clip(abstract, *_ABSTRACT_LIMITS)])
        base = np.log([_TOPICAL_TITLE / (1 - _TOPICAL_TITLE), _TOPICAL_ABSTRACT / (1 - _TOPICAL_ABSTRACT)])
        lean = self.spec.bias * (profile.favoured - 0.5)
        topical = 1.0 / (1.0 + np.exp(-(base + lean[:, None])))
        codes = draw_words(
            rng,
            np.repeat(np.arange(size), lengths.sum(axis=1)),
            np.repeat(topical.ravel(), lengths.ravel()),
            profile.themes,
            profile.shares,
            self.words_of,
            self.vocabulary,
        )
        return codes, np.cumsum(lengths.ravel()).reshape(size, 2)

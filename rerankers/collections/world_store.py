"""The store of texts of a generated world: nothing is kept, every text is drawn again when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rerankers._base.errors import choose
from rerankers._base.fingerprint import fingerprint
from rerankers.collections.world import BLOCK, World, WorldSpec
from rerankers.collections.world_text import made_up_words

MODEL = 1  # raise it when the same spec gives other documents: old caches and indexes are then left alone


@dataclass(frozen=True, slots=True)
class GeneratedDocuments:
    """Titles and abstracts by block, each block a function of the spec and its number; small when pickled."""

    spec: WorldSpec
    fields: ClassVar[tuple[str, ...]] = ("title", "abstract")

    @property
    def fingerprint(self) -> str:
        """Fingerprint of what the texts depend on."""
        return fingerprint("generated documents", MODEL, self.spec)

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields joined by a blank), docnos ascending.

        Raises
        ------
        ConfigError
            for a field other than ``title`` and ``abstract``.
        """
        places = [self.fields.index(choose("text field", field, self.fields)) for field in fields]
        world = World.of(self.spec)
        words = made_up_words(self.spec.seed, world.vocabulary)
        for block in world.blocks:
            codes, ends = world.texts(block)
            tokens = [words[code] for code in codes.tolist()]
            end = [0, *ends.ravel().tolist()]
            for row in range(len(ends)):
                parts = [_text(tokens[end[2 * row + place] : end[2 * row + place + 1]], place) for place in places]
                yield docno_of(self.spec.documents, block * BLOCK + row + 1), " ".join(parts)


def _text(words: list[str], place: int) -> str:
    text = " ".join(words).capitalize()
    return f"{text}." if place else text


def docno_of(documents: int, number: int) -> str:
    """Return the docno of document ``number``, from 1, in a world of that size: equally long, so sorted by number."""
    return f"d{number:0{len(str(documents))}d}"

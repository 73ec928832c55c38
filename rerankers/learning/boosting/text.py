"""LightGBM's text models: cut into trees, put together, and brought into one form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rerankers.learning.boosting.parameters import engine

_SIZES = re.compile(r"^tree_sizes=([0-9 ]*)$", re.MULTILINE)
_NUMBER = re.compile(r"Tree=[0-9]+\n")
_THREADS = "\n[num_threads:"
_END = "end of trees\n"


@dataclass(frozen=True, slots=True)
class Forest:
    """A text model in parts.

    Attributes
    ----------
    head, tail
        what stands before the sizes of the trees, and what after the last tree.
    trees
        each without its number.
    """

    head: str
    trees: tuple[str, ...]
    tail: str

    @classmethod
    def of(cls, text: str) -> Forest:
        """Cut a text that LightGBM wrote; ValueError for any other."""
        sizes = _SIZES.search(text)
        if sizes is None:
            raise ValueError("no sizes of trees")
        place = sizes.end() + 2  # an empty line stands between
        trees: list[str] = []
        for size in map(int, sizes[1].split()):
            number = _NUMBER.match(text, place)
            if number is None or number.end() > place + size:
                raise ValueError(f"no tree {len(trees)} where its size says")
            trees.append(text[number.end() : place + size])
            place += size
        if not text.startswith(_END, place):
            raise ValueError("no end of trees where their sizes say")
        return cls(text[: sizes.start()], tuple(trees), text[place:])

    def __str__(self) -> str:
        numbered = [f"Tree={number}\n{tree}" for number, tree in enumerate(self.trees)]
        sizes = " ".join(str(len(tree)) for tree in numbered)
        return f"{self.head}tree_sizes={sizes}\n\n{''.join(numbered)}{self.tail}"

    def first(self, count: int) -> Forest:
        """Return the first so many trees."""
        return Forest(self.head, self.trees[:count], self.tail)

    def plus(self, other: Forest) -> Forest:
        """Return these trees and then the others; all else is the others'."""
        return Forest(other.head, self.trees + other.trees, other.tail)


def settled(forest: Forest) -> str:
    """Return the text as LightGBM writes it after reading it, without the number of threads.

    The same trees have the same text then, grown at a stretch or not: how much each feature was used is counted anew.
    """
    return plain(str(engine().Booster(model_str=str(forest)).model_to_string()))


def plain(text: str) -> str:
    """Return a text as LightGBM writes it without the number of threads."""
    start = text.find(_THREADS, text.rfind("parameters:"))
    return text if start < 0 else text[:start] + text[text.index("\n", start + 1) :]

"""Pages of many rankings as they come line by line, twelve bytes a line."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain

__all__ = ["RankedPages"]


class RankedPages:
    """Pages and line numbers of rankings; the lines of one ranking may come in several blocks."""

    def __init__(self) -> None:
        self._page, self._line = array("q"), array("i")
        self._block_cell, self._block_start = array("i"), array("q")
        self.lengths = array("q")
        self.hashes = array("q")

    def add(self, cell: int, page: int, line: int) -> None:
        """Add a page to the ranking with the number ``cell``; numbers are given one after the other, from 0."""
        if not self._block_cell or self._block_cell[-1] != cell:
            self._block_cell.append(cell)
            self._block_start.append(len(self._page))
        if cell == len(self.lengths):
            self.lengths.append(0)
            self.hashes.append(0)
        self.lengths[cell] += 1
        self.hashes[cell] = hash((self.hashes[cell], page))
        self._page.append(page)
        self._line.append(line)

    def duplicates(self) -> list[tuple[int, int, int, int]]:
        """Return (line, ranking, page, line where it was first) of every page that its ranking has already, by line."""
        found: list[tuple[int, int, int, int]] = []
        for cell, slices in self._cells():
            pages = [page for part in slices for page in self._page[part]]
            if len(set(pages)) == len(pages):
                continue
            first: dict[int, int] = {}
            lines = chain.from_iterable(self._line[part] for part in slices)
            for page, line in zip(pages, lines, strict=True):
                if page in first:
                    found.append((line, cell, page, first[page]))
                else:
                    first[page] = line
        return sorted(found)

    def lines_at(self, rank: int) -> Iterator[tuple[int, int]]:
        """Yield (ranking, line of its page at a 0-based rank) of every ranking that is longer."""
        for cell, slices in self._cells():
            if self.lengths[cell] > rank:
                lines = [line for part in slices for line in self._line[part]]
                yield cell, lines[rank]

    def _cells(self) -> Iterator[tuple[int, list[slice]]]:
        """Yield each ranking with the places of its lines, by number."""
        order = sorted(range(len(self._block_cell)), key=self._block_cell.__getitem__)  # stable: blocks in file order
        place = 0
        for cell in range(len(self.lengths)):
            slices = []
            while place < len(order) and self._block_cell[order[place]] == cell:
                block = order[place]
                last = block + 1 == len(self._block_start)
                slices.append(slice(self._block_start[block], None if last else self._block_start[block + 1]))
                place += 1
            yield cell, slices

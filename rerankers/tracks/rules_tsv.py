"""The rules of 2021 and 2022: tab-separated columns, the order of lines is the order of ranks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rerankers.tracks.findings import listed, ranges
from rerankers.tracks.impressions import Impressions
from rerankers.tracks.ranked_pages import RankedPages

if TYPE_CHECKING:
    from collections.abc import Collection

    from rerankers.tracks.document_ids import DocumentIds
    from rerankers.tracks.findings import Findings
    from rerankers.tracks.track import Track

__all__ = ["HEADERS", "TsvRules"]

HEADERS = {2: (("id", "page_id"),), 3: (("id", "seq_no", "page_id"), ("id", "rep_number", "page_id"))}
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_PAGES_A_CHECK = 1 << 15


class TsvRules:
    """Checks a run line by line; of a line it remembers its page and its number, twelve bytes.

    Parameters
    ----------
    topics
        ids that are to be ranked; None where the topics are not known.
    depth
        pages a ranking at most, in place of the track's own; None leaves it.
    corpus
        pages that exist: others are errors.
    """

    def __init__(
        self,
        track: Track,
        topics: Collection[str] | None,
        findings: Findings,
        depth: int | None = None,
        corpus: DocumentIds | None = None,
    ) -> None:
        self._track, self._topics, self._findings, self._corpus = track, topics, findings, corpus
        self._width = len(track.columns)
        self._depth = depth or track.depth or 0
        self._repeats = track.rankings or 1
        self._cells: dict[tuple[str, int], int] = {}
        self._current = ("", 0)
        self._met: set[str] = set()
        self._broken: set[tuple[str, int]] = set()
        self._pages = RankedPages()
        self._unchecked: list[tuple[int, str]] = []
        self.impressions = Impressions(None)

    def check(self, number: int, raw: bytes) -> None:
        """Check one line, without its line end."""
        try:
            fields = raw.decode("utf-8").removesuffix("\r").split("\t")
        except UnicodeDecodeError as error:
            self._findings.add(number, f"a byte that is not UTF-8 (at byte {error.start})", "UTF-8 text")
            return
        if number == 1:
            fields[0] = fields[0].removeprefix("\ufeff")
            if fields[0] == "id":
                self._header(fields)
                return
        if len(fields) != self._width:
            self._wrong_width(number, fields)
            return
        wrong = [name for name, field in zip(self._track.columns, fields, strict=True) if not _NUMBER.fullmatch(field)]
        if wrong:
            shown = ", ".join(f"{name} {fields[self._track.columns.index(name)][:60]!r}" for name in wrong)
            self._findings.add(number, shown, "whole numbers, without leading zeros")
            return
        topic, page = fields[0], fields[-1]
        repeat = int(fields[1]) if self._width == 3 else 1
        if self._topics is not None and topic not in self._topics:
            self._findings.add(number, f"topic {topic}", "a topic of the topics file")
            return
        if not 1 <= repeat <= self._repeats:
            self._findings.add(number, f"ranking number {repeat}", f"1 to {self._repeats}")
            return
        self._add(number, (topic, repeat), page)

    def damaged(self, raw: bytes) -> None:
        """Do nothing about a wrong line: one page more or less tells nothing about its ranking."""

    def finish(self, complete: bool = True) -> None:
        """Check what only the whole file can tell; nothing is said to be missing unless it was read to its end."""
        self._check_pages()
        self._duplicates()
        self._lengths(complete)
        if complete:
            self._missing()
        for (topic, _), cell in self._cells.items():
            self.impressions.add_hash(topic, self._pages.hashes[cell])
        self.impressions.warn(self._findings)

    def _add(self, number: int, key: tuple[str, int], page: str) -> None:
        cell = self._cells.get(key)
        if key != self._current:
            self._turn(number, key, known=cell is not None)
        if cell is None:
            cell = self._cells[key] = len(self._cells)
        self._pages.add(cell, int(page), number)
        if self._corpus is not None:
            self._unchecked.append((number, page))
            if len(self._unchecked) >= _PAGES_A_CHECK:
                self._check_pages()

    def _turn(self, number: int, key: tuple[str, int], known: bool) -> None:
        """Begin a block of lines; note a topic, or a ranking of it, that does not come in one piece, once each."""
        topic, before = key[0], self._current[0]
        self._current = key
        again = topic != before and topic in self._met
        self._met.add(topic)
        piece = (topic, 0) if again else key
        if not (again or known) or piece in self._broken:
            return
        self._broken.add(piece)
        found = f"topic {topic} again, after topic {before}" if again else f"{self._name(*key)} again, after another"
        mend = "Sort the file by topic (and ranking), each ranking's lines in their order."
        self._findings.add(number, found, "lines of a topic, and of a ranking, in one piece", mend)

    def _header(self, fields: list[str]) -> None:
        if tuple(fields) not in HEADERS[self._width]:
            known = " or ".join(repr("\t".join(names)) for names in HEADERS[self._width])
            self._findings.add(1, f"the header {listed(fields, len(fields))}", f"{known}, or no header")

    def _wrong_width(self, number: int, fields: list[str]) -> None:
        expected = f"{self._width} columns separated by tabs: {', '.join(self._track.columns)}"
        if not "".join(fields).strip():
            self._findings.add(number, "a blank line", expected, "Delete the line.")
        else:
            mend = "Separate them by tabs." if len(fields) == 1 and len(fields[0].split()) == self._width else ""
            text = "\t".join(fields)[:80]
            self._findings.add(number, f"{len(fields)} columns ({text!r})", expected, mend)

    def _check_pages(self) -> None:
        if self._corpus is None or not self._unchecked:
            return
        known = self._corpus.has(page for _, page in self._unchecked)
        for place in np.flatnonzero(~known).tolist():
            number, page = self._unchecked[place]
            self._findings.add(number, f"page {page}", "a page of the corpus")
        self._unchecked = []

    def _duplicates(self) -> None:
        names = list(self._cells)
        for number, cell, page, before in self._pages.duplicates():
            found = f"page {page} of {self._name(*names[cell])} again, first on line {before}"
            self._findings.add(number, found, "each page once a ranking", "Delete one of the two lines.")

    def _lengths(self, complete: bool) -> None:
        length, names = self._pages.lengths, list(self._cells)
        if any(pages > self._depth for pages in length):
            for cell, beyond in self._pages.lines_at(self._depth):
                found = f"{length[cell]:,} pages in {self._name(*names[cell])}"
                self._findings.add(beyond, found, f"at most {self._depth:,}", "Leave out the last ones.")
        short = [cell for cell, pages in enumerate(length) if pages < self._depth]
        if short and complete:
            least = min(short, key=length.__getitem__)
            self._findings.warn(
                f"{len(short):,} rankings have fewer than {self._depth:,} pages: the shortest is "
                f"{self._name(*names[least])} with {length[least]:,}"
            )

    def _missing(self) -> None:
        met: dict[str, set[int]] = {}
        for topic, repeat in self._cells:
            met.setdefault(topic, set()).add(repeat)
        absent = [topic for topic in self._topics or () if topic not in met]
        if absent:
            found = f"no line for topics {listed(map(int, absent), len(absent), 1000)}"
            self._findings.add(None, found, "pages for every topic of the topics file")
        if not met and not absent:
            self._findings.add(None, "no ranking", f"lines of the columns {', '.join(self._track.columns)}")
        for topic, repeats in met.items():
            left = [number for number in range(1, self._repeats + 1) if number not in repeats]
            if left:
                found = f"topic {topic} without the rankings {ranges(left)}"
                self._findings.add(None, found, f"{self._repeats} rankings a topic")

    def _name(self, topic: str, repeat: int) -> str:
        return f"topic {topic}" if self._width == 2 else f"topic {topic}, ranking {repeat}"

"""What the rankings of a query look like together: how many, how many of them empty, and whether they differ at all."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rerankers.tracks.findings import listed

if TYPE_CHECKING:
    from rerankers.tracks.findings import Findings

__all__ = ["Impressions"]


class Impressions:
    """Counts of each query, and a hash of its first ranking.

    Parameters
    ----------
    expected
        rankings a query that the track asks for; None where the sequence alone decides.
    """

    def __init__(self, expected: int | None) -> None:
        self._expected = expected
        self._code: dict[str, int] = {}
        self._first, self._count, self._others, self._empty = array("q"), array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._code)

    def add(self, qid: str, ranking: Sequence[str]) -> None:
        """Count one ranking."""
        self.add_hash(qid, hash(tuple(ranking)), not ranking)

    def add_hash(self, qid: str, ranking: int, empty: bool = False) -> None:
        """Count one ranking, known by its hash."""
        code = self._code.get(qid)
        if code is None:
            code = self._code[qid] = len(self._code)
            self._first.append(ranking)
            for counts in (self._count, self._others, self._empty):
                counts.append(0)
        self._count[code] += 1
        self._others[code] += ranking != self._first[code]
        self._empty[code] += empty

    def warn(self, findings: Findings, complete: bool = True) -> None:
        """Say what is strange about them; nothing of their number where not all have been read."""
        empty = sum(self._empty)
        if empty:
            names = [qid for qid, code in self._code.items() if self._empty[code]]
            findings.warn(f"{empty:,} rankings are empty, of the queries {listed(names, len(names))}")
        several = [code for code in self._code.values() if self._count[code] > 1]
        static = sum(not self._others[code] for code in several)
        if static:
            share = "every query with" if static == len(several) else f"{static:,} of {len(several):,} queries with"
            findings.warn(f"{share} several rankings: all of them are the same (a static run)")
        if complete and self._expected is not None:
            other = [qid for qid, code in self._code.items() if self._count[code] != self._expected]
            if other:
                some = [f"{qid} has {self._count[self._code[qid]]:,}" for qid in other[:5]]
                more = f", {len(other) - 5:,} more" if len(other) > 5 else ""
                findings.warn(
                    f"{len(other):,} queries do not have the {self._expected} rankings of the track "
                    f"({', '.join(some)}{more})"
                )

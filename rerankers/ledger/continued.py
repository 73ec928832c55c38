"""Whether a job continues what its ledger has served, and where: refused before anything is written if it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.ledger.marks import check_marks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.job import Job
    from rerankers.ledger.marks import Mark
    from rerankers.ledger.store import Store

_NEVER = np.iinfo(np.int64).max


class Continued:
    """The impressions of a job beside those that its ledger has.

    Parameters
    ----------
    job
        its impressions in canonical order.
    marks
        of the queries that it asks.
    attribute
        what its entities are.

    Notes
    -----
    What has been compared is not read again: each turn looks only at what other processes have added since.
    """

    def __init__(self, job: Job, marks: dict[str, Mark], attribute: str) -> None:
        seen = self._seen = job.impressions
        self.marks, self._attribute = marks, attribute
        self._order = np.argsort(seen.sequence, kind="stable")
        counts = np.bincount(seen.sequence, minlength=len(seen.sequences))
        self._bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._first = np.full(len(seen.sequences), _NEVER)
        asked = np.flatnonzero(counts)
        self._first[asked] = seen.number[self._order[self._bounds[asked]]]
        self._compared = self._first.copy()

    def places(self, sequence: int) -> NDArray[np.int64]:
        """Return the places of a sequence's impressions, whose numbers ascend by one."""
        return self._order[self._bounds[sequence] : self._bounds[sequence + 1]]

    def unserved(self, store: Store, *, stale: bool) -> NDArray[np.int64]:
        """Return the places of the impressions that a ledger has not served.

        Parameters
        ----------
        store
            of the ledger, in one's turn.
        stale
            whether others may have written to it since one's own last turn.

        Raises
        ------
        InputError
            when the job asks for other queries than were asked, or for the same ones with other candidates or
            entities; when impressions are missing between what was served and the job's first, or among the former.
        """
        seen = self._seen
        positions = store.positions()
        position = np.array([positions.get(name, -1) for name in seen.sequences], dtype=np.int64).reshape(-1)
        if stale:
            check_marks("ledger", self.marks, store.marks(), self._attribute)
            self._check_start(position)
            for code in np.flatnonzero(position > self._compared).tolist():
                self._check_queries(code, int(position[code]), store)
        self._compared = np.maximum(self._compared, position)
        return np.flatnonzero(seen.number >= position[seen.sequence])

    def _check_start(self, position: NDArray[np.int64]) -> None:
        gap = np.flatnonzero((position >= 0) & (self._first > position) & (self._first < _NEVER))
        if len(gap):
            code = int(gap[0])
            found = f"impressions of sequence {self._seen.sequences[code]} from {self._first[code]} on"
            raise InputError.one("sequence", found, f"those from {position[code]} on, where the ledger stands")

    def _check_queries(self, code: int, position: int, store: Store) -> None:
        """Compare the queries of one sequence with those that were asked below ``position``."""
        seen, name = self._seen, self._seen.sequences[code]
        here = self.places(code)
        number = seen.number[here]
        since = int(self._compared[code])
        at, end = np.searchsorted(number, [since, position]).tolist()
        for first, then in store.asked(name, since):
            low, high = np.searchsorted(number, [first, first + len(then)]).tolist()
            if low > at:
                break
            now = [seen.queries[row] for row in seen.row[here[at:high]].tolist()]
            before = then[int(number[at]) - first :][: len(now)] if now else []
            if now != before:
                which = next(i for i, (one, other) in enumerate(zip(now, before, strict=True)) if one != other)
                raise _another(name, int(number[at]) + which, before[which], now[which])
            at = max(at, high)
        if at < end:
            raise InputError.one(
                "ledger",
                f"no ranking of impression {number[at]} of sequence {name}, though later ones have been served",
                "a ledger without gaps",
                mend="Merge it with the one that has served them.",
            )


def _another(sequence: str, number: int, then: str, now: str) -> InputError:
    return InputError.one(
        "sequence",
        f"a ledger of another sequence: impression {number} of {sequence} was of query {then!r} and is now of {now!r}",
        "what was served, and whatever follows it",
        mend="Take a new ledger, give the sequence another name, or go on where it ended.",
    )

"""One stretch of serving: the rows, the book, the impressions, and where the rankings go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers.ledger.book import Opened, open_book

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.impressions import Impressions
    from rerankers.ledger.rows import Rows
    from rerankers.values.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What a controller works on.

    Attributes
    ----------
    over
        the rows of candidates.
    rows, opened
        what an impression brings; the book of all impressions.
    impressions
        what is asked, in canonical order (see `rerankers.ledger.driver`).
    stream
        uint64 (B, 2), digests of the queries.
    scope, seed
        one of `SCOPES`; of every draw.
    start, item
        int64 (N + 1,) and int32: the ranking of impression i is item[start[i]:start[i + 1]], positions in its row.
    notes
        name -> numbers that a controller reports, for instance the gap of its certificate: [sum, largest, count].
    """

    over: Ragged
    rows: Rows
    opened: Opened
    impressions: Impressions
    stream: NDArray[np.uint64]
    scope: str
    seed: int
    start: NDArray[np.int64]
    item: NDArray[np.int32]
    notes: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        over: Ragged,
        rows: Rows,
        impressions: Impressions,
        stream: NDArray[np.uint64],
        scope: str,
        seed: int,
    ) -> Job:
        """Open a book for some impressions."""
        opened = open_book(scope, impressions, rows, stream, seed)
        start = np.concatenate([[0], np.cumsum(over.lengths[impressions.row])]).astype(np.int64)
        item = np.zeros(int(start[-1]), dtype=np.int32)
        return cls(over, rows, opened, impressions, stream, scope, seed, start, item)

    @property
    def accounts(self) -> NDArray[np.int64]:
        """int64 (N,), the account of each impression."""
        return self.opened.book.account[self.opened.case]

    def note(self, name: str, value: float) -> None:
        """Add a number to those reported under a name."""
        entry = self.notes.setdefault(name, [0.0, 0.0, 0.0])
        entry[0] += value
        entry[1] = max(entry[1], value)
        entry[2] += 1.0


class Controller(Protocol):
    """Chooses rankings with a ledger in view."""

    @property
    def piece(self) -> int | None:
        """After how many impressions a controller looks at the ledger anew; None where it does at every impression.

        Commits never fall within a piece.
        """
        ...

    @property
    def decay(self) -> float:
        """By what balances are multiplied from one impression to the next; 1 keeps everything."""
        ...

    def serve(self, job: Job, places: NDArray[np.int64], entities: Entities) -> int:
        """Rank and book the impressions ``places``, ascending; return -1, or the place where a balance overflows."""
        ...

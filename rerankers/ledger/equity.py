"""Equity of attention: each ranking brings what entities have had as near as it can to what they deserve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import buckets
from rerankers.ledger.assignment import quality_assignment
from rerankers.ledger.book import GOLDEN
from rerankers.ledger.fixed import ONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.job import Job


@dataclass(frozen=True, slots=True)
class Equity:
    """Minimise the sum of absolute differences between attention and relevance so far (Biega et al. 2018).

    Attributes
    ----------
    quality
        share in [0, 1] of the ideal DCG@k, of the believed relevance, that every ranking keeps.
    k
        depth of that DCG.
    prefilter
        documents of highest belief that are assigned; others follow by belief.
    decay
        of balances, an impression.
    """

    quality: float
    k: int
    prefilter: int
    decay: float = 1.0

    @property
    def piece(self) -> int | None:
        """None: the ledger is looked at for every impression."""
        return None

    def serve(self, job: Job, places: NDArray[np.int64], entities: Entities) -> int:
        """Serve impressions one after the other; see `rerankers.ledger.job.Controller`.

        Where each document is its own entity, sorting by what it is still owed is the best assignment (transport on
        a line), and programs are solved only where that breaks the floor of quality. The gap of their certificate is
        noted under ``equity_gap``, the share of impressions that needed one under ``equity_programs``.
        """
        from rerankers.ledger.equity_loops import serve_given, serve_owed

        rows, book = job.rows, job.opened.book
        gain = np.exp2(rows.belief) - 1.0
        discount = 1.0 / np.log2(np.arange(len(rows.position)) + 2.0)
        discount[self.k :] = 0.0
        ideal = _ideal(rows.indptr, gain, discount)
        cases, start = job.opened.case[places], job.start[places]
        width = self.prefilter if entities.alignment is None and self.decay >= 1.0 else 0
        done = 0
        while done < len(places):
            done = serve_owed(
                rows, book, cases, start, done, gain, discount, self.quality * ideal, width, self.decay, job.item
            )
            if done < 0:
                return int(places[-done - 1])
            if done < len(places):
                case = int(cases[done])
                floor = self.quality * ideal[book.row[case]]
                order, gap = self._program(job, case, gain, discount, floor)
                job.note("equity_gap", gap)
                if not serve_given(rows, book, case, order.astype(np.int32), int(start[done]), self.decay, job.item):
                    return int(places[done])
                done += 1
        return -1

    def _program(
        self, job: Job, case: int, gain: NDArray[np.float64], discount: NDArray[np.float64], floor: float
    ) -> tuple[NDArray[np.int64], float]:
        """Return the ranking of a case by assignment, and by what share of its cost it may miss the least."""
        rows, book = job.rows, job.opened.book
        row = int(book.row[case])
        part = job.over.row(row)
        shift = float(book.times[book.account[case]]) * GOLDEN
        priority = np.mod(book.priority[book.pair_ptr[case] : book.pair_ptr[case + 1]] + shift, 1.0)
        ranked = np.lexsort((priority, -rows.belief[part]))
        kept = ranked[: max(1, self.prefilter)]
        continuation = rows.continuation[part]
        # Attention by rank: exact where all documents of a row have one continuation, else that of the mean one.
        attention = rows.position[: len(ranked)] * np.mean(continuation) ** np.arange(len(ranked)) * rows.scale[row]
        cost = self._cost(job, case, kept, attention[: len(kept)])
        chosen = gain[part][kept]
        order, spent, bound = quality_assignment(
            cost, chosen, discount[: len(kept)], floor, np.argsort(-chosen, kind="stable")
        )
        return np.concatenate([kept[order], ranked[len(kept) :]]), (spent - bound) / max(spent, 1e-300)

    def _cost(
        self, job: Job, case: int, kept: NDArray[np.int64], attention: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return float64 (kept, kept): what a document's entities would be off by at each rank."""
        rows, book = job.rows, job.opened.book
        low = int(rows.indptr[book.row[case]])
        first = rows.entry_ptr[low : int(rows.indptr[book.row[case] + 1]) + 1]
        slots = book.slot[book.slot_ptr[case] : book.slot_ptr[case + 1]]
        now = book.times[book.account[case]]
        age = self.decay ** (now - book.touched[slots]) if self.decay < 1.0 else 1.0
        distinct, which = np.unique(slots, return_inverse=True)
        brought = np.bincount(which, weights=rows.due[first[0] : first[-1]] / ONE, minlength=len(distinct))
        owed = age * (book.due[slots] - book.served[slots]) / ONE + brought[which]
        off = np.abs(owed[:, None] - rows.weight[first[0] : first[-1], None] * attention)
        if len(off) == len(first) - 1 and np.all(np.diff(first) == 1):
            return off[kept]
        cost = np.zeros((len(first) - 1, len(attention)))
        np.add.at(cost, np.repeat(np.arange(len(first) - 1), np.diff(first)), off)
        return cost[kept]


def _ideal(indptr: NDArray[np.int64], gain: NDArray[np.float64], discount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest discounted gain of each row: float64 (B,)."""
    out = np.zeros(len(indptr) - 1)
    for length, rows in buckets(np.diff(indptr)):
        sorted_gain = -np.sort(-gain[indptr[rows][:, None] + np.arange(length)], axis=1)
        out[rows] = np.sum(sorted_gain * discount[:length], axis=1)  # a product of matrices would mix rows' bits
    return out

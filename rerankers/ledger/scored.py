"""Controllers that score each document by belief and by what the ledger says about its entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure import Browsing
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.ledger.job import Job

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities

RULES: Final = {"ratio": 0, "gradient": 1, "square": 2}
ACCOUNTING: Final = ("realised", "expected")


@dataclass(frozen=True, slots=True)
class Scored:
    """Rank by ``gain`` belief - ``force`` times what the balances of a document's entities say.

    Attributes
    ----------
    rule
        what a balance says: ``ratio``, served / due (FairCo); ``gradient``, 2 (served - due) / impressions (squared
        loss at the running average); ``square``, (served - due)^2 with its sign (the NLE controller).
    gain, force
        weights, at least 0.
    mean
        whether a document takes the mean over its entities (by weight) instead of their weighted sum.
    decay
        of balances, an impression.
    least
        the least due of ``ratio``.
    published
        whether ``ratio`` is multiplied by the number of impressions, as Morik et al. (2020) published it.
    divide
        whether scores are divided by the probability that a document ends the search, where ranks have no weights of
        their own: this sort is the exact maximiser of a linear function of exposure under cascade browsing.
    temperature
        0 ranks by score; above 0 each ranking is drawn from the Plackett-Luce distribution of score / temperature.
    accounting
        ``realised`` books the exposure of the ranking that was drawn, ``expected`` the exact exposure of the
        distribution that it was drawn from. They are the same at temperature 0.
    """

    rule: str
    gain: float
    force: float
    mean: bool = False
    decay: float = 1.0
    least: float = 1e-4
    published: bool = False
    divide: bool = False
    temperature: float = 0.0
    accounting: str = "realised"

    @property
    def piece(self) -> int | None:
        """None: the ledger is looked at for every impression."""
        return None

    @property
    def options(self) -> NDArray[np.float64]:
        """float64 (7,), as the loops take them."""
        flags = (self.mean, self.decay, self.least, self.published, self.divide)
        return np.array([self.gain, self.force, *flags], dtype=np.float64)

    def serve(self, job: Job, places: NDArray[np.int64], entities: Entities) -> int:
        """Rank and book impressions one after the other; see `rerankers.ledger.job.Controller`."""
        from rerankers.ledger.scored_loops import serve_scored

        if self.temperature > 0:
            return self._draw(job, places)
        cases, start = job.opened.case[places], job.start[places]
        failed = serve_scored(RULES[self.rule], self.options, job.rows, job.opened.book, cases, start, job.item)
        return int(places[failed]) if failed >= 0 else -1

    def _draw(self, job: Job, places: NDArray[np.int64]) -> int:
        """Serve the next impression of every account together, for as long as there are some."""
        keys: dict[int, NDArray[np.uint64]] = {}
        turn = _turns(job.accounts[places])
        order = np.argsort(turn, kind="stable")
        bounds = np.searchsorted(turn[order], np.arange(int(turn.max(initial=-1)) + 2))
        for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            failed = self._lanes(job, places[order[low:high]], keys)
            if failed >= 0:
                return failed
        return -1

    def _lanes(self, job: Job, places: NDArray[np.int64], keys: dict[int, NDArray[np.uint64]]) -> int:
        """Draw one ranking in each of several accounts; exposures of all of them are found in one call."""
        from rerankers.ledger.scored_loops import book_lanes, score_lanes

        rows, book = job.rows, job.opened.book
        cases = job.opened.case[places]
        taken = job.over.take(book.row[cases])
        pair = np.repeat(job.over.indptr[book.row[cases]] - taken.indptr[:-1], taken.lengths) + np.arange(taken.nnz)
        start = np.ascontiguousarray(taken.indptr[:-1])
        key = np.empty(taken.nnz)
        score_lanes(RULES[self.rule], self.options, rows, book, cases, start, key)
        logit = key / self.temperature
        continuation = rows.continuation[pair]
        if self.accounting == "expected":
            position = None if rows.cascade else rows.position
            browsing = Browsing(position, continuation, continuation)
            exposure = plackett_luce_exposure(taken.indptr, logit, browsing)
        else:
            exposure = np.empty(taken.nnz)
        for lane, (place, case) in enumerate(zip(places.tolist(), cases.tolist(), strict=True)):
            part = taken.row(lane)
            ranking = self._ranking(job, case, logit[part], keys)
            job.item[job.start[place] : job.start[place + 1]] = ranking
            if self.accounting == "realised":
                chance = np.concatenate([[1.0], np.cumprod(continuation[part][ranking])])[:-1]
                exposure[part.start + ranking] = rows.position[: len(ranking)] * chance
        failed = book_lanes(rows, book, cases, start, exposure, self.decay)
        return int(places[failed]) if failed >= 0 else -1

    @staticmethod
    def _ranking(
        job: Job, case: int, logit: NDArray[np.float64], keys: dict[int, NDArray[np.uint64]]
    ) -> NDArray[np.int64]:
        """Draw a ranking by exponential clocks; the draw's number is that of the impression in its account."""
        book = job.opened.book
        account = int(book.account[case])
        if case not in keys:
            of = "" if job.scope == "query" else f" of {job.opened.accounts[account]}"
            keys[case] = stream_key(job.seed, job.stream[int(book.row[case])], f"ledger draws{of}")
        noise = uniforms(keys[case], int(book.times[account]), 1, len(logit))[0]
        order: NDArray[np.int64] = np.argsort(np.log(-np.log(noise)) - logit, kind="stable")
        return order


def _turns(account: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often the account of each impression has had its turn before, within these impressions."""
    order = np.argsort(account, kind="stable")
    ordered = account[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ordered) else ordered
    sizes = np.diff(np.append(first, len(ordered)))
    turn = np.empty(len(account), dtype=np.int64)
    turn[order] = np.arange(len(account)) - np.repeat(first, sizes)
    return turn

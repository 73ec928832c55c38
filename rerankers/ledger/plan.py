"""The planner: it knows which impressions are left, and chooses all of their rankings together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.exposure.rows import row_maxima

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.job import Job


@dataclass(frozen=True, slots=True)
class Planner:
    """Minimise fairness * loss - (1 - fairness) * utility at the end of the horizon.

    With T impressions of an account in all, loss is the sum over entities of ((served - due) / T)^2 at the end and
    utility the mean of exposure times belief. The plan starts from the best answer of each ranking to those before it,
    then every ranking is improved given all the others, again and again.

    Attributes
    ----------
    fairness
        in (0, 1].
    replan
        after how many impressions of a sequence the rest is planned anew, from the ledger as it then stands.
    passes
        of improvement, at most.

    Notes
    -----
    Under position-based browsing with documents as entities each improvement is exact: a ranking's own squared
    exposure is constant, so the best answer to the others is a sort (rearrangement inequality), and the objective's
    floor is the projection onto the permutahedron that `rerankers.exposure.pareto_front` gives. Otherwise (authors,
    groups, cascade browsing) a ranking is replaced by the sort along the gradient, or has neighbours exchanged, where
    that makes the objective smaller: it never becomes worse, but what it ends in may be a local optimum.
    """

    fairness: float
    replan: int
    passes: int

    @property
    def piece(self) -> int | None:
        """The impressions of a sequence between two plans."""
        return self.replan

    @property
    def decay(self) -> float:
        """1: what will have decayed by the end of the horizon is not planned for."""
        return 1.0

    def serve(self, job: Job, places: NDArray[np.int64], entities: Entities) -> int:
        """Plan and serve, account by account; see `rerankers.ledger.job.Controller`."""
        from rerankers.ledger.plan_loops import plan, serve_planned

        rows, book = job.rows, job.opened.book
        # Of each row by itself, so that no plan depends on the block around it.
        alone = (entities.alignment is None) & (_spread(rows.continuation, rows.indptr) == 0.0)
        net, added = np.zeros(len(book.served)), np.zeros(len(book.served))
        for here, left in self._parts(job, places):
            cases = job.opened.case[left]
            bounds, chosen = plan(rows, book, cases, self.fairness, self.passes, alone, net, added)
            start = job.start[here]
            failed = serve_planned(rows, book, cases, bounds, chosen, start, job.item)
            if failed >= 0:
                return int(here[failed])
        return -1

    def _parts(self, job: Job, places: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Cut a turn into plans: (what is served by one, what it plans for), places ascending.

        Pieces are cut as the driver cuts them, so that a plan does not depend on how pieces make up turns.
        """
        seen, account = job.impressions, job.accounts
        if not len(places):
            return []
        number = seen.number if seen.apart(job.scope) else np.arange(len(seen))
        order = np.argsort(account, kind="stable")
        bounds = np.searchsorted(account[order], np.arange(int(account.max(initial=-1)) + 2))
        turn = places[np.argsort(account[places], kind="stable")]
        piece = number[turn] // self.replan
        step = (account[turn][1:] != account[turn][:-1]) | (piece[1:] != piece[:-1])
        cuts = np.concatenate([[0], np.flatnonzero(step) + 1, [len(turn)]]).astype(np.int64)
        parts = []
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            here = turn[low:high]
            own = order[bounds[account[here[0]]] : bounds[account[here[0]] + 1]]
            parts.append((here, own[int(np.searchsorted(own, here[0])) :]))
        return parts


def check_planner(decay: float) -> None:
    """Raise `ConfigError` where balances decay."""
    if decay < 1.0:
        raise ConfigError(f"method.decay: found {decay}; expected 1, since the planner weighs all impressions alike")


def _spread(continuation: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how much the documents of each row differ in continuation: float64 (B,), 0 for an empty row."""
    most, least = row_maxima(continuation, indptr), -row_maxima(-continuation, indptr)
    filled = np.diff(indptr) > 0
    return np.where(filled, np.where(filled, most, 0.0) - np.where(filled, least, 0.0), 0.0)

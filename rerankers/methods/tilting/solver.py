r"""The tilts of groups with which a Plackett-Luce policy gives them target shares of exposure.

With memberships a_{dg} the logit of document d becomes s_d + \sum_g a_{dg} b_g, and the share of a group g of an
attribute is m_g(b) = A_g / \sum_h A_h, A_g = \sum_d a_{dg} E_d(b), with the exact exposure E. Wanted is the least
summed divergence of the attributes, \sum KL(t || m(b)). At 0 this is the information projection of the policy's group
shares; where no tilts reach the target, what is left is the attainable projection: the shares that tilts come nearest
to. With the continuation the same everywhere the exposures are the gradient of a convex function of the logits, so that
the shares that groups without common documents can have are those of a polytope, tilts reach all of its inside, and
the projection is unique. Otherwise the certificate is that of a stationary point: no tilt changes the divergence by
more than `descent_loops.FLAT` a nat. Where the nearest shares are those of infinite tilts, these end where that holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import Browsing
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.exposure.rows import row_maxima
from rerankers.policies.logits import bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.tilting.problem import GroupRows

COLD = 40.0  # nats between the logits of a row from which on it is solved at higher temperatures first
WARM = 20.0  # nats at the first of them
COOLING = 4.0  # the quotient of two temperatures
UNTILTED = -1  # the status of rows that have no target


@dataclass(frozen=True, slots=True, eq=False)
class Tilts:
    """The solution.

    Attributes
    ----------
    logit
        float64 (nnz,), the tilted logits.
    tilt, share
        float64 (C,), the tilts of the groups in nats, and their exact shares of exposure with them.
    divergence
        float64 (B,), the summed divergence of these shares from the target, in nats; 0 of rows without target.
    slope
        float64 (B,), the certificate: the largest derivative of the divergence by a tilt, in nats a nat of the document
        with the largest weight in the group. At most 1e-9 (`descent_loops.FLAT`) at a projection, which is
        finite also where the best tilts are not.
    rounds
        int64 (B,), how often the exposure was integrated.
    status
        int64 (B,): `UNTILTED`, or `descent_loops.REACHED`, `PROJECTED` or `STOPPED` (after `descent_loops.ROUNDS`; what
        is left of the divergence and its slope say how far it came).
    """

    logit: NDArray[np.float64]
    tilt: NDArray[np.float64]
    share: NDArray[np.float64]
    divergence: NDArray[np.float64]
    slope: NDArray[np.float64]
    rounds: NDArray[np.int64]
    status: NDArray[np.int64]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many rows ended in which way: ``targets_reached``, ``targets_projected``, ``targets_not_settled``."""
        words = ("targets_reached", "targets_projected", "targets_not_settled")
        found = {word: int(np.count_nonzero(self.status == code)) for code, word in enumerate(words, 1)}
        return {word: count for word, count in found.items() if count}


def tilted(logit: NDArray[np.float64], browsing: Browsing, groups: GroupRows, tolerance: float = 1e-12) -> Tilts:
    """Find the tilts of every row.

    Parameters
    ----------
    logit
        float64 (nnz,), finite.
    browsing
        the model, bound to the rows.
    groups
        with the targets.
    tolerance
        the divergence, in nats, that counts as none; more than 0.
    """
    return _Solver(logit, browsing, groups, tolerance).solved()


class _Solver:
    """The arrays that loops take, and the results as they come."""

    def __init__(self, logit: NDArray[np.float64], browsing: Browsing, groups: GroupRows, tolerance: float) -> None:
        from rerankers.methods.tilting.descent_loops import STATE

        self.browsing, self.groups, self.tolerance = browsing, groups, tolerance
        self.stop = np.ascontiguousarray(1.0 - browsing.continuation)
        self.free = (groups.target > 0.0).astype(np.float64)
        self.reach = groups.largest
        rows = len(groups.columns) - 1
        self.spread = _spread(groups.indptr, logit)
        self.logit = logit.copy()
        for row in np.flatnonzero(self.spread > COLD).tolist():
            docs = slice(groups.indptr[row], groups.indptr[row + 1])
            self.logit[docs] = bounded(logit[docs])  # the same policy, of a finite spread
        self.tilt, self.share = np.zeros(len(self.free)), np.zeros(len(self.free))
        self.status = np.full(rows, UNTILTED, dtype=np.int64)
        self.found = np.zeros((rows, STATE))

    def solved(self) -> Tilts:
        from rerankers.methods.tilting.descent_loops import BEST, ROUND, STEEP
        from rerankers.methods.tilting.rows_loops import tilt_documents

        groups = self.groups
        aimed = np.diff(groups.columns) > 0
        with np.errstate(invalid="ignore"):
            cold = aimed & (self.spread > COLD)
        self._begin(np.flatnonzero(aimed & ~cold), self.logit)
        self._descend(np.flatnonzero(aimed & ~cold), self.logit)
        for row in np.flatnonzero(cold).tolist():
            self._cool(row)
        tilts = self.logit.copy()
        column = np.repeat(groups.columns[:-1], np.diff(groups.indptr))
        group = groups.group + np.repeat(column, np.diff(groups.start))
        tilt_documents(self.logit, groups.start, group, groups.weight, self.tilt, tilts)
        return Tilts(
            tilts,
            self.tilt,
            groups.shares(self.share),
            self.found[:, BEST],
            self.found[:, STEEP],
            self.found[:, ROUND].astype(np.int64),
            self.status,
        )

    def _begin(self, rows: NDArray[np.int64], logit: NDArray[np.float64]) -> None:
        from rerankers.methods.tilting.rows_loops import first_tilts

        g = self.groups
        first_tilts(
            rows, g.indptr, logit, g.start, g.group, g.weight, g.columns, g.target, g.part, self.free, self.tilt
        )

    def _descend(self, rows: NDArray[np.int64], logit: NDArray[np.float64]) -> None:
        """Solve rows from the tilts that there are."""
        from rerankers.methods.tilting.rows_loops import WIDE, tilt_rows

        g = self.groups
        if self.browsing.position is None:
            tilt_rows(
                rows, g.indptr, logit, self.stop, g.start, g.group, g.weight, g.columns, g.target, g.part, self.free,
                self.reach, self.tilt, self.share, self.status, self.found, self.tolerance,
            )  # fmt: skip
            rows = rows[self.status[rows] == WIDE]
        for row in rows.tolist():
            self._descend_weighted(row, logit)

    def _cool(self, row: int) -> None:
        """Solve a row at ever lower temperatures: where rankings are nearly certain, shares are nearly steps of tilts.

        Its tilts of one temperature, over the temperature, begin the next.
        """
        rows = np.array([row])
        hot, own = self.spread_of(row) / WARM, slice(self.groups.columns[row], self.groups.columns[row + 1])
        self._begin(rows, self.logit / hot)
        while hot > 1.0:
            self._descend(rows, self.logit / hot)
            cooler = max(hot / COOLING, 1.0)
            self.tilt[own] *= hot / cooler
            hot = cooler
        self._descend(rows, self.logit)

    def spread_of(self, row: int) -> float:
        docs = self.logit[self.groups.indptr[row] : self.groups.indptr[row + 1]]
        return float(docs.max() - docs.min())

    def _descend_weighted(self, row: int, logit: NDArray[np.float64]) -> None:
        """Solve one row by the exact exposure and gradients of any browsing model."""
        from rerankers.methods.tilting.descent_loops import ROOM, STATE, WORKING, advance

        g, size = self.groups, int(self.groups.columns[row + 1] - self.groups.columns[row])
        one = _Row(self, row, logit)
        own = slice(g.columns[row], g.columns[row + 1])
        state, room, matrices = np.zeros(STATE), np.zeros((ROOM, size)), np.empty((2, size, size))
        room[3] = self.tilt[own] * self.reach[own]
        status, share = WORKING, np.zeros(size)
        while status == WORKING:
            value, slope = one.groups_at(room[3] / self.reach[own])
            status = advance(
                state, room, matrices, value, slope, g.target[own], g.part[own], self.free[own], self.reach[own],
                share, self.tolerance,
            )  # fmt: skip
        self.tilt[own], self.share[own] = room[2] / self.reach[own], share
        self.status[row], self.found[row] = status, state


class _Row:
    """One row with a matrix of its groups."""

    def __init__(self, solver: _Solver, row: int, logit: NDArray[np.float64]) -> None:
        g = solver.groups
        docs = slice(int(g.indptr[row]), int(g.indptr[row + 1]))
        starts = g.start[docs.start : docs.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        self.part = np.zeros((docs.stop - docs.start, int(g.columns[row + 1] - g.columns[row])))
        at = np.repeat(np.arange(len(self.part)), np.diff(starts))
        np.add.at(self.part, (at, g.group[entries]), g.weight[entries])
        self.logit, self.indptr = logit[docs], np.array([0, len(self.part)], dtype=np.int64)
        browsing = solver.browsing
        self.browsing = Browsing(browsing.position, browsing.continuation[docs], browsing.satisfaction[docs])

    def groups_at(self, tilt: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the exposure of the groups (K,) and its derivatives by the tilts (K, K)."""
        logit = self.logit + self.part @ tilt
        value = self.part.T @ plackett_luce_exposure(self.indptr, logit, self.browsing)
        slope = [
            self.part.T @ plackett_luce_gradient(self.indptr, logit, self.browsing, np.ascontiguousarray(pull))
            for pull in self.part.T
        ]
        return value, np.array(slope)


def _spread(indptr: NDArray[np.int64], logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far apart the logits of each row are: float64 (B,), 0 of an empty row."""
    with np.errstate(over="ignore"):
        spread = row_maxima(logit, indptr) + row_maxima(-logit, indptr)
    return np.where(np.diff(indptr) > 0, spread, 0.0)

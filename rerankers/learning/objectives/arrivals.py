r"""Arrival times of the documents of a row at nodes of an integral: what slopes and curvatures are made of together.

The integral is that of `rerankers.exposure.closed_form.quadrature`, where its derivation and its error stand. With
u = a e^{-a} / f and P the product of all f = c + (1 - c) e^{-a}, at nodes x of weight \omega, all in one pass:

    E_d = \sum \omega P u_d,  \partial E_d / \partial s_m = -(1 - c_m) \sum \omega P u_d u_m  for m \ne d,
    \partial E_d / \partial s_d = \sum \omega P u_d (1 - a_d).

A training loop wants the exposure, a gradient that depends on it, and a second-order term: the densities u are kept, so
that the exponentials are taken once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rerankers.exposure.closed_form.nodes import FIRST, RIGHT, node_values, shifted
from rerankers.exposure.rows import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.objectives.cells import Cells

FINE = 0.25  # the step that is exact to rounding (see the module named above)
COARSE = 0.5  # exact to about 1e-5, enough for second-order terms
SHARE = 1.0 / 3.0  # of the bound on squared distances that no step of any direction breaks
LATE = 60.0  # an arrival is put no later than this: e^-60 of its chance is left
_TOGETHER = 8  # numbers of nodes are rounded up to multiples, so that more rows have equally many
_WIDE = 600.0  # nats from which on a weight alone would vanish


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """R rows of n documents at Q nodes.

    Attributes
    ----------
    place
        int64 (R, n), where the documents stand.
    density
        float64 (R, Q, n), u; not meant where ``measure`` is 0.
    measure
        float64 (R, Q), the weight of a node times P.
    stop
        float64 (R, n), one minus the continuation.
    sums
        float64 (3, R, n): the exposure, its derivative by the own logit, and the sum of measure u^2.
    """

    place: NDArray[np.int64]
    density: NDArray[np.float64]
    measure: NDArray[np.float64]
    stop: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def of(
        cls, place: NDArray[np.int64], logit: NDArray[np.float64], continuation: NDArray[np.float64], step: float
    ) -> Iterator[Self]:
        """Yield rows with equally many nodes.

        Parameters
        ----------
        place
            int64 (R, n), the places of the documents in the other two.
        logit, continuation
            float64 (nnz,), finite and in [0, 1].
        step
            the distance of the nodes.
        """
        score = shifted(logit[place])
        needed = np.ceil((RIGHT - score.min(axis=1) - FIRST) / step) + 1.0
        groups = (needed / _TOGETHER).astype(np.int64) + 1
        for count, rows in buckets(groups):
            yield cls._at(place[rows], score[rows], continuation[place[rows]], step, _TOGETHER * count)

    @classmethod
    def _at(
        cls,
        place: NDArray[np.int64],
        score: NDArray[np.float64],
        continuation: NDArray[np.float64],
        step: float,
        nodes: int,
    ) -> Self:
        from rerankers.learning.objectives.arrivals_loops import arrive

        x, weight = node_values(FIRST + step * np.arange(nodes, dtype=np.float64), step)
        arrived = _arrived(score, x, nodes * step > _WIDE)
        rest = np.negative(arrived)
        np.exp(rest, out=rest)
        stop = 1.0 - continuation
        measure, sums = np.empty(arrived.shape[:2]), np.zeros((3, *score.shape))
        if score.shape[1] == 1:  # nothing to be integrated
            measure[:], arrived[:], sums[0] = 0.0, 0.0, 1.0
        else:
            arrive(arrived, rest, stop, weight, measure, sums)
        return cls(place, arrived, measure, stop, sums)

    def rows(self, chosen: NDArray[np.int64]) -> Arrivals:
        """Return some of the rows."""
        own = self.density[chosen], self.measure[chosen], self.stop[chosen]
        return Arrivals(self.place[chosen], *own, np.ascontiguousarray(self.sums[:, chosen]))

    @property
    def exposure(self) -> NDArray[np.float64]:
        """float64 (R, n), the expected exposure of the documents."""
        value: NDArray[np.float64] = self.sums[0]
        return value

    def gradient(self, pull: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivatives of the sum of pull (R, n) times exposure by the logits: float64 (R, n)."""
        result: NDArray[np.float64] = pull * self.sums[1] - self.stop * self._others(pull)
        return result

    def reach(self, pull: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over documents of pull (R, n), at least 0, times what a logit moves them: float64 (R, n).

        That is the sum of absolute derivatives, since a logit raises the exposure of its own document only.
        """
        result: NDArray[np.float64] = pull * self.sums[1] + self.stop * self._others(pull)
        return result

    def squares(
        self, every: int, pairs: NDArray[np.int64], widths: NDArray[np.int64], cells: Cells
    ) -> NDArray[np.float64]:
        """Return the larger of two sums for each logit m, G the derivatives of cells by logits: float64 (R, n).

        They are the sum over cells of G_{gm}^2, and `SHARE` of that of |G_{gm}| times the sum of |G_{gl}| over l.

        Parameters
        ----------
        every
            one node in so many is looked at.
        pairs
            int64 (R, n), the pairs of the cells that the documents are.
        widths
            int64 (R,), how many cells each row has.
        cells
            of documents or groups.
        """
        from rerankers.learning.objectives.arrivals_loops import add_squares

        result = np.empty(pairs.shape)
        own = (self.density, self.measure, self.stop, self.sums)
        add_squares(every, SHARE, pairs, *own, cells.entry_ptr, cells.local, cells.part, widths, result)
        return result

    def _others(self, pull: NDArray[np.float64]) -> NDArray[np.float64]:
        from rerankers.learning.objectives.arrivals_loops import carry

        result: NDArray[np.float64] = -pull * self.sums[2]
        carry(self.density, self.measure, np.ascontiguousarray(pull), result)
        return result


def _arrived(score: NDArray[np.float64], x: NDArray[np.float64], wide: bool) -> NDArray[np.float64]:
    arrived: NDArray[np.float64]
    if wide:
        arrived = score[:, None, :] + x[:, None]
        np.minimum(arrived, np.log(LATE), out=arrived)
        return np.exp(arrived, out=arrived)
    arrived = np.exp(x)[:, None] * np.exp(score)[:, None, :]
    np.minimum(arrived, LATE, out=arrived)
    return arrived

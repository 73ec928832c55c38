r"""The integral that gives exact Plackett-Luce exposure where ranks have no weights of their own, and its gradient.

Given the arrival time t of document d (see `nodes`), every other document j is before it with probability
1 - e^{-w_j t}, independently. With c the continuations the expected exposure is

    E_d = \int w_d e^{-w_d t} \prod_{j \ne d} f_j dt,    f_j = c_j + (1 - c_j) e^{-w_j t}.

|f_j| <= 1 for every t of positive real part, so that a step of 1/4 reaches rounding error (about 1e-15) with some
sixty nodes, four more a nat of spread.

With a = w t, u = a e^{-a} / f and P the product of all f, the integrand in x = log t is u_d P. The nodes stay where
they are when a logit moves, because the integral does not depend on them. The derivative of \sum_d g_d E_d is then

    \int P [ g_m u_m (1 - a_m + (1 - c_m) u_m) - (1 - c_m) u_m \sum_d g_d u_d ] dx

with respect to the logit of m: linear time, as the exposure itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.closed_form.nodes import CLAMP, FIRST, NEGLIGIBLE, RIGHT, node_values, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 0.25
SHORT = 32  # rows below this length lie side by side, so that inner loops stay long
TILE = 1 << 15  # entries of one temporary, so that all of them fit the cache
FEW, MANY = 8, 24  # nodes that are worked on together: many where numpy's calls would cost more than their work


def race_exposure(logit: NDArray[np.float64], continuation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Integrate rows of equal length.

    Parameters
    ----------
    logit
        float64 (R, n), finite, n >= 1.
    continuation
        float64 (R, n), in [0, 1].

    Returns
    -------
    float64 (R, n), expected exposure; three temporaries of max(32,768, n) entries are needed beside it.
    """
    return np.ones(logit.shape) if logit.shape[1] == 1 else _integrals(logit, continuation, None)


def race_gradient(
    logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Differentiate the sum over documents of pull times exposure by the logits.

    Parameters
    ----------
    logit, continuation
        float64 (R, n), as in `race_exposure`.
    pull
        float64 (R, n), finite.

    Returns
    -------
    float64 (R, n), wrong by about 1e-15 of the largest pull of the row, and adding up to 0 in each row.
    """
    return np.zeros(logit.shape) if logit.shape[1] == 1 else _integrals(logit, continuation, pull)


@dataclass(frozen=True, slots=True, eq=False)
class _Tile:
    """Rows that are worked on together: (R, n), or (n, R, 1) where they lie side by side; ``docs`` is the axis of n."""

    logit: NDArray[np.float64]
    stop: NDArray[np.float64]
    pull: NDArray[np.float64] | None
    docs: int

    def rows(self, chosen: NDArray[np.int64]) -> _Tile:
        """Return some of the rows; `take` keeps the layout, and with it the order of sums, an index need not."""
        axis = 1 - self.docs
        pull = None if self.pull is None else self.pull.take(chosen, axis=axis)
        return _Tile(self.logit.take(chosen, axis=axis), self.stop.take(chosen, axis=axis), pull, self.docs)


def _integrals(
    logit: NDArray[np.float64], continuation: NDArray[np.float64], pull: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    rows, n = logit.shape
    result = np.empty((rows, n))
    scores, stop = shifted(logit), 1.0 - continuation
    nodes = max(1, min(max(FEW, min(MANY, TILE // (8 * n))), TILE // n))
    step = max(1, TILE // (n * nodes))
    docs = 0 if n < SHORT else 1
    for start in range(0, rows, step):
        part = slice(start, start + step)
        pulled = None if pull is None else _laid(pull[part], docs)
        value = _tile(_Tile(_laid(scores[part], docs), _laid(stop[part], docs), pulled, docs), nodes)
        result[part] = value if docs else value.T
    return result


def _laid(values: NDArray[np.float64], docs: int) -> NDArray[np.float64]:
    return values if docs else np.ascontiguousarray(values.T)[:, :, None]


def _tile(tile: _Tile, nodes: int) -> NDArray[np.float64]:
    """Integrate until no row needs a further node: float64 (R, n), or (n, R) where rows lie side by side."""
    last = RIGHT - tile.logit.min(axis=tile.docs).ravel()
    result = np.zeros(tile.logit.shape[:2])
    active = np.arange(len(last))
    y = FIRST + STEP * np.arange(nodes, dtype=np.float64)
    while len(active):
        part, seen = _nodes(tile if len(active) == len(last) else tile.rows(active), *node_values(y, STEP))
        result[(active,) if tile.docs else (slice(None), active)] += part
        active = active[(last[active] >= y[-1]) & (seen > NEGLIGIBLE)]
        y = y + STEP * nodes
    return result


def _nodes(
    tile: _Tile, x: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes' part of the integral, and the log of the largest product left at the last node of each row.

    Documents lie along the last axis and nodes along the first, or the other way round: either way the order of
    every sum is the same for any number of rows.
    """
    docs, nodes = 2 * tile.docs, 2 - 2 * tile.docs
    if tile.docs:
        x, weight = x[:, None, None], weight[:, None, None]
    first = x.flat[0]
    arrived = np.exp(np.minimum(tile.logit + first, CLAMP)) * np.exp(x - first)
    np.minimum(arrived, np.exp(CLAMP), out=arrived)  # a = w t
    rest = np.negative(arrived)
    factor = np.expm1(rest)
    factor *= tile.stop
    with np.errstate(divide="ignore"):  # c = 0 and e^-a below rounding
        np.log1p(factor, out=factor)
    np.maximum(factor, rest, out=factor)  # log f >= -a always; equal where c = 0
    total = factor.sum(axis=docs, keepdims=True)
    seen = (total - factor.min(axis=docs, keepdims=True)).take(-1, axis=nodes).ravel()
    rest -= factor
    passed = np.exp(rest, out=rest)
    passed *= arrived  # u = a e^-a / f
    whole = np.exp(total + np.log(weight))
    if tile.pull is None:
        passed *= whole
        return passed.sum(axis=nodes), seen
    pulled = passed * tile.pull
    passed *= tile.stop
    np.subtract(passed, arrived, out=arrived)
    arrived += 1.0
    arrived *= pulled
    passed *= pulled.sum(axis=docs, keepdims=True)
    arrived -= passed
    arrived *= whole
    return arrived.sum(axis=nodes), seen

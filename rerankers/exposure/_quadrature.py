r"""The integral that gives exact Plackett-Luce exposure where ranks have no weights of their own.

Given the arrival time t of document d (see `_nodes`), every other document j is before it with probability
1 - e^{-w_j t}, independently. With c the continuations the expected exposure is

    E_d = \int w_d e^{-w_d t} \prod_{j \ne d} f_j dt,    f_j = c_j + (1 - c_j) e^{-w_j t}.

|f_j| <= 1 for every t of positive real part, so that a step of 1/4 reaches rounding error (about 1e-15) with some
sixty nodes, four more a nat of spread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure._nodes import CLAMP, FIRST, NEGLIGIBLE, RIGHT, node_values, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 0.25
NODES = 8  # nodes that are worked on together
SHORT = 64  # rows below this length lie side by side, so that inner loops stay long
TILE = 1 << 15  # entries of one temporary, so that all of them fit the cache


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
    rows, n = logit.shape
    exposure = np.ones((rows, n))
    if n == 1:
        return exposure
    scores = shifted(logit)
    nodes = min(NODES, max(1, TILE // n))
    step = max(1, TILE // (n * nodes))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        if n < SHORT:
            side_by_side = np.ascontiguousarray(scores[part].T), np.ascontiguousarray(continuation[part].T)
            exposure[part] = _tile(*side_by_side, nodes, 0).T
        else:
            exposure[part] = _tile(scores[part], continuation[part], nodes, 1)
    return exposure


def _tile(logit: NDArray[np.float64], continuation: NDArray[np.float64], nodes: int, docs: int) -> NDArray[np.float64]:
    """Integrate rows along axis 1 - docs of the arrays until no row needs a further node."""
    last = RIGHT - logit.min(axis=docs)
    stop = 1.0 - continuation
    exposure = np.zeros(logit.shape)
    active = np.arange(len(last))
    y = FIRST + STEP * np.arange(nodes, dtype=np.float64)
    while len(active):
        # `take` keeps the layout, and with it the order of sums; an index need not.
        open_rows = np.take(logit, active, axis=1 - docs), np.take(stop, active, axis=1 - docs)
        part, seen = _nodes(*open_rows, *node_values(y, STEP), docs)
        exposure[(active,) if docs else (slice(None), active)] += part
        active = active[(last[active] >= y[-1]) & (seen > NEGLIGIBLE)]
        y = y + STEP * nodes
    return exposure


def _nodes(
    logit: NDArray[np.float64],
    stop: NDArray[np.float64],
    x: NDArray[np.float64],
    weight: NDArray[np.float64],
    docs: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes' part of the integral, and the log of the largest product left at the last node of each row."""
    axis = 2 * docs  # nodes lie along axis 1
    arrived = logit[:, None, :] + x[:, None]
    np.minimum(arrived, CLAMP, out=arrived)
    np.exp(arrived, out=arrived)  # a = w t
    rest = np.negative(arrived)
    factor = np.expm1(rest)
    factor *= stop[:, None, :]
    with np.errstate(divide="ignore"):  # c = 0 and e^-a below rounding
        np.log1p(factor, out=factor)
    np.maximum(factor, rest, out=factor)  # log f >= -a always; equal where c = 0
    total = factor.sum(axis=axis, keepdims=True)
    seen = total[:, -1, :].sum(axis=docs) - factor[:, -1, :].min(axis=docs)
    rest -= factor
    rest += total + np.log(weight)[:, None]
    np.exp(rest, out=rest)
    rest *= arrived  # a e^-a prod_{j != d} f_j
    part = rest[:, 0].copy()
    for node in range(1, len(x)):  # one after the other: `sum` would group them by the number of rows
        part += rest[:, node]
    return part, seen

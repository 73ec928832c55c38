r"""The nodes of many rows, in order, until nothing can be added, with a step that is known to suffice beforehand.

With x = log t the integrands of `chain` and `geometric` are sums of terms a_d e^{-a_d} v_r [z^r] \prod_j (q_j + c_j
p_j z) with a_j = w_j e^x, q_j = e^{-a_j}, p_j = 1 - q_j. At x + i\theta, |\theta| < \pi / 2, |q_j| is q_j at the time
shortened by \cos\theta, and |p_j| is at most p_j at that time over \cos\theta, because 1 - e^{-u} = u \int_0^1 e^{-us}
ds. A term is thus no more than itself at the shortened time over (\cos\theta)^{r + 1}, and where k ranks have weight
the trapezoid rule of step h is wrong by at most 2 e^{-2 \pi \theta / h} (\cos\theta)^{-k} of the integral (Trefethen &
Weideman 2014, theorem 5.1; the bend of `nodes` lies where nothing has arrived). With \omega = 2 \pi / h the best
\theta is \arctan(\omega / k), and the exponent is \omega \arctan(\omega / k) - (k / 2) \log(1 + \omega^2 / k^2),
whatever the documents. A derivative by a logit has one density more: k + 1 in place of k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.closed_form.nodes import CLAMP, FIRST, RIGHT, node_values, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Add = Callable[[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]], None]

EXPONENT = 35.0  # e^-35 is 6e-16
LANES = 4  # nodes that are worked on together, a power of two
UNSEEN = 1e-20  # the chance to be looking still below which later nodes add nothing
TILE = 1 << 14  # entries of one temporary, so that all of them fit the cache
AHEAD = 8  # groups of nodes a row is given at once
STORED = 1 << 17  # numbers of the states of one segment, which fit the cache likewise


def step_for(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return steps that make the trapezoid rule exact to 2 e^-35: float64, for numbers of ranks of at least 1."""
    k = ranks.astype(np.float64)
    omega = np.sqrt(2.0 * EXPONENT * k) + EXPONENT
    for _ in range(8):  # Newton on a convex function: from the second step on from above
        angle = np.arctan(omega / k)
        omega -= (omega * angle - 0.5 * k * np.log1p((omega / k) ** 2) - EXPONENT) / angle
    steps: NDArray[np.float64] = 2.0 * np.pi / omega
    return steps


def segments(n: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return room for the states of a row's documents, each of ``width`` numbers at `LANES` nodes.

    Returns
    -------
    The states where segments begin, float64 (segments, width LANES), and those of the documents of one segment and
    what follows them, (documents + 1, width LANES): memory of order width sqrt(n), or what fits the cache.
    """
    length = min(n, max(int(np.ceil(np.sqrt(n))), STORED // (width * LANES)))
    return np.empty((-(-n // length), width * LANES)), np.empty((length + 1, width * LANES))


def writable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64 values in one piece, as loops are compiled for; they are not written."""
    return np.require(values, np.float64, ("C", "W"))


def sweep(logit: NDArray[np.float64], step: NDArray[np.float64], seen: NDArray[np.float64], add: Add) -> None:
    """Visit the nodes of all rows in order, in groups of `LANES`.

    Parameters
    ----------
    logit
        float64 (R, n), finite, n >= 1.
    step
        float64 (R,).
    seen
        float64 (R,), written by ``add``: a row ends where it falls below `UNSEEN`.
    add
        (rows (O,), race (O G 3, n LANES), measure (O G, LANES)) adds G groups of nodes to some rows. ``race`` has
        three rows for each group: a_j, e^{-a_j} and e^{-a_j} - 1. The sums of a row must not depend on how many
        groups come at once.
    """
    rows, n = logit.shape
    score = shifted(logit)
    right = RIGHT - score.min(axis=1)
    together = max(1, TILE // (n * LANES))
    for start in range(0, rows, together):
        still = np.arange(start, min(start + together, rows))
        first = 0
        while len(still):
            groups = min(max(1, together // len(still)), AHEAD)
            y = FIRST + step[still, None] * np.arange(first, first + groups * LANES)
            x, slope = node_values(y, 1.0)
            measure = np.where(y <= right[still, None], slope * step[still, None], 0.0)
            race = _race(score[still], x.reshape(len(still), groups, LANES))
            add(still, race, measure.reshape(-1, LANES))
            still = still[(y[:, -1] <= right[still]) & (seen[still] >= UNSEEN)]
            first += groups * LANES


def _race(score: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a, e^-a and e^-a - 1 for rows (O, n) at nodes (O, G, LANES): float64 (O G 3, n LANES)."""
    race = np.empty((*x.shape[:2], 3, score.shape[1], LANES))
    time, rest, gone = race[:, :, 0], race[:, :, 1], race[:, :, 2]
    for lane in range(LANES):
        np.add(score[:, None, :], x[:, :, lane, None], out=time[..., lane])
    np.minimum(time, CLAMP, out=time)
    np.exp(time, out=time)
    np.negative(time, out=rest)
    np.expm1(rest, out=gone)
    np.exp(rest, out=rest)
    return race.reshape(-1, score.shape[1] * LANES)

r"""Nodes of the integrals over arrival times.

Let documents arrive at independent times t_d ~ Exp(w_d), w = e^s: their order is a Plackett-Luce ranking. Every
expectation here is an integral over the time t of one document. With x = log t the integrand decays like e^x to the
left and doubly exponentially to the right. The substitution x = y - e^{-(y + b)}, with the sum of the weights scaled
to 1, makes the left decay doubly exponential as well (Takahasi & Mori 1974) and changes nothing where documents
arrive. The trapezoid rule in y then converges exponentially.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integrand = Callable[[float, NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64] | None]

BEND = 1.0  # the bend lies one unit left of the first arrivals
FIRST = -4.75  # the first y: e^-41 of the mass lies left of it
RIGHT = 3.75  # the last y lies this far right of the last arrival: e^-e^3.75 of its mass is left out
NEGLIGIBLE = -40.0  # log of a probability below which nothing is added
CLAMP = np.log(700.0)  # e^-700 is the last power that is no denormal number
COARSE = 0.3125  # the first step of refined sums: exact to about 1e-12 for integrands that are smooth in the rank
CHANGE = 4e-12  # halving squares the error or better: where it changes less than this, rounding is reached
ROUNDING = 1e-15  # a document: what the sums themselves can be wrong by
HALVINGS = 11  # enough for a million documents, whose arrivals are certain to a thousandth


def node_values(y: NDArray[np.float64], step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and the weight in x of nodes y a step apart."""
    bend = np.exp(-(y + BEND))
    return y - bend, step * (1.0 + bend)


def shifted(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logits (R, n) whose weights sum to 1 in each row."""
    out: NDArray[np.float64] = logit - logit.max(axis=1, keepdims=True)
    out -= np.log(np.exp(out).sum(axis=1, keepdims=True))
    return out


def refined(integrand: Integrand, right: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Halve the step until the sums of a row no longer change.

    A weight that falls off at one rank makes the integrand as steep as the time of that arrival is certain, which a
    fixed step would not resolve.

    Parameters
    ----------
    integrand
        (x, weight of the node in each row, rows) -> part of the sums (n, rows, ...), or None when no later node
        adds anything to any row.
    right
        float64 (R,), the y at which each row may stop.
    scale
        float64 (R,), the largest value possible in each row.

    Raises
    ------
    FloatingPointError
        when `HALVINGS` are not enough, which no finite input should cause.
    """
    rows = np.arange(len(right))
    step = COARSE
    total = _sweep(integrand, right, rows, FIRST, step)
    result = np.empty_like(total)
    for _ in range(HALVINGS):
        step /= 2.0
        finer = 0.5 * total + _sweep(integrand, right, rows, FIRST + step, 2.0 * step, 0.5)
        result[:, rows] = finer
        change = np.abs(finer - total).reshape(len(total), len(rows), -1).max(axis=(0, 2))
        moving = change > (CHANGE + ROUNDING * len(total)) * scale[rows]
        if not np.any(moving):
            return result
        rows, total = rows[moving], finer[:, moving]
    raise FloatingPointError(f"the exposure of {len(rows)} rows did not settle after {HALVINGS} halvings of the step")


def _sweep(
    integrand: Integrand, right: NDArray[np.float64], rows: NDArray[np.int64], y: float, step: float, share: float = 1.0
) -> NDArray[np.float64]:
    end = right[rows] + COARSE
    total: NDArray[np.float64] | None = None
    while y <= end.max():
        x, weight = node_values(np.array([y]), share * step)
        part = integrand(float(x[0]), np.where(y <= end, weight, 0.0), rows)
        if part is None:
            break
        total = part if total is None else total + part
        y += step
    if total is None:
        raise FloatingPointError("no document can be reached, although a rank has weight")
    return total

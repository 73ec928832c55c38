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

    Sweep = Callable[[float, float, NDArray[np.float64]], None]

BEND = 1.0  # the bend lies one unit left of the first arrivals
FIRST = -4.75  # the first y: e^-41 of the mass lies left of it
RIGHT = 3.75  # the last y lies this far right of the last arrival: e^-e^3.75 of its mass is left out
NEGLIGIBLE = -40.0  # log of a probability below which nothing is added
COARSE = 0.3125  # the first step of refined sums: exact to about 1e-12 for integrands that are smooth in the rank
HALVINGS = 11  # enough for a million documents, whose arrivals are certain to a thousandth
CLAMP = np.log(700.0)  # e^-700 is the last power that is no denormal number


def node_values(y: NDArray[np.float64], step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and the weight in x of nodes y a step apart."""
    bend = np.exp(-(y + BEND))
    return y - bend, step * (1.0 + bend)


def shifted(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logits (R, n) whose weights sum to 1 in each row."""
    out: NDArray[np.float64] = logit - logit.max(axis=1, keepdims=True)
    out -= np.log(np.exp(out).sum(axis=1, keepdims=True))
    return out


def refined(sweep: Sweep, total: NDArray[np.float64], tolerance: float, step: float = COARSE) -> NDArray[np.float64]:
    """Halve the step until an integral no longer changes.

    A weight that falls off at one rank makes the integrand as steep as the time of that arrival is certain, which a
    fixed step would not resolve.

    Parameters
    ----------
    sweep
        (the y of the first node, the distance of the others, sums) adds the values of the integrand to the sums.
    total
        float64, zeros, which are overwritten.
    tolerance
        what the last halving may change.
    step
        the first distance.

    Raises
    ------
    FloatingPointError
        when `HALVINGS` are not enough, which no finite input should cause.
    """
    sweep(FIRST, step, total)
    for _ in range(HALVINGS):
        added = np.zeros_like(total)
        sweep(FIRST + 0.5 * step, step, added)  # the nodes between those that there are
        step *= 0.5
        change = step * float(np.abs(added - total).max())
        total += added
        if change <= tolerance:
            total *= step
            return total
    raise FloatingPointError(f"an integral did not settle after {HALVINGS} halvings of the step")

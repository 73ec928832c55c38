r"""The arithmetic of Mallows rankings of one row, with documents numbered in the order of the reference.

With q = e^{-theta} and [m] = 1 + q + ... + q^{m-1} a ranking arises in two ways:

* insertion (Doignon, Pekec & Regenwetter 2004): document i, from the first of the reference on, is put at rank a <= i
  among those before it with probability q^{i-a} / [i+1];
* selection (Fligner & Verducci 1986): each rank takes the document that lies v down in what is left of the reference,
  m documents, with probability q^v / [m]. So the first ranks are drawn without the others.

Exposure comes from insertion. Let P_m(a) be the chance to go on past the first a ranks when m documents are in, and
A_m(a) what rank a among them is worth to its document: the chance to go on past all that is put above it later, times
the weight of the rank where it ends. Document m is put above rank a with probability q^{m-a} [a+1] / [m+1], so that

    P_{m+1}(a) = ([m+1-a] P_m(a) + q^{m+1-a} [a] c_m P_m(a-1)) / [m+1],       P_m(0) = 1,
    A_m(a)     = ([m-a] A_{m+1}(a) + q^{m-a} [a+1] c_m A_{m+1}(a+1)) / [m+1],    A_n(a) = the weight of rank a,
    E_i        = \sum_{a<=i} q^{i-a} / [i+1] P_i(a) A_{i+1}(a),

because where a document is put does not depend on the order of those before it. Every term is positive, so nothing
cancels. The time is of order n times the number of ranks that have weight, whatever the continuations are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLAT = 1e-20  # a dispersion below which no probability differs from 1 / m by a rounding error


def powers(n: int, dispersion: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return q^m and [m] for m from 0 to n: float64 (n + 1,) each."""
    m = np.arange(n + 1, dtype=np.float64)
    if dispersion < _FLAT:
        return np.ones(n + 1), m
    power, bracket = np.ones(n + 1), np.zeros(n + 1)
    power[1:] = np.exp(-dispersion * m[1:])
    bracket[1:] = np.expm1(-dispersion * m[1:]) / np.expm1(-dispersion)
    return power, bracket


def insertion_exposure(
    continuation: NDArray[np.float64], position: NDArray[np.float64], dispersion: float
) -> NDArray[np.float64]:
    """Return the expected exposure of one row in the order of its reference.

    Parameters
    ----------
    continuation
        float64 (n,), in the order of the reference.
    position
        float64 (K,), the weights of the first K <= n ranks; 0 beyond.
    dispersion
        at least 0, or infinite.

    Returns
    -------
    float64 (n,).
    """
    from rerankers.policies._mallows_loops import row_exposure

    exposure = np.zeros(len(continuation))
    if len(position):
        row_exposure(continuation, position, *powers(len(continuation), dispersion), exposure)
    return exposure


def selected(noise: NDArray[np.float64], reference: NDArray[np.int32], dispersion: float) -> NDArray[np.int32]:
    """Return the first k ranks of rankings by selection: int32 (S, k).

    Parameters
    ----------
    noise
        float64 (S, k), strictly between 0 and 1; overwritten.
    reference
        int32 (n,), the documents in the order of the reference.
    dispersion
        at least 0, or infinite.
    """
    from rerankers.policies._mallows_loops import select

    order = np.empty(noise.shape, dtype=np.int32)
    left = len(reference) - np.arange(noise.shape[1], dtype=np.float64)
    select(_displacement(noise, left, dispersion), np.array(reference), order)
    return order


def inserted(noise: NDArray[np.float64], reference: NDArray[np.int32], dispersion: float, k: int) -> NDArray[np.int32]:
    """Return the first k ranks of rankings by insertion: int32 (S, k); ``noise`` (S, n) as in `selected`."""
    from rerankers.policies._mallows_loops import insert

    order = np.empty((len(noise), k), dtype=np.int32)
    sizes = np.arange(1.0, noise.shape[1] + 1.0)
    insert(_displacement(noise, sizes, dispersion), np.array(reference), order)
    return order


def _displacement(noise: NDArray[np.float64], sizes: NDArray[np.float64], dispersion: float) -> NDArray[np.int64]:
    """Turn noise (S, k) into v from 0 to m - 1 with probability q^v / [m], m = ``sizes`` (k,): int64 (S, k)."""
    if dispersion < _FLAT:
        noise *= sizes
    else:  # the inverse of (1 - q^v) / (1 - q^m)
        noise *= np.expm1(-dispersion * sizes)
        np.log1p(noise, out=noise)
        noise /= -dispersion
    return np.minimum(noise, sizes - 1.0).astype(np.int64, order="C")


def selection_log_prob(
    displacement: NDArray[np.int64], left: NDArray[np.int64], dispersion: float
) -> NDArray[np.float64]:
    """Return the log probability of taking the document ``displacement`` down among ``left`` documents, elementwise."""
    bracket = powers(int(left.max(initial=0)), dispersion)[1]
    chance = -np.log(bracket[left])
    moved = displacement > 0
    chance[moved] -= dispersion * displacement[moved]
    return chance


def mallows_rank_marginals(n: int, dispersion: float, k: int) -> NDArray[np.float64]:
    """Return the exact probabilities of ranks under a Mallows distribution.

    Parameters
    ----------
    n
        documents.
    dispersion
        at least 0, or infinite.
    k
        how many ranks, from the first; at least 1.

    Returns
    -------
    float64 (n, k), place in the reference by 0-based rank; 0 at ranks from n on. The time is of order n k^2.
    """
    n, k = whole_number("n", n, 0), whole_number("k", k, 1)
    if not dispersion >= 0:
        raise InputError.one("dispersion", str(dispersion), "0 or more")
    probability = np.zeros((n, k))
    for rank in range(min(n, k)):
        only = np.zeros(rank + 1)
        only[rank] = 1.0
        probability[:, rank] = insertion_exposure(np.ones(n), only, dispersion)
    return probability

"""Attention-weighted rank fairness (Sapiezynski et al. 2019): how close the groups' share of attention is to a target.

The TREC Fair Ranking tracks of 2021 and 2022 compare the two distributions by the Jensen-Shannon divergence (Lin 1991)
in nats, so that AWRF lies between 1 - ln 2 = 0.3069 and 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.scaling import near_one

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SCALES = ("nats", "unit")


def awrf(weights: ArrayLike, alignment: ArrayLike, target: ArrayLike, scale: str = "nats") -> float:
    """Return 1 - JS(shares, target), the divergence in nats unless another scale is asked for.

    Parameters
    ----------
    weights
        (n,), the attention each ranked document receives, at least 0.
    alignment
        (n, G), how much each document belongs to each group, at least 0. Rows need not sum to 1, and a row of zeros is
        a document of no group.
    target
        (G,), at least 0, with a positive sum; it is divided by that sum, as are the shares ``weights @ alignment``.
    scale
        ``nats``, as in the tracks of 2021 and 2022; ``unit``: the divergence over ln 2, which is in bits.

    Returns
    -------
    float
        between 1 - ln 2 (0 on the unit scale) and 1; 1 where shares and target are equal.

    Raises
    ------
    InputError
        for shapes that do not fit, values that are negative or not finite, a target of zeros, and attention that
        reaches no group: there the shares are not defined.
    ConfigError
        for another scale.
    """
    choose("scale", scale, SCALES)
    weight = _vector("weights", weights)
    matrix = np.asarray(alignment, dtype=np.float64)
    aim = _vector("target", target)
    if matrix.shape != (len(weight), len(aim)):
        expected = f"({len(weight)}, {len(aim)}), documents by groups"
        raise InputError.one("alignment", f"shape {matrix.shape}", expected)
    _nonnegative("alignment", matrix)
    given = near_one(weight) @ near_one(matrix)
    return fairness_of(js_of_shares(shares("weights @ alignment", given), shares("target", aim)), scale)


def js_divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon divergence of two distributions in nats, from 0 to ln 2 (Lin 1991).

    ½ Σ p log(p / m) + ½ Σ q log(q / m) with m = (p + q) / 2, where terms of 0 count 0.

    Parameters
    ----------
    p, q
        float64 (G,), at least 0; each is divided by its sum.

    Raises
    ------
    InputError
        for lengths that differ, values that are negative or not finite, or a sum of 0.
    """
    if np.shape(p) != np.shape(q):
        raise InputError.one("q", f"shape {np.shape(q)}", f"that of p, {np.shape(p)}")
    return js_of_shares(shares("p", p), shares("q", q))


def js_of_shares(p: NDArray[np.float64], q: NDArray[np.float64], p_beyond: float = 0.0, q_beyond: float = 0.0) -> float:
    """Return the divergence of two distributions whose values are known where either may be positive.

    Parameters
    ----------
    p, q
        float64 (G,), the probabilities of the same cells.
    p_beyond, q_beyond
        how much of p and of q lies in other cells, no cell holding some of both: each such cell of p adds
        ½ p log 2.
    """
    both = p + q
    apart = 0.5 * math.log(2) * (p_beyond + q_beyond)
    divergence = 0.5 * float(np.sum(_times_log(p, both)) + np.sum(_times_log(q, both))) + apart
    return min(max(divergence, 0.0), math.log(2))


def fairness_of(divergence: float, scale: str = "nats") -> float:
    """Return 1 - divergence in nats, or on the ``unit`` scale 1 - divergence / ln 2, from 0 to 1.

    Raises
    ------
    ConfigError
        for another scale.
    """
    choose("awrf_scale", scale, SCALES)
    return 1.0 - divergence / (math.log(2) if scale == "unit" else 1.0)


def shares(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return non-negative values divided by their sum, float64 (G,).

    Raises
    ------
    InputError
        when there is nothing to divide: values that are negative or not finite, or a sum of 0.
    """
    vector = _vector(name, values)
    largest = vector.max(initial=0.0)
    if largest == 0:
        raise InputError.one(name, "zeros only", "a positive sum", mend="Nothing can be said about shares of nothing.")
    vector = vector / largest  # the sum of huge values would overflow
    divided: NDArray[np.float64] = vector / vector.sum()
    return divided


def _times_log(p: NDArray[np.float64], both: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p log(2 p / both), 0 where p is 0."""
    ratio = np.ones_like(p)
    np.divide(2 * p, both, out=ratio, where=p > 0)
    return p * np.log(ratio)


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise InputError.one(name, f"shape {vector.shape}", "a vector")
    _nonnegative(name, vector)
    return vector


def _nonnegative(name: str, values: NDArray[np.float64]) -> None:
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        wrong = values[~(np.isfinite(values) & (values >= 0))].flat[0]
        raise InputError.one(name, f"the value {wrong}", "finite numbers of at least 0")

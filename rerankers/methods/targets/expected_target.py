r"""The equal-exposure target where relevance is known by probabilities only: its mean, exactly.

Under the target of Diaz et al. (2020) the exposure of a document depends on whether it is relevant and on the number m
of relevant documents alone: with v the weights of ranks, c_1 and c_0 the continuations,

    T_1(m) = 1 / m \sum_{r < m} v_r c_1^r,    T_0(m) = c_1^m / (n - m) \sum_{r = m}^{n - 1} v_r c_0^{r - m}.

Its mean over independent relevance, \rho_d E[T_1(1 + N_{-d})] + (1 - \rho_d) E[T_0(N_{-d})], needs the distribution of
the number N_{-d} of relevant documents among the others: from those before a document and the means over those behind
it, without dividing anything out. No labels are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.methods.targets.believed import relevant_grade

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel


def expected_equal_exposure(
    indptr: NDArray[np.int64], chance: NDArray[np.float64], model: BrowsingModel
) -> NDArray[np.float64]:
    """Return the mean of the equal-exposure target over relevance that is drawn independently.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    chance
        float64 (nnz,) in [0, 1], the probability that a document is relevant.
    model
        the browsing model.

    Returns
    -------
    float64 (nnz,).

    Raises
    ------
    ConfigError
        for a model whose continuation differs between documents of the same relevance.
    """
    from rerankers.methods.targets.expected_target_loops import means_over_numbers

    mean = np.zeros(len(chance))
    if not len(chance):
        return mean
    continuations = []
    for grade in (relevant_grade(model), 0.0):
        bound = model.bind(np.full(len(chance), grade), indptr)
        continuations.append(float(bound.continuation[0]))
        if np.any(bound.continuation != bound.continuation[0]):
            raise ConfigError(f"target: found browsing {model}; expected one that looks at ranks and relevance only")
    chances = np.ascontiguousarray(chance, dtype=np.float64)
    for row in range(len(indptr) - 1):
        low, high = int(indptr[row]), int(indptr[row + 1])
        if high > low:
            weight = np.ones(high - low) if bound.position is None else bound.position[: high - low]
            means_over_numbers(chances[low:high], *_by_number(weight, *continuations), mean[low:high])
    return mean


def _by_number(
    weight: NDArray[np.float64], passed: float, skipped: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the target of a relevant and of another document by the number m = 0..n of relevant ones: (n + 1,)."""
    n = len(weight)
    number = np.arange(n + 1)
    power = np.power(passed, number)
    relevant, other = np.zeros(n + 1), np.zeros(n + 1)
    relevant[1:] = np.cumsum(weight * power[:-1]) / number[1:]
    behind = 0.0
    for m in range(n - 1, -1, -1):
        behind = float(weight[m]) + skipped * behind
        other[m] = power[m] * behind / (n - m)
    return relevant, other

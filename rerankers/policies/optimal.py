"""The policy that is best for an objective, row by row, with what certifies it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.optimal.frank_wolfe import Objective, Optimum, frank_wolfe_rows
from rerankers.policies.mixture import Mixture
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import Browsing
    from rerankers.values.ragged import Ragged


def optimal_policy(
    over: Ragged,
    objectives: Sequence[Objective],
    browsing: Browsing,
    stream: NDArray[np.uint64],
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> tuple[Mixture, NDArray[np.float64]]:
    """Return the mixture of rankings of each row that minimises its objective, and the gaps that certify it.

    Parameters
    ----------
    over
        the rows.
    objectives
        one a row: convex functions of the exposures of that row's documents; see `frank_wolfe`.
    browsing
        bound to the rows, with an exact linear oracle.
    stream
        uint64 (B, 2), digests of the queries.
    tolerance, max_iterations
        as for `frank_wolfe`, of every row.

    Returns
    -------
    The policy, and float64 (B,): the objective of row i lies at most gap i above its minimum over all policies. A gap
    above the tolerance says that the iterations did not suffice.

    Raises
    ------
    ValueError
        as `frank_wolfe_rows`, and for streams that are not one a row.
    """
    found = frank_wolfe_rows(objectives, over.indptr, browsing, tolerance, max_iterations)
    return mixture_of(over, found, stream), np.array([optimum.gap for optimum in found], dtype=np.float64)


def mixture_of(over: Ragged, optima: Sequence[Optimum], stream: NDArray[np.uint64]) -> Mixture:
    """Return the policy that draws from the rankings of one optimum a row.

    Parameters
    ----------
    over
        the B rows.
    optima
        B policies, of `frank_wolfe`, `frank_wolfe_rows` or `least_loss_with_utility`.
    stream
        uint64 (B, 2), digests of the queries.

    Raises
    ------
    ValueError
        for policies that are not one a row or rank another number of documents, and streams that are not one a row.
    """
    sizes = [optimum.rankings.shape[1] for optimum in optima]
    if sizes != over.lengths.tolist():
        raise InputError.one("optima", f"policies over {sizes} documents", f"{over.lengths.tolist()}, one a row")
    counts = np.array([len(optimum.weights) for optimum in optima], dtype=np.int64)
    rankings = Rankings(
        over,
        _pointers(counts),
        _pointers(np.repeat(over.lengths, counts)),
        np.concatenate([np.empty(0, np.int64), *(optimum.rankings.ravel() for optimum in optima)]).astype(np.int32),
        np.concatenate([np.empty(0), *(optimum.weights for optimum in optima)]),
        np.concatenate([np.empty(0, np.int64), *(np.arange(count) for count in counts)]).astype(np.int32),
    )
    return Mixture(rankings, stream)


def _pointers(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

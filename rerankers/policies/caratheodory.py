"""Given exposures as mixtures of few rankings, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.optimal.caratheodory import decompose
from rerankers.exposure.optimal.permutahedron import document_array, padded_weights
from rerankers.policies.mixture import Mixture
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.values.ragged import Ragged


def mixture_of_exposure(
    over: Ragged, exposure: ArrayLike, position: ArrayLike, stream: NDArray[np.uint64]
) -> tuple[Mixture, NDArray[np.float64]]:
    """Return the mixture of at most n rankings a row with given expected exposures; see `exposure.caratheodory`.

    Parameters
    ----------
    over
        the rows, of n documents each.
    exposure
        (nnz,), each row in the permutahedron of the weights up to 1e-9 of their sum.
    position
        (K,), weights of ranks, at least 0 and not increasing; 0 beyond the end, and cut at the length of a row.
    stream
        uint64 (B, 2), digests of the queries.

    Returns
    -------
    The mixture, and float64 (B,): by how much its exposures miss those asked for at most.

    Raises
    ------
    ValueError
        for exposures outside the permutahedron (the text names the row and the excess), numbers that are not finite,
        weights that increase, or another shape.
    """
    value = document_array("exposure", exposure, over.nnz)
    weights = padded_weights(position, int(over.lengths.max(initial=1)))
    found = [decompose(value[over.row(row)], weights, row) for row in range(len(over))]
    counts = np.array([len(part.weights) for part in found], dtype=np.int64)
    rankings = Rankings(
        over,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(np.repeat(over.lengths, counts))]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(part.rankings.ravel() for part in found)]).astype(np.int32),
        np.concatenate([np.empty(0), *(part.weights for part in found)]),
        np.concatenate([np.empty(0, np.int32), *(np.arange(count) for count in counts)]).astype(np.int32),
    )
    return Mixture(rankings, stream), np.array([part.residual for part in found])

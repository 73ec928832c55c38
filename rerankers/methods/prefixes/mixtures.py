"""A policy of the rankings of each row and their weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers.policies import Mixture
from rerankers.values import Rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.values import Block


def mixture(block: Block, weights: Sequence[NDArray[np.float64]], rankings: Sequence[NDArray[np.integer]]) -> Mixture:
    """Return the policy that draws one of the rankings of a row by their weights.

    Parameters
    ----------
    block
        of B rows.
    weights
        B arrays (m,), each summing to 1.
    rankings
        B arrays (m, n) of documents, as positions within the row.
    """
    even = Rankings.of_matrix(block.candidates, list(rankings))
    return Mixture(replace(even, weight=np.concatenate([np.empty(0), *weights])), block.stream)

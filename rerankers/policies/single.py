"""One query at a time, arrays in and arrays out: the functions of `rerankers.policies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.exposure.checks import logit_array
from rerankers.policies._race import Race
from rerankers.policies.base import check_draws

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sample_plackett_luce(scores: ArrayLike, k: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Draw Plackett-Luce rankings of one query.

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity for documents that come after all others.
    k
        how many ranks to return, 1 to n; they do not depend on k.
    draws
        how many rankings.
    seed
        equal seeds give equal rankings; draw i does not depend on ``draws``.

    Returns
    -------
    int64 (draws, k), 0-based documents, best first.
    """
    logit = logit_array(scores)
    n = len(logit)
    if not 1 <= k <= n:
        raise InputError.one("k", str(k), f"1 to {n}, the number of documents")
    check_draws(draws, 0, k)
    return Race(logit, seed, query_streams([""])[0])(0, draws, k).astype(np.int64)

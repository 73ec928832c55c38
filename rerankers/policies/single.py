"""One query at a time, arrays in and arrays out: the functions of `rerankers.policies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.exposure.checks import logit_array, whole_number
from rerankers.policies._race import Race
from rerankers.policies.base import LABELS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@np.errstate(under="ignore")
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

    Raises
    ------
    ValueError
        for scores that are not numbers, more ranks than documents, and anything but whole numbers for the others.
    """
    logit = logit_array(scores)
    n = len(logit)
    k = whole_number("k", k, 1)
    if k > n:
        raise InputError.one("k", str(k), f"1 to {n}, the number of documents")
    draws, seed = whole_number("draws", draws, 0, LABELS), whole_number("seed", seed)
    return Race(logit, seed, query_streams([""])[0])(0, draws, k).astype(np.int64)

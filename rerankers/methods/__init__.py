"""Rerankers: one file a method, the file's name being the method's name in configs and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.methods.base import TIERS, Method, check_method, check_policy
from rerankers.methods.deterministic import Deterministic
from rerankers.methods.plackett_luce import PlackettLuce
from rerankers.methods.uniform import Uniform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rerankers.policies import Policy

__all__ = [
    "METHODS",
    "TIERS",
    "Deterministic",
    "Method",
    "PlackettLuce",
    "Uniform",
    "check_method",
    "check_policy",
    "rerank_one",
]

METHODS: dict[str, type[Any]] = {"deterministic": Deterministic, "plackett_luce": PlackettLuce, "uniform": Uniform}


def rerank_one(method: str, scores: ArrayLike, **options: Any) -> Policy:
    """Return the policy of a method for one query.

    Parameters
    ----------
    method
        a method's name, for instance ``"plackett_luce"``.
    scores
        (n,), finite; the candidates are documents 0..n-1 in this order.
    **options
        the method's options, for instance ``temperature=0.5``.

    Returns
    -------
    Policy
        over one row. In its rankings an item is a document's index in ``scores``.

    Raises
    ------
    ConfigError
        for an unknown method or option value.
    InputError
        for scores that are not finite.
    """
    from rerankers._base.errors import ConfigError, InputError, choose
    from rerankers._base.streams import query_streams
    from rerankers.values import Block, Candidates

    kind = METHODS[choose("method", method, METHODS)]
    score = np.asarray(scores, dtype=np.float64)
    if score.ndim != 1 or not np.all(np.isfinite(score)):
        raise InputError.one(
            "scores", f"shape {score.shape} or values that are not finite", "finite numbers, shape (n,)"
        )
    try:
        built = kind(**options)
    except TypeError as error:
        raise ConfigError(f"method {method}: {error}") from error
    candidates = Candidates(
        np.zeros(1, np.int32), np.array([0, len(score)]), np.arange(len(score), dtype=np.int32), {"score": score}
    )
    policy: Policy = built.policy(Block(candidates, query_streams([""])))
    return policy

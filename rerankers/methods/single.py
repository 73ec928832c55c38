"""A method on one query: scores in, a policy out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.streams import query_streams
from rerankers.methods.base import GROUP_TIERS
from rerankers.methods.names import METHODS
from rerankers.methods.targets import as_target
from rerankers.values import Block, Candidates, GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.policies import Policy


def rerank_one(
    method: str,
    scores: ArrayLike,
    groups: Sequence[str | None] | None = None,
    *,
    target: object = None,
    seed: int = 0,
    browsing: BrowsingModel | None = None,
    **options: Any,
) -> Policy:
    """Return the policy of a method for one query.

    Parameters
    ----------
    method
        a method's name, for instance ``"plackett_luce"``.
    scores
        (n,), finite; the candidates are documents 0..n-1 in this order.
    groups
        (n,), the group of each document, None where it is not known (it counts as a group of its own). Only
        methods of the tiers that may see groups are given it.
    target
        for methods that aim at one: the name of a target (``"uniform"``), a mapping group -> share, or shares in the
        order of the groups' names; None: ``equal_exposure``.
    seed
        of methods that draw something to make their policy. Rankings take theirs in ``policy.sample(n, seed)``.
    browsing
        what the method aims at; None: ``GERR(0.5, 0.5)``.
    **options
        the method's options, for instance ``temperature=0.5``.

    Returns
    -------
    Policy
        over one row. In its rankings an item is a document's index in ``scores``.

    Raises
    ------
    ConfigError
        for an unknown method or option value, a target that the method does not aim at, and a method that needs groups
        where there are none.
    InputError
        for scores that are not finite, or groups of another length.
    """
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
    if target is not None and not getattr(built, "uses_target", False):
        raise ConfigError(f"method {method}: found a target; expected None, since it aims at none")
    aligned = {} if groups is None else {"group": _alignment(groups, len(score))}
    seen = aligned if built.tier in GROUP_TIERS else {}
    names = tuple(sorted({str(label) for label in groups or () if label is not None}))
    aim = as_target("equal_exposure" if target is None else target, names)
    policy: Policy = built.policy(
        Block(candidates, query_streams([""]), seen, target=aim, browsing=browsing, seed=seed)
    )
    return policy


def _alignment(groups: Sequence[str | None], n: int) -> GroupAlignment:
    if len(groups) != n:
        raise InputError.one("groups", f"{len(groups)} labels", f"{n}, one a score")
    names = tuple(sorted({str(label) for label in groups if label is not None}))
    doc = np.array([d for d, label in enumerate(groups) if label is not None], dtype=np.int64)
    code = np.array([names.index(str(label)) for label in groups if label is not None], dtype=np.int64)
    entries = GroupAlignment.of_entries("group", names, doc, code, np.ones(len(doc)), n)
    return entries.resolve("count")

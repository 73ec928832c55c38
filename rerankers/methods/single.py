"""A method on one query: scores in, a policy out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.streams import query_streams
from rerankers.methods.base import GROUP_TIERS, check_method, check_policy
from rerankers.methods.names import METHODS
from rerankers.methods.targets import as_target
from rerankers.values import Block, Candidates, GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.methods.base import Method
    from rerankers.policies import Policy

_SHOWN = 60  # characters of a wrong argument


def rerank_one(
    method: str | Method,
    scores: ArrayLike,
    groups: Sequence[str | None] | NDArray[Any] | None = None,
    *,
    target: object = None,
    seed: int = 0,
    browsing: BrowsingModel | None = None,
    method_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Policy:
    """Return the policy of a method for one query.

    Parameters
    ----------
    method
        a method's name, for instance ``"plackett_luce"``, or a method of your own, an object with its options.
    scores
        (n,), finite; the candidates are documents 0..n-1 in this order.
    groups
        (n,), the group of each document, None where it is not known (it counts as a group of its own); a sequence or
        an array. Only methods of the tiers that may see groups are given it.
    target
        for methods that aim at one: the name of a target (``"uniform"``), a mapping group -> share, or shares in the
        order of the groups' names; None: ``equal_exposure``.
    seed
        of methods that draw something to make their policy. Rankings take theirs in ``policy.sample(n, seed)``.
    browsing
        what the method aims at; None: ``GERR(0.5, 0.5)``.
    method_options
        further options, for those whose names are taken above: ``{"target": "merit"}`` of `fair_co`, ``scores`` of
        `kl_greedy`.
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
        for scores that are not finite, groups of another length, and what is no single label.
    """
    name = method if isinstance(method, str) else type(method).__name__
    built = _built(method, options | dict(method_options or {}))
    score = _scores(scores)
    candidates = Candidates(
        np.zeros(1, np.int32), np.array([0, len(score)]), np.arange(len(score), dtype=np.int32), {"score": score}
    )
    if target is not None and not getattr(built, "uses_target", False):
        mend = f" Its own option: method_options={{'target': {target!r}}}" if hasattr(built, "target") else ""
        raise ConfigError(f"method {name}: found a target; expected None, since it aims at none.{mend}")
    labels = None if groups is None else _labels(groups, len(score))
    aligned = {} if labels is None else {"group": _alignment(labels, len(score))}
    seen = aligned if built.tier in GROUP_TIERS else {}
    names = tuple(sorted({label for label in labels or () if label is not None}))
    aim = as_target("equal_exposure" if target is None else target, names)
    block = Block(candidates, query_streams([""]), seen, target=aim, browsing=browsing, seed=seed)
    policy: Policy = built.policy(block)
    check_policy(policy, built, block)
    return policy


def _built(method: str | Method, options: Mapping[str, Any]) -> Any:
    if isinstance(method, str):
        kind = METHODS[choose("method", method, METHODS)]
        try:
            return kind(**options)
        except TypeError as error:
            raise ConfigError(f"method {method}: {error}") from error
    check_method(method)
    if options:
        found = ", ".join(options)
        raise ConfigError(f"method {type(method).__name__}: found {found} beside an object; expected its own fields")
    return method


def _scores(scores: ArrayLike) -> NDArray[np.float64]:
    try:
        score = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError.one("scores", repr(scores)[:_SHOWN], "finite numbers, shape (n,)") from None
    if score.ndim != 1 or not np.all(np.isfinite(score)):
        raise InputError.one(
            "scores", f"shape {score.shape} or values that are not finite", "finite numbers, shape (n,)"
        )
    return score


def _labels(groups: Sequence[str | None] | NDArray[Any], n: int) -> list[str | None]:
    """Return the label of each document as text, None where it is not known."""
    if not hasattr(groups, "__len__"):
        raise InputError.one("groups", repr(groups)[:_SHOWN], f"a sequence of {n} labels, one a score")
    if len(groups) != n:
        raise InputError.one("groups", f"{len(groups)} labels", f"{n}, one a score")
    found: list[str | None] = []
    for place, label in enumerate(groups):
        if isinstance(label, list | tuple | set | frozenset | dict | np.ndarray):
            raise InputError.one(f"groups[{place}]", repr(label)[:_SHOWN], "one label a document, or None")
        if label != label:
            raise InputError.one(f"groups[{place}]", "NaN", "None for a document of unknown group")
        found.append(None if label is None else str(label))
    return found


def _alignment(labels: Sequence[str | None], n: int) -> GroupAlignment:
    known = [(doc, label) for doc, label in enumerate(labels) if label is not None]
    names = tuple(sorted({label for _, label in known}))
    doc = np.array([doc for doc, _ in known], dtype=np.int64)
    code = np.array([names.index(label) for _, label in known], dtype=np.int64)
    entries = GroupAlignment.of_entries("group", names, doc, code, np.ones(len(doc)), n)
    return entries.resolve("count")

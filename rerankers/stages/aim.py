"""The target of a job: checked against its queries, and filled in from training judgments where it is made of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers.methods import GROUP_TIERS
from rerankers.methods.targets import RelevantShare

if TYPE_CHECKING:
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.values import Topics


def aims_at_target(method: Method) -> bool:
    """Return whether a method looks at ``target=``."""
    return bool(getattr(method, "uses_target", False))


def takes_groups(method: Method, target: Target) -> bool:
    """Return whether a method, or what it aims at, looks at groups of the ranked documents."""
    return method.tier in GROUP_TIERS or (aims_at_target(method) and target.tier in GROUP_TIERS)


def ready_target(target: Target, method: Method, collection: Any, groups: Any, topics: Topics) -> Target | None:
    """Return what a method aims at, None where it aims at none.

    Parameters
    ----------
    collection, groups
        the config objects; the training split of the collection is read for shares of judged relevant documents.
    topics
        of the job: a file of shares has to fit them.

    Raises
    ------
    ConfigError
        for shares of training judgments where the collection has no training split, or is it.
    InputError
        for a file that does not fit the queries.
    """
    if not aims_at_target(method):
        return None
    if isinstance(target, RelevantShare) and target.path is None and target.shares is None:
        target = _of_training(target, collection, groups)
    check = getattr(target, "check_queries", None)
    if check is not None:
        check(topics.ids.names.to_pylist())
    return target


def _of_training(target: RelevantShare, collection: Any, groups: Any) -> RelevantShare:
    if getattr(collection, "split", None) != "eval":
        raise ConfigError(
            "target=relevant_share: found no file, and a collection whose training queries are not set apart; expected "
            "collection.split=eval, which takes the shares of the other split's judgments, or target.path=FILE"
        )
    training = dataclasses.replace(collection, split="train").load()
    return target.fit(training.judgments, groups.align(training).alignments)

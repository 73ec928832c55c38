"""From raw labels to an alignment: what a document with labels of several groups belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.values.groups import GroupAlignment, Kind
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.labels import Labels

MIXED = "mixed"
MIXED_POLICIES = ("own_group", "full", "split", "drop", "up", "down")


class _Pairs(NamedTuple):
    """Distinct (document, group) pairs, documents ascending, then groups: int64 (m,) each."""

    doc: NDArray[np.int64]
    group: NDArray[np.int64]

    def where(self, keep: NDArray[np.bool_]) -> _Pairs:
        return _Pairs(self.doc[keep], self.group[keep])


def lift(labels: Labels, mixed: str = "own_group", order: Sequence[str] | None = None) -> tuple[GroupAlignment, Counts]:
    """Align documents with the groups of their labels.

    The groups of a document are the distinct known labels among its entries; unknown entries beside known ones say
    nothing and are counted. A document of one group has weight 1 there; a document without any is unknown (1).
    With weights (`Labels.weight`) ``mixed`` does not apply: the weights of a document are divided by their sum, and
    the share of its unlabelled entries is its unknown part; a document whose weights sum to 0 is unknown.

    Parameters
    ----------
    labels
        of documents or of their authors.
    mixed
        what a document of m > 1 groups belongs to: ``own_group``: one extra group called "mixed"; ``full``: each of
        them with weight 1; ``split``: each with weight 1/m; ``drop``: none, it is unknown; ``up``, ``down``: the one
        that is highest, lowest in ``order``.
    order
        all groups from low to high, for ``up`` and ``down``.

    Returns
    -------
    alignment, counts
        kind ``share`` for ``split`` and for weights, else ``membership``; not yet resolved. Counts, where there are
        any: ``documents_without_group`` (unknown as a whole), ``documents_mixed``, ``documents_without_authors``,
        ``unknown_labels_beside_known``, ``documents_without_weight``.

    Raises
    ------
    ConfigError
        for another word than the above, or an ``order`` that is missing or does not name exactly the groups.
    """
    choose("groups.mixed", mixed, MIXED_POLICIES)
    rank = _ranks(labels, order) if mixed in ("up", "down") else None
    if labels.weight is not None:
        return _shares(labels, labels.weight)
    pairs = _distinct(labels)
    several = np.bincount(pairs.doc, minlength=labels.n_docs)
    single, more = pairs.where(several[pairs.doc] == 1), pairs.where(several[pairs.doc] > 1)
    groups = labels.groups
    kind: Kind = "share" if mixed == "split" else "membership"
    if mixed == "own_group":
        more = _Pairs(np.unique(more.doc), np.zeros(np.count_nonzero(several > 1), np.int64))
        groups = groups if MIXED in groups or not len(more.doc) else (*groups, MIXED)
        more.group[:] = groups.index(MIXED) if len(more.doc) else 0
    elif mixed == "drop":
        more = more.where(np.zeros(len(more.doc), bool))
    elif rank is not None:
        more = _extreme(more, rank, highest=mixed == "up")
    weight = np.ones(len(single.doc) + len(more.doc))
    if mixed == "split":
        weight[len(single.doc) :] = 1.0 / several[more.doc]
    entries = [np.concatenate(both) for both in zip(single, more, strict=True)]
    alignment = _align(labels, groups, entries[0], entries[1], weight, kind)
    return alignment, _counts(labels, alignment, several)


def _align(
    labels: Labels,
    groups: tuple[str, ...],
    doc: NDArray[np.int64],
    group: NDArray[np.int64],
    weight: NDArray[np.float64],
    kind: Kind,
) -> GroupAlignment:
    return GroupAlignment.of_entries(labels.attribute, groups, doc, group, weight, labels.n_docs, kind)


def _distinct(labels: Labels) -> _Pairs:
    known = labels.label >= 0
    width = max(len(labels.groups), 1)
    key = np.unique(labels.doc[known] * width + labels.label[known])
    return _Pairs(key // width, key % width)


def _ranks(labels: Labels, order: Sequence[str] | None) -> NDArray[np.int64]:
    """Return the rank of each group, int64 (G,), low to high."""
    listed = ", ".join(labels.groups)
    if order is None:
        raise ConfigError(f"groups.order: no value; expected the groups from low to high: groups.order=[{listed}]")
    if sorted(order) != sorted(labels.groups):
        raise ConfigError(f"groups.order: found [{', '.join(order)}]; expected each of {listed} once, from low to high")
    return np.array([list(order).index(group) for group in labels.groups], dtype=np.int64)


def _extreme(pairs: _Pairs, rank: NDArray[np.int64], highest: bool) -> _Pairs:
    """Keep of each document the pair whose group ranks highest (or lowest)."""
    height = rank[pairs.group] if highest else -rank[pairs.group]
    by = np.lexsort((-height, pairs.doc))
    doc, first = np.unique(pairs.doc[by], return_index=True)
    return _Pairs(doc, pairs.group[by][first])


def _shares(labels: Labels, weight: NDArray[np.float64]) -> tuple[GroupAlignment, Counts]:
    doc = labels.doc
    total = np.bincount(doc, weights=weight, minlength=labels.n_docs)
    keep = weight > 0
    share, doc, label = weight[keep] / total[doc[keep]], doc[keep], labels.label[keep]
    known = label >= 0
    out = _align(labels, labels.groups, doc[known], label[known].astype(np.int64), share[known], "share")
    unknown = np.bincount(doc[~known], weights=share[~known], minlength=labels.n_docs)
    several = np.diff(out.indptr)
    alignment = replace(out, unknown=np.where(several > 0, unknown, 1.0))
    weightless = (total == 0) & (np.diff(labels.indptr) > 0)
    return alignment, {**_counts(labels, alignment, several), **met(documents_without_weight=int(weightless.sum()))}


def _counts(labels: Labels, alignment: GroupAlignment, several: NDArray[np.int64]) -> Counts:
    beside = (labels.label < 0) & (several[labels.doc] > 0)
    return met(
        documents_without_group=int((np.diff(alignment.indptr) == 0).sum()),
        documents_mixed=int((several > 1).sum()),
        documents_without_authors=int((np.diff(labels.indptr) == 0).sum()) if labels.level == "author" else 0,
        unknown_labels_beside_known=int(beside.sum()) if labels.weight is None else 0,
    )

"""How the weight of a result list is shared by groups, and how close that is to a target: one axis of balance.

The same functions serve one ranking (its position weights) and a stochastic policy (the expected weight of each
document), so that other queries and fair rankings of the same query stand on the same axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.rank_discount import rank_discount
from rerankers.queries.closeness import CLOSENESS, closeness, closenesses
from rerankers.queries.masses import masses_of, shares_of
from rerankers.values.groups import UNKNOWN, UNKNOWN_POLICIES, GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

WEIGHTS: Final = ("uniform", "log2", "wptrec", "rbp")
"""Weights of ranks, `rank_weights`."""
NO_DOCUMENT, NO_KNOWN_WEIGHT = "no_document", "no_known_weight"
"""Why a list has no distribution."""


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The shares of groups in the weight of a list.

    Attributes
    ----------
    groups
        names; ``unknown`` is the last of them where unlabelled documents count as a group.
    shares
        float64 (groups,), sums to 1; None where nothing is known.
    unknown_share
        part of all weight that is on documents without a label, before any policy; None without weight.
    reason
        why there are no shares, ``""`` where there are.
    """

    groups: tuple[str, ...]
    shares: Floats | None
    unknown_share: float | None
    reason: str = ""

    def named(self) -> dict[str, float] | None:
        """Return group -> share, None where there are none."""
        if self.shares is None:
            return None
        return dict(zip(self.groups, self.shares.tolist(), strict=True))


def rank_weights(name: str, n: int, patience: float = 0.5) -> Floats:
    """Return the weights of the ranks 1 to n, float64 (n,).

    Parameters
    ----------
    name
        ``uniform`` 1; ``log2`` 1 / log2(1 + i) (Järvelin & Kekäläinen 2002); ``wptrec`` 1 / log2(max(i, 2)), where
        ranks 1 and 2 are equal (the TREC Fair Ranking track 2022); ``rbp`` (1 - p) p^(i - 1) (Moffat & Zobel 2008).
    n
        how many, at least 0.
    patience
        p of ``rbp``, above 0 and below 1.

    Raises
    ------
    ConfigError
        for another name.
    InputError
        for a negative n, or a patience out of its range.
    """
    choose("weights", name, WEIGHTS)
    if n < 0:
        raise InputError.one("n", str(n), "at least 0")
    rank = np.arange(1, n + 1, dtype=np.float64)
    if name == "uniform":
        return np.ones(n)
    if name == "rbp":
        if not 0 < patience < 1:
            raise InputError.one("patience", str(patience), "a number above 0 and below 1")
        return (1.0 - patience) * patience ** (rank - 1.0)
    return rank_discount(n) if name == "wptrec" else 1.0 / np.log2(rank + 1.0)


def unresolved(alignment: GroupAlignment) -> GroupAlignment:
    """Return an alignment whose unknown part is stated: of one resolved by ``count``, its group ``unknown``.

    Raises
    ------
    InputError
        for one that was resolved by another policy, which left no trace of what was unknown.
    """
    if not alignment.resolved and UNKNOWN not in alignment.groups:
        return alignment
    groups = tuple(name for name in alignment.groups if name != UNKNOWN)
    if alignment.resolved and groups == alignment.groups and not np.all(np.diff(alignment.indptr)):
        raise InputError.one(alignment.attribute, "documents whose unknown part was resolved", "unknown=count")
    place = np.array([groups.index(name) if name != UNKNOWN else -1 for name in alignment.groups], dtype=np.int64)
    doc = np.repeat(np.arange(alignment.n_docs), np.diff(alignment.indptr))
    group = place[alignment.group] if len(place) else np.empty(0, dtype=np.int64)
    lost = np.bincount(doc[group < 0], alignment.weight[group < 0], minlength=alignment.n_docs)
    kept = group >= 0
    entries = GroupAlignment.of_entries(
        alignment.attribute, groups, doc[kept], group[kept], alignment.weight[kept], alignment.n_docs, alignment.kind
    )
    part = lost if alignment.resolved else lost + alignment.unknown
    return GroupAlignment(
        entries.attribute, groups, entries.kind, entries.indptr, entries.group, entries.weight, np.minimum(part, 1.0)
    )


def distribution(alignment: GroupAlignment, docs: ArrayLike, weights: ArrayLike, unknown: str = "drop") -> Distribution:
    """Return how the weight of documents is shared by groups.

    With m_g = Σ_d w_d A_dg the share is m_g / Σ m_g. Without any known weight there is none, whatever the policy.

    Parameters
    ----------
    alignment
        not resolved (see `unresolved`); its ``unknown`` says which part of a document has no label.
    docs
        int (m,), codes of documents; of a ranking its first documents, of a policy all candidates.
    weights
        float (m,), at least 0: weights of the ranks (`rank_weights`), or the expected exposure of each document.
    unknown
        ``drop``: unlabelled weight is left out; ``spread``: shared equally by the groups; ``count``: a group of its
        own, called ``unknown``, which the target must then have too.

    Raises
    ------
    ConfigError
        for another policy.
    InputError
        for shapes that differ, weights that are negative or not finite, codes out of range, a resolved alignment.
    """
    codes, weight = np.asarray(docs), np.asarray(weights, dtype=np.float64)
    if codes.ndim != 1 or codes.shape != weight.shape:
        raise InputError.one("weights", f"shape {weight.shape}", f"one for each of the {codes.size} documents")
    shares, lost = distributions(alignment, [codes], [weight], unknown)
    groups = (*alignment.groups, UNKNOWN) if unknown == "count" else alignment.groups
    if np.isnan(lost[0]):
        return Distribution(groups, None, None, NO_DOCUMENT)
    if np.isnan(shares[0]).any():
        return Distribution(groups, None, float(lost[0]), NO_KNOWN_WEIGHT)
    return Distribution(groups, shares[0], float(lost[0]))


def distributions(
    alignment: GroupAlignment, lists: Sequence[ArrayLike], weights: Sequence[ArrayLike], unknown: str = "drop"
) -> tuple[Floats, Floats]:
    """Return how the weight of each of several lists is shared by groups: `distribution` of many at once.

    Parameters
    ----------
    alignment, unknown
        as of `distribution`.
    lists, weights
        one array of document codes, and one of weights of the same length, a list.

    Returns
    -------
    shares, unknown_share
        float64 (lists, G), and one column more for ``unknown`` where that counts as a group: NaN in the whole row
        where no weight is known; float64 (lists,), NaN for a list without weight.

    Raises
    ------
    ConfigError, InputError
        as `distribution`.
    """
    choose("unknown", unknown, UNKNOWN_POLICIES)
    mass, lost, total = masses_of(alignment, lists, weights)
    unknown_share = np.divide(lost, total, out=np.full(len(total), np.nan), where=total > 0)
    return shares_of(mass, lost, unknown), unknown_share


__all__ = [
    "CLOSENESS",
    "NO_DOCUMENT",
    "NO_KNOWN_WEIGHT",
    "WEIGHTS",
    "Distribution",
    "closeness",
    "closenesses",
    "distribution",
    "distributions",
    "rank_weights",
    "unresolved",
]

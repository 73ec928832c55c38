r"""Utility and amortised unfairness over query sequences (Biega, Diaz, Ekstrand and Kohlmeier 2020).

A user looks at the document at 0-based rank i with probability gamma^i \prod_{j<i} (1 - f(r_j)), f(r) = 0.7 r, and is
served by it with probability f(r_i). Over the impressions of a sequence, groups gather exposure E_g and relevance R_g,
both divided by their sums; the unfairness is the Euclidean distance of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import exclusive_products
from rerankers.tracks.official2019 import continuation_that_skips, seen_and_satisfying

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment


@dataclass(frozen=True, slots=True)
class Rules:
    """How sequences are scored; `rerankers.tracks.trec2019.Trec2019` says what the words mean."""

    gamma: float
    stop: float
    times_satisfaction: bool
    skips: bool


@dataclass(slots=True, eq=False)
class Totals:
    """What gathers over the impressions of S sequences.

    Attributes
    ----------
    utility
        float64 (S,), added up.
    impressions
        int64 (S,).
    exposure, relevance
        float64 (S, G), added up.
    """

    utility: NDArray[np.float64]
    impressions: NDArray[np.int64]
    exposure: NDArray[np.float64]
    relevance: NDArray[np.float64]

    @classmethod
    def zero(cls, sequences: int, groups: int) -> Totals:
        """Return totals of nothing."""
        square = (sequences, groups)
        return cls(np.zeros(sequences), np.zeros(sequences, np.int64), np.zeros(square), np.zeros(square))

    def unfairness(self) -> NDArray[np.float64]:
        """Return the distance of the shares, float64 (S,): NaN where nothing is exposed or relevant, 0 without groups.

        With a single group, or with none, all shares agree.
        """
        if not self.exposure.shape[1]:
            return np.zeros(len(self.utility))
        shares = []
        for part in (self.exposure, self.relevance):
            total = part.sum(axis=1, keepdims=True)
            shares.append(np.divide(part, total, out=np.full(part.shape, np.nan), where=total > 0))
        distance: NDArray[np.float64] = np.sqrt(np.sum((shares[0] - shares[1]) ** 2, axis=1))
        return distance


def attention(
    stop: NDArray[np.float64], annotated: NDArray[np.bool_], indptr: NDArray[np.int64], rules: Rules
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability that each ranked document is looked at: for users, and for the groups' exposure.

    Parameters
    ----------
    stop
        float64 (items,), f of each ranked document.
    annotated
        bool (items,), whether a document has labels.
    indptr
        int64 (R + 1,), the rankings.
    """
    rank = np.arange(len(stop)) - np.repeat(indptr[:-1], np.diff(indptr))
    discount = rules.gamma**rank
    of_users = discount * exclusive_products(1.0 - stop, indptr)
    if not rules.skips:
        return of_users, of_users
    return of_users, discount * exclusive_products(continuation_that_skips(stop, annotated), indptr)


def add_impressions(
    totals: Totals,
    sequence: NDArray[np.integer],
    doc: NDArray[np.integer],
    stop: NDArray[np.float64],
    indptr: NDArray[np.int64],
    groups: GroupAlignment | None,
    rules: Rules,
) -> None:
    """Add rankings to the totals of their sequences.

    Parameters
    ----------
    sequence
        int (R,), the sequence of each ranking.
    doc
        int (items,), codes of the ranked documents, one ranking after the other, best first.
    stop
        float64 (items,), f of each.
    indptr
        int64 (R + 1,), the rankings.
    groups
        documents by labels, weights say how often a document has one; None without groups.
    """
    size = len(totals.utility)
    labelled = np.zeros(len(doc), dtype=bool) if groups is None else np.diff(groups.indptr)[doc] > 0
    of_users, of_groups = attention(stop, labelled, indptr, rules)
    row = np.repeat(np.asarray(sequence, dtype=np.int64), np.diff(indptr))
    totals.impressions += np.bincount(sequence, minlength=size)
    totals.utility += np.bincount(row, weights=of_users * stop, minlength=size)
    if groups is not None:
        exposure = seen_and_satisfying(of_groups, stop) if rules.times_satisfaction else of_groups
        totals.exposure += groups.totals(row, doc, exposure, size)
        totals.relevance += groups.totals(row, doc, stop, size)

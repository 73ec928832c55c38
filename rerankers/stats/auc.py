"""Area under the ROC curve, over all pairs and within queries, with intervals over queries.

AUC is the probability that a relevant pair has a higher score than one that is not, ties counting half (Mann and
Whitney 1947). Pooled over queries it says whether a probability threshold means the same everywhere; within queries,
whether documents are in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import RESAMPLES, Interval, resample_counts
from rerankers.stats.clusters import check_bootstrap, cluster_index, interval_of, ratio_intervals
from rerankers.stats.contests import Contests

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Auc:
    """Both areas of a scorer.

    Attributes
    ----------
    pooled
        over all pairs of all queries; None where there is no relevant pair or no other.
    standard_error
        of the pooled area, for pairs clustered in queries (Obuchowski 1997; of pairs that are clusters of their own,
        that of DeLong, DeLong and Clarke-Pearson 1988); None where it is not defined.
    within
        mean over queries that have relevant pairs and others.
    per_query
        float64 (B,), NaN for queries without both.
    counts
        ``queries_without_relevant`` and ``queries_of_relevant_only``, which ``within`` leaves out.
    """

    pooled: Interval
    standard_error: float | None
    within: Interval
    per_query: NDArray[np.float64]
    counts: Mapping[str, int] = field(default_factory=dict)


def roc_auc(
    score: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    indptr: NDArray[np.int64],
    *,
    cluster: NDArray[np.integer] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: str = "bca",
) -> Auc:
    """Return both areas with bootstrap intervals over queries.

    Parameters
    ----------
    score
        float64 (nnz,), not NaN.
    relevant
        bool (nnz,).
    indptr
        int64 (B + 1,), the queries. Their order decides which resample each falls into: sort them by query id.
    cluster
        int (B,), queries of one code are drawn together, for instance variants of a topic; None: each by itself.
    seed, resamples, level, method
        as of `mean_intervals`.

    Raises
    ------
    InputError
        for shapes that do not fit, labels that are not bool, scores of NaN, and options out of range.
    ConfigError
        for an unknown method.
    """
    check_bootstrap(resamples, level, method)
    rank, labels = _checked(score, relevant, indptr)
    lengths = np.diff(indptr)
    group, clusters = cluster_index(len(lengths), cluster)
    options = {"level": level, "method": method}
    within = per_query_auc(score, relevant, indptr)
    has = ~np.isnan(within)
    cells = np.zeros((clusters, 2))
    np.add.at(cells, group[has], np.column_stack([within[has], np.ones(has.sum())]))
    present = cells[cells[:, 1] > 0]  # clusters without a value are no part of the sample
    mean = ratio_intervals(present, _quotient, seed=seed, resamples=resamples, level=level, method=method)[0]
    pairs = Contests.of(rank, labels, np.repeat(group, lengths), clusters)
    drawn = resample_counts(clusters, seed, resamples) if pairs.defined and clusters > 1 else ()
    areas = [pairs.areas(times) for times in drawn]
    resampled = np.concatenate(areas) if areas else np.empty(0)
    with_relevant = np.bincount(np.repeat(np.arange(len(lengths)), lengths)[labels], minlength=len(lengths))
    counts = {
        "queries_without_relevant": int(np.sum(with_relevant == 0)),
        "queries_of_relevant_only": int(np.sum((with_relevant == lengths) & (lengths > 0))),
    }
    pooled = interval_of(pairs.area, resampled, pairs.left_out(), clusters, **options)  # type: ignore[arg-type]
    return Auc(pooled, pairs.standard_error(), mean, within, {name: count for name, count in counts.items() if count})


def pooled_auc(score: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """Return the area over all pairs, in O(n log n); NaN without a relevant pair or without another.

    Parameters
    ----------
    score
        float64 (n,), not NaN.
    relevant
        bool (n,).
    """
    rank, labels = _checked(score, relevant, np.array([0, len(score)]))
    return Contests.of(rank, labels, np.zeros(len(rank), dtype=np.int64), 1).area


def per_query_auc(
    score: NDArray[np.float64], relevant: NDArray[np.bool_], indptr: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the area within each query, float64 (B,), NaN for queries without both kinds; see `roc_auc`."""
    rank, labels = _checked(score, relevant, indptr)
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((rank, row))
    label, place = labels[order], np.arange(len(order))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (rank[order][1:] != rank[order][:-1]) | (row[order][1:] != row[order][:-1])
    block = np.cumsum(new) - 1
    first = place[new]
    last = np.append(first[1:], len(order)) - 1
    others = np.concatenate([[0], np.cumsum(~label)])  # before each place
    below = (others[first] + others[last + 1]) / 2 - others[indptr[:-1]][row[order][new]]
    won = np.bincount(row[order][label], weights=below[block][label], minlength=len(indptr) - 1)
    relevant_pairs = np.bincount(row[labels], minlength=len(indptr) - 1)
    contests = (relevant_pairs * (np.diff(indptr) - relevant_pairs)).astype(np.float64)
    area: NDArray[np.float64] = np.full(len(contests), np.nan)
    np.divide(won, contests, out=area, where=contests > 0)
    return area


def _quotient(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = np.full((len(sums), 1), np.nan)
    np.divide(sums[:, :1], sums[:, 1:], out=out, where=sums[:, 1:] > 0)
    return out


def _checked(
    score: NDArray[np.float64], relevant: NDArray[np.bool_], indptr: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (int64 ranks of the distinct scores, labels)."""
    values, labels = np.asarray(score, dtype=np.float64), np.asarray(relevant)
    if values.ndim != 1 or labels.shape != values.shape:
        raise InputError.one("score and relevant", f"shapes {values.shape} and {labels.shape}", "equal, (nnz,)")
    if labels.dtype != np.bool_:
        raise InputError.one("relevant", str(labels.dtype), "bool", mend="Compare grades with a threshold first.")
    if np.isnan(values).any():
        raise InputError.one("score", f"{np.isnan(values).sum()} of NaN", "numbers")
    if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(values) or np.any(np.diff(indptr) < 0):
        raise InputError.one("indptr", "rows that do not cut the pairs", f"bounds from 0 up to {len(values)}")
    return np.unique(values, return_inverse=True)[1].astype(np.int64), labels

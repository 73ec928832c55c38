"""What measures of gender presence need of an evaluation: labels and values of documents, seen by rank.

They need no judgments, unlike all others, and so have values for queries that nobody judged. Depth is the measure's
``@k``, else ``measures.cutoff``, else the whole ranking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.browsing import DCG, Positions, TopKSet
from rerankers.measures import over_draws
from rerankers.measures.group_measure import attribute_of
from rerankers.measures.word_magnitudes import rank_weights
from rerankers.values.companions import companion
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.values import GroupAlignment, Ragged

    Floats = NDArray[np.float64]

_SURE = 1e-9
"""By how much the weights of a ranking may miss their sum where a policy ranks as many documents as there are."""


def depth_of(measure: Measure, evaluation: Evaluation) -> int | None:
    """Return how many ranks count, None for all."""
    return evaluation.options.cutoff if measure.cutoff is None else measure.cutoff


def values_of(measure: Measure, evaluation: Evaluation, kind: str) -> GroupAlignment | None:
    """Return what documents carry besides the groups of the measure's attribute, None where they carry nothing.

    The attribute is the one named, else the only one; without any groups, the only one that has a companion.
    """
    named = dict(measure.params).get("group")
    attribute = str(named) if named is not None else attribute_of(measure, evaluation) if evaluation.groups else None
    if attribute is None:
        ending = companion("", kind)
        have = [key for key in evaluation.companions if key.endswith(ending)]
        return evaluation.companions[have[0]] if len(have) == 1 else None
    return evaluation.companions.get(companion(attribute, kind))


def log_exposure(evaluation: Evaluation, k: int | None) -> tuple[Ragged, Floats]:
    """Return the rows of documents that may be ranked, and each document's expected 1/log2(1+rank) within k."""
    found = evaluation.candidate_exposure(DCG(cutoff=k))
    return found.over, found.value


def totals(over: Ragged, value: Floats) -> Floats:
    """Add up a value of documents by query, float64 (B,)."""
    summed: Floats = np.bincount(over.row_index, weights=value, minlength=len(over)).astype(np.float64, copy=False)
    return summed


def unlabelled(alignment: GroupAlignment, docs: NDArray[np.integer]) -> Floats:
    """Return the part of each document that has no label, whether it was dropped or counted as a group: (m,)."""
    item, group, weight = alignment.entries(docs)
    known = np.array([name != UNKNOWN for name in alignment.groups], dtype=np.bool_)[group]
    labelled = np.bincount(item[known], weights=weight[known], minlength=len(docs))
    missing: Floats = np.maximum(1.0 - labelled, 0.0)
    return missing


def first_ranks(
    evaluation: Evaluation, k: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return what stands within depth k of every ranking.

    Returns
    -------
    ranking, pair, rank
        int64 (items,): the ranking, the place in the rows of documents and the rank from 0 of every item.
    shown
        int64 (R,), items a ranking.
    """
    base = over_draws.before_shuffling(evaluation)
    return base.once(("first ranks", k), lambda: _first_ranks(base, k))


def _first_ranks(
    evaluation: Evaluation, k: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    rankings = evaluation.rankings
    lengths = np.diff(rankings.item_ptr)
    shown = lengths if k is None else np.minimum(lengths, k)
    ranking = np.repeat(np.arange(len(rankings)), shown)
    rank = np.arange(len(ranking)) - np.repeat(np.cumsum(shown) - shown, shown)
    item = rankings.item[rankings.item_ptr[:-1][ranking] + rank]
    return ranking, rankings.over.indptr[rankings.row_of_ranking][ranking] + item, rank, shown


def weighted_means(
    measure: str, evaluation: Evaluation, alignment: GroupAlignment, k: int | None
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return means of documents' values over ranks and rankings, under the rank weights of RaB, ARaB or nDRaB.

    The weights of a ranking sum to 1 over the documents it has within k. From exact exposures where the policy has
    them and ranks as many documents as there are; else from its rankings, which are exact where they are the policy.

    Returns
    -------
    mean, unknown
        float64 (B, G) and (B,): the mean of each column, and the weight of documents whose values are not known.
    ranked
        bool (B,): whether any document is ranked; where none is, the means are 0.
    """
    over = evaluation.source.over
    filled, weight = over.lengths > 0, np.zeros(over.nnz)
    sure = np.zeros(len(over), dtype=np.bool_)
    if over_draws.are_estimates(evaluation):
        weight, sure = _exact_weights(measure, evaluation, k)
    exact = alignment.totals(over.row_index, over.doc, weight, len(over))
    lost = totals(over, weight * alignment.unknown[over.doc])
    if np.all(sure | ~filled):
        return exact, lost, filled
    mean, unknown, ranked = _drawn_means(measure, evaluation, alignment, k)
    chosen = sure[:, np.newaxis]
    return np.where(chosen, exact, mean), np.where(sure, lost, unknown), sure | ranked


def _drawn_means(
    measure: str, evaluation: Evaluation, alignment: GroupAlignment, k: int | None
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the same as `weighted_means`, from rankings."""
    docs = evaluation.source.over.doc
    ranking, pair, rank, shown = first_ranks(evaluation, k)
    start, tables = _tables(measure, shown)
    weight = tables[start[ranking] + rank]
    of_ranking = alignment.totals(ranking, docs[pair], weight, len(shown))
    unknown = np.bincount(ranking, weights=weight * alignment.unknown[docs[pair]], minlength=len(shown))
    filled = np.where((shown > 0)[:, np.newaxis], np.column_stack([unknown, of_ranking]), np.nan)
    both = np.stack([over_draws.mean(evaluation.rankings, column) for column in filled.T], axis=1)
    lost, mean = both[:, 0], both[:, 1:]
    return np.nan_to_num(mean), np.nan_to_num(lost), ~np.isnan(lost)


def _tables(measure: str, shown: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return the weights of every length that occurs, one after another, and where those of each ranking start."""
    sizes, which = np.unique(shown, return_inverse=True)
    start = np.cumsum(sizes) - sizes
    return start[which], np.concatenate([np.empty(0), *(rank_weights(measure, int(size)) for size in sizes)])


def _exact_weights(measure: str, evaluation: Evaluation, k: int | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each candidate's expected rank weight, and the queries where it is known.

    There is none without closed form, and none where a policy ranks fewer documents than there are: then the length of
    its lists, on which the weights depend, is not known, and the weights do not sum to 1.
    """
    over = evaluation.source.over
    shown = over.lengths if k is None else np.minimum(over.lengths, k)
    weight, sure = np.zeros(over.nnz), np.zeros(len(over), dtype=np.bool_)
    reach = _reach(measure, shown, k)
    for one in np.unique(reach[shown > 0]).tolist():
        found = evaluation.candidate_exposure(_model(measure, one, k, int(over.lengths.max(initial=1))))
        if not found.exact:
            return weight, sure
        rows = (reach == one) & (shown > 0)
        value = _normalised(measure, found.value, np.maximum(shown, 1)[over.row_index], one)
        rows &= np.abs(totals(over, value) - 1.0) <= _SURE
        sure |= rows
        mine = rows[over.row_index]
        weight[mine] = value[mine]
    return weight, sure


def _reach(measure: str, shown: NDArray[np.int64], k: int | None) -> NDArray[np.int64]:
    """Return how many ranks the model of each query goes down, which depends on no other query: int64 (B,).

    ARaB needs few models for many lengths: k ranks, or without a cutoff the next power of two. Those of RaB and nDRaB
    have the same weights for any number.
    """
    if measure != "ARaB" or k is not None:
        return np.full(len(shown), 1 if k is None else k, dtype=np.int64)
    return np.exp2(np.ceil(np.log2(np.maximum(shown, 1)))).astype(np.int64)


def _model(measure: str, reach: int, k: int | None, longest: int) -> BrowsingModel:
    if measure == "RaB":
        return TopKSet(k or longest)
    return DCG(cutoff=k) if measure == "nDRaB" else Positions(tuple(rank_weights("ARaB", reach).tolist()))


def _normalised(measure: str, value: Floats, size: NDArray[np.int64], reach: int) -> Floats:
    """Turn exposures into expected weights for lists of ``size`` documents, (nnz,).

    With H the harmonic numbers, rank i weighs (H_size - H_{i-1}) / size; the model gives (H_reach - H_{i-1}) / reach.
    """
    if measure == "RaB":
        return np.asarray(value / size)
    if measure == "nDRaB":
        sums = np.concatenate([[1.0], np.cumsum(1.0 / np.log2(np.arange(2, int(size.max(initial=1)) + 2)))])
        return np.asarray(value / sums[size])
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, max(reach, int(size.max(initial=1))) + 1))])
    return np.asarray((reach * value - (harmonic[reach] - harmonic[np.minimum(size, reach)])) / size)

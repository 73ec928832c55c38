"""The pools of all sets as a list for assessors: the documents first whose judgments would settle most."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np

from rerankers.queries.pool_bounds import ratio
from rerankers.queries.pools import TopicPools, among

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Judgments

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FILE = "pool.csv"
H_ONLY, G_ONLY, BOTH = range(3)


def pool_table(sets: Sets, found: Found, judged: Judgments, depth: int) -> str:
    """Return the pools as CSV: topic, docno, settles, judged, and for each set its best rank and number of variants.

    Parameters
    ----------
    sets, found
        the sets, and what their variants retrieve; codes of documents ascend with their ids.
    judged
        by topic: ``query`` is the place in ``sets.topics``.
    depth
        of the pools.

    Notes
    -----
    ``settles`` is by how much judging the document is expected to narrow the bounds of the Jaccard overlap of relevant
    documents (`rerankers.queries.pool_bounds`), summed over the sets that are held against the reference. Whether it
    is relevant is taken as likely as among the judged documents of the same part (only in the one pool, only in the
    other, in both), with one relevant and one other document added (Laplace). Judged documents settle nothing and
    come last; the order is by ``settles``, then by the number of variants that found a document, topic and docno.
    """
    width = max(len(found.docs), 1)
    pools = {name: _pool(found, list(of.values()), depth, width) for name, of in found.rows.items()}
    keys = np.unique(np.concatenate([pool[0] for pool in pools.values()]))
    ranks, variants = (np.zeros((len(pools), len(keys)), dtype=np.int64) for _ in range(2))
    for row, (key, best, times) in enumerate(pools.values()):
        place = np.searchsorted(keys, key)
        ranks[row, place], variants[row, place] = best, times
    judgment = judged.query[judged.row_index].astype(np.int64) * width + judged.doc
    order = np.argsort(judgment, kind="stable")
    judgment, grade = judgment[order], judged.grade[order]
    known = among(keys, judgment)
    grades = np.zeros(len(keys), dtype=np.int64)
    grades[known] = grade[np.searchsorted(judgment, keys[known])]
    topic, names = keys // width, list(pools)
    human, settles = ranks[names.index(sets.reference)] > 0, np.zeros(len(keys))
    for row, name in enumerate(names):
        if name != sets.reference:
            settles += gains(topic, human, ranks[row] > 0, known, grades > 0)
    by_id = np.argsort(np.argsort(np.array(sets.topics, dtype=object), kind="stable"))  # not by the order of a file
    order = np.lexsort((keys % width, by_id[topic], -variants.sum(axis=0), -settles, known))
    columns = [
        [sets.topics[at] for at in topic[order].tolist()],
        found.docs.take(keys[order] % width),
        [
            "" if done else f"{gain:.6g}"
            for done, gain in zip(known[order].tolist(), settles[order].tolist(), strict=True)
        ],
        [at if done else "" for done, at in zip(known[order].tolist(), grades[order].tolist(), strict=True)],
    ]
    columns += [
        [at or "" for at in table[row, order].tolist()] for row in range(len(names)) for table in (ranks, variants)
    ]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = [f"{name} {what}" for name in names for what in ("best rank", "variants")]
    writer.writerow(["topic", "docno", "settles", "judged", *header])
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue()


def _pool(found: Found, places: list[tuple[int, ...]], depth: int, width: int) -> tuple[Ints, Ints, Ints]:
    """Return the distinct topic * width + document of a set, ascending, the best rank of each and its variants."""
    all_of, own = found.candidates, np.zeros(len(found), dtype=bool)
    own[[row for rows in places for row in rows]] = True
    rank = np.arange(all_of.nnz) - all_of.indptr[all_of.row_index]
    chosen = np.flatnonzero(own[all_of.row_index] & (rank < depth))
    topic = found.topics.topic.astype(np.int64)[all_of.row_index[chosen]]
    pools = TopicPools.of_keys(topic * width + all_of.doc[chosen], rank[chosen], int(topic.max(initial=0)) + 1, width)
    key, best = pools.best()
    return key, best + 1, pools.variants(key, depth)


def gains(topic: Ints, human: Bools, other: Bools, judged: Bools, relevant: Bools) -> Floats:
    """Return by how much judging each document is expected to narrow the bounds; 0 for judged ones and strangers.

    Parameters
    ----------
    topic
        int64 (N,), of each document, from 0.
    human, other
        bool (N,), which documents are in either pool.
    judged, relevant
        bool (N,), which have a judgment, and which are relevant by it.
    """
    topics = int(topic.max(initial=-1)) + 1
    part = np.where(human & other, BOTH, np.where(human, H_ONLY, G_ONLY))
    cell, inside = topic * 3 + part, human | other

    def counted(flag: Bools) -> Ints:
        return np.bincount(cell[inside & flag], minlength=topics * 3).reshape(topics, 3)

    done, good = counted(judged), counted(judged & relevant)
    left = counted(~judged)
    alone, both = left[:, H_ONLY] + left[:, G_ONLY], left[:, BOTH]
    shared, union = good[:, BOTH], good.sum(axis=1)
    before, rate = _width(shared, union, alone, both), (good + 1) / (done + 2)
    table = np.empty((topics, 3))
    for place in (H_ONLY, G_ONLY):
        yes, no = _width(shared, union + 1, alone - 1, both), _width(shared, union, alone - 1, both)
        table[:, place] = before - rate[:, place] * yes - (1 - rate[:, place]) * no
    yes, no = _width(shared + 1, union + 1, alone, both - 1), _width(shared, union, alone, both - 1)
    table[:, BOTH] = before - rate[:, BOTH] * yes - (1 - rate[:, BOTH]) * no
    return np.where(inside & ~judged, table[topic, part], 0.0)


def _width(shared: Ints, union: Ints, alone: Ints, both: Ints) -> Floats:
    """Return the width of the bounds of Jaccard; an end without a document counts as 0."""
    low, high = ratio(shared, union + alone), ratio(shared + both, union + both)
    return np.nan_to_num(high) - np.nan_to_num(low)

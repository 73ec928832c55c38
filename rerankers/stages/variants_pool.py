"""The pools of all sets as a list for assessors: the documents first whose judgments would settle most."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Judgments

FILE = "pool.csv"


@dataclass(frozen=True, slots=True)
class Seen:
    """How a set found a document: the best rank, from 1, and in how many of its variants."""

    rank: int
    variants: int


def pool_table(sets: Sets, found: Found, judged: Judgments, depth: int) -> str:
    """Return the pools as CSV: topic, docno, settles, judged, and for each set its best rank and number of variants.

    Parameters
    ----------
    sets, found
        the sets, and what their variants retrieve.
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
    come last; a topic's order is by ``settles``, then by the number of variants that found a document.
    """
    grades = {
        int(query): dict(zip(judged.doc[part].tolist(), judged.grade[part].tolist(), strict=True))
        for query, part in zip(judged.query.tolist(), map(judged.row, range(len(judged))), strict=True)
    }
    names = list(sets.files)
    rows: list[tuple[tuple[bool, float, int, int, str], list[object]]] = []
    for place, topic in enumerate(sets.topics):
        pools = {name: _pool(found, found.rows[name].get(topic, ()), depth) for name in names}
        own = grades.get(place, {})
        docs = sorted(set().union(*pools.values()))
        gain = gains(pools, sets.reference, own)
        for doc, docno in zip(docs, found.docs.take(docs), strict=True):
            seen = [pools[name].get(doc) for name in names]
            cells = [value for one in seen for value in (("", "") if one is None else (one.rank, one.variants))]
            settles = gain.get(doc, 0.0)
            line = [topic, docno, "" if doc in own else f"{settles:.6g}", own.get(doc, ""), *cells]
            many = sum(one.variants for one in seen if one is not None)
            rows.append(((doc in own, -settles, -many, place, docno), line))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = [f"{name} {what}" for name in names for what in ("best rank", "variants")]
    writer.writerow(["topic", "docno", "settles", "judged", *header])
    writer.writerows(line for _, line in sorted(rows, key=lambda row: row[0]))
    return stream.getvalue()


def _pool(found: Found, rows: Sequence[int], depth: int) -> dict[int, Seen]:
    """Return document -> how the variants in these rows found it."""
    if not rows:
        return {}
    parts = [found.candidates.doc[found.candidates.row(row)][:depth] for row in rows]
    doc = np.concatenate(parts)
    rank = np.concatenate([np.arange(1, len(part) + 1) for part in parts])
    order = np.lexsort((rank, doc))
    unique, first, times = np.unique(doc[order], return_index=True, return_counts=True)
    best = rank[order][first]
    return {int(one): Seen(int(at), int(many)) for one, at, many in zip(unique, best, times, strict=True)}


def gains(pools: Mapping[str, Mapping[int, Seen]], reference: str, own: Mapping[int, int]) -> dict[int, float]:
    """Return by how much each unjudged document is expected to narrow the bounds, over all sets but the reference."""
    out: dict[int, float] = {}
    human = set(pools[reference])
    for name, pool in pools.items():
        if name == reference:
            continue
        parts = (human - set(pool), set(pool) - human, human & set(pool))
        unjudged = [[doc for doc in part if doc not in own] for part in parts]
        relevant = [sum(own.get(doc, 0) > 0 for doc in part) for part in parts]
        h, g, b = map(len, unjudged)
        shared, union = relevant[2], sum(relevant)
        for place, part in enumerate(parts):
            rate = (relevant[place] + 1) / (len(part) - len(unjudged[place]) + 2)
            gain = _narrowed(shared, union, h, g, b, place, rate)
            for doc in unjudged[place]:
                out[doc] = out.get(doc, 0.0) + gain
    return out


def _narrowed(shared: int, union: int, h: int, g: int, b: int, place: int, rate: float) -> float:
    """Return the expected decrease of the width when one document of a part (h, g, b) is judged."""
    before = _width(shared, union, h + g, b)
    if place < 2:
        yes, no = _width(shared, union + 1, h + g - 1, b), _width(shared, union, h + g - 1, b)
    else:
        yes, no = _width(shared + 1, union + 1, h + g, b - 1), _width(shared, union, h + g, b - 1)
    return before - rate * yes - (1 - rate) * no


def _width(shared: int, union: int, alone: int, both: int) -> float:
    """Return the width of the bounds of Jaccard; an end without a document counts as 0."""
    low = shared / (union + alone) if union + alone else 0.0
    high = (shared + both) / (union + both) if union + both else 0.0
    return high - low

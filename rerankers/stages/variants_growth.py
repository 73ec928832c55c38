"""How pools grow with the number of variants, over one and the same set of topics, so that curves can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.queries.rarefaction import pool_growth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Judgments


def growth_over_same_topics(sets: Sets, found: Found, judged: Judgments, depth: int) -> list[dict[str, Any]]:
    """Return the expected pool of m variants of each topic, or of all of them where a topic has fewer.

    The expectation over all choices of variants is exact (`rerankers.queries.rarefaction.pool_growth`). A mean over
    the topics that still have m variants would be about other topics at every m, and could fall.

    Returns
    -------
    list of dict
        ``set``, ``depth``, ``documents`` (``all``, or ``relevant`` where there are judgments), ``topics`` (those that
        every set has variants of; of relevant documents those that are judged) and ``expected`` (m = 1, 2, …).
    """
    common = [place for place, topic in enumerate(sets.topics) if all(topic in rows for rows in found.rows.values())]
    grades = {int(query): judged.row(row) for row, query in enumerate(judged.query.tolist())}
    out = []
    for kind in ("all", "relevant") if len(judged) else ("all",):
        topics = common if kind == "all" else [place for place in common if place in grades]
        if not topics:
            continue
        for name, rows in found.rows.items():
            curves = []
            for place in topics:
                own = rows[sets.topics[place]]
                docs = np.concatenate([found.candidates.doc[found.candidates.row(row)][:depth] for row in own])
                if kind == "relevant":
                    part = grades[place]
                    docs = docs[np.isin(docs, judged.doc[part][judged.grade[part] > 0])]
                curves.append(pool_growth(np.unique(docs, return_counts=True)[1], len(own)))
            expected = [float(value) for value in _held(curves).mean(axis=0)]
            out.append({"set": name, "depth": depth, "documents": kind, "topics": len(topics), "expected": expected})
    return out


def _held(curves: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the curves side by side, float64 (topics, longest), each with its last value to the end."""
    longest = max(map(len, curves))
    return np.stack([np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves])

"""How well the variants of each set retrieve for the judgments of their topic, and what their pools hold in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.names import parse
from rerankers.methods.deterministic import Deterministic
from rerankers.queries.pools import TopicPools, among
from rerankers.stages.variants_numbers import Bootstrap, listed
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.pool import Pool
    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Judgments

MEASURES = ("AP", "nDCG@10")


def effectiveness(sets: Sets, found: Found, pool: Pool, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return set -> measure -> mean over topics of the mean over variants, and of the best variant.

    The best variant is picked by the judgments and so is no system: it says what a perfect choice among the variants
    would reach. A topic without a relevant document has no value. AP is over the documents that were kept; a variant
    that retrieves nothing has 0.
    """
    part = pool.part(0, len(pool.candidates))
    policy = Deterministic().policy(part.block({}, Options(), None))
    evaluation = Evaluation(policy, part.judgments, {}, Options())
    units = pool.topics.ids.take(pool.candidates.query)
    rows = {name: parse(name).per_unit(evaluation, units).value for name in MEASURES}
    judged = evaluation.query_judged & (evaluation.per_row((evaluation.grade > 0).astype(np.float64)) > 0)
    out: dict[str, Any] = {}
    for name in sets.files:
        places = found.rows[name]
        told = {}
        for measure, values in rows.items():
            usable = np.where(judged, np.nan_to_num(values), np.nan)
            mean = _by_topic(sets, places, usable, "mean")
            best = _by_topic(sets, places, usable, "max")
            told[measure] = {
                **bootstrap.mean(mean),
                "best_variant": bootstrap.mean(best),
                "per_topic": {
                    topic: {"mean": one, "best": two}
                    for topic, one, two in zip(sets.topics, listed(mean), listed(best), strict=True)
                    if one is not None
                },
            }
        out[name] = told
    return out


def _by_topic(
    sets: Sets, places: Mapping[str, Sequence[int]], values: NDArray[np.float64], how: str
) -> NDArray[np.float64]:
    """Return the mean or the maximum over the variants of each topic, NaN for topics without one."""
    found = [
        values[np.array(places[topic], dtype=np.int64)] if topic in places else np.empty(0) for topic in sets.topics
    ]
    each = exact_mean if how == "mean" else np.max
    return np.array([each(one) if len(one) and not np.isnan(one).any() else np.nan for one in found], dtype=np.float64)


def pool_totals(sets: Sets, found: Found, judged: Judgments, depths: Sequence[int]) -> list[dict[str, Any]]:
    """Return what the pools of each set hold over all topics: documents, relevant ones, and those that are new.

    Returns
    -------
    list of dict
        ``set``, ``depth``, ``documents``, ``relevant`` (judged relevant, over topics), ``relevant_new`` (of those, not
        in the reference's pools of that depth; None for the reference) and ``relevant_missed`` (in the reference's
        pools only).
    """
    width = len(found.docs)
    relevant = judged.query[judged.row_index].astype(np.int64) * width + judged.doc
    relevant = relevant[judged.grade > 0]
    topic = found.topics.topic.astype(np.int64)
    key = topic[found.candidates.row_index] * width + found.candidates.doc
    rank = np.arange(found.candidates.nnz) - found.candidates.indptr[found.candidates.row_index]
    relevant = np.sort(relevant)
    out: list[dict[str, Any]] = []
    best = {}
    for name in sets.files:
        own = np.zeros(len(found), dtype=bool)
        own[[row for rows in found.rows[name].values() for row in rows]] = True
        chosen = own[found.candidates.row_index]
        best[name] = TopicPools.of_keys(key[chosen], rank[chosen], len(sets.topics), width).best()
    for depth in depths:
        good: dict[str, NDArray[np.int64]] = {}
        sizes = {}
        for name, (keys, ranks) in best.items():
            pool = keys[ranks < depth]
            good[name], sizes[name] = pool[among(pool, relevant)], len(pool)
        human = good[sets.reference]
        for name, mine in good.items():
            first = name == sets.reference
            new, missed = (len(np.setdiff1d(*pair)) for pair in ((mine, human), (human, mine)))
            out.append(
                {
                    "set": name,
                    "depth": depth,
                    "documents": sizes[name],
                    "relevant": len(mine),
                    "relevant_new": None if first else new,
                    "relevant_missed": None if first else missed,
                }
            )
    return out

"""What the rankings of variants stand on: judgments by topic, groups, and a pool with a row a variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.queries.topic_names import by_name
from rerankers.stages.pool import Pool, make_pool
from rerankers.stages.variants_sets import topic_ids
from rerankers.values import Ids, Judgments
from rerankers.values.qrels import met, read_qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.variants_retrieval import Found
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Collection, Counts


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Judgments by topic.

    Attributes
    ----------
    docs
        the ids behind the document codes: those retrieved and those judged.
    judgments
        ``query`` is the place of the topic in `Sets.topics`; no topic twice; negative grades are kept as they are.
    counts
        what was met.
    """

    docs: Ids
    judgments: Judgments
    counts: Counts


def judgments_of(sets: Sets, docs: Ids, collection: Collection | None, qrels: Path | None) -> Judged:
    """Return the judgments of the topics: of a file, else of the collection; of neither, none.

    A document that several queries of one topic are judged for has its highest grade.

    Raises
    ------
    InputError, MissingError
        for the file.
    """
    if qrels is not None:
        return _of_file(sets, docs, qrels)
    if collection is None:
        return Judged(docs, _none(), {})
    ids, number = topic_ids(collection.topics)
    place = {topic: at for at, topic in enumerate(sets.topics)}
    of_query = np.array([place.get(ids[topic], -1) for topic in number], dtype=np.int64)
    own = collection.judgments
    topic = of_query[own.query][own.row_index]
    both = Ids.union(docs, collection.docs)
    doc = collection.docs.recoder(both)[own.doc]
    kept = topic >= 0
    merged = _by_topic(topic[kept], doc[kept], own.grade[kept], len(both))
    return Judged(both, merged, _counts(merged, len(sets.topics)))


def _of_file(sets: Sets, docs: Ids, path: Path) -> Judged:
    table = read_qrels(path)
    known, place = by_name(sets.topics), {topic: at for at, topic in enumerate(sets.topics)}
    found = [sets.names.known(qid, known) for qid in table.qids.to_pylist()]
    topic = np.array([-1 if one is None else place[one] for one in found], dtype=np.int32)
    both = Ids.union(docs, table.docno)
    judgments, counts = table.bind_coded(len(sets.topics), topic, both.codes(table.docno))
    return Judged(both, judgments, {**table.counts, **counts, **_counts(judgments, len(sets.topics))})


def _none() -> Judgments:
    return Judgments.empty().with_columns(grade=np.empty(0, np.int16))


def _by_topic(topic: NDArray[np.int64], doc: NDArray[np.int32], grade: NDArray[np.int16], width: int) -> Judgments:
    key = topic * width + doc
    order = np.lexsort((-grade.astype(np.int64), key))
    first = np.ones(len(order), dtype=bool)
    first[1:] = key[order][1:] != key[order][:-1]
    chosen = order[first]
    query, lengths = np.unique(topic[chosen], return_counts=True)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Judgments(query.astype(np.int32), indptr, doc[chosen], {"grade": grade[chosen]})


def _counts(judgments: Judgments, topics: int) -> Counts:
    relevant = np.unique(judgments.row_index[judgments.grade > 0])
    return met(
        topics_without_judgments=topics - len(judgments),
        topics_without_relevant=len(judgments) - len(relevant),
        negative_grades=int(np.sum(judgments.grade < 0)),
    )


def pool_of(found: Found, judged: Judged, groups: Mapping[str, Any]) -> tuple[Pool, Judgments]:
    """Return the pool with a row a variant, which has the judgments of its topic, and the judgments by topic.

    Parameters
    ----------
    found, judged
        rankings and judgments; ``judged.docs`` has every document of ``found``.
    groups
        attribute -> resolved alignment over ``judged.docs``.

    Returns
    -------
    pool, judgments
        both coded by the documents of the pool.
    """
    candidates = found.candidates.recode(found.docs.recoder(judged.docs))
    own = judged.judgments
    row_of = np.full(int(max(found.topics.topic.max(initial=-1), own.query.max(initial=-1))) + 1, -1)
    row_of[own.query] = np.arange(len(own))
    source = row_of[found.topics.topic]
    rows = np.flatnonzero(source >= 0)
    copied = own.take(source[rows])
    per_variant = Judgments(rows.astype(np.int32), copied.indptr, copied.doc, copied.columns)
    pool = make_pool(judged.docs, found.topics, candidates, per_variant, groups)
    code = judged.docs.recoder(pool.docs)
    inside = code[own.doc] >= 0  # judged documents of topics without a variant are in no row
    lengths = np.bincount(own.row_index[inside], minlength=len(own))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    kept = Judgments(own.query, indptr, code[own.doc[inside]], {"grade": own.grade[inside]})
    return pool, kept


def by_topic(judged: Judged, topics: Sequence[str]) -> dict[str, dict[int, int]]:
    """Return topic -> document code -> grade, of the topics that are judged."""
    own = judged.judgments
    return {
        topics[query]: dict(zip(own.doc[part].tolist(), own.grade[part].tolist(), strict=True))
        for query, part in zip(own.query.tolist(), map(own.row, range(len(own))), strict=True)
    }

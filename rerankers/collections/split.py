"""Cut a collection in two by topics: one side to train on, the other to evaluate on.

Which side a topic is on is decided by the digests of its query ids alone: not by texts, judgments, groups or the order
of a file, so that nothing that is to be predicted decides where it is looked at. Variants of a topic stay together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.fingerprint import fingerprint
from rerankers._base.streams import stream_key
from rerankers.values.collection import Collection, Topics
from rerankers.values.qrels import met
from rerankers.values.ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

C = TypeVar("C", bound=Collection)
R = TypeVar("R", bound=Ragged)
SPLITS = ("train", "eval")
OF_LABELS = "labels_"  # entries of ``truth`` that are aligned with group labels, not with judged pairs


def topic_order(
    topic: NDArray[np.integer], stream: NDArray[np.uint64], seed: int, purpose: str
) -> list[NDArray[np.int64]]:
    """Return the topics in an order that is random, yet the same however the rows are ordered.

    A topic's place is decided by a keyed digest of its smallest query digest.

    Parameters
    ----------
    topic
        int (B,), variants of one topic share its number.
    stream
        uint64 (B, 2), digests of the query ids.
    seed, purpose
        another seed or another purpose gives an independent order.

    Returns
    -------
    list of int64 arrays
        the rows of each topic.
    """
    by_topic = np.lexsort((stream[:, 1], stream[:, 0], topic))
    rows = np.split(by_topic, np.nonzero(np.diff(np.asarray(topic)[by_topic]))[0] + 1) if len(by_topic) else []
    keys = [tuple(stream_key(seed, stream[members[0]], purpose).tolist()) for members in rows]
    return [rows[place].astype(np.int64) for place in sorted(range(len(rows)), key=keys.__getitem__)]


def check_split(split: str | None, train_share: float) -> None:
    """Check the options ``collection.split`` and ``collection.train_share``.

    Raises
    ------
    ConfigError
        when ``split`` is neither None, ``train`` nor ``eval``, or the share is not strictly between 0 and 1.
    """
    if split is not None:
        choose("collection.split", split, SPLITS)
    if not 0 < train_share < 1:
        raise ConfigError(f"collection.train_share: found {train_share}; expected a number between 0 and 1")


def split_collection(collection: C, split: str | None, train_share: float = 0.5) -> C:
    """Return one side of a collection; the two sides have every topic once. Documents and groups stay whole.

    Of T topics the nearest whole number to ``train_share`` T are for training, but at least one on each side. What
    belongs to queries goes with them: judgments, ``truth`` about judged pairs, given candidates and their
    frequencies. Counted are ``queries_of_other_split``, ``judgments_of_other_split``, and ``texts_in_both_splits``,
    queries kept whose very text is that of a query on the other side.

    Parameters
    ----------
    collection
        any; a `CandidateCollection` comes back as one.
    split
        ``train`` or ``eval``; None returns the collection itself.
    train_share
        share of the topics in ``train``, strictly between 0 and 1.

    Raises
    ------
    ConfigError
        for another word or share.
    InputError
        for a collection of fewer than two topics, and ``truth`` that is aligned with neither pairs nor labels.
    """
    check_split(split, train_share)
    if split is None:
        return collection
    kept = _kept_queries(collection.topics, split, train_share)
    inside = np.zeros(len(collection.topics), dtype=bool)
    inside[kept] = True
    judgments, code = collection.judgments, np.cumsum(inside, dtype=np.int32) - 1
    pairs = np.repeat(inside[judgments.query], judgments.lengths)
    ids, text = collection.topics.ids.take(kept), [collection.topics.text[query] for query in kept]
    other_text = {words for words, here in zip(collection.topics.text, inside, strict=True) if words and not here}
    counts = met(
        queries_of_other_split=len(inside) - len(kept),
        judgments_of_other_split=int(np.sum(~pairs)),
        texts_in_both_splits=sum(words in other_text for words in text),
    )
    return replace(
        collection,
        topics=Topics.of(ids, text, collection.topics.topic[kept].tolist()),
        judgments=_queries(judgments, inside, code),
        fingerprint=fingerprint("split", collection.fingerprint, split, float(train_share)),
        truth={name: _truth(name, values, pairs) for name, values in collection.truth.items()},
        counts={**collection.counts, **counts},
        **_given_candidates(collection, inside, code),
    )


def _kept_queries(topics: Topics, split: str, train_share: float) -> NDArray[np.int64]:
    """Return int64 codes of the queries on one side, ascending."""
    order = topic_order(topics.topic, topics.stream, 0, "collection split")
    if len(order) < 2:
        raise InputError.one("collection.split", f"{len(order)} topics", "at least 2, one for each side")
    share = min(max(round(train_share * len(order)), 1), len(order) - 1)
    return np.sort(np.concatenate(order[:share] if split == "train" else order[share:]))


def _given_candidates(collection: Collection, inside: NDArray[np.bool_], code: NDArray[np.int32]) -> dict[str, Any]:
    """Return the candidates and frequencies of the queries inside, for collections that have them."""
    from rerankers.collections.trec_fair import CandidateCollection

    if not isinstance(collection, CandidateCollection):
        return {}
    frequency = collection.frequency  # empty where the collection has none
    return {
        "candidates": _queries(collection.candidates, inside, code),
        "frequency": frequency[inside] if len(frequency) else frequency,
    }


def _queries(rows: R, inside: NDArray[np.bool_], code: NDArray[np.int32]) -> R:
    """Return the rows of the queries that are inside, under new query codes."""
    taken = rows.take(np.nonzero(inside[rows.query])[0])
    return type(rows)(code[taken.query], taken.indptr, taken.doc, taken.columns)


def _truth(name: str, values: NDArray[Any], pairs: NDArray[np.bool_]) -> NDArray[Any]:
    if name.startswith(OF_LABELS):
        return values
    if len(values) != len(pairs):
        found = f"{len(values)} values"
        raise InputError.one(f"truth {name!r}", found, f"{len(pairs)}, one a judged pair")
    return values[pairs]

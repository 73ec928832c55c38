"""Splits of collections: two sides that have every topic once, decided by query ids alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from collection_folders import folder, load
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.fingerprint import fingerprint
from rerankers.collections import Generated, Jsonl
from rerankers.collections.split import split_collection
from rerankers.collections.trec_fair import CandidateCollection
from rerankers.values import Candidates, Collection, Ids, Judgments
from rerankers.values.collection import Topics

WORLD = {"documents": 60, "topics": 7, "variants": 2}


def qids(collection: Collection) -> list[str]:
    return collection.topics.ids.take(np.arange(len(collection.topics)))


def judged(collection: Collection) -> dict[str, list[tuple[int, int, float]]]:
    """Return query id -> (document, grade, its probability of relevance)."""
    rows, names = collection.judgments, qids(collection)
    rho = collection.truth["relevance_probability"]
    return {
        names[rows.query[row]]: list(
            zip(*(x[rows.row(row)].tolist() for x in (rows.doc, rows.grade, rho)), strict=True)
        )
        for row in range(len(rows))
    }


def test_the_sides_of_a_world_are_the_world() -> None:
    whole = Generated(**WORLD).load()
    train, other = (Generated(**WORLD, split=side).load() for side in ("train", "eval"))
    assert sorted(qids(train) + qids(other)) == sorted(qids(whole))
    assert not set(train.topics.topic) & set(other.topics.topic)
    assert (len(train.topics), len(other.topics)) == (8, 6)  # whole topics: 4 and 3
    assert judged(train) | judged(other) == judged(whole)
    for side in (train, other):
        assert qids(side) == [qid for qid in qids(whole) if qid in set(qids(side))]  # in their order
        texts = dict(zip(qids(whole), whole.topics.text, strict=True))
        assert [texts[qid] for qid in qids(side)] == list(side.topics.text)
        np.testing.assert_array_equal(side.topics.stream, whole.topics.stream[whole.topics.ids.codes(qids(side))])
        assert len(side.truth["grade_probability"]) == side.judgments.nnz
        np.testing.assert_array_equal(side.truth["labels_economy"], whole.truth["labels_economy"])
        assert side.documents.fingerprint == whole.documents.fingerprint  # type: ignore[union-attr]
        assert side.docs.fingerprint == whole.docs.fingerprint
        assert side.counts["queries_of_other_split"] == 14 - len(side.topics)
        assert side.counts["judgments_of_other_split"] == whole.judgments.nnz - side.judgments.nnz
    assert len({whole.fingerprint, train.fingerprint, other.fingerprint}) == 3
    assert Generated(**WORLD, split="train", train_share=0.4).load().fingerprint != train.fingerprint


def test_without_a_split_nothing_is_different() -> None:
    whole = Generated(documents=60, topics=4).load()
    assert whole.fingerprint == "58ef3f0094ca185ecd86877aaf0b92fc"  # as before there were splits
    assert Generated(documents=60, topics=4, train_share=0.3).load().fingerprint == whole.fingerprint
    assert "queries_of_other_split" not in whole.counts
    assert split_collection(whole, None) is whole


def test_other_worlds_of_the_same_query_ids_split_alike() -> None:
    one, two = (Generated(**WORLD, seed=seed, bias=-2.0 * seed, split="train").load() for seed in (1, 2))
    assert qids(one) == qids(two)


def bare(names: list[str], topic: list[int] | None = None, texts: list[str] | None = None) -> Collection:
    """Return a collection in which query i has document i judged."""
    size = len(names)
    docs = Ids.of([f"d{number:03}" for number in range(max(size, 1))])
    rows = np.arange(size, dtype=np.int32)
    judgments = Judgments(rows, np.arange(size + 1), rows, {"grade": np.ones(size, np.int16)})
    return Collection("bare", docs, Topics.of(names, texts or [""] * size, topic), judgments, "mark")


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.text("ab1é", min_size=1, max_size=6), st.integers(0, 8)), min_size=2, unique_by=lambda q: q[0]
    ),
    st.floats(0.01, 0.99),
    st.randoms(use_true_random=False),
)
def test_sides_do_not_depend_on_order_or_numbers(queries, share, shuffle) -> None:  # type: ignore[no-untyped-def]
    if len({topic for _, topic in queries}) < 2:
        with pytest.raises(InputError, match="found 1 topics; expected at least 2"):
            split_collection(bare(*map(list, zip(*queries, strict=True))), "train", share)  # type: ignore[arg-type]
        return
    names, topics = map(list, zip(*queries, strict=True))
    train = split_collection(bare(names, topics), "train", share)
    other = split_collection(bare(names, topics), "eval", share)
    assert sorted(qids(train) + qids(other)) == sorted(names)
    number = len(set(topics))
    assert len(set(train.topics.topic)) == min(max(round(share * number), 1), number - 1)
    assert not set(train.topics.topic) & set(other.topics.topic)
    shuffle.shuffle(queries)
    names, topics = map(list, zip(*queries, strict=True))
    again = split_collection(bare(names, [100 - topic for topic in topics]), "train", share)
    assert set(qids(again)) == set(qids(train))


def test_given_candidates_and_frequencies_go_with_their_queries() -> None:
    names = [f"q{number}" for number in range(6)]
    plain = bare(names)
    candidates = Candidates(np.arange(6), np.array([0, 1, 3, 3, 4, 5, 6]), np.array([5, 4, 3, 2, 1, 0]))
    given_ = CandidateCollection(
        **{name: getattr(plain, name) for name in Collection.__slots__},
        candidates=candidates,
        frequency=np.arange(6) / 10,
    )
    for side in ("train", "eval"):
        found = split_collection(given_, side)
        assert isinstance(found, CandidateCollection)
        kept = plain.topics.ids.codes(qids(found))
        np.testing.assert_array_equal(found.frequency, kept / 10)
        np.testing.assert_array_equal(found.candidates.query, np.arange(3))
        for row, query in enumerate(kept):
            mine, old = found.candidates.row(row), candidates.row(query)
            np.testing.assert_array_equal(found.candidates.doc[mine], candidates.doc[old])
        np.testing.assert_array_equal(found.judgments.doc, kept)
        np.testing.assert_array_equal(found.judgments.query, np.arange(3))


def test_equal_texts_on_both_sides_are_counted() -> None:
    names = [f"q{number}" for number in range(6)]
    train = split_collection(bare(names, texts=["same"] * 6), "train")
    assert train.counts["texts_in_both_splits"] == 3
    assert "texts_in_both_splits" not in split_collection(bare(names), "train").counts


def test_truth_of_another_length_is_refused() -> None:
    from dataclasses import replace

    odd = replace(bare(["1", "2", "3"]), truth={"rho": np.zeros(2)})
    with pytest.raises(InputError, match="truth 'rho': found 2 values; expected 3"):
        split_collection(odd, "eval")


def test_folders_split_and_keep_their_fingerprint(tmp_path: Path) -> None:
    queries = [{"qid": f"{n}{v}", "query": f"words {n}", "topic_id": n} for n in range(5) for v in "ab"]
    qrels = "".join(f"{query['qid']} 0 a {index % 2}\n" for index, query in enumerate(queries[:9]))
    path = folder(tmp_path, queries=queries, qrels__txt=qrels)
    whole, train, other = (
        load(path),
        load(path, split="train", train_share=0.2),
        load(path, split="eval", train_share=0.2),
    )
    assert (len(train.topics), len(other.topics)) == (2, 8)
    assert sorted(qids(train) + qids(other)) == sorted(qids(whole))
    assert train.judgments.nnz + other.judgments.nnz == whole.judgments.nnz == 9
    marks = [json.dumps([collection.fingerprint]) for collection in (whole, train, other)]
    assert len(set(marks)) == 3
    assert train.fingerprint == fingerprint("split", whole.fingerprint, "train", 0.2)
    assert train.counts["queries_of_other_split"] == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "collection.split: found 'test'; expected one of train, eval"),
        ({"split": "evall"}, "Did you mean 'eval'"),
        (
            {"split": "train", "train_share": 1.0},
            "collection.train_share: found 1.0; expected a number between 0 and 1",
        ),
        ({"train_share": float("nan")}, "collection.train_share: found nan"),
    ],
)
def test_split_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Generated(**options)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=message):
        Jsonl("somewhere", **options)  # type: ignore[arg-type]

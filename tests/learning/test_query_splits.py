"""Folds and holdouts: whole topics, any order of rows, balanced, nothing of the labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import query_streams
from rerankers.learning.splits import document_overlap, holdout, query_folds
from rerankers.values import Ragged


def queries(sizes: list[int]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return ids, topics and streams of topics with so many variants each."""
    qids = [f"{topic}-{variant}" for topic, size in enumerate(sizes) for variant in range(size)]
    return qids, np.repeat(np.arange(len(sizes)), sizes), query_streams(qids)


@settings(max_examples=80)
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=30),
    st.integers(2, 6),
    st.integers(-3, 10**20),
    st.randoms(use_true_random=False),
)
def test_folds_are_whole_balanced_and_know_no_order(sizes, folds, seed, shuffle) -> None:  # type: ignore[no-untyped-def]
    qids, topic, stream = queries(sizes)
    if folds > len(sizes):
        with pytest.raises(InputError, match=f"{folds} folds of {len(sizes)} topics"):
            query_folds(topic, stream, folds, seed)
        return
    fold = query_folds(topic, stream, folds, seed)
    assert fold.dtype == np.int64
    assert set(fold) == set(range(folds))
    assert all(len(set(fold[topic == number])) == 1 for number in range(len(sizes)))
    load = np.bincount(fold)
    assert load.max() - load.min() <= max(sizes)
    if max(sizes) == 1:
        assert load.max() - load.min() <= 1
    order = list(range(len(qids)))
    shuffle.shuffle(order)
    renamed = 1000 - 7 * topic[order]  # numbers of topics come from the order of a file
    np.testing.assert_array_equal(query_folds(renamed, stream[order], folds, seed), fold[order])
    held = holdout(topic, stream, 0.3, seed)
    assert all(len(set(held[topic == number])) == 1 for number in range(len(sizes)))
    np.testing.assert_array_equal(holdout(renamed, stream[order], 0.3, seed), held[order])


def test_seed_and_ids_decide() -> None:
    _, topic, stream = queries([1] * 60)
    fold = query_folds(topic, stream, 5, 1)
    assert not np.array_equal(fold, query_folds(topic, stream, 5, 2))
    other = query_streams([f"q{number}" for number in range(60)])
    assert not np.array_equal(fold, query_folds(topic, other, 5, 1))
    # Folds and holdouts of one seed have nothing to do with each other: about a fifth of each fold is held back.
    _, topic, stream = queries([1] * 3000)
    both = np.bincount(query_folds(topic, stream, 5, 0)[holdout(topic, stream, 0.2, 0)], minlength=5)
    assert np.all(np.abs(both - 120) < 45)


@pytest.mark.parametrize(("share", "topics", "expected"), [(0.2, 10, 2), (0.01, 10, 1), (0.99, 10, 9), (0.5, 2, 1)])
def test_holdout_sizes(share: float, topics: int, expected: int) -> None:
    _, topic, stream = queries([2] * topics)
    assert holdout(topic, stream, share).sum() == 2 * expected


def test_holdouts_are_nested() -> None:
    _, topic, stream = queries([1] * 50)
    few, many = holdout(topic, stream, 0.1, 4), holdout(topic, stream, 0.4, 4)
    assert np.all(many[few])
    assert (few.sum(), many.sum()) == (5, 20)


def test_split_problems() -> None:
    _, topic, stream = queries([1, 2])
    for action, error, message in (
        (lambda: query_folds(topic, stream, 1), ConfigError, "folds: found 1"),
        (lambda: query_folds(topic, stream, 2.5), ConfigError, "folds: found 2.5"),  # type: ignore[arg-type]
        (lambda: query_folds(topic, stream, 3), InputError, "3 folds of 2 topics.*Variants of a topic count once"),
        (lambda: query_folds(topic, stream[:2], 2), InputError, r"stream of shape \(2, 2\)"),
        (lambda: query_folds(topic, stream[[0, 1, 1]], 2), InputError, "a query id that occurs twice"),
        (lambda: query_folds(topic[:0], stream[:0], 2), InputError, "2 folds of 0 topics"),
        (lambda: holdout(topic, stream, 0.0), ConfigError, "share held back: found 0.0"),
        (lambda: holdout(topic[:1], stream[:1], 0.5), InputError, "1 topics; expected at least 2"),
    ):
        with pytest.raises(error, match=message):
            action()


def test_document_overlap() -> None:
    over = Ragged(np.arange(4), np.array([0, 2, 4, 4, 7]), np.array([0, 1, 1, 2, 0, 2, 5]))
    expected = {"held_back_pairs": 5, "held_back_pairs_of_training_documents": 2}
    assert document_overlap(over, np.array([False, True, False, True])) == expected
    assert document_overlap(over, np.ones(4, dtype=bool))["held_back_pairs_of_training_documents"] == 0
    empty = Ragged.empty()
    assert document_overlap(empty, np.empty(0, dtype=bool))["held_back_pairs"] == 0
    with pytest.raises(InputError, match=r"expected shape \(4,\)"):
        document_overlap(over, np.ones(3, dtype=bool))

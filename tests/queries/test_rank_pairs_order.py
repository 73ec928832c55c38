"""Overlap of many rankings: the same bits whichever comes first, and as deep as it takes."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers.measures.rank_overlap import rbo
from rerankers.queries.consistency_of_variants import consistency_within
from rerankers.queries.rank_pairs import rbo_matrix
from rerankers.queries.ranked import Ranked


def rankings(ties: int, length: int, number: int = 5) -> list[Ranked]:
    draw = np.random.default_rng(ties)
    out = []
    for row in range(number):
        size = length - 7 * (row % 2)
        scores = np.sort(draw.integers(0, ties, size))[::-1].astype(np.float64) if ties else None
        out.append(Ranked(draw.permutation(2 * length)[:size], scores))
    return out


def grouped(one: Ranked) -> list:
    if one.scores is None:
        return one.docs.tolist()
    return [one.docs[one.scores == score].tolist() for score in np.unique(one.scores)[::-1]]


@pytest.mark.parametrize("word", ["a", "b", "w"])
@pytest.mark.parametrize("ties", [0, 3, 40])
def test_the_order_of_rankings_changes_no_bit(ties: int, word: str) -> None:
    lists = rankings(ties, 60)
    found, turned = rbo_matrix(lists, p=0.9, ties=word), rbo_matrix(lists[::-1], p=0.9, ties=word)
    assert np.array_equal(found, turned[::-1, ::-1])
    assert np.array_equal(found, rbo_matrix(lists[::-1], lists, p=0.9, ties=word)[::-1])
    assert consistency_within(lists, p=0.9, ties=word) == consistency_within(lists[::-1], p=0.9, ties=word)
    one, two = map(grouped, lists[:2])
    assert rbo(one, two, 0.9, word) == rbo(two, one, 0.9, word)


@pytest.mark.parametrize("ties", [0, 2, 300])
def test_ranks_that_are_not_read_have_no_weight(ties: int) -> None:
    lists = rankings(ties, 400, 3)  # at p = .5 nothing behind rank 64 counts, but a tie group that reaches it does
    found = rbo_matrix(lists, p=0.5)
    for i, one in enumerate(lists):
        for j, two in enumerate(lists):
            assert found[i, j] == pytest.approx(rbo(grouped(one), grouped(two), 0.5), abs=1e-15)

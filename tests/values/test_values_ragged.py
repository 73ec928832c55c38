"""Ragged rows and their joins against dictionaries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from values_strategies import Pairs, pairs, ragged_of, twin_of

from rerankers.values import Candidates, Collection, Ids, Judgments, Ragged, Topics, outer_join


@given(pairs())
def test_round_trip_of_the_twin(value: Pairs) -> None:
    ragged = ragged_of(value)
    assert twin_of(ragged) == value
    assert len(ragged) == len(value)
    assert ragged.nnz == sum(len(row) for row in value.values())
    assert ragged.lengths.tolist() == [len(row) for row in value.values()]
    assert ragged.row_index.tolist() == [index for index, row in enumerate(value.values()) for _ in row]
    assert (ragged.query.dtype, ragged.indptr.dtype, ragged.doc.dtype) == (np.int32, np.int64, np.int32)


@given(pairs(), st.data())
def test_rows_are_views_and_take_copies(value: Pairs, data: st.DataObject) -> None:
    ragged, items = ragged_of(value), list(value.items())
    start = data.draw(st.integers(0, len(items)))
    stop = data.draw(st.integers(start, len(items)))
    part = ragged.rows(start, stop)
    assert twin_of(part) == dict(items[start:stop])
    assert part.nnz == 0 or np.shares_memory(part.columns["value"], ragged.columns["value"])
    order = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=5)) if items else []
    taken = ragged.take(np.array(order, dtype=np.int64))
    assert [twin_of(taken.rows(i, i + 1)) for i in range(len(order))] == [dict([items[at]]) for at in order]


@given(pairs(docs=4), st.permutations([7, 1, 0, 3]))
def test_recode(value: Pairs, codes: list[int]) -> None:
    recoded = ragged_of(value).recode(np.array(codes, dtype=np.int32))
    assert twin_of(recoded) == {q: {codes[doc]: x for doc, x in row.items()} for q, row in value.items()}


def test_recode_refuses_to_lose_documents() -> None:
    with pytest.raises(ValueError, match="1 documents have no new code"):
        ragged_of({0: {1: 5, 0: 2}}).recode(np.array([-1, 0], dtype=np.int32))


def test_columns() -> None:
    ragged = ragged_of({0: {1: 5}}).with_columns(other=np.array([2.0]))
    assert sorted(ragged.columns) == ["other", "value"]
    assert type(Candidates.empty()) is Candidates
    assert len(Judgments.empty()) == 0
    assert ragged_of({0: {1: 5}}, Candidates, "score").score.dtype == np.float64  # type: ignore[attr-defined]
    assert ragged_of({0: {1: -2}}, Judgments, "grade").grade.tolist() == [-2]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("indptr", "column", "message"),
    [
        ([0, 1], [1.0, 2.0], "indptr has shape"),
        ([0, 2, 1], [1.0, 2.0], "indptr must start at 0"),
        ([1, 1, 2], [1.0, 2.0], "indptr must start at 0"),
        ([0, 1, 3], [1.0, 2.0], "indptr must start at 0"),
        ([0, 1, 2], [1.0], "column 'x' has 1 entries; expected 2"),
    ],
)
def test_inconsistent_parts_are_refused(indptr: list[int], column: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ragged(np.array([0, 1]), np.array(indptr), np.array([3, 4]), {"x": np.array(column)})


def test_values_pickle() -> None:
    for value in (Ragged.empty(), Candidates.empty(), ragged_of({0: {1: 5}}, Candidates)):
        again = pickle.loads(pickle.dumps(value))
        assert type(again) is type(value)
        assert again.doc.tolist() == value.doc.tolist()
    topics = Topics.of(["q"], ["text"])
    collection = Collection("c", Ids.of([]), topics, Judgments.empty(), "f")
    assert pickle.loads(pickle.dumps(collection)).topics.stream.tolist() == topics.stream.tolist()


def joined(left: Pairs, right: Pairs, queries: list[int]) -> dict[int, list[int]]:
    return {query: sorted({*left.get(query, {}), *right.get(query, {})}) for query in queries}


@given(pairs(), pairs(), st.sampled_from(["left", "both"]))
def test_outer_join_twin(one: Pairs, two: Pairs, queries: str) -> None:
    check_join(one, two, queries)


def check_join(one: Pairs, two: Pairs, queries: str) -> None:
    left, right = ragged_of(one), ragged_of(two)
    join = outer_join(left, right, queries)
    order = list(one) + [query for query in two if query not in one and queries == "both"]
    expected = joined(one, two, order)
    over = join.over.with_columns(
        left=join.from_left(left.columns["value"], -7), right=join.from_right(right.columns["value"], -8)
    )
    assert over.query.tolist() == order
    for row, query in enumerate(order):
        part = over.row(row)
        docs = expected[query]
        assert over.doc[part].tolist() == docs
        assert over.columns["left"][part].tolist() == [one.get(query, {}).get(doc, -7) for doc in docs]
        assert over.columns["right"][part].tolist() == [two.get(query, {}).get(doc, -8) for doc in docs]
    outside = [query not in order for query, row in two.items() for _ in row]
    assert (join.right == -1).tolist() == outside


@given(pairs(), st.sampled_from(["left", "both"]), st.randoms(use_true_random=False))
def test_outer_join_with_a_part(one: Pairs, queries: str, random: Any) -> None:
    one = {query: dict(sorted(row.items())) for query, row in one.items()}
    chosen = random.sample(sorted(one), random.randint(0, len(one)))
    part = {query: {doc: -value for doc, value in one[query].items() if random.random() < 0.7} for query in chosen}
    check_join(one, part, queries)
    check_join(one, one, queries)


def test_outer_join_drops_the_pairs_of_other_queries() -> None:
    join = outer_join(ragged_of({0: {0: 1, 1: 2}}), ragged_of({1: {5: 7}, 0: {1: 3}}))
    assert join.from_right(np.array([7.0, 3.0])).tolist() == [0.0, 3.0]
    assert outer_join(Ragged.empty(), ragged_of({1: {5: 7}})).from_right(np.array([7.0])).tolist() == []


def test_outer_join_refuses() -> None:
    twice = Ragged(np.array([0, 0]), np.array([0, 1, 2]), np.array([1, 1]))
    for sides in ((twice, Ragged.empty()), (Ragged.empty(), twice)):
        with pytest.raises(ValueError, match="two rows on one side"):
            outer_join(*sides)
    with pytest.raises(ValueError, match="expected 'left' or 'both'"):
        outer_join(Ragged.empty(), Ragged.empty(), "right")


def test_topics() -> None:
    topics = Topics.of(["b", "a"], ["x", ""], [3, 3])
    assert topics.ids.names.to_pylist() == ["b", "a"]
    assert topics.topic.tolist() == [3, 3]
    assert len(topics) == 2
    assert Topics.of(["b", "a"], ["", ""]).topic.tolist() == [0, 1]
    with pytest.raises(ValueError, match="2 query ids, 1 texts"):
        Topics.of(["b", "a"], ["x"])

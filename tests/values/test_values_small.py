"""Labels, authors and exposure: what their properties say."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rerankers.values import NO_LABEL, Authors, Block, Candidates, Exposure, Ids, Labels, Ragged

LISTS = st.lists(st.lists(st.integers(NO_LABEL, 3), max_size=4), max_size=5)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return indptr, np.array([item for row in lists for item in row], dtype=np.int32)


@given(LISTS)
def test_labels(lists: list[list[int]]) -> None:
    labels = Labels("economy", ("a", "b", "c", "d"), "author", *flat(lists))
    assert labels.n_docs == len(lists)
    assert labels.doc.tolist() == [doc for doc, row in enumerate(lists) for _ in row]
    assert labels.weight is None


@given(st.lists(st.lists(st.integers(NO_LABEL, 3), max_size=4, unique=True), max_size=5))
def test_authors(lists: list[list[int]]) -> None:
    authors = Authors(Ids.of(list("abcd")), *flat(lists))
    assert authors.doc.tolist() == [doc for doc, row in enumerate(lists) for _ in row]
    assert authors.papers.tolist() == [sum(author in row for row in lists) for author in range(4)]
    assert pickle.loads(pickle.dumps(authors)).author.tolist() == authors.author.tolist()


def test_exposure_is_exact_without_draws() -> None:
    assert Exposure(Ragged.empty(), np.empty(0)).exact
    assert not Exposure(Ragged.empty(), np.empty(0), np.empty(0, np.int64), np.empty(0)).exact


def test_a_block_travels_to_workers() -> None:
    block = Block(Candidates.empty(), np.empty((0, 2), np.uint64))
    assert pickle.loads(pickle.dumps(block)).groups == {}

"""The BM25 first stage: what is cached, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError
from rerankers.collections import Generated
from rerankers.retrieval import BM25
from rerankers.values import Collection, Ids, Judgments, Topics

WORLD = Generated(documents=120, topics=6)


@pytest.mark.java
def test_index_and_hits_are_found_again_by_content(tmp_path: Path) -> None:
    world = WORLD.load()
    first = BM25(k=20).retrieve(world, tmp_path)
    assert set(first.seconds) == {"index", "search"}
    again = BM25(k=20, threads=1, heap="3g").retrieve(WORLD.load(), tmp_path)
    assert not again.seconds, "threads and heap change no result"
    np.testing.assert_array_equal(first.candidates.doc, again.candidates.doc)
    np.testing.assert_array_equal(first.candidates.score, again.candidates.score)
    deeper = BM25(k=30).retrieve(world, tmp_path)
    assert set(deeper.seconds) == {"search"}, "the same index, another search"
    other = BM25(k=20).retrieve(Generated(documents=121, topics=6).load(), tmp_path)
    assert set(other.seconds) == {"index", "search"}


@pytest.mark.java
def test_scores_of_given_candidates_equal_those_of_the_search(tmp_path: Path) -> None:
    world = WORLD.load()
    bm25 = BM25(k=15)
    found = bm25.retrieve(world, tmp_path).candidates
    shuffled = np.random.default_rng(0).permutation(found.nnz)
    np.testing.assert_array_equal(bm25.scores(world, found, tmp_path), found.score)
    everything = BM25(k=1000).retrieve(world, tmp_path).candidates
    assert len(shuffled) < everything.nnz
    np.testing.assert_array_equal(bm25.scores(world, everything, tmp_path), everything.score)


@pytest.mark.java
def test_a_field_can_be_chosen(tmp_path: Path) -> None:
    world = WORLD.load()
    assert world.documents is not None
    name = world.documents.fields[0]
    one, both = (BM25(k=10, fields=fields).retrieve(world, tmp_path) for fields in ([name], None))
    assert not np.array_equal(one.candidates.score, both.candidates.score)


def test_what_is_refused(tmp_path: Path) -> None:
    bare = Collection("bare", Ids.union(["a"]), Topics.of(["q"], [""]), Judgments.empty(), "bare")
    with pytest.raises(ConfigError, match="run_file"):
        BM25().retrieve(bare, tmp_path)
    with pytest.raises(ConfigError, match=r"retriever\.fields"):
        BM25(fields=["titel"]).retrieve(WORLD.load(), tmp_path)
    with pytest.raises(ConfigError, match=r"retriever\.threads"):
        BM25(threads=0)

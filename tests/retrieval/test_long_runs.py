"""Candidates of a run read in pieces are those of the run read whole, for topics in any order."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.byte_blocks import read_blocks
from rerankers.retrieval import RunFile, long_runs
from rerankers.runs import pieces, read_run
from rerankers.values import Ids, Topics


class World:
    """Some documents and topics."""

    def __init__(self, docs: list[str], topics: list[str]) -> None:
        self.docs, self.topics = Ids.union(docs), Topics.of(topics, [""] * len(topics))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerankers.runs.trec.read_blocks", partial(read_blocks, size=64))
    monkeypatch.setattr("rerankers._base.spool.MOST_BYTES", 64)
    monkeypatch.setattr(long_runs, "_STEP", 5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 8), st.booleans())
def test_candidates_are_those_of_the_lines(
    tmp_path_factory: pytest.TempPathFactory, seed: int, rows: int, k: int, apart: bool
) -> None:
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(seed)
    lines: dict[str, list[tuple[str, float]]] = {}
    for query in rng.permutation(9)[: rng.integers(1, 9)]:
        docs = rng.permutation(12)[: rng.integers(1, 9)]
        lines[f"q{query}"] = [(f"d{doc:02}", float(len(docs) - place)) for place, doc in enumerate(docs)]
    texts = [
        f"{qid} Q0 {doc} {rank} {score} me\n"
        for qid, found in lines.items()
        for rank, (doc, score) in enumerate(found, 1)
    ]
    if apart:
        texts = [texts[place] for place in rng.permutation(len(texts))]
    (folder / "my.run").write_text("".join(texts))
    topics = [f"q{number}" for number in rng.permutation(11)[:7]]
    world = World([f"d{doc:02}" for doc in range(0, 12, 2)], topics)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "run_pieces", partial(pieces.run_pieces, rows=rows))
        found = RunFile(str(folder / "my.run"), k=k).retrieve(world, folder / "cache")  # type: ignore[arg-type]
    assert found.candidates.query.tolist() == list(range(7))
    for row, topic in enumerate(topics):
        part = found.candidates.row(row)
        mine = list(
            zip(found.docs.take(found.candidates.doc[part]), found.candidates.score[part].tolist(), strict=True)
        )
        assert mine == lines.get(topic, [])[:k]
    unknown = {doc for found in lines.values() for doc, _ in found} - set(world.docs.names.to_pylist())
    assert found.counts["run_documents_unknown_to_the_collection"] <= len(unknown)
    assert found.counts["queries_without_candidates"] == len(set(topics) - set(lines))
    assert found.counts["run_queries_unknown_to_the_collection"] == len(set(lines) - set(topics))


def test_a_ranking_that_is_repeated_counts_once(tmp_path: Path) -> None:
    lines = [
        f"q{query} {sample} d{doc:02} {doc + 1} {9 - doc} me\n"
        for query in range(4)
        for sample in range(3)
        for doc in range(5)
    ]
    (tmp_path / "my.run").write_text("".join(lines))
    found = RunFile(str(tmp_path / "my.run")).retrieve(World(["d00"], ["q1", "q3"]), tmp_path)  # type: ignore[arg-type]
    assert found.counts["queries_whose_one_ranking_is_repeated"] == 4
    assert found.candidates.lengths.tolist() == [5, 5]


def test_a_policy_is_read_as_the_run_that_was_drawn(tmp_path: Path) -> None:
    from rerankers.policies import PlackettLuce
    from rerankers.runs import write_policy, write_run
    from rerankers.values import Ragged

    topics = Topics.of(["a", "b"], ["", ""])
    over = Ragged(np.array([0, 1], np.int32), np.array([0, 3, 5]), np.array([0, 1, 2, 1, 3], np.int32))
    policy = PlackettLuce(over, np.array([0.0, 1.0, 2.0, 0.5, 0.1]), topics.stream)
    docs = Ids.union(["p", "q", "r", "s"])
    write_policy(tmp_path / "policy.parquet", policy, ["a", "b"], docs, seed=5, samples=7)
    again = read_run(tmp_path)
    write_run(tmp_path / "own" / "run.parquet", policy.sample(7, 5), ["a", "b"], docs)
    own = read_run(tmp_path / "own")
    assert again.qids == own.qids
    assert again.rankings.item.tolist() == own.rankings.item.tolist()
    assert again.docs.names.to_pylist() == own.docs.names.to_pylist()

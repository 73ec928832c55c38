"""Candidates of several generators together, and candidates of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError
from rerankers.queries.explore import Exploring
from rerankers.queries.gathering import gather
from rerankers.queries.generators.base import Context, Query
from rerankers.queries.generators.embedding import Embedding
from rerankers.queries.generators.list_file import ListFile
from rerankers.queries.generators.rm3 import RM3
from tests.queries.recommend_world import tiny_context


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return tiny_context(tmp_path)


def relevance(query: Query, texts: Sequence[str]) -> list[float]:
    return [0.5 for _ in texts]


def test_gathering_merges_texts_and_keeps_budgets(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "list.tsv"
    file.write_text("1\tPump water FLOWS\n1\tnew\n*\tpump\n", encoding="utf-8")
    found = gather(context.topics, [RM3(), ListFile(str(file))], context, 3, 0, Exploring(), relevance)
    one = found.candidates["1"]
    assert one[0].generators == ("original",)
    assert len({candidate.text.lower() for candidate in one}) == len(one)
    both = [candidate for candidate in one if candidate.text == "pump water flows"]
    assert both[0].generators == ("rm3", "list")
    assert found.by_generator == {"rm3": {"1": 3, "2": 3}, "list": {"1": 3, "2": 1}}
    assert context.counts["list"]["queries_short_of_the_budget"] == 1
    with pytest.raises(ConfigError, match="each once"):
        gather(context.topics, [RM3(), RM3()], context, 3, 0, Exploring(), relevance)
    with pytest.raises(ConfigError, match="budget"):
        gather(context.topics, [RM3()], context, 0, 0, Exploring(), relevance)


def test_exploration_takes_the_best_first_and_keeps_what_it_rejects(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "v.txt"
    chain = {"pump": [1, 0, 0], "valve": [0.9, 0.3, 0], "heart": [0.5, 0.8, 0.1], "solar": [0.1, 0.9, 0.6]}
    file.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in chain.items()), encoding="utf-8")
    generator = Embedding(mode="word", vectors=str(file))
    values = {"valve": 0.1, "heart": 0.9, "solar": 0.5}

    def near(query: Query, texts: Sequence[str]) -> list[float]:
        return [values[text] for text in texts]

    query = Query("1", "pump")
    context.topics = (query,)

    def explored(order: str, **options: Any) -> list[str]:
        found = gather([query], [generator], context, 10, 0, Exploring(order, **options), near)
        return [one.text for one in found.candidates["1"][1:]]

    assert explored("fifo", neighbours=1) == ["valve"]  # the nearest of valve is pump, which was seen
    assert explored("fifo", neighbours=2) == ["valve", "heart", "solar"]
    assert explored("best_first", neighbours=2, max_iter=1) == ["valve", "heart"]
    with pytest.raises(ConfigError, match="best_first"):
        Exploring("depth_first")


def test_searching_asks_each_text_once(context: Context) -> None:
    retriever = context.searcher._retriever
    context.searcher.search(["b pump", "a water", "b pump"])
    context.searcher.search(["a water"])
    assert retriever.asked == ["a water", "b pump"]
    assert len(context.searcher.hits("nothing").docs) == 0

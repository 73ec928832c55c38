"""Warnings of a recommendation."""

from __future__ import annotations

import numpy as np

from rerankers.queries.axes import Axis
from rerankers.queries.generators.base import Query
from rerankers.stages.recommend_warnings import warnings_of
from rerankers.values import GroupAlignment


def test_queries_without_a_target_are_told() -> None:
    alignment = GroupAlignment.of_entries("side", ("L", "R"), np.arange(2), np.arange(2), np.ones(2), 2)
    axes = [Axis("side", alignment, "drop", "jsd", "relevant", {"1": np.array([0.5, 0.5])})]
    queries = [Query("1", "a"), Query("2", "b")]
    assert list(warnings_of(0, axes, queries, {}, {})) == [
        "side: 1 of 2 queries (2) have no target by targets=relevant, so no recommendation: see reasons"
    ]
    assert list(warnings_of(0, axes, queries[:1], {}, {})) == []


def test_queries_and_replies_that_give_nothing_are_told() -> None:
    counts = {"llm": {"replies": 5, "replies_empty": 2, "replies_no_list": 1}, "rm3": {"queries": 1}}
    found = {"llm": {"1": 0}, "rm3": {"1": 0}, "random": {"1": 3}}
    assert list(warnings_of(2, [], [], counts, found)) == [
        "2 queries find no document: see reason",
        "llm: 3 of 5 replies gave no query: 2 empty, 1 no list",
        "rm3 found no candidate: queries 1",
    ]

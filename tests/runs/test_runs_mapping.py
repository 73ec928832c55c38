"""Runs as Python mappings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_twins import DOCNOS, ID, check, plain_of, problems_of

from rerankers.runs import read_run


@given(st.dictionaries(ID, st.lists(st.just([]) | DOCNOS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_rankings(run: dict[str, list[list[str]]]) -> None:
    read = read_run(run)
    check(read)
    assert plain_of(read) == {qid: dict(enumerate(rankings)) for qid, rankings in run.items()}
    assert read.name == "run"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"q": ["a", "b"]}, {"q": {0: ["a", "b"]}}),
        ({"q": []}, {"q": {0: []}}),
        ({"q": [[]], "p": [["a"], ["b", "a"]]}, {"q": {0: []}, "p": {0: ["a"], 1: ["b", "a"]}}),
        ({1: (("a",), ["b"])}, {"1": {0: ["a"], 1: ["b"]}}),
        ({"q": np.array([["a", "b"], ["b", "a"]])}, {"q": {0: ["a", "b"], 1: ["b", "a"]}}),
        ({"q": [np.array([3, 1]), [1]]}, {"q": {0: ["3", "1"], 1: ["1"]}}),
        ({"q": {"a": 1.0, "b": 2, "c": 2}}, {"q": {0: ["b", "c", "a"]}}),
    ],
)
def test_forms(value: Any, expected: Any) -> None:
    assert plain_of(read_run(value)) == expected


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({}, ["an empty mapping"]),
        ({"q": "ab", "p": 3}, ["'ab' for query 'q'", "3 for query 'p'"]),
        ({"q": [["a"], "b"]}, ["[['a'], 'b'] for query 'q'"]),
        ({"q": {"a", "b"}}, None),
        ({None: [["a"]]}, ["[['a']] for query None"]),
        ({"q": [["a", None]], "p": [["", "x"]]}, ["document id None for query 'q'", "document id '' for query 'p'"]),
        ({"q": [["\ud800"]]}, ["document id '\\ud800' for query 'q'"]),
        ({"q": [["a", "b", "a"]]}, ["document 'a' again in query 'q', sample 0"]),
        ({"q": {"a": 1.0}, "p": [["a"]]}, ["scored and listed rankings in one mapping"]),
        ({"q": {"a": float("nan")}}, ["score nan"]),
        ({"q": {"a": "x"}}, None),
        ({"q": {"a": None}}, ["neither ranks nor scores"]),
        ({"q": {}}, ["no row"]),
        ({"q": {"\ud800": 1.0}}, None),
    ],
)
def test_refused(value: Any, found: list[str] | None) -> None:
    problems = problems_of(lambda: read_run(value))
    if found is not None:
        assert [problem.found for problem in problems] == found

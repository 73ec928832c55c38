"""Equal content has an equal name, different content a different one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.fingerprint import file_fingerprint, fingerprint

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass
class Other:
    x: int
    y: int = 0


def typed(value: object) -> object:
    """Return a form in which equality also compares types and signs of zero."""
    if isinstance(value, list):
        return ("list", tuple(typed(item) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, typed(item)) for key, item in value.items()))
    return (type(value).__name__, repr(value))


@given(VALUES, VALUES)
def test_equal_if_and_only_if_the_content_is(left: object, right: object) -> None:
    assert (fingerprint(left) == fingerprint(right)) == (typed(left) == typed(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("ab", "c"), ("a", "bc")),
        ((1,), ("1",)),
        ((1,), (True,)),
        ((1,), (1.0,)),
        (([1],), ([1, 0],)),
        (([1, 2],), ([[1], 2],)),
        (([], []), ([[]],)),
        ((b"a",), ("a",)),
        ((Path("a"),), ("a",)),
        ((Point(1),), (Other(1),)),
        ((np.zeros(4),), (np.zeros((2, 2)),)),
        ((np.zeros(2, np.int32),), (np.zeros(1, np.int64),)),
        ((0.0,), (-0.0,)),
    ],
)
def test_different(left: tuple[object, ...], right: tuple[object, ...]) -> None:
    assert fingerprint(*left) != fingerprint(*right)


def test_the_same() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(Point(1)) == fingerprint(Point(1, 0))
    grid = np.arange(6).reshape(2, 3)
    assert fingerprint(np.asfortranarray(grid)) == fingerprint(grid)
    assert fingerprint(grid[:, ::2]) == fingerprint(grid[:, ::2].copy())


@pytest.mark.parametrize("value", [object(), {1, 2}, Point, np.array(["a", 1], dtype=object), lambda: None])
def test_no_fingerprint_by_address(value: object) -> None:
    with pytest.raises(TypeError, match="no fingerprint"):
        fingerprint(value)


def test_it_is_the_same_in_every_process() -> None:
    assert fingerprint("a", 1, [2.5, None]) == "dff11e0e7baafae9d3898c692b07e522"


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    assert file_fingerprint(tmp_path / "a") == file_fingerprint(tmp_path / "b")
    (tmp_path / "b").write_bytes(b"x" * 2_999_999 + b"y")
    assert file_fingerprint(tmp_path / "a") != file_fingerprint(tmp_path / "b")

"""Ids: unique names, sorted unions, codes and re-coding."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.values import Ids

NAMES = st.lists(st.text(alphabet="ab\u00e9\U0001f600\uffff,", max_size=3), max_size=8)


@given(NAMES)
def test_ids_keep_the_order(names: list[str]) -> None:
    unique = list(dict.fromkeys(names))
    ids = Ids.of(unique)
    assert ids.names.to_pylist() == unique
    assert len(ids) == len(unique)
    assert ids.is_sorted == (unique == sorted(unique))
    assert [ids.name(code) for code in range(len(ids))] == unique
    assert ids.take(ids.codes(names)) == names
    assert ids.codes([*unique, "zz"]).tolist() == [*range(len(unique)), -1]
    assert ids.codes(unique).dtype == np.int32


@given(NAMES, NAMES)
def test_union_is_sorted_by_code_point(left: list[str], right: list[str]) -> None:
    union = Ids.union(left, Ids.of(list(dict.fromkeys(right))))
    assert union.names.to_pylist() == sorted({*left, *right})
    assert union.is_sorted
    assert Ids.union(union) is union
    assert Ids.union(left, union) is union
    assert union.fingerprint == Ids.of(sorted({*left, *right})).fingerprint


def test_union_of_one_unsorted_part_is_sorted() -> None:
    assert Ids.union(Ids.of(["b", "a"])).names.to_pylist() == ["a", "b"]
    assert len(Ids.union()) == 0


@given(NAMES, NAMES)
def test_recoder(left: list[str], right: list[str]) -> None:
    old, new = Ids.union(left), Ids.union(right)
    expected = [new.names.to_pylist().index(name) if name in right else -1 for name in old.names.to_pylist()]
    assert old.recoder(new).tolist() == expected
    assert old.recoder(old).tolist() == list(range(len(old)))


@given(NAMES, NAMES)
def test_fingerprint_is_of_the_content(left: list[str], right: list[str]) -> None:
    one, two = (list(dict.fromkeys(names)) for names in (left, right))
    assert (Ids.of(one).fingerprint == Ids.of(two).fingerprint) == (one == two)


def test_fingerprint_does_not_see_how_the_names_are_stored() -> None:
    expected = Ids.of(["a", "bc"]).fingerprint
    for names in (
        pa.array(["x", "a", "bc", "y"]).slice(1, 2),
        pa.array(["x", "a", "bc"], pa.large_string())[1:],
        pa.chunked_array([["a"], [], ["bc"]]),
        pa.array(["a", "bc"]).dictionary_encode(),
        pa.array(["a", "bc"], pa.string_view()),
        (name for name in ("a", "bc")),
    ):
        assert Ids.of(names).fingerprint == expected
    assert Ids.of(["ab", "c"]).fingerprint != expected
    assert Ids.of([""]).fingerprint != Ids.of([]).fingerprint
    assert pickle.loads(pickle.dumps(Ids.of(["a", "bc"]))).fingerprint == expected


def test_refused_names() -> None:
    with pytest.raises(InputError, match=r"query id: found 2 names more than once \('a', 'b'\)"):
        Ids.of(["a", "b", "a", "c", "b"], "query id")
    for names in ([None, "a"], pa.array(["a", None])):
        with pytest.raises(InputError, match="1 missing names"):
            Ids.of(names)
        with pytest.raises(InputError, match="missing name"):
            Ids.union(names)
    with pytest.raises(InputError, match="a name that is no text"):
        Ids.of(["\ud800"])


@given(
    st.lists(st.text(alphabet="ab\u00e9\x00", max_size=12), max_size=8),
    st.text(alphabet="xa", max_size=9),
    st.booleans(),
)
def test_coded(names: list[str], start: str, many: bool) -> None:
    """Names may repeat; with many of them, the bytes by which they differ are looked at first."""
    names = [start + name for name in names] + ([f"{start}{number:04d}" for number in range(1000)] if many else [])
    ids, code = Ids.coded(names)
    unique = sorted(set(names))
    assert ids.names.to_pylist() == unique
    assert ids.take(code) == names
    assert code.dtype == np.int32
    assert Ids.union(names).names.to_pylist() == unique
    array = pa.array(["zz", *names, "zz"], pa.large_string())[1:-1]  # a part of a longer array
    assert Ids.coded(array)[0].names.to_pylist() == unique
    assert Ids.coded(unique)[1].tolist() == list(range(len(unique)))


def test_coded_refuses() -> None:
    with pytest.raises(InputError, match="missing name"):
        Ids.coded(pa.array(["a", None]))

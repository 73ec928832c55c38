"""Every draw is a function of (seed, query, purpose, draw) alone."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.streams import generator, query_streams, stream_key, uniforms

KEY = stream_key(7, query_streams(["q1"])[0], "test")


def test_query_streams_are_digests_of_the_id_alone() -> None:
    streams = query_streams(["a", "b", "a"])
    assert streams.shape == (3, 2)
    assert streams.dtype == np.uint64
    assert np.array_equal(streams[0], streams[2])
    assert not np.array_equal(streams[0], streams[1])
    digest = hashlib.blake2b(b"a", digest_size=16, person=b"query").digest()
    assert [int(word) for word in streams[0]] == [
        int.from_bytes(digest[:8], "little"),
        int.from_bytes(digest[8:], "little"),
    ]
    assert query_streams([]).shape == (0, 2)


def test_the_key_depends_on_the_whole_of_each_field() -> None:
    a, b = query_streams(["a", "b"])
    keys = [
        stream_key(seed, stream, purpose)
        for seed in (0, 1, -1, 2**32, 2**64 + 1, 10)
        for stream in (a, b)
        for purpose in ("plackett_luce", "mixture", "")
    ]
    assert len({key.tobytes() for key in keys}) == len(keys)


def test_the_key_stays_what_it_was() -> None:
    # A changed key changes every published ranking: raise the sampler version with it.
    assert [hex(int(word)) for word in KEY] == ["0x3dd38114b6f7f2fd", "0x71fddb733b4a6273"]
    assert uniforms(KEY, 0, 1, 3)[0].tolist() == [0.8519246467746476, 0.10680618551725407, 0.7393290070892703]


@given(first=st.integers(0, 1000), draws=st.integers(0, 5), size=st.integers(0, 9))
def test_a_draw_needs_no_earlier_draw(first: int, draws: int, size: int) -> None:
    whole = uniforms(KEY, 0, first + draws, size)
    assert np.array_equal(uniforms(KEY, first, draws, size), whole[first:])
    assert whole.shape == (first + draws, size)


@given(first=st.integers(0, 50), size=st.integers(1, 9))
def test_twin(first: int, size: int) -> None:
    steps = (size + 3) // 4
    words = np.random.Philox(key=KEY, counter=first * steps).random_raw(4 * steps)[:size]
    expected = [(int(word) // 4096 + 0.5) / 2**52 for word in words]
    assert uniforms(KEY, first, 1, size)[0].tolist() == expected


def test_uniform_and_inside_the_open_interval() -> None:
    values = uniforms(KEY, 0, 200, 501)
    assert values.min() > 0
    assert values.max() < 1
    assert stats.kstest(values.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]) < 0.02
    extreme = (np.array([0, 2**64 - 1], dtype=np.uint64) >> np.uint64(12)).astype(np.float64)
    assert ((extreme + 0.5) * 2.0**-52 > 0).all()
    assert ((extreme + 0.5) * 2.0**-52 < 1).all()


def test_generators_are_keyed_by_names_and_their_types() -> None:
    def first(seed: int, *names: str | int) -> float:
        return float(generator(seed, *names).random())

    assert first(0, "bootstrap") == first(0, "bootstrap")
    different = [first(0), first(1), first(0, "a"), first(0, "a", "b"), first(0, "ab"), first(0, 1), first(0, "1")]
    assert len(set(different)) == len(different)


@pytest.mark.parametrize("size", [0, 3])
def test_nothing_asked_for(size: int) -> None:
    assert uniforms(KEY, 5, 0, size).shape == (0, size)

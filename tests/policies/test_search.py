"""The search for the first ranks of Plackett-Luce draws: a plain twin, exact marginals, awkward weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_worlds import every_ranking, rows, streams

from rerankers.exposure import pl_rank_marginals
from rerankers.policies import PlackettLuce, _race, sample_plackett_luce
from rerankers.policies._search_loops import scaled as scaled_weights
from rerankers.policies._search_loops import search_ranks

MASK = 2**64 - 1


def plain_numbers(state: list[int]):
    """xoshiro256++ with whole numbers of any size."""
    s = [int(word) for word in state]
    while True:
        total = (s[0] + s[3]) & MASK
        word = (((total << 23) | (total >> 41)) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & MASK
        yield (word >> 11) * 2.0**-53


def plain_search(score: np.ndarray, state: list[int], k: int) -> list[int]:
    """Draw in proportion to weights until a new place comes, from a table of the heaviest places and from the rest."""

    def sums() -> tuple[np.ndarray, float, float]:
        unit = np.exp(score - (score[table[0]] if table else score))
        return unit, unit[table].sum(), unit[end:].sum()

    numbers, order, n = plain_numbers(state), [], len(score)
    table, end, lost = [], 0, 0
    while len(order) < k:
        free = [place for place in table if place not in order]
        if not free or lost > 6 + len(table) // 4:
            table, lost = free, 0
            unit, total, rest = sums()
            while not table or (end < n and rest > total / 32):
                table += [end] if end not in order else []
                end += 1
                unit, total, rest = sums()
        number = next(numbers) * (total + rest)
        if number < total:
            place = table[int(np.searchsorted(np.cumsum(unit[table]), number, side="right"))]
        else:
            number = next(numbers) * rest
            place = max(place for place in range(end, n) if unit[place:].sum() > number)
        lost += place in order
        order += [place] if place not in order else []
    return order


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60),
    st.sampled_from([0.0, 1.0, 4.0, 20.0, 60.0]),
    st.integers(0, 2**32 - 1),
)
def test_agrees_with_the_plain_search(n: int, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = np.sort(rng.normal(size=n) * scale)[::-1].copy()
    score -= score[0]
    state = rng.integers(0, 2**64, size=(5, 4), dtype=np.uint64)
    found = np.empty((5, n), dtype=np.int32)
    search_ranks(*scaled_weights(score), state, found)
    assert found.tolist() == [plain_search(score, row.tolist(), n) for row in state]


@pytest.fixture
def search_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches find all ranks of rows of any length."""
    monkeypatch.setattr(_race, "SMALL", 0)
    monkeypatch.setattr(_race, "SHARE", 1)


def test_weights_far_apart_keep_their_units() -> None:
    score = np.array([0.0, -499.0, -501.0, -999.5, -1700.0, -1700.5])
    weight, rest, block = scaled_weights(score)
    assert block.tolist() == [0, 0, 1, 1, 3, 3, 3]
    np.testing.assert_allclose(np.log(weight) - 500.0 * block[:-1], score, rtol=1e-14)
    sums = [np.logaddexp.reduce(score[j:]) for j in range(6)]
    np.testing.assert_allclose(np.log(rest[:-1]) - 500.0 * block[:-1], sums, atol=1e-12)
    assert rest[-1] == 0


@pytest.mark.usefixtures("search_only")
@pytest.mark.parametrize(
    "score",
    [
        [0, 0, 0, 0],
        [3.0, 0, 1.0, -2.0],
        [8.0, 0, 7.0, -1.0],  # nearly all draws are lost after the first ranks
        [0, -40, -39, -41],
        [0, -1000, -1001, -np.inf],
        [0, -3.5, -3.6, -3.7],  # most draws outside of the first table
    ],
)
def test_every_ranking_as_often_as_it_should(score: list[float]) -> None:
    draws = 60_000
    orders = sample_plackett_luce(score, 4, draws, seed=1)
    policy = PlackettLuce(rows([4]), np.array(score), streams(1))
    chance = np.exp(policy.log_prob(every_ranking(4)))
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    times = Counter(map(tuple, orders.tolist()))
    counts = np.array([times[tuple(order)] for order in every_ranking(4).item.reshape(-1, 4).tolist()])
    z = (counts - draws * chance) / np.sqrt(np.maximum(draws * chance * (1 - chance), 1.0))
    assert np.abs(z).max() < 5


@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0, 30.0])
def test_rank_marginals_of_long_rows_across_search_and_race(scale: float) -> None:
    n, draws = 160, 40_000  # ranks 0 … 19 are searched for
    score = np.random.default_rng(7).normal(size=n) * scale
    k = 24
    exact = pl_rank_marginals(score, k)
    drawn = sample_plackett_luce(score, k, draws, seed=3)
    counts = np.stack([np.bincount(drawn[:, rank], minlength=n) for rank in range(k)], axis=1)
    variance = draws * exact * (1 - exact)
    z = (counts - draws * exact) / np.sqrt(np.maximum(variance, 1.0))
    assert np.abs(z).max() < 5.5
    likely = z[variance > 20]
    assert np.mean(likely**2) == pytest.approx(1, abs=5 * np.sqrt(2 / len(likely)))


def test_pairs_of_neighbours_within_and_across_the_searched_ranks() -> None:
    n, draws = 136, 200_000  # ranks 0 … 16 are searched for
    score = np.zeros(n)
    drawn = sample_plackett_luce(score, 18, draws, seed=5)
    for rank in (0, 15, 16):  # who is above, given equal chances: half and half, whatever came before
        first, second = drawn[:, rank], drawn[:, rank + 1]
        z = (np.sum(first < second) - draws / 2) / np.sqrt(draws / 4)
        assert abs(z) < 5
        far = np.abs(np.corrcoef(first, second)[0, 1] + 1 / (n - 1))
        assert far < 5 / np.sqrt(draws)


def test_a_ranking_does_not_depend_on_how_much_of_it_is_wanted() -> None:
    score = np.random.default_rng(2).normal(size=1000) * 2
    whole = sample_plackett_luce(score, 1000, 30, seed=1)
    assert np.array_equal(np.sort(whole, axis=1), np.tile(np.arange(1000), (30, 1)))
    for k in (1, 10, 124, 125, 126, 500):
        np.testing.assert_array_equal(sample_plackett_luce(score, k, 30, seed=1), whole[:, :k])
    np.testing.assert_array_equal(sample_plackett_luce(score, 1000, 7, seed=1), whole[:7])
    over = rows([1000])
    policy = PlackettLuce(over, score, streams(1))
    later = policy.sample(5, seed=1, first=9).item.reshape(5, -1)
    np.testing.assert_array_equal(later, policy.sample(14, seed=1).item.reshape(14, -1)[9:])


@pytest.mark.parametrize("spread", [600.0, 2000.0, 1e6])
def test_wide_spreads_and_minus_infinity(spread: float) -> None:
    score = np.linspace(0, -spread, 400)
    drawn = sample_plackett_luce(score, 400, 50, seed=0)
    assert np.array_equal(np.sort(drawn, axis=1), np.tile(np.arange(400), (50, 1)))
    if spread >= 2e4:
        np.testing.assert_array_equal(drawn, np.tile(np.arange(400), (50, 1)))
    score[100:] = -np.inf
    drawn = sample_plackett_luce(score, 400, 50, seed=0)
    assert np.all(drawn[:, :100] < 100)
    assert len({tuple(order) for order in drawn[:, 100:].tolist()}) == 50
    assert len({tuple(order) for order in sample_plackett_luce(np.full(300, -np.inf), 300, 20, 0).tolist()}) == 20

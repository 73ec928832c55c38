"""Sign-flip tests against scipy's, and the family against brute force over all patterns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rerankers._base.errors import InputError
from rerankers.stats.permutation import EXACT, holm, sign_flip_tests

RNG = np.random.default_rng(0)
DIFFERENCES = st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=7)


def brute(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P-values by itself and by the step-down maximum, all 2^n patterns one after another."""
    norm = np.sqrt((table**2).sum(axis=0))
    norm[norm == 0] = 1
    observed = np.abs(table.sum(axis=0)) / norm
    order = np.argsort(-observed, kind="stable")
    alone, steps, patterns = np.zeros(len(order)), np.zeros(len(order)), 0
    for signs in product((-1, 1), repeat=len(table)):
        found = np.abs((np.array(signs)[:, None] * table).sum(axis=0)) / norm
        alone += found >= observed - 1e-9
        steps += [max(found[order[place:]]) >= observed[order[place]] - 1e-9 for place in range(len(order))]
        patterns += 1
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(steps / patterns)
    return alone / patterns, adjusted


@given(DIFFERENCES)
@settings(max_examples=60, deadline=None)
def test_exact_families_are_brute_force(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=float)
    found = sign_flip_tests(table)
    alone, adjusted = brute(table)
    assert found.exact
    np.testing.assert_allclose(found.p, alone)
    np.testing.assert_allclose(found.max_t, adjusted)
    assert np.all(found.max_t >= found.p)


@pytest.mark.parametrize("queries", [3, 9, EXACT])
def test_one_comparison_is_scipy_s(queries: int) -> None:
    values = RNG.gamma(1.0, size=queries) - 0.6
    expected = stats.permutation_test(
        (values, np.zeros(queries)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    found = sign_flip_tests(values)
    assert found.p[0] == pytest.approx(expected.pvalue)
    assert found.mean[0] == pytest.approx(values.mean())
    assert found.patterns == 2 ** (queries - 1)


def test_drawn_patterns_agree_with_all_of_them_and_never_give_0() -> None:
    table = RNG.normal(0.4, 1, (EXACT, 4))
    exact = sign_flip_tests(table)
    wide = np.vstack([table, np.full((1, 4), 1e-12)])  # one more query, that hardly counts
    drawn = sign_flip_tests(wide, permutations=20_000)
    assert (exact.exact, drawn.exact, drawn.patterns) == (True, False, 20_001)
    np.testing.assert_allclose(drawn.p, exact.p, atol=0.012)
    np.testing.assert_allclose(drawn.max_t, exact.max_t, atol=0.012)
    sure = sign_flip_tests(np.ones((40, 1)), permutations=99)
    assert sure.p[0] == sure.max_t[0] == 1 / 100


def test_seeds_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RNG.normal(size=(60, 3))
    once = sign_flip_tests(table, permutations=500)
    assert np.array_equal(once.p, sign_flip_tests(table, permutations=500).p)
    assert not np.array_equal(once.p, sign_flip_tests(table, permutations=500, seed=1).p)
    monkeypatch.setattr("rerankers.stats.permutation._CELLS", 700)
    assert np.array_equal(once.max_t, sign_flip_tests(table, permutations=500).max_t)


def test_queries_that_differ_nowhere_have_no_say() -> None:
    few = RNG.normal(size=(6, 2))
    many = np.vstack([few, np.zeros((100, 2))])
    assert sign_flip_tests(many).exact
    np.testing.assert_allclose(sign_flip_tests(many).p, sign_flip_tests(few).p)
    nothing = sign_flip_tests(np.zeros((50, 2)))
    assert (nothing.p.tolist(), nothing.max_t.tolist(), nothing.patterns) == ([1, 1], [1, 1], 1)


def test_missing_values_are_left_out_by_comparison() -> None:
    table = RNG.normal(0.5, 1, (10, 3))
    table[:4, 1] = np.nan
    table[:, 2] = np.nan
    found = sign_flip_tests(table)
    assert found.units.tolist() == [10, 6, 0]
    assert found.p[1] == pytest.approx(sign_flip_tests(table[4:, 1]).p[0])
    assert np.isnan([found.mean[2], found.p[2], found.max_t[2], found.holm[2]]).all()
    assert found.holm[:2].max() <= 2 * found.p[:2].max()
    empty = sign_flip_tests(np.empty((0, 2)))
    assert np.isnan(empty.p).all()


def test_clusters_are_flipped_together() -> None:
    table = RNG.normal(0.3, 1, (12, 2))
    cluster = np.repeat([5, 1, 9, 2], 3)
    found = sign_flip_tests(table, cluster=cluster)
    sums = np.array([table[cluster == code].sum(axis=0) for code in (1, 2, 5, 9)])
    np.testing.assert_allclose(found.p, brute(sums)[0])
    assert found.units.tolist() == [4, 4]
    np.testing.assert_allclose(found.mean, table.mean(axis=0))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, np.nan, 0.03]).tolist()[:2] == pytest.approx([0.03, 0.06])
    assert holm([0.01, 0.04, np.nan, 0.03])[3] == pytest.approx(0.06)  # never below a smaller p's
    assert np.isnan(holm([0.01, np.nan])[1])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_copies_of_a_comparison_cost_nothing_by_maximum_and_all_by_holm() -> None:
    column = RNG.normal(0.5, 1, (14, 1))
    one, five = sign_flip_tests(column), sign_flip_tests(np.repeat(column, 5, axis=1))
    np.testing.assert_allclose(five.max_t, one.p[0])
    np.testing.assert_allclose(five.holm, min(5 * one.p[0], 1))


@pytest.mark.parametrize(
    ("table", "words", "message"),
    [
        (np.zeros((2, 2, 2)), {}, r"differences: found shape \(2, 2, 2\)"),
        (np.array([np.inf]), {}, "differences: found infinite"),
        (np.zeros(3), {"permutations": 0}, "permutations: found 0"),
        (np.zeros(3), {"cluster": np.zeros(2, int)}, "cluster: found shape"),
    ],
)
def test_what_is_refused(table: np.ndarray, words: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sign_flip_tests(table, **words)  # type: ignore[arg-type]

"""Agreement of orders and discriminative power against scipy, and on the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, ttest_rel

from rerankers._base.errors import InputError
from rerankers.stats.agreement import discriminative_power, kendall_matrix


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4))
def test_taus_are_those_of_scipy(rows: list[list[int]]) -> None:
    found = kendall_matrix(rows)
    for (i, a), (j, b) in itertools.product(enumerate(rows), repeat=2):
        assert found[i, j] == pytest.approx(kendalltau(a, b).statistic, abs=1e-12, nan_ok=True)


def test_rounding_is_a_tie_and_one_system_has_no_order() -> None:
    assert kendall_matrix([[1.0, 1.0 + 1e-15, 2.0], [1.0, 1.0, 3.0]])[0, 1] == 1.0
    assert np.all(np.isnan(kendall_matrix([[1.0], [2.0]])))
    with pytest.raises(InputError, match="scores"):
        kendall_matrix([[1.0, np.nan]])


@pytest.mark.parametrize("seed", range(5))
def test_power_counts_the_paired_t_tests(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(5, 12)) + np.linspace(0, 1.5, 5)[:, None]
    expected = [ttest_rel(a, b).pvalue < 0.05 for a, b in itertools.combinations(values, 2)]
    assert discriminative_power(values) == (np.mean(expected), 0)


def test_power_of_ties_and_of_constant_differences() -> None:
    assert discriminative_power([[1.0, 2.0], [1.0, 2.0]]) == (0.0, 1)
    assert discriminative_power([[1.0, 2.0], [2.0, 3.0]]) == (1.0, 0)
    assert discriminative_power([[1.0], [2.0]]) == (0.0, 0)
    for wrong in ([[1.0, 2.0]], [[1.0, np.nan], [1.0, 2.0]]):
        with pytest.raises(InputError, match="values"):
            discriminative_power(wrong)

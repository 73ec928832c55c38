"""What is no number, no array and no browsing model is named, never used."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import (
    DCG,
    ERR,
    GERR,
    RBP,
    Cascade,
    Positions,
    TopKSet,
    equal_exposure_target,
    foeir,
    frank_wolfe,
    pareto_front,
    pl_exposure,
    pl_exposure_gradient,
    pl_rank_marginals,
    project_permutahedron,
    ranking_exposure,
    unbiased_ee,
)
from rerankers.exposure.checks import float_array, whole_array, whole_number
from rerankers.exposure.estimators import draws_needed
from rerankers.exposure.optimal import SquaredLoss

NO_NUMBERS = [
    (["a", "b"], "'a' at 0"),
    (np.array(["0", "1"]), "'0' at 0"),
    ([1.0, None], "None at 1"),
    (None, "None;"),
    ([1.0, 2j], r"2j at 1"),
    (np.array([1j, 2.0]), "1j at 0"),
    (np.ma.masked_array([1.0, 2.0], [False, True]), "a masked array.*Fill them"),
    ([[1.0], [1.0, 2.0]], "different lengths"),
    ([10**400, 1], "beyond 1.8e308"),
]
PAIR = [1.0, 2.0]
TAKERS: list[tuple[str, Callable[[object], object]]] = [
    ("scores", lambda values: pl_exposure(values, RBP())),
    ("scores", lambda values: pl_rank_marginals(values, 2)),
    ("grades", lambda values: equal_exposure_target(values, RBP())),
    ("grades", lambda values: equal_exposure_target(values, ERR())),
    ("weights", lambda values: pl_exposure_gradient(PAIR, RBP(), values)),
    ("weights", lambda values: Positions(values)),
    ("continuation", lambda values: Cascade(values)),
    ("z", lambda values: project_permutahedron(values, [1])),
    ("position_weights", lambda values: project_permutahedron(PAIR, values)),
    ("lambdas", lambda values: pareto_front(PAIR, PAIR, [1], values)),
    ("target", lambda values: SquaredLoss(values)),
    ("target", lambda values: unbiased_ee([PAIR, PAIR], values)),
    ("exposures", lambda values: unbiased_ee(values, PAIR)),
    ("se", lambda values: draws_needed(values, PAIR, 0.1)),
]


@pytest.mark.parametrize(("name", "take"), TAKERS)
def test_what_is_no_number(name: str, take: Callable[[object], object]) -> None:
    for values, found in NO_NUMBERS:
        with pytest.raises(InputError, match=rf"^{name}: found .*{found}"):
            take(values)


def test_numbers_of_all_kinds_are_taken() -> None:
    for values in ([True, 2], np.array([1, 2], np.uint64), np.array([1, np.float32(2)], object), (1, 2.0)):
        np.testing.assert_array_equal(float_array("values", values), PAIR)
    given_array = np.array([1.0, np.nan, -np.inf])
    assert float_array("values", given_array) is given_array
    np.testing.assert_array_equal(float_array("values", np.ma.masked_array(PAIR, [False, False])), PAIR)


def test_whole_numbers() -> None:
    assert whole_array("order", np.array([1, 0], np.uint64)).dtype == np.int64
    assert whole_array("order", []).shape == (0,)
    np.testing.assert_array_equal(ranking_exposure(np.array([1, 0], np.uint64), RBP()), [0.5, 1.0])
    for wrong, found in (
        ([1.0], "float64"),
        (["1"], "<U1"),
        (None, "object"),
        ([True], "bool"),
        ([2**31], "2147483648"),
    ):
        with pytest.raises(InputError, match=f"order: found .*{found}; expected whole numbers"):
            whole_array("order", wrong, np.int32)
    assert whole_number("k", np.uint8(3), 1, 3) == 3
    for wrong in (1.0, True, None, "1", np.float64(1.0), 0, 4):
        with pytest.raises(InputError, match=r"k: found .*; expected a whole number from 1 to 3"):
            whole_number("k", wrong, 1, 3)


def test_grades_that_are_no_row() -> None:
    calls = (
        lambda: equal_exposure_target(3, RBP()),
        lambda: ranking_exposure([0], GERR(), 3),
        lambda: pl_exposure([1, 2], GERR(), 3),
        lambda: frank_wolfe(SquaredLoss(PAIR), RBP(), grades=3),
    )
    for call in calls:
        with pytest.raises(InputError, match=r"grades: found an array of shape \(\)"):
            call()


@pytest.mark.parametrize("browsing", [None, "rbp", RBP, RBP().bind(None, np.array([0, 2]))])
def test_what_is_no_browsing_model(browsing: object) -> None:
    calls = (
        lambda: pl_exposure(PAIR, browsing),
        lambda: equal_exposure_target(PAIR, browsing),
        lambda: ranking_exposure([0], browsing),
        lambda: pl_exposure_gradient(PAIR, browsing, PAIR),
        lambda: frank_wolfe(SquaredLoss(PAIR), browsing, n=2),
    )
    for call in calls:
        with pytest.raises(InputError, match=r"browsing: found .*; expected a browsing model such as"):
            call()


def test_ranks_and_words() -> None:
    for k in (None, 0, True, 1.0, "1"):
        with pytest.raises(InputError, match=r"k: found .*; expected a whole number, 1 or more$"):
            pl_rank_marginals(PAIR, k)
        with pytest.raises(ConfigError, match=r"k: found .*; expected a whole number, 1 or more$"):
            TopKSet(k)
    with pytest.raises(ConfigError, match=r"cutoff: found 0; expected .* or null"):
        RBP(cutoff=np.int64(0))
    with pytest.raises(InputError, match="constraint: found None; expected one of parity"):
        foeir(PAIR, [0, 1], [1], None)
    for groups, found in ((np.array(["0", "1"]), "'0' at 0"), (np.array([0, 2]), "2 at 1")):
        with pytest.raises(InputError, match=f"^groups: found {found}; expected 0 or 1"):
            foeir(PAIR, groups, [1], "parity")
    with pytest.raises(InputError, match="groups: found a masked array"):
        foeir(PAIR, np.ma.masked_array([0, 1], [True, False]), [1], "parity")


def test_numbers_whose_products_overflow() -> None:
    for wrong in (1e308, -1e150, np.inf, np.nan):
        with pytest.raises(InputError, match=r"weights: found .* at 1; expected finite numbers below 1e\+150 in size"):
            pl_exposure_gradient(PAIR, RBP(), [0.0, wrong])
        with pytest.raises(InputError, match=r"exposures: found .* at 2; expected finite numbers below"):
            unbiased_ee([[0.0, 1.0], [wrong, 0.0]], PAIR)
        with pytest.raises(InputError, match=r"target: found .* at 0; expected finite numbers below"):
            unbiased_ee([PAIR, PAIR], [wrong, 0.0])
    assert np.all(np.isfinite(pl_exposure_gradient(PAIR, RBP(), [9e149, -9e149])))
    assert all(np.isfinite(value) for value in unbiased_ee([[9e149, 0], [0, 9e149]], PAIR).values())


@given(st.lists(st.floats(-40, 40), min_size=2, max_size=40), st.floats(0, 1), st.integers(1, 40))
def test_nothing_is_seen_less_than_never(scores: list[float], patience: float, ranks: int) -> None:
    assert pl_rank_marginals(scores, ranks).min() >= 0.0
    weights = np.linspace(1.0, 0.0, 40) ** 3  # no mixture of geometric sequences: by roots of unity
    assert pl_exposure(scores, Cascade(np.full(len(scores), patience), weights)).min() >= 0.0


def test_rounding_makes_no_negative_chances() -> None:
    n = 90
    for seed in range(2, 12):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=n) * 100
        weights = np.where(np.arange(n) < n - 5, np.sort(rng.random(n))[::-1], 0.0)
        assert pl_exposure(scores, Positions(tuple(weights))).min() >= 0.0
        assert pl_rank_marginals(scores / 12, n).min() >= 0.0


def test_no_warnings_and_whatever_numpy_is_told() -> None:
    scores, grades = np.array([1.7e308, -1.7e308, 0.0, 1.0, -np.inf]), np.arange(5) % 2
    near = np.random.default_rng(1).normal(size=200) * 100
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for browsing in (RBP(), DCG(), GERR()):
            assert pl_exposure(scores, browsing, grades)[0] == 1.0
            slope = pl_exposure_gradient(scores, browsing, np.ones(5), grades)
            np.testing.assert_array_equal(slope[[0, 1, 4]], 0.0)
            pl_exposure(near, browsing, np.arange(200) % 2)
            pl_exposure_gradient(near, browsing, near, np.arange(200) % 2)
        assert pl_rank_marginals(scores, 5)[1, 3] == 1.0
        with pytest.raises(InputError, match="epsilon: found 1e-300, which takes inf draws"):
            draws_needed([0.1], [3], 1e-300)

"""Browsing specs: arguments, names, binding."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from exposure_twins import one_row, pointers

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions, TopKSet
from rerankers.exposure.browsing import MODELS


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (GERR(), "gerr(patience=0.5, satisfaction=0.5)"),
        (RBP(0.8, cutoff=10), "rbp(patience=0.8, cutoff=10)"),
        (ERR(max_grade=4), "err(patience=1.0, max_grade=4)"),
        (DCG(), "dcg()"),
        (Positions([1, 0.5]), "positions(weights=(1.0, 0.5))"),
        (TopKSet(3), "topk_set(k=3)"),
        (Cascade(np.full(7, 0.5), cutoff=2), "cascade(7 documents, cutoff=2)"),
    ],
)
def test_text_of_specs(spec: object, text: str) -> None:
    assert str(spec) == text


def test_specs_are_values_except_those_with_arrays() -> None:
    assert GERR(0.5) == GERR()
    assert hash(GERR(0.5)) == hash(GERR())
    assert GERR(0.4) != GERR()
    assert Positions([1]) == Positions((1.0,))
    assert hash(Positions([1])) == hash(Positions((1.0,)))
    assert Cascade(np.ones(2)) != Cascade(np.ones(2))
    assert len({Cascade(np.ones(2)), Cascade(np.ones(2))}) == 2


def test_words_of_configs() -> None:
    assert list(MODELS) == ["gerr", "rbp", "err", "dcg", "positions", "topk_set"]
    assert {word for word, model in MODELS.items() if model is GERR or model is ERR} == {"gerr", "err"}
    assert GERR().needs_grades
    assert ERR().needs_grades
    assert not RBP().needs_grades
    assert not DCG().needs_grades


@pytest.mark.parametrize(
    "make",
    [
        lambda: RBP(1.1),
        lambda: RBP(float("nan")),
        lambda: RBP("0.5"),
        lambda: GERR(satisfaction=-0.1),
        lambda: RBP(cutoff=0),
        lambda: DCG(cutoff=2.5),
        lambda: ERR(max_grade=0),
        lambda: TopKSet(0),
        lambda: Positions([]),
        lambda: Positions([0.5, 0.6]),
        lambda: Positions([1, -1]),
        lambda: Positions([np.inf]),
        lambda: Cascade([0.5, 1.5]),
        lambda: Cascade([0.5, np.nan]),
        lambda: Cascade([0.5], position=[0.1, 0.2]),
    ],
)
def test_wrong_arguments_say_what_was_found_and_expected(make: object) -> None:
    with pytest.raises(ValueError, match=r"found .* expected"):
        make()  # type: ignore[operator]


def test_continuation_and_satisfaction() -> None:
    grades, row = np.array([2, 0, -1, 1]), one_row(4)
    gerr = GERR(0.8, 0.25).bind(grades, row)
    np.testing.assert_allclose(gerr.continuation, [0.6, 0.8, 0.8, 0.6])
    np.testing.assert_allclose(gerr.satisfaction, [0.25, 0, 0, 0.25])
    err = ERR(0.9, max_grade=2).bind(grades, row)
    np.testing.assert_allclose(err.satisfaction, [3 / 4, 0, 0, 1 / 4])
    np.testing.assert_allclose(err.continuation, 0.9 * np.array([1 / 4, 1, 1, 3 / 4]))
    rbp = RBP(0.3).bind(grades, row)
    np.testing.assert_array_equal(rbp.continuation, np.full(4, 0.3))
    np.testing.assert_array_equal(rbp.satisfaction, [1, 0, 0, 1])
    for spec in (DCG(), Positions([1]), TopKSet(2)):
        np.testing.assert_array_equal(spec.bind(grades, row).continuation, np.ones(4))
        np.testing.assert_array_equal(spec.bind(grades, row).satisfaction, [1, 0, 0, 1])


def test_positions_reach_the_longest_row() -> None:
    rows = pointers([2, 0, 4])
    grades = np.zeros(6)
    assert RBP().bind(grades, rows).position is None
    np.testing.assert_array_equal(RBP(cutoff=3).bind(grades, rows).position, [1, 1, 1, 0])
    np.testing.assert_allclose(DCG().bind(grades, rows).position, 1 / np.log2([2, 3, 4, 5]))
    np.testing.assert_allclose(DCG(2).bind(grades, rows).position, [1, 1 / np.log2(3), 0, 0])
    np.testing.assert_array_equal(Positions([3, 1]).bind(grades, rows).position, [3, 1, 0, 0])
    np.testing.assert_array_equal(Positions([9, 8, 7, 6, 5]).bind(grades, rows).position, [9, 8, 7, 6])
    np.testing.assert_array_equal(TopKSet(1).bind(grades, rows).position, [1, 0, 0, 0])
    cascade = Cascade(np.full(6, 0.5), position=[1, 0.5], cutoff=1).bind(grades, rows)
    np.testing.assert_array_equal(cascade.position, [1, 0, 0, 0])
    assert Cascade(np.full(6, 0.5)).bind(None, rows).position is None


def test_models_that_need_grades_say_so() -> None:
    for spec in (GERR(), ERR(max_grade=1)):
        with pytest.raises(ValueError, match="grades: found none"):
            spec.bind(None, one_row(2))
    assert np.all(np.isnan(RBP().bind(None, one_row(2)).satisfaction))
    with pytest.raises(ValueError, match=r"\(2,\), one a document"):
        GERR().bind(np.zeros(3), one_row(2))
    with pytest.raises(ValueError, match="nan at 1"):
        GERR().bind([0, np.nan], one_row(2))
    with pytest.raises(ValueError, match="2 values"):
        Cascade([0.5, 0.5]).bind(None, one_row(3))


def test_the_highest_grade_comes_from_the_collection_not_from_the_block() -> None:
    with pytest.raises(ValueError, match="highest grade"):
        ERR().bind([1, 0], one_row(2))
    assert ERR().completed([0, 3, 1]) == ERR(max_grade=3)
    assert ERR(max_grade=4).completed([0, 9]) == ERR(max_grade=4)
    assert ERR().completed([0, -2]) == ERR(max_grade=1) == ERR().completed([])
    assert GERR().completed([5]) == GERR()
    with pytest.raises(ValueError, match="grade 5"):
        ERR(max_grade=4).bind([5], one_row(1))


def test_importing_exposure_loads_no_heavy_package() -> None:
    code = "import sys, rerankers.exposure; print(*{'pyarrow', 'scipy', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []

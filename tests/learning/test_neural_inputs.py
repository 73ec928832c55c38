"""Standardisation and missing values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerankers._base.errors import InputError
from rerankers.learning.neural.inputs import Inputs

NAN = np.nan
NAMES = tuple("abcdef")


def learn(values: object) -> Inputs:
    features = np.asarray(values, dtype=np.float64)
    return Inputs.learn(features, [f"f{column}" for column in range(features.shape[1])])


def plain(train: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The plain twin: one column at a time."""
    columns, marks = [], []
    for column in range(train.shape[1]):
        known = train[~np.isnan(train[:, column]), column]
        missing = np.isnan(values[:, column])
        if len(known) == 0 or known.min() == known.max():
            columns.append(np.zeros(len(values)))
        else:
            columns.append(np.where(missing, 0.0, (values[:, column] - known.mean()) / known.std()))
        if 0 < len(known) < len(train):
            marks.append(missing.astype(float))
    return np.stack([*columns, *marks], axis=1)


def test_equals_the_plain_twin() -> None:
    rng = np.random.default_rng(3)
    train, other = rng.normal(5, [1, 10, 1e6, 1e-6], size=(50, 4)), rng.normal(5, 10, size=(20, 4))
    for values in (train, other):
        values[rng.random(values.shape) < 0.2] = NAN
    train[:, 1] = 7.0
    np.testing.assert_allclose(learn(train)(other), plain(train, other), rtol=1e-11, atol=1e-11)


def test_training_values_have_mean_zero_and_deviation_one() -> None:
    found = learn([[1.0, 1e9], [2.0, 1e9 + 1], [6.0, 1e9 + 4]])
    out = found(np.array([[1.0, 1e9], [2.0, 1e9 + 1], [6.0, 1e9 + 4]]))
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-7)
    np.testing.assert_allclose(out.std(axis=0), 1, atol=1e-7)


def test_constant_never_known_and_missing_features() -> None:
    train = np.array([[0.1, NAN, 1.0, 5.0], [0.1, NAN, NAN, NAN], [0.1, NAN, 3.0, 5.0]])
    found = learn(train)
    assert found.marked.tolist() == [2, 3]
    assert found.width == 6
    np.testing.assert_array_equal(found(train)[:, :2], 0.0)
    # Later values of what was constant or never known say nothing.
    later = found(np.array([[9.0, 9.0, NAN, 1e300]]))
    np.testing.assert_array_equal(later, [[0, 0, 0, 0, 1, 0]])
    assert found.counts(train) == {
        "features_constant": 2,
        "features_always_missing": 1,
        "features_with_missing_values": 2,
        "missing_values": 5,
    }


def test_a_feature_missing_only_later_is_the_mean_and_counted() -> None:
    found = learn([[1.0, 1.0], [3.0, NAN], [5.0, 2.0]])
    later = np.array([[NAN, NAN], [3.0, 1.5]])
    np.testing.assert_array_equal(found(later), [[0, 0, 1], [0, 0, 0]])
    assert found.newly_missing(later) == 1


def test_wrong_features_are_named_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        learn([[1e308, 1.0, 0.0], [-1e308, 2.0, 1e-320]])
    assert [problem.where for problem in caught.value.problems] == ["feature f0", "feature f2"]
    found = learn([[1.0, 2.0], [2.0, 5.0]])
    with pytest.raises(InputError, match=r"shape \(3, 1\); expected \(pairs, 2\)"):
        found(np.zeros((3, 1)))
    with pytest.raises(InputError, match="infinite or beyond"):
        found(np.array([[1.0, np.inf]]))
    with pytest.raises(InputError, match="infinite or beyond"):
        learn([[1.0], [1.0 + 1e-15]])(np.array([[1e308]]))


@settings(max_examples=50)
@given(arrays(np.float64, (6, 3), elements=st.one_of(st.floats(-1e6, 1e6, width=32), st.just(NAN))))
def test_inputs_are_finite_and_do_not_see_shift_or_scale(values: np.ndarray) -> None:
    out = learn(values)(values)
    assert np.all(np.isfinite(out))
    np.testing.assert_allclose(learn(8 * values)(8 * values), out, rtol=1e-9, atol=1e-9)

"""The parts of expected exposure."""

from __future__ import annotations

import numpy as np
import pytest
from exposure_twins import pointers

from rerankers.exposure.objectives import expected_exposure

RNG = np.random.default_rng(2)


def test_documents_by_row() -> None:
    rows = pointers([3, 0, 1, 5])
    value, target = RNG.random(9), RNG.random(9)
    parts = expected_exposure(value, target, rows)
    for row in range(4):
        e, t = value[rows[row] : rows[row + 1]], target[rows[row] : rows[row + 1]]
        expected = [np.sum(e**2), np.sum(e * t), np.sum(t**2), np.sum((e - t) ** 2)]
        np.testing.assert_allclose([part[row] for part in parts], expected, rtol=1e-14)
    np.testing.assert_allclose(parts.EEL, parts.EED - 2 * parts.EER + parts.EET, atol=1e-14)


def test_groups_by_row() -> None:
    value, target = RNG.random((4, 3)), RNG.random((4, 3))
    parts = expected_exposure(value, target)
    np.testing.assert_allclose(parts.EEL, ((value - target) ** 2).sum(axis=1))
    np.testing.assert_allclose(parts.EER, (value * target).sum(axis=1))
    assert expected_exposure(np.empty((2, 0)), np.empty((2, 0))).EEL.tolist() == [0, 0]


def test_small_losses_do_not_cancel() -> None:
    target = np.full(4, 1000.0)
    loss = expected_exposure(target + 1e-9, target, pointers([4])).EEL[0]
    assert loss == pytest.approx(4e-18, rel=1e-3)


def test_wrong_shapes() -> None:
    for value, target, rows in (
        (np.zeros(3), np.zeros(2), pointers([3])),
        (np.zeros(3), np.zeros(3), pointers([2])),
        (np.zeros(3), np.zeros(3), None),
        (np.zeros((2, 2)), np.zeros((2, 3)), None),
    ):
        with pytest.raises(ValueError, match="exposure: found shapes"):
            expected_exposure(value, target, rows)

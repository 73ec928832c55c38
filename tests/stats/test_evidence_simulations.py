"""What inference promises, in worlds where the truth is known: coverage, family-wise error, power."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers.stats.flip_intervals import sign_flip_intervals
from rerankers.stats.paired import paired_intervals
from rerankers.stats.permutation import sign_flip_tests
from rerankers.stats.power import detectable_difference, power_of

pytestmark = pytest.mark.slow
WORLDS = 1000


def losses(draw: np.random.Generator, queries: int, systems: int, spread: float = 0.5) -> np.ndarray:
    """Skewed losses (queries, systems) of equally good systems: a part that a query brings, and noise on top."""
    hardness = draw.gamma(0.9, 0.6, (queries, 1))
    return hardness + spread * draw.gamma(1.0, 0.5, (queries, systems))


@pytest.mark.parametrize("queries", [50, 200])
def test_intervals_of_means_cover(queries: int) -> None:
    draw = np.random.default_rng(queries)
    inside = 0
    for world in range(WORLDS):
        values = losses(draw, queries, 1)
        (span,) = paired_intervals(values, seed=world, resamples=1000)
        assert span.low is not None
        assert span.high is not None
        inside += span.low <= 0.9 * 0.6 + 0.25 <= span.high
    assert inside / WORLDS == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("queries", [10, 50, 200])
def test_intervals_of_differences_cover(queries: int) -> None:
    draw = np.random.default_rng(queries + 1)
    inside = 0
    for world in range(WORLDS):
        values = losses(draw, queries, 2)
        (span,) = sign_flip_intervals(values[:, 0] - values[:, 1], seed=world, permutations=999)
        assert span.low is not None
        assert span.high is not None
        inside += span.low <= 0 <= span.high
    assert inside / WORLDS == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(("queries", "unequal"), [(10, False), (60, False), (60, True)])
def test_family_wise_error(queries: int, unequal: bool) -> None:
    """Ten comparisons of five equal systems; or of five whose losses are spread unequally about one mean."""
    draw = np.random.default_rng(queries)
    first, second = np.triu_indices(5, 1)
    wrong = alone = 0
    for world in range(WORLDS):
        values = losses(draw, queries, 5)
        if unequal:  # so that differences are skewed, and not symmetric as the test takes them to be
            shape = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
            values = losses(draw, queries, 1) + draw.gamma(shape, 0.25 / shape, (queries, 5))
        found = sign_flip_tests(values[:, first] - values[:, second], permutations=499, seed=world)
        wrong += bool(found.max_t.min() <= 0.05)
        alone += bool(found.p.min() <= 0.05)
    # .05 and what 1,000 worlds leave to chance (two standard errors), a little more where symmetry fails
    assert wrong / WORLDS <= (0.075 if unequal else 0.05 + 0.014)
    assert alone / WORLDS > 0.15  # which is what the correction is for


@pytest.mark.parametrize("queries", [30, 100])
def test_a_planted_difference_is_found_as_often_as_predicted(queries: int) -> None:
    draw = np.random.default_rng(queries)
    pilot = losses(draw, 100_000, 2)
    deviation = float((pilot[:, 0] - pilot[:, 1]).std())
    planted = detectable_difference(deviation, queries)
    assert power_of(planted, deviation, queries) == pytest.approx(0.8, abs=1e-6)
    found = 0
    for world in range(WORLDS):
        values = losses(draw, queries, 2)
        test = sign_flip_tests(values[:, 0] + planted - values[:, 1], permutations=499, seed=world)
        found += bool(test.p[0] <= 0.05)
    assert found / WORLDS == pytest.approx(0.8, abs=0.04)

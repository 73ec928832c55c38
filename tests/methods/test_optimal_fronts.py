"""Fronts: no policy lies below the oracle's, plug-in and truth agree where beliefs are true, curves are read right."""

from __future__ import annotations

import numpy as np
import pytest
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import GERR, RBP
from rerankers.exposure.optimal.permutahedron import pareto_front
from rerankers.exposure.targets import equal_exposure
from rerankers.methods.fronts import Judge, curve, oracle_front, plug_in_front, true_front
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.methods.plackett_luce import PlackettLuce
from rerankers.values import Block

GRID = (0.0, 0.5, 2.0, 8.0, 50.0)


def world(model: object = None, rows: int = 12) -> tuple[Block, np.ndarray, np.ndarray]:
    """Return a block with noisy beliefs, grades, and the chances that the grades were drawn with."""
    rng = np.random.default_rng(3)
    chance = [rng.beta(1, 4, n) for n in rng.integers(1, 9, rows)]
    flat = np.concatenate(chance)
    noisy = [np.clip(one + 0.2 * rng.random(len(one)), 0, 1).tolist() for one in chance]
    labels = [["A", "B", None][i] for i in rng.integers(0, 3, len(flat))]
    part = block(noisy, {"g": alignment("g", labels)}, noisy, browsing=model or GERR(0.8, 0.5))
    return part, (rng.random(len(flat)) < flat).astype(float), flat


@pytest.mark.parametrize("group", [0.0, 1.0])
@pytest.mark.parametrize("model", [GERR(0.8, 0.5), RBP(0.7)])
def test_no_policy_lies_below_the_oracle_front(group: float, model: object) -> None:
    part, grade, _ = world(model)
    judge = Judge.of(part, grade, groups=group > 0)
    method = ParetoOptimal(group=group, tolerance=1e-8)
    oracle = oracle_front(judge, method, GRID)
    assert oracle.gap.max() <= 1e-7
    utility, documents, groups = oracle.means()
    own = documents + group * groups
    assert np.all(np.diff(utility) >= -1e-9)
    assert np.all(np.diff(own) >= -1e-7)
    plug = plug_in_front(part, judge, method, GRID)
    drawn = curve([PlackettLuce(t).policy(part) for t in (0.2, 1.0, 5.0)], judge, (0.2, 1.0, 5.0))
    for other in (plug, drawn):
        # at every weight the front has the least loss - weight * utility, row by row
        for place, weight in enumerate(GRID):
            least = oracle.documents[place] + group * oracle.groups[place] - weight * oracle.utility[place]
            value = other.documents + group * other.groups - weight * other.utility
            assert np.all(value >= least - 1e-6)
    assert np.isinf(drawn.gap).all()
    assert documents[0] == pytest.approx(0, abs=1e-7) or group > 0


def test_position_based_front_is_the_projection() -> None:
    model = RBP(0.7)
    part, grade, _ = world(model, rows=1)
    n = part.candidates.nnz
    judge = Judge.of(part, grade)
    target = equal_exposure(np.array([0, n]), grade, model.bind(grade, np.array([0, n])))
    points = pareto_front(grade, target, 0.7 ** np.arange(n), np.array(GRID) / 2)
    front = oracle_front(judge, ParetoOptimal(), GRID)
    np.testing.assert_allclose(front.utility[:, 0], points @ grade, atol=1e-9)
    np.testing.assert_allclose(front.documents[:, 0], np.square(points - target).sum(axis=1), atol=1e-9)


def test_true_front_takes_the_chances() -> None:
    part, grade, chance = world()
    judge = Judge.of(part, grade)
    method = ParetoOptimal()
    true = true_front(part, chance, judge, method, GRID)
    told = [chance[part.candidates.row(row)].tolist() for row in range(len(part.candidates))]
    again = plug_in_front(block(told, part.groups, told, browsing=part.browsing), judge, method, GRID)
    np.testing.assert_array_equal(true.documents, again.documents)
    certain = true_front(part, grade, judge, ParetoOptimal(at_least_one=False), GRID)
    np.testing.assert_allclose(certain.documents, oracle_front(judge, method, GRID).documents, atol=1e-4)


def test_score_is_loss_and_utility() -> None:
    part, grade, _ = world()
    judge = Judge.of(part, grade, groups=True)
    policy = PlackettLuce().policy(part)
    browsing = GERR(0.8, 0.5).bind(grade, part.candidates.indptr)
    exposure = policy.exposure(browsing).value
    rest = exposure - equal_exposure(part.candidates.indptr, grade, browsing)
    utility, documents, groups = judge.score(policy)
    code = part.groups["g"].group
    for row in range(len(part.candidates)):
        where = part.candidates.row(row)
        assert documents[row] == pytest.approx(np.square(rest[where]).sum())
        assert utility[row] == pytest.approx(0.5 * (exposure * grade)[where].sum())
        assert groups[row] == pytest.approx(np.square(np.bincount(code[where], rest[where])).sum())
    assert Judge.of(part, grade).score(policy)[2].tolist() == [0.0] * len(part.candidates)


def test_judge_refuses() -> None:
    part, grade, _ = world()
    with pytest.raises(InputError, match="grades"):
        Judge.of(part, grade[1:])
    with pytest.raises(InputError, match="grades"):
        Judge.of(part, np.full(len(grade), np.nan))
    with pytest.raises(ConfigError, match="attribute"):
        Judge.of(block([[1.0]], {}), [1.0], groups=True)

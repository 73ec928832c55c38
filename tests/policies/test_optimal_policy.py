"""Optimal policies of a block: exposure, draws, gaps."""

from __future__ import annotations

import numpy as np
import pytest
from policy_worlds import matrices, rows, streams

from rerankers.exposure import GERR, RBP, TopKSet
from rerankers.exposure.optimal.frank_wolfe import frank_wolfe, frank_wolfe_rows
from rerankers.exposure.optimal.least_loss import least_loss_with_utility
from rerankers.exposure.optimal.losses import SquaredLoss
from rerankers.exposure.targets import equal_exposure
from rerankers.policies.optimal import mixture_of, optimal_policy

LENGTHS = [4, 0, 1, 9]
OVER = rows(LENGTHS)
GRADES = np.array([0, 1, 0, 1, 2, 0, 0, 0, 1, 0, 0, 2, 0, 0])


def test_equal_exposure_of_a_block() -> None:
    for spec in (GERR(), RBP(0.8), TopKSet(3)):
        browsing = spec.bind(GRADES, OVER.indptr)
        target = equal_exposure(OVER.indptr, GRADES, browsing)
        objectives = [SquaredLoss(target[OVER.row(row)]) for row in range(len(OVER))]
        policy, gaps = optimal_policy(OVER, objectives, browsing, streams(len(OVER)), tolerance=1e-13)
        assert gaps.shape == (4,)
        assert np.all((gaps >= 0) & (gaps <= 1e-13))
        np.testing.assert_allclose(policy.exposure(browsing).value, target, atol=1e-6)
        assert policy.rankings.counts[1:3].tolist() == [1, 1]
        drawn = policy.sample(2000, seed=1)
        assert all(
            set(map(tuple, some)) <= set(map(tuple, all_))
            for some, all_ in zip(matrices(drawn), matrices(policy.rankings), strict=True)
        )


def test_rows_do_not_depend_on_their_block() -> None:
    browsing = GERR().bind(GRADES, OVER.indptr)
    rng = np.random.default_rng(0)
    objectives = [SquaredLoss(rng.random(n)) for n in LENGTHS]
    policy, gaps = optimal_policy(OVER, objectives, browsing, streams(4))
    alone, gap = optimal_policy(
        OVER.rows(3, 4), objectives[3:], GERR().bind(GRADES[5:], np.array([0, 9])), streams(1, first_query=3)
    )
    assert gap.tolist() == gaps[3:].tolist()
    assert matrices(alone.rankings)[0] == matrices(policy.rankings)[3]
    assert alone.rankings.weight.tolist() == policy.rankings.weight[-len(alone.rankings) :].tolist()


def test_policies_found_elsewhere() -> None:
    over = rows([3, 3])
    loss, utility = SquaredLoss(np.array([0.1, 0.2, 0.9])), np.array([1.0, 0.0, 0.2])
    optima = [frank_wolfe(loss, RBP(0.5), 3), least_loss_with_utility(loss, utility, 1.0, RBP(0.5), 3)]
    policy = mixture_of(over, optima, streams(2))
    value = policy.exposure(RBP(0.5).bind(None, over.indptr)).value
    np.testing.assert_allclose(value, np.concatenate([optimum.exposure for optimum in optima]), rtol=1e-14)
    with pytest.raises(ValueError, match=r"^optima: found policies over \[3\] documents"):
        mixture_of(over, optima[:1], streams(2))
    with pytest.raises(ValueError, match=r"^stream: found"):
        mixture_of(over, optima, streams(1))


def test_an_empty_block() -> None:
    over = rows([])
    policy, gaps = optimal_policy(over, [], RBP().bind(None, over.indptr), streams(0))
    assert (len(policy.over), gaps.tolist()) == (0, [])
    with pytest.raises(ValueError, match=r"^objectives: found 1"):
        frank_wolfe_rows([SquaredLoss(np.empty(0))], over.indptr, RBP().bind(None, over.indptr))

"""Every controller against a few lines of plain Python, and the optimisers against all rankings there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from amortised_twins import Twin, block_of, fair_co, frank_wolfe, nle
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.exposure import DCG, GERR, RBP, project_permutahedron
from rerankers.ledger import believed_browsing, expected_target
from rerankers.ledger.sort_loops import rank
from rerankers.methods.amortised import Amortised
from rerankers.methods.equity_of_attention import EquityOfAttention
from rerankers.methods.fair_co import FairCo
from rerankers.methods.horizon_planner import HorizonPlanner
from rerankers.methods.nle_controller import NleController
from rerankers.methods.online_frank_wolfe import OnlineFrankWolfe

CASES: list[tuple[Amortised, Callable[[Twin], list[int]]]] = [
    (NleController(), lambda twin: nle(twin, 0.9)),
    (NleController(theta=0.3, entities="authors"), lambda twin: nle(twin, 0.3)),
    (NleController(entities="authors", missing="shared", decay=0.8), lambda twin: nle(twin, 0.9)),
    (NleController(entities="authors", missing="own", unit="share"), lambda twin: nle(twin, 0.9)),
    (FairCo(entities="side"), lambda twin: fair_co(twin, 1.0, False, 1e-4)),
    (FairCo(strength=0.05, decay=0.7), lambda twin: fair_co(twin, 0.05, False, 1e-4)),
    (
        FairCo(strength=0.01, published=True, target="relevance", entities="side"),
        lambda twin: fair_co(twin, 0.01, True, 1e-4),
    ),
    (OnlineFrankWolfe(), lambda twin: frank_wolfe(twin, 0.5)),
    (OnlineFrankWolfe(fairness=0.9, entities="authors", target="merit"), lambda twin: frank_wolfe(twin, 0.9)),
]


@pytest.mark.parametrize("model", [None, RBP(0.8), DCG(cutoff=3)], ids=str)
@pytest.mark.parametrize(("method", "twin"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_against_its_twin(method: Any, twin: Callable[[Twin], list[int]], model: Any) -> None:
    block = block_of((6, 0, 1, 9), 5, model)
    policy = replace(method, impressions=25).policy(block)
    items = policy.rankings
    for row in range(4):
        plain = Twin(block, row, method)
        for number in range(25):
            place = 25 * row + number
            order = twin(plain)
            assert items.item[items.item_ptr[place] : items.item_ptr[place + 1]].tolist() == order, (row, number)
            plain.book(plain.exposure(order))


@given(
    keys=st.lists(st.sampled_from([0.0, 1.0, 2.0, -np.inf, np.inf, 0.5]), max_size=40),
    seed=st.integers(0, 99),
    shift=st.floats(0, 1, exclude_max=True),
)
def test_sorting_does_not_depend_on_where_it_starts(keys: list[float], seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    key, priority = np.array(keys), rng.choice([0.1, 0.6, 0.9], len(keys))
    shifted = np.mod(priority + shift, 1.0)
    expected = sorted(range(len(keys)), key=lambda d: (-key[d], shifted[d], d))
    for near in (True, False, False):
        order = rng.permutation(len(keys)).astype(np.int32)
        rank(order, key, priority, shift, near, np.empty(len(keys), np.int32), np.empty(len(keys) + 1, np.int32))
        assert order.tolist() == expected


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), quality=st.sampled_from([0.0, 0.7, 0.9, 1.0]))
def test_equity_of_attention_against_all_rankings(seed: int, quality: float) -> None:
    block = block_of((4,), seed, RBP(0.7))
    method = EquityOfAttention(impressions=6, quality=quality, k=3)
    policy = method.policy(block)
    twin = Twin(block, 0, method)
    attention = 0.7 ** np.arange(4) / np.sum(0.7 ** np.arange(4))
    gain, discount = np.exp2(twin.belief) - 1, np.array([1.0, 1 / np.log2(3), 0.5, 0.0])
    floor = quality * np.sum(-np.sort(-gain) * discount)
    worst = 0.0
    for number in range(6):
        owed = np.array([due / 2.0**40 - twin.net(e) for [(e, _, due)] in twin.entries])
        chosen = policy.rankings.item[4 * number : 4 * number + 4]
        costs = {
            order: np.sum(np.abs(owed[list(order)] - attention))
            for order in permutations(range(4))
            if np.sum(gain[list(order)] * discount) >= floor - 1e-9
        }
        spent = costs[tuple(chosen.tolist())]
        worst = max(worst, spent - min(costs.values()))
        twin.book(twin.exposure(chosen.tolist()))
    assert worst <= (1e-9 if quality in (0.0, 1.0) else 0.25), "exact where no price of quality is needed"


def objective(exposure: np.ndarray, due: np.ndarray, belief: np.ndarray, fairness: float) -> float:
    """Return what the planner and Frank-Wolfe minimise."""
    return float(fairness * np.sum((exposure - due) ** 2) - (1 - fairness) * np.sum(exposure * belief))


@settings(max_examples=10)
@given(
    seed=st.integers(0, 1000), fairness=st.sampled_from([0.3, 0.6, 1.0]), model=st.sampled_from([RBP(0.8), GERR(0.8)])
)
def test_plans_against_all_plans(seed: int, fairness: float, model: Any) -> None:
    block = block_of((3,), seed, model)
    belief, indptr = block.relevance.value, block.candidates.indptr
    browsing, due = believed_browsing(model, belief, indptr), expected_target(model, belief, indptr)
    orders = [list(order) for order in permutations(range(3))]
    seen = []
    for order in orders:
        chance = np.concatenate([[1.0], np.cumprod(browsing.continuation[order])[:-1]])
        seen.append(chance[np.argsort(order)])
    best = min(objective(np.mean(some, axis=0), due, belief, fairness) for some in product(seen, repeat=3))
    method = HorizonPlanner(impressions=3, fairness=fairness)
    found = objective(method.policy(block).exposure(browsing).value, due, belief, fairness)
    assert best - 1e-12 <= found <= best + 0.02, "a local optimum is near"


@pytest.mark.parametrize("model", [RBP(0.8), DCG()], ids=str)
def test_plans_reach_the_front(model: Any) -> None:
    """Documents under position-based browsing: the projection onto the permutahedron is the floor of all plans."""
    block = block_of((20,), 3, model)
    belief, indptr = block.relevance.value, block.candidates.indptr
    browsing, due = believed_browsing(model, belief, indptr), expected_target(model, belief, indptr)
    weight = 0.8 ** np.arange(20) if browsing.position is None else browsing.position
    for fairness in (0.3, 0.7, 1.0):
        e = HorizonPlanner(impressions=150, fairness=fairness).policy(block).exposure(browsing).value
        other = OnlineFrankWolfe(impressions=150, fairness=fairness).policy(block).exposure(browsing).value
        price = (1 - fairness) / fairness
        floor = projected(due, belief, weight, price)
        gap = objective(e, due, belief, fairness) - objective(floor, due, belief, fairness)
        assert -1e-12 <= gap < 2e-6
        assert gap < objective(other, due, belief, fairness) - objective(floor, due, belief, fairness)


def projected(due: np.ndarray, belief: np.ndarray, weight: np.ndarray, price: float) -> np.ndarray:
    """Return the minimiser of ||e - due||^2 - price belief.e over the permutahedron."""
    return project_permutahedron(due + price / 2 * belief, weight)


@pytest.mark.parametrize("entities", ["authors", "side"])
def test_plans_are_no_worse_than_the_others(entities: str) -> None:
    block = block_of((12, 7), 4, GERR(0.8))
    belief, indptr, over = block.relevance.value, block.candidates.indptr, block.candidates
    browsing, due = believed_browsing(GERR(0.8), belief, indptr), expected_target(GERR(0.8), belief, indptr)
    groups = block.groups[entities]

    def loss(method: Any) -> float:
        e = replace(method, entities=entities, impressions=40).policy(block).exposure(browsing).value
        return float(np.sum(groups.totals(over.row_index, over.doc, e - due, 2) ** 2))

    planned = loss(HorizonPlanner(fairness=1.0))
    for rival in (OnlineFrankWolfe(fairness=1.0), NleController(theta=0.0), FairCo(target="equal", strength=100.0)):
        assert planned <= loss(rival) + 1e-9

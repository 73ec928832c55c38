"""Networks: gradients by parameters, order of documents, starting weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from neural_cases import grouped, rows

from rerankers.exposure import RBP
from rerankers.learning.neural import MLP, Attention, Linear, Training
from rerankers.learning.neural.batches import Placed, filled
from rerankers.learning.neural.inputs import Inputs
from rerankers.learning.neural.machine import steady
from rerankers.learning.neural.networks import Dropout, Network, build, start
from rerankers.learning.objectives import (
    DELTR,
    Binary,
    ExactExposure,
    FairPGRank,
    LambdaLoss,
    LambdaRank,
    ListNet,
    PLUtility,
    with_fairness,
)
from rerankers.learning.objectives.base import Objective

SMALL = (
    Linear(),
    MLP(hidden=[3, 2], activation="tanh"),
    MLP(hidden=[3], activation="gelu"),
    Attention(width=4, heads=2, blocks=2, feed_forward=3, dropout=0.0),
)
IDS = ("linear", "mlp_tanh", "mlp_gelu", "attention")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with steady(1):
        yield


def network(spec: Training, width: int, seed: int = 5) -> Network:
    made = build(spec.architecture(), width)
    start(made, seed)
    return made


OBJECTIVES = (
    ListNet(),
    Binary(),
    LambdaLoss(),
    LambdaRank(),
    PLUtility(browsing=RBP(0.7)),
    ExactExposure(),
    ExactExposure(loss="group"),
    ExactExposure(loss="both", browsing=RBP(0.8)),
    DELTR(protected="a"),
    FairPGRank(),
    FairPGRank(disparity="individual"),
    with_fairness(ListNet(), 0.7, "group"),
    with_fairness(PLUtility(), 2.0, "individual"),
)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: type(objective).__name__)
@pytest.mark.parametrize("spec", SMALL, ids=IDS)
def test_slopes_pushed_through_a_network_are_its_gradient(spec: Training, objective: Objective) -> None:
    data = filled(grouped(lengths=[3, 0, 1, 5, 3, 2]))
    inputs = Inputs.learn(data.features, data.names)
    placed = Placed.of(data, inputs, torch.device("cpu"), torch.float64)
    net, bound = network(spec, inputs.width), objective.bind(data)
    if isinstance(spec, Linear):  # away from 0, where nothing is smooth by accident
        torch.nn.init.constant_(net.layers[-1].weight, 0.3)
    lengths = np.diff(data.indptr)
    scores = net(placed.inputs, lengths)
    scores.backward(gradient=torch.from_numpy(bound(scores.detach().numpy()).slope))

    def value() -> float:
        return float(bound(placed.scores(net)).value.sum())

    # Along random directions, a few for hundreds of weights: a wrong partial derivative shows in every one of them.
    step, random = 1e-5, torch.Generator().manual_seed(0)
    parameters = list(net.parameters())
    for _ in range(6):
        ways = [torch.randn(values.shape, generator=random, dtype=torch.float64) for values in parameters]
        found = sum(float((values.grad * way).sum()) for values, way in zip(parameters, ways, strict=True))
        sides = []
        for sign in (step, -2 * step, step):
            with torch.no_grad():
                for values, way in zip(parameters, ways, strict=True):
                    values += sign * way
            sides.append(value())
        assert found == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("spec", SMALL, ids=IDS)
def test_order_of_documents_does_not_matter(spec: Training) -> None:
    data = rows(lengths=[7, 40, 1, 7], features=5, missing=0.0)
    inputs = Inputs.learn(data.features, data.names)
    net = network(spec, 5)
    rng = np.random.default_rng(0)
    order = np.concatenate([low + rng.permutation(high - low) for low, high in ((0, 7), (7, 47), (47, 48), (48, 55))])
    lengths = np.diff(data.indptr)
    held = inputs(data.features)
    straight = net(torch.from_numpy(held), lengths).detach().numpy()
    mixed = net(torch.from_numpy(held[order]), lengths).detach().numpy()
    np.testing.assert_allclose(mixed, straight[order], rtol=0, atol=1e-12)


def test_attention_sees_the_other_documents_of_its_row_only() -> None:
    net = network(Attention(dropout=0.0), 3)
    values = torch.from_numpy(np.random.default_rng(1).normal(size=(9, 3)))
    before = net(values, np.array([4, 5])).detach()
    values[5] += 1.0
    after = net(values, np.array([4, 5])).detach()
    torch.testing.assert_close(before[:4], after[:4], rtol=0, atol=1e-14)
    assert torch.all(before[4:] != after[4:])


def test_attention_equals_a_plain_twin() -> None:
    """One head, one block, by matrices."""
    net = network(Attention(width=3, heads=1, blocks=1, feed_forward=2, dropout=0.0), 2)
    weights = {name: values.detach().numpy() for name, values in net.named_parameters()}
    values = np.random.default_rng(2).normal(size=(5, 2))

    def through(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normed(x: np.ndarray) -> np.ndarray:
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    x = through("enter", values)
    query, key, value = np.split(through("blocks.0.ask", normed(x)), 3, axis=1)
    odds = np.exp(query @ key.T / np.sqrt(3))
    x = x + through("blocks.0.give", odds / odds.sum(1, keepdims=True) @ value)
    x = x + through("blocks.0.forth.3", np.maximum(through("blocks.0.forth.0", normed(x)), 0))
    twin = through("leave", normed(x))[:, 0]
    found = net(torch.from_numpy(values), np.array([5])).detach().numpy()
    np.testing.assert_allclose(found, twin, rtol=1e-12)


def test_starting_weights_are_those_of_the_seed_and_of_nothing_else() -> None:
    state = torch.random.get_rng_state()
    first = network(MLP(), 4, seed=1).state_dict()
    torch.rand(3)
    torch.random.set_rng_state(state)
    again, other = network(MLP(), 4, seed=1).state_dict(), network(MLP(), 4, seed=2).state_dict()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)
    assert all(values.dtype == torch.float64 and torch.all(values.isfinite()) for values in first.values())
    assert all(torch.all(values == 0) for values in network(Linear(), 4).state_dict().values())


def test_dropout_keeps_the_mean_and_stops_when_scoring() -> None:
    layer = Dropout(0.25)
    layer.random = torch.Generator().manual_seed(0)
    values = torch.ones(200_000, dtype=torch.float64)
    out = layer(values)
    assert set(out.unique().tolist()) == {0.0, 1 / 0.75}
    assert float(out.mean()) == pytest.approx(1.0, abs=0.01)
    layer.eval()
    assert layer(values) is values

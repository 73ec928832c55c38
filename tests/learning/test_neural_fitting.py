"""The training loop: what is minimised, when it stops, what it says, and that equal arguments give equal bits."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from neural_cases import EqualExposure, Net, rows
from scipy.optimize import minimize

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.learner import Point
from rerankers.learning.neural import MLP, Attention, Linear, Training
from rerankers.learning.neural.batches import Placed, filled
from rerankers.learning.neural.deck import EPOCHS, Deck
from rerankers.learning.neural.inputs import Inputs
from rerankers.learning.objectives.base import Bound, Loss
from rerankers.learning.rows import LearningRows

ROWS = rows()
HELD = rows(seed=1)
SPECS = (Linear(epochs=4), MLP(epochs=4, hidden=[5], dropout=0.2), Attention(epochs=3, width=4, feed_forward=4))
IDS = ("linear", "mlp", "attention")


def scores_of(spec: Training, data: LearningRows = ROWS, seed: int = 0, **options: object) -> np.ndarray:
    fitted = spec.fit(data, options.pop("objective", Net()), seed=seed, **options)
    return fitted.scorer.score(HELD.features, HELD.indptr)


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_equal_seeds_give_equal_bits_and_globals_are_left_alone(spec: Training) -> None:
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
    first = scores_of(spec, seed=3)
    np.testing.assert_array_equal(first, scores_of(spec, seed=3))
    assert not np.array_equal(first, scores_of(spec, seed=4))
    assert torch.equal(state, torch.random.get_rng_state())
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (threads, False)
    np.testing.assert_array_equal(numpy_state, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("objective", [Net(), EqualExposure()], ids=["list_net", "exposure"])
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_loss_falls(spec: Training, objective: Net | EqualExposure) -> None:
    curve = replace(spec, epochs=15).fit(ROWS, objective).curve
    assert [point.iteration for point in curve] == list(range(1, 16))
    assert curve[-1].values["train"] < curve[0].values["train"]
    assert all(one.seconds < two.seconds for one, two in pairwise(curve))


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd", "lbfgs"])
def test_every_optimizer_finds_the_least_loss(optimizer: str) -> None:
    """A linear scorer and cross entropy: convex, so an optimiser of another library finds the same."""
    data = rows(queries=12, features=2, missing=0.0)
    bound = Net().bind(data)
    z = (data.features - data.features.mean(axis=0)) / data.features.std(axis=0)
    full = np.diff(data.indptr) > 0
    least = minimize(lambda w: bound(z @ w).value[full].mean(), np.zeros(2)).fun
    spec = Linear(optimizer=optimizer, queries_per_batch=None, epochs=25 if optimizer == "lbfgs" else 300)
    curve = replace(spec, learning_rate={"sgd": 0.3, "lbfgs": None}.get(optimizer, 0.05)).fit(data, Net()).curve
    assert curve[0].values["train"] > least + 0.02
    assert curve[-1].values["train"] == pytest.approx(least, abs=1e-6)


def test_one_step_is_the_mean_over_queries_of_a_batch() -> None:
    """SGD from 0 over all queries: the weights are minus the rate times the mean of the queries' gradients."""
    data = rows(queries=10, features=3, missing=0.0)
    spec = Linear(optimizer="sgd", learning_rate=0.7, epochs=1, queries_per_batch=None)
    fitted = spec.fit(data, Net())
    z = (data.features - data.features.mean(axis=0)) / data.features.std(axis=0)
    gradient = Net().bind(data)(np.zeros(len(z))).slope @ z / np.count_nonzero(np.diff(data.indptr))
    np.testing.assert_allclose(fitted.scorer.score(data.features, data.indptr), z @ (-0.7 * gradient), atol=1e-13)


def test_batches_hold_every_query_once_in_an_order_of_the_epoch() -> None:
    data = filled(ROWS)
    placed = Placed.of(data, Inputs.learn(data.features, data.names), torch.device("cpu"), torch.float64)

    def seen(deck: Deck, epoch: int) -> list[tuple[str, ...]]:
        return [batch.rows.qids for batch, _ in deck(epoch)]

    deck, other = (Deck(placed, Net(), 5, seed) for seed in (7, 8))
    one, two, later = seen(deck, 1), seen(deck, 2), seen(deck, EPOCHS + 1)
    for batches in (one, two, later):
        assert sorted(sum(batches, ())) == sorted(data.qids)
        assert {len(batch) for batch in batches} <= {len(data) // len(batches), len(data) // len(batches) + 1, 5}
    assert one != two
    assert set(one) == set(two)
    assert set(later) != set(one)
    assert seen(Deck(placed, Net(), 5, 7), EPOCHS + 1) == later  # whatever was dealt before
    assert seen(other, 1) != one
    assert seen(Deck(placed, Net(), None, 7), 3) == seen(Deck(placed, Net(), 99, 7), 1) == [data.qids]
    for batch, bound in deck(1):
        np.testing.assert_array_equal(
            batch.inputs.numpy(), Inputs.learn(data.features, data.names)(batch.rows.features)
        )
        assert len(bound(np.zeros(batch.rows.over.nnz)).value) == len(batch.rows)


def test_early_stopping_keeps_the_best_weights() -> None:
    wanted = [3.0, 1.0, 2.0, 1.0, 5.0, 0.0]
    seen: list[np.ndarray] = []

    def monitor(scores: np.ndarray) -> float:
        seen.append(scores)
        return wanted[len(seen) - 1]

    points: list[Point] = []
    fitted = Linear(patience=3, epochs=50).fit(ROWS, Net(), valid=HELD, monitor=monitor, progress=points.append)
    assert fitted.iterations == 2
    assert [point.values["monitor"] for point in fitted.curve] == wanted[:5]
    assert tuple(points) == fitted.curve
    np.testing.assert_allclose(fitted.scorer.score(HELD.features, HELD.indptr), seen[1], atol=1e-13)
    short = Linear(epochs=2).fit(ROWS, Net())
    np.testing.assert_array_equal(
        short.scorer.score(HELD.features, HELD.indptr), fitted.scorer.score(HELD.features, HELD.indptr)
    )


def test_without_monitor_the_loss_of_the_validation_queries_is_looked_at() -> None:
    fitted = Linear(epochs=5).fit(ROWS, Net(), valid=HELD)
    full = np.diff(HELD.indptr) > 0
    for point in fitted.curve:
        assert point.values["monitor"] == point.values["valid"]
    loss = Net().bind(HELD)(fitted.scorer.score(HELD.features, HELD.indptr)).value[full].mean()
    assert fitted.curve[fitted.iterations - 1].values["valid"] == pytest.approx(loss, rel=1e-12)


def test_draws_are_keyed_by_the_step_in_training_and_fixed_in_validation() -> None:
    steps: dict[int, list[int]] = {}

    @dataclass(frozen=True)
    class Recorder(Net):
        def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
            inner = super().bind(rows, seed)

            def loss(scores: np.ndarray, step: int = 0) -> Loss:
                steps.setdefault(seed if rows.stream[0, 0] in ROWS.stream[:, 0] and len(rows) < 9 else -1, []).append(
                    step
                )
                return inner(scores, step)

            return loss

    Linear(epochs=3, queries_per_batch=8).fit(ROWS, Recorder(), valid=HELD, seed=11)
    batches = -(-int(np.count_nonzero(np.diff(ROWS.indptr))) // 8)
    assert steps == {11: list(range(3 * batches)), -1: [0, 0, 0]}


def test_clipping_weight_decay_and_schedule() -> None:
    spec = Linear(optimizer="sgd", learning_rate=1.0, epochs=1, queries_per_batch=None)
    free, bound = spec.fit(ROWS, Net()).scorer, replace(spec, clip=0.01).fit(ROWS, Net())
    assert bound.counts["clipped_steps"] == 1
    norm = torch.sqrt(sum((values.detach() ** 2).sum() for values in bound.scorer.network.parameters()))
    assert float(norm) == pytest.approx(0.01, rel=1e-4)
    assert torch.linalg.norm(free.network.layers[-1].weight) > 0.1
    loose, held = (
        MLP(optimizer=kind, weight_decay=decay, epochs=30).fit(ROWS, Net()).scorer.network.layers[0].weight
        for kind, decay in (("adamw", 0.0), ("adamw", 3.0))
    )
    assert torch.linalg.norm(held) < 0.8 * torch.linalg.norm(loose)
    # Under the cosine the steps shrink: the last of many is a small part of the first.
    plain, cosine = (replace(spec, learning_rate=0.1, epochs=2, schedule=name) for name in ("constant", "cosine"))
    one, two = (
        replace(plain, epochs=1).fit(ROWS, Net()).scorer.network.layers[-1].weight,
        cosine.fit(ROWS, Net()).scorer.network.layers[-1].weight,
    )
    full = plain.fit(ROWS, Net()).scorer.network.layers[-1].weight
    torch.testing.assert_close(two - one, (full - one) * 0.5, rtol=0, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_float32_is_close(spec: Training) -> None:
    # A shift of all scores of a row changes no list-wise loss, so rounding moves it freely.
    gap = scores_of(replace(spec, dtype="float32")) - scores_of(spec)
    for low, high in pairwise(HELD.indptr):
        np.testing.assert_allclose(gap[low:high], gap[low:high].mean() if high > low else 0.0, atol=2e-4)


def test_two_threads_give_the_counted_bits() -> None:
    two = Linear(epochs=2, threads=2).fit(ROWS, Net())
    assert two.scorer.made["threads"] == 2
    assert two.scorer.made["device"] == ("cuda" if torch.cuda.is_available() else "cpu")


def test_counts_tell_what_was_odd() -> None:
    data = rows(lengths=[3, 0, 1, 4, 0], missing=0.3, seed=2)
    data = replace(data, grade=np.array([1.0, 1, 1, 0, 2, 0, 0, 0]))
    counts = Linear(epochs=1).fit(data, Net(), valid=HELD).counts
    assert (counts["queries"], counts["queries_without_documents"], counts["queries_of_one_document"]) == (3, 2, 1)
    assert counts["queries_of_one_grade"] == 2
    assert counts["missing_values"] == int(np.isnan(data.features).sum())


@dataclass(frozen=True)
class Broken(Net):
    """Not a number for one query from some step on."""

    query: int = 5
    where: str = "value"

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        inner = super().bind(rows, seed)

        def loss(scores: np.ndarray, step: int = 0) -> Loss:
            found = inner(scores, step)
            if step >= 2 and str(self.query) in rows.qids:
                row = rows.qids.index(str(self.query))
                place = row if self.where == "value" else rows.over.row(row)
                getattr(found, self.where)[place] = np.nan
            return found

        return loss


@pytest.mark.parametrize("where", ["value", "slope"])
def test_a_loss_that_is_not_a_number_names_epoch_and_query(where: str) -> None:
    filled = int(np.flatnonzero(np.diff(ROWS.indptr))[3]) + 1
    spec = Linear(queries_per_batch=None, epochs=9)
    with pytest.raises(InputError, match=rf"^query {filled}: found a loss or a slope .* in epoch 3; .*learning_rate"):
        spec.fit(ROWS, Broken(query=filled, where=where))
    assert not torch.are_deterministic_algorithms_enabled()


def test_weights_that_run_away_name_epoch_and_query() -> None:
    spec = MLP(optimizer="sgd", learning_rate=1e200, epochs=5, activation="relu")
    with pytest.raises(InputError, match=r"^query \d+: found scores that are not finite, in epoch \d; "):
        spec.fit(ROWS, Net())


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (rows(lengths=[0, 0]), {}, "train: found 2 queries without a document"),
        (LearningRows.of([0, 2], np.empty((2, 0)), [0, 1]), {}, "train: found no feature"),
        (LearningRows.of([0, 3], [[1.0], [1.0], [1.0]], [0, 1, 0]), {}, "no feature with two different values"),
        (ROWS, {"valid": rows(lengths=[0])}, "valid: found 1 queries without a document"),
        (ROWS, {"valid": rows(features=3)}, "valid: found 3 features; expected 4, those of training"),
        (ROWS, {"valid": HELD, "monitor": lambda scores: float("nan")}, "monitor: found nan in epoch 1"),
    ],
)
def test_what_cannot_be_fitted_says_why(data: LearningRows, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Linear(epochs=2).fit(data, Net(), **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"model\.device: found cuda"):
        Linear(device="cuda").fit(ROWS, Net())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_a_gpu_gives_equal_bits_twice_and_nearly_the_processors(spec: Training) -> None:
    assert os.environ.get("CUBLAS_WORKSPACE_CONFIG") in (None, ":4096:8", ":16:8")
    one, two = (scores_of(replace(spec, device="cuda")) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    if "dropout" not in {name for name, value in spec.architecture().items() if value}:
        np.testing.assert_allclose(one, scores_of(replace(spec, device="cpu")), atol=1e-9)

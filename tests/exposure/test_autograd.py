"""Exposure of torch tensors: values, gradients by differences, dtypes, training."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from exposure_twins import one_row, pointers

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, TopKSet, equal_exposure_target
from rerankers.exposure import pl_exposure as plain_exposure
from rerankers.exposure.autograd import pl_exposure, plackett_luce_exposure
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure as plain_block

RNG = np.random.default_rng(41)
GRADES = np.array([0, 2, 1, 0, 0, 1, 3])
SPECS = [RBP(0.8), RBP(1.0), RBP(0.0), GERR(0.9, 0.5), ERR(), DCG(), DCG(3), TopKSet(2), GERR(0.5, 0.5, cutoff=3)]


def leaf(values: object, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.tensor(np.array(values), dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_values_and_derivatives(spec: object) -> None:
    scores = leaf(RNG.normal(size=7) * 2)
    found = pl_exposure(scores, spec, GRADES)
    np.testing.assert_array_equal(found.detach().numpy(), plain_exposure(scores.detach().numpy(), spec, GRADES))
    assert torch.autograd.gradcheck(lambda s: pl_exposure(s, spec, GRADES), (scores,), eps=1e-5, atol=1e-8)


def test_a_whole_block() -> None:
    lengths = [3, 0, 1, 7, 5]
    rows, grades = pointers(lengths), RNG.integers(0, 3, 16)
    score, pull = RNG.normal(size=16), torch.tensor(RNG.normal(size=16))
    for spec in (GERR(0.9, 0.5), DCG(2), Cascade(RNG.random(16))):
        browsing = spec.bind(grades, rows)
        logits = leaf(score)
        block = plackett_luce_exposure(rows, logits, browsing)
        np.testing.assert_array_equal(block.detach().numpy(), plain_block(rows, score, browsing))
        (block * pull).sum().backward()
        assert torch.autograd.gradcheck(
            lambda s, b=browsing: plackett_luce_exposure(rows, s, b), (leaf(score),), atol=1e-6
        )
        if isinstance(spec, Cascade):
            continue
        for low, high in pairwise(rows.tolist()):
            alone = leaf(score[low:high])
            (pl_exposure(alone, spec, grades[low:high]) * pull[low:high]).sum().backward()
            np.testing.assert_array_equal(alone.grad.numpy(), logits.grad[low:high].numpy())
    assert plackett_luce_exposure(np.array([0]), leaf([]), RBP().bind(None, np.array([0]))).shape == (0,)


def equal_exposure_loss(exposure: torch.Tensor, spec: object) -> torch.Tensor:
    return torch.sum((exposure - torch.tensor(equal_exposure_target(GRADES, spec))) ** 2)


def group_divergence(exposure: torch.Tensor, spec: object) -> torch.Tensor:
    share = torch.stack([exposure[:3].sum(), exposure[3:].sum()]) / exposure.sum()
    return torch.sum(share * torch.log(share / torch.tensor([0.3, 0.7])))


@pytest.mark.parametrize("loss", [equal_exposure_loss, group_divergence])
@pytest.mark.parametrize("spec", [GERR(0.9, 0.5), DCG(4)], ids=str)
def test_losses_that_are_not_linear(loss: object, spec: object) -> None:
    def value(score: np.ndarray) -> float:
        return float(loss(torch.tensor(plain_exposure(score, spec, GRADES)), spec))  # type: ignore[operator]

    scores = leaf(RNG.normal(size=7))
    loss(pl_exposure(scores, spec, GRADES), spec).backward()  # type: ignore[operator]
    score, step = scores.detach().numpy(), 1e-5
    expected = [(value(score + step * unit) - value(score - step * unit)) / (2 * step) for unit in np.eye(7)]
    np.testing.assert_allclose(scores.grad.numpy(), expected, rtol=0, atol=1e-8)
    assert float(scores.grad.sum()) == pytest.approx(0, abs=1e-12)


def test_single_precision_is_computed_in_double() -> None:
    score = RNG.normal(size=400).astype(np.float32)
    for dtype, tolerance in ((torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 1e-2)):
        small = torch.tensor(score).to(dtype).requires_grad_()
        found = pl_exposure(small, RBP(0.99))
        exact = plain_exposure(small.detach().double().numpy(), RBP(0.99))
        assert found.dtype is dtype
        np.testing.assert_allclose(found.detach().double().numpy(), exact, rtol=tolerance)
        (found[:5].double() ** 2).sum().backward()
        large = leaf(small.detach().double().numpy())
        (pl_exposure(large, RBP(0.99))[:5] ** 2).sum().backward()
        assert small.grad.dtype is dtype
        scale = float(large.grad.abs().max())
        np.testing.assert_allclose(small.grad.double(), large.grad, rtol=0, atol=2 * tolerance * scale)


def test_where_gradients_go() -> None:
    grades = torch.tensor(GRADES, dtype=torch.float64, requires_grad=True)
    scores = leaf(RNG.normal(size=7))
    pl_exposure(scores, GERR(), grades).square().sum().backward()
    assert grades.grad is None
    assert scores.grad is not None
    quiet = pl_exposure(scores.detach(), GERR(), grades)
    assert not quiet.requires_grad
    with torch.no_grad():
        assert not pl_exposure(scores, RBP()).requires_grad
    twice = leaf(RNG.normal(size=7))
    (first,) = torch.autograd.grad(pl_exposure(twice, RBP()).square().sum(), twice, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
    strided = leaf(RNG.normal(size=14))
    pl_exposure(strided[::2], RBP(0.7)).prod().backward()
    dense = leaf(strided.detach()[::2].numpy())
    pl_exposure(dense, RBP(0.7)).prod().backward()
    np.testing.assert_array_equal(strided.grad[::2], dense.grad)
    np.testing.assert_array_equal(strided.grad[1::2], 0)


def test_extreme_scores() -> None:
    for score in ([3.0], [1.0] * 6, [0.0, 2000.0, -2000.0], [0.0, -np.inf, 1.0, -np.inf], [-np.inf] * 3):
        scores = leaf(score)
        pl_exposure(scores, RBP(0.5)).square().sum().backward()
        assert torch.all(torch.isfinite(scores.grad))
    np.testing.assert_allclose(leaf([1.0, 1.0]).detach(), 1)


def test_training_lowers_the_loss() -> None:
    spec, n = GERR(0.5, 0.5), 30
    grades = RNG.integers(0, 2, n)
    target, scores = torch.tensor(equal_exposure_target(grades, spec)), leaf(RNG.normal(size=n))
    optimizer = torch.optim.Adam([scores], lr=0.3)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = torch.sum((pl_exposure(scores, spec, grades) - target) ** 2)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.05 * losses[0]


def test_wrong_tensors() -> None:
    with pytest.raises(ValueError, match=r"scores: found a tensor of torch\.int64; expected a tensor of floating"):
        pl_exposure(torch.tensor([1, 2]), RBP())
    with pytest.raises(ValueError, match="scores: found list; expected a tensor"):
        pl_exposure([1.0, 2.0], RBP())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scores: found nan at 1"):
        pl_exposure(leaf([1.0, np.nan]), RBP())
    with pytest.raises(ValueError, match="scores: found an array of shape"):
        pl_exposure(leaf([[1.0, 2.0]]), RBP())
    with pytest.raises(ValueError, match="grades: found none"):
        pl_exposure(leaf([1.0, 2.0]), GERR())
    with pytest.raises(ValueError, match="grades: found an array of shape"):
        pl_exposure(leaf([1.0, 2.0]), GERR(), torch.zeros(3))
    with pytest.raises(ValueError, match="logits: found nan"):
        plackett_luce_exposure(one_row(2), leaf([np.nan, 1.0]), RBP().bind(None, one_row(2)))
    with pytest.raises(ValueError, match="one a document"):
        plackett_luce_exposure(one_row(3), leaf([2.0, 1.0]), RBP().bind(None, one_row(3)))


def test_the_package_itself_loads_no_torch() -> None:
    code = "import rerankers.exposure, rerankers.policies, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

"""Exact GERR exposure of one query against drawing full rankings and adding up what their documents get."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from _numpy_peers import cascade_exposure, fine_quadrature, full_rankings, mean_exposure
from _settings import Settings
from _timing import Result, interleaved

from rerankers.exposure import GERR, pl_exposure

N, DRAWS, DEMANDED = 1000, 1000, 20.0
EQUAL = 1e-3  # the error for which the draws are reckoned


def results(settings: Settings) -> Iterator[Result]:
    """Hold the contest for flatter and for steeper scores."""
    for name, scale in (("N(0, 1)", 1.0), ("N(0, 2²)", 2.0)):
        rng = settings.generator("exposure", name)
        score, grades, model = rng.normal(0, scale, N), (rng.random(N) < 0.05).astype(np.int64), GERR()
        continuation = model.patience * (1 - model.satisfaction * (grades > 0))
        exact, drawn = partial(pl_exposure, score, model, grades), partial(draw_and_add, score, continuation, rng)
        ours, peer = interleaved([exact, drawn], settings.repetitions)
        truth = fine_quadrature(score, continuation)
        yield Result(
            f"exact GERR exposure, n={N}, scores {name}",
            ours,
            peer,
            f"numpy: {DRAWS:,} full rankings by Gumbel noise and argsort, their exposure added up",
            DEMANDED,
            f"largest error ours {np.abs(exact() - truth).max():.0e}, peer {np.abs(drawn() - truth).max():.0e}; "
            + _draws_needed(score, continuation, truth, rng),
        )


def draw_and_add(
    score: np.ndarray, continuation: np.ndarray, rng: np.random.Generator, draws: int = DRAWS
) -> np.ndarray:
    """Return the mean exposure over drawn rankings."""
    order = full_rankings(score, draws, rng)
    return mean_exposure(order, cascade_exposure(order, continuation), len(score))


def _draws_needed(score: np.ndarray, continuation: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> str:
    """Say how many draws bring the standard error down to `EQUAL`, from the variance of one draw."""
    order = full_rankings(score, 10 * DRAWS, rng)
    variance = mean_exposure(order, np.square(cascade_exposure(order, continuation)), N) - truth**2
    mean, most = variance.mean() / EQUAL**2, variance.max() / EQUAL**2
    return (
        f"draws for an error of {EQUAL:g}: {mean:,.0f} for the root mean square over documents, "
        f"{most:,.0f} for the document that varies most"
    )

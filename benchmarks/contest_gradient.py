"""Exact gradient of the expected-exposure loss of one query against PL-Rank-3 with a thousand draws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from _numpy_peers import pl_rank_3
from _peers import PL_RANK
from _settings import Settings
from _timing import Result, Work, interleaved

from rerankers.exposure import RBP, equal_exposure_target, pl_exposure, pl_exposure_gradient

N, DRAWS, DEMANDED = 100, 1000, 8.0


def results(settings: Settings) -> Iterator[Result]:
    """Hold the contest against numpy, and against the published code where it is at hand.

    PL-Rank differentiates what is linear in exposure. It is given the derivative of the loss with respect to exposure,
    exact and for nothing, which would take it draws of its own; ours computes both exposure and gradient.
    """
    rng = settings.generator("gradient")
    score, grades, model = rng.normal(size=N), (rng.random(N) < 0.1).astype(np.int64), RBP(0.9)
    target = equal_exposure_target(grades, model)
    position, slope = model.patience ** np.arange(N), 2 * (pl_exposure(score, model, grades) - target)

    def exact() -> np.ndarray:
        weights = 2 * (pl_exposure(score, model, grades) - target)
        return pl_exposure_gradient(score, model, weights, grades)

    peers: dict[str, Work] = {
        "PL-Rank-3 in numpy, written for the comparison": partial(pl_rank_3, position, slope, score, DRAWS, rng)
    }
    if settings.peers.has(PL_RANK):
        (published,) = settings.peers.load(PL_RANK, "algorithms.PLRank")
        np.random.seed(settings.seed)  # noqa: NPY002  (the published code draws from the global generator)
        label = f"PL-Rank-3 of {settings.peers.label(PL_RANK)}"
        peers[label] = partial(published.PL_rank_3, position, slope, score, n_samples=DRAWS)
    ours, *theirs = interleaved([exact, *peers.values()], settings.repetitions)
    gradient = exact()
    for (name, work), peer in zip(peers.items(), theirs, strict=True):
        error = np.linalg.norm(np.asarray(work()) - gradient) / np.linalg.norm(gradient)
        yield Result(
            f"exact EE-L gradient and exposure, n={N}, RBP(.9)",
            ours,
            peer,
            f"{name}, {DRAWS:,} full rankings, drawing counted",
            DEMANDED,
            f"relative error of one estimate of the peer {error:.2f}",
        )

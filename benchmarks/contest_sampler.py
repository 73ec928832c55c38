"""The sampler against float64 Gumbel noise, argpartition and a sort of the first k."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count

import numpy as np
from _numpy_peers import top_rankings
from _settings import Settings
from _timing import Result, interleaved

from rerankers.exposure import pl_rank_marginals
from rerankers.policies import sample_plackett_luce

DRAWS, WRONG = 1000, 6.0
SHAPES = [(n, k) for n in (10, 100, 1000, 10_000) for k in dict.fromkeys((10, 100, n)) if k <= n]
DEMANDED = {(1000, 10): 30.0, (1000, 100): 2.5, (100, 100): 1.8}  # elsewhere 1: never slower
HARD = "uniform over 40 nats"  # a few documents hold nearly all weight: never slower is demanded
SCORES = ("N(0, 1)", "N(0, 2²)", HARD)


def results(settings: Settings) -> Iterator[Result]:
    """Hold a contest a kind of scores and shape."""
    for kind in SCORES:
        for n, k in SHAPES:
            rng = settings.generator("sampler", kind, n, k)
            score = {SCORES[0]: rng.normal(size=n), SCORES[1]: rng.normal(0, 2, n), HARD: rng.uniform(0, 40, n)}[kind]
            seeds = count()  # every call draws anew: rejection takes the time it takes
            ours = partial(_ours, score, k, seeds)
            peer = partial(top_rankings, score, k, DRAWS, rng)
            mine, theirs = interleaved([ours, peer], settings.repetitions)
            for draw in (ours, peer):
                off = deviation(score, draw())
                assert off < WRONG, f"{draw} is off its exact chances by {off:.1f} standard errors"
            yield Result(
                f"{DRAWS:,} rankings, n={n}, k={k}, scores {kind}",
                mine,
                theirs,
                "numpy: float64 Gumbel noise, argpartition, sort of the first k",
                1.0 if kind == HARD else DEMANDED.get((n, k), 1.0),
            )


def _ours(score: np.ndarray, k: int, seeds: Iterator[int]) -> np.ndarray:
    return sample_plackett_luce(score, k, DRAWS, next(seeds))


def deviation(score: np.ndarray, order: np.ndarray, parts: int = 20) -> float:
    """Return by how many standard errors first ranks are off their exact chances, at most over parts of documents.

    Parts are of documents of similar score, about equally likely; the most likely document may be a part by itself.
    """
    chance, by_score = pl_rank_marginals(score, 1)[:, 0], np.argsort(score)
    part = np.empty(len(score), dtype=np.int64)
    part[by_score] = np.minimum(np.cumsum(chance[by_score]) * parts, parts - 1)
    exact = np.bincount(part, weights=chance, minlength=parts)
    found = np.bincount(part[order[:, 0]], minlength=parts) / len(order)
    spread = np.sqrt(np.maximum(exact * (1 - exact), 1e-9) / len(order))
    return float(np.max(np.abs(found - exact) / spread))

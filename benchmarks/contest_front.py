"""A Pareto front of fifty points against the published curve of the expohedron."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from _numpy_peers import frontier_path
from _peers import EXPOHEDRON
from _settings import Settings
from _timing import NotRun, Result, interleaved

from rerankers.exposure import pareto_front

N, POINTS, DEMANDED = 100, 50, 300.0


def results(settings: Settings) -> Iterator[Result | NotRun]:
    """Compare fifty points with the corners of the whole curve, from the same fair end."""
    rng = settings.generator("front")
    relevance, position = rng.random(N), 1 / np.log2(np.arange(N) + 2)
    fair = np.full(N, position.mean())  # the fair end of equal exposure: every method takes it as it is
    lambdas = np.concatenate([[0.0], np.geomspace(1e-4, 1e2, POINTS - 1)])

    def ours() -> np.ndarray:
        return pareto_front(relevance, fair, position, lambdas)

    def path() -> list[np.ndarray]:
        return frontier_path(position, relevance, fair)

    points = ours()
    works, names, demands = [path], ["the same method in numpy, written for the comparison"], [None]
    if settings.peers.has(EXPOHEDRON):
        (published,) = settings.peers.load(EXPOHEDRON, "pareto")
        works.append(lambda: published.pareto_curve_pbm_individual(position, relevance, fairness="demographic"))
        names.append(settings.peers.label(EXPOHEDRON) + ", numpy's dropped alias float set in memory at its import")
        demands.append(DEMANDED)
    else:
        yield NotRun(f"{POINTS}-point front, n={N}, at least {DEMANDED:g} times", f"--peers has no {EXPOHEDRON}")
    mine, *others = interleaved([ours, *works], settings.repetitions)
    for work, name, demand, theirs in zip(works, names, demands, others, strict=True):
        curve = work()
        yield Result(
            f"{POINTS}-point Pareto front, n={N}, DCG weights",
            mine,
            theirs,
            name,
            demand,
            f"peer: {len(curve)} corners; our points off its curve by at most "
            f"{distance_to_curve(points, np.array(curve), relevance):.0e}",
        )


def distance_to_curve(points: np.ndarray, curve: np.ndarray, relevance: np.ndarray) -> float:
    """Return the largest difference of exposures between points and the curve's point of the same utility."""
    utility, order = points @ relevance, np.argsort(curve @ relevance, kind="stable")
    corner = (curve @ relevance)[order]
    there = np.stack([np.interp(utility, corner, curve[order, doc]) for doc in range(curve.shape[1])], axis=1)
    return float(np.abs(points - there).max())

"""How time grows with documents, ranks, draws and queries: fitted exponents of the best times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from _settings import Settings
from _timing import Growth, Work, exponent, interleaved

from rerankers._base.streams import query_streams
from rerankers.exposure import (
    DCG,
    GERR,
    frank_wolfe,
    pl_exposure,
    pl_exposure_gradient,
    project_permutahedron,
    ranking_exposure,
)
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import PlackettLuce, sample_plackett_luce
from rerankers.values import Ragged

Make = Callable[[int], Work]  # size -> what is timed at that size

DOCUMENTS = (100, 300, 1000, 3000, 10_000)
DRAWS = (100, 1000, 10_000)


def results(settings: Settings) -> Iterator[Growth]:
    """Time every function over its sizes, all sizes in turn."""
    rng = settings.generator("growth")
    for what, variable, sizes, make in _lines(rng):
        seconds = interleaved([make(size) for size in sizes], settings.repetitions)
        best = [one.best for one in seconds]
        yield Growth(what, variable, tuple(sizes), tuple(1000 * value for value in best), exponent(sizes, best))


def _lines(rng: np.random.Generator) -> Iterator[tuple[str, str, Sequence[int], Make]]:
    score, grades = rng.normal(size=DOCUMENTS[-1]), (rng.random(DOCUMENTS[-1]) < 0.05).astype(np.int64)
    weights, position = rng.normal(size=DOCUMENTS[-1]), 1 / np.log2(np.arange(DOCUMENTS[-1]) + 2)

    def exact(model: GERR | DCG, n: int) -> Work:
        return partial(pl_exposure, score[:n], model, grades[:n])

    yield "exact exposure, GERR", "documents", DOCUMENTS, partial(exact, GERR())
    yield "exact exposure, DCG without a cutoff", "documents", DOCUMENTS[:4], partial(exact, DCG())
    yield "exact exposure, DCG@10", "documents", DOCUMENTS[:3], partial(exact, DCG(10))
    yield "exact exposure, DCG@k, n=300", "ranks k", (5, 10, 20, 40), lambda k: exact(DCG(k), 300)
    yield (
        "gradient, GERR",
        "documents",
        DOCUMENTS,
        lambda n: partial(pl_exposure_gradient, score[:n], GERR(), weights[:n], grades[:n]),
    )
    yield (
        "sampler, 1,000 draws, k=10",
        "documents",
        DOCUMENTS,
        lambda n: partial(sample_plackett_luce, score[:n], 10, 1000, 0),
    )
    yield (
        "sampler, 1,000 draws, n=1000",
        "ranks k",
        (10, 30, 100, 300, 1000),
        lambda k: partial(sample_plackett_luce, score[:1000], k, 1000, 0),
    )
    yield (
        "sampler, n=1000, k=10",
        "draws",
        DRAWS,
        lambda draws: partial(sample_plackett_luce, score[:1000], 10, draws, 0),
    )
    yield (
        "exposure of one ranking, GERR",
        "ranks",
        DOCUMENTS,
        lambda n: partial(ranking_exposure, np.argsort(-score[:n]), GERR(), grades[:n]),
    )
    yield "exposure of rankings, GERR, n=100", "draws", DRAWS, lambda draws: _walk(rng, 1, 100, draws)
    yield (
        "exposure of 100 rankings a query, GERR, n=100",
        "queries",
        (10, 100, 1000),
        lambda queries: _walk(rng, queries, 100, 100),
    )
    yield "exact exposure of a block, GERR, n=100", "queries", (10, 100, 1000), lambda queries: _block(rng, queries)
    yield (
        "projection on the permutahedron",
        "documents",
        DOCUMENTS,
        lambda n: partial(project_permutahedron, weights[:n], position[:n]),
    )
    yield (
        "Frank-Wolfe to gap 1e-6, GERR, a target each document",
        "documents",
        (10, 30, 100, 300),
        lambda n: _optimum(np.eye(n), grades[:n]),
    )
    yield (
        "Frank-Wolfe to gap 1e-6, GERR, targets of 4 groups",
        "documents",
        DOCUMENTS,
        lambda n: _optimum(np.eye(4)[np.arange(n) % 4].T, grades[:n]),
    )


def _policy(rng: np.random.Generator, queries: int, n: int) -> PlackettLuce:
    doc = np.tile(np.arange(n, dtype=np.int32), queries)
    over = Ragged(np.arange(queries, dtype=np.int32), np.arange(queries + 1, dtype=np.int64) * n, doc)
    return PlackettLuce(over, rng.normal(size=over.nnz), query_streams([str(query) for query in range(queries)]))


def _walk(rng: np.random.Generator, queries: int, n: int, draws: int) -> Work:
    policy = _policy(rng, queries, n)
    browsing = GERR().bind(rng.random(policy.over.nnz) < 0.1, policy.over.indptr)
    return partial(exposure_of, policy.sample(draws, 0), browsing)


def _block(rng: np.random.Generator, queries: int) -> Work:
    policy = _policy(rng, queries, 100)
    browsing = GERR().bind(rng.random(policy.over.nnz) < 0.1, policy.over.indptr)
    return partial(plackett_luce_exposure, policy.over.indptr, policy.logit, browsing)


def _optimum(member: np.ndarray, grades: np.ndarray) -> Work:
    """Return the search for the policy under which groups (G, n) get nearest to equal exposure."""
    groups, n = member.shape
    share = pl_exposure(np.zeros(n), GERR(), grades).sum() / groups

    def squared_distance(exposure: np.ndarray) -> tuple[float, np.ndarray]:
        miss = member @ exposure - share
        return float(miss @ miss), 2 * member.T @ miss

    return partial(frank_wolfe, squared_distance, GERR(), n, grades, 1e-6)

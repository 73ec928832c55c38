"""Sampler, exposure of rankings and exact exposure against plain loops, as ratios taken in one run.

Run with ``python benchmarks/bench_exposure.py [queries] [documents] [draws]``; set OMP_NUM_THREADS=1 first. Every
contender is warmed up once and then timed five times; the median is shown.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, GERR, Browsing
from rerankers.exposure.plackett_luce import exact_exposure, plackett_luce_exposure
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import PlackettLuce, zscore
from rerankers.values import Ragged, Rankings


def timed(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median seconds of ``work`` after one warm-up call."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def gumbel_loop(over: Ragged, logit: np.ndarray, draws: int) -> list[np.ndarray]:
    """Sample one query after the other with Gumbel noise and a sort."""
    rng = np.random.default_rng(0)
    out = []
    for row in range(len(over)):
        part = over.row(row)
        noisy = logit[part] + rng.gumbel(size=(draws, part.stop - part.start))
        out.append(np.argsort(-noisy, axis=1))
    return out


def ranking_loop(rankings: Rankings, browsing: Browsing, share: int) -> np.ndarray:
    """Walk down every ``share``-th ranking, document by document."""
    continuation, value = browsing.continuation.tolist(), np.zeros(rankings.over.nnz)
    for ranking in range(0, len(rankings), share):
        start = int(rankings.over.indptr[rankings.row_of_ranking[ranking]])
        chance, weight = 1.0, float(rankings.weight[ranking])
        for item in rankings.item[rankings.item_ptr[ranking] : rankings.item_ptr[ranking + 1]].tolist():
            value[start + item] += weight * chance
            chance *= continuation[start + item]
    return value


def plain_quadrature(over: Ragged, logit: np.ndarray, continuation: np.ndarray) -> np.ndarray:
    """Integrate with the trapezoid rule in log time, step 1/4, forty nats to the left, all nodes at once."""
    value = np.empty(over.nnz)
    for row in range(len(over)):
        part = over.row(row)
        score = logit[part] - logit[part].max()
        x = np.arange(-40.0, 4.0 - score.min(), 0.25)[:, None]
        arrived = np.exp(score + x)
        factor = np.logaddexp(np.log(continuation[part]), np.log1p(-continuation[part]) - arrived)
        value[part] = 0.25 * np.exp(score + x - arrived + factor.sum(axis=1, keepdims=True) - factor).sum(axis=0)
    return value


def main(queries: int = 64, documents: int = 1000, draws: int = 100) -> None:
    """Print one line a contest."""
    over = Ragged(np.arange(queries), np.arange(queries + 1) * documents, np.tile(np.arange(documents), queries))
    rng = np.random.default_rng(1)
    logit = zscore(over.indptr, rng.normal(size=over.nnz))
    browsing = GERR().bind(rng.random(over.nnz) < 0.05, over.indptr)
    policy = PlackettLuce(over, logit, query_streams([str(query) for query in range(queries)]))
    rankings = policy.sample(draws, seed=0)
    share = max(1, len(rankings) // 64)
    few = over.rows(0, min(queries, 4))
    dcg, dcg_few = DCG(10).bind(None, over.indptr), DCG(10).bind(None, few.indptr)
    contests: list[tuple[str, Callable[[], object], float, Callable[[], object], float]] = [
        (
            "sample, all ranks / Gumbel loop",
            lambda: policy.sample(draws, seed=0),
            1,
            lambda: gumbel_loop(over, logit, draws),
            1,
        ),
        (
            "sample, 10 ranks / Gumbel loop",
            lambda: policy.sample(draws, seed=0, depth=10),
            1,
            lambda: gumbel_loop(over, logit, draws),
            1,
        ),
        (
            "exposure of rankings / Python loop",
            lambda: exposure_of(rankings, browsing),
            1,
            lambda: ranking_loop(rankings, browsing, share),
            share,
        ),
        (
            "exact GERR / plain quadrature",
            lambda: exact_exposure(over.indptr, logit, browsing.continuation),
            1,
            lambda: plain_quadrature(few, logit[: few.nnz], browsing.continuation[: few.nnz]),
            queries / len(few),
        ),
        (
            "exact GERR / sampling and exposure",
            lambda: exact_exposure(over.indptr, logit, browsing.continuation),
            1,
            lambda: exposure_of(policy.sample(draws, seed=0), browsing),
            1,
        ),
        (
            "exact DCG@10 / sampling and exposure",
            lambda: plackett_luce_exposure(few.indptr, logit[: few.nnz], dcg_few),
            queries / len(few),
            lambda: exposure_of(policy.sample(draws, seed=0), dcg),
            1,
        ),
    ]
    print(f"{queries} queries x {documents} documents x {draws} draws")
    print(f"{'contest':40s} {'ours, s':>9s} {'other, s':>9s} {'other / ours':>13s}")
    for name, ours, our_share, other, other_share in contests:
        mine, theirs = timed(ours) * our_share, timed(other, repeats=3) * other_share
        print(f"{name:40s} {mine:9.3f} {theirs:9.3f} {theirs / mine:13.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

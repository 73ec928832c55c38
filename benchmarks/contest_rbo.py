"""Rank-biased overlap of rankings of 1,000 documents: arrays and all pairs at once, against plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
from _settings import Settings
from _timing import Result, interleaved

from rerankers.measures.rank_overlap import rbo
from rerankers.queries.rank_pairs import rbo_matrix
from rerankers.queries.ranked import Ranked

DEPTH, RANKINGS, P = 1000, 20, 0.9
DEMANDED = 50.0


def results(settings: Settings) -> Iterator[Result]:
    """Hold the contests: one pair, all pairs of several rankings, and one pair with tied scores.

    The faithful version is the equation as it stands, agreement of the two sets of the first d items at every depth;
    the growing one keeps both sets and their overlap from depth to depth, which is the least that Python has to do.
    """
    draw = settings.generator("rbo")
    docs = [draw.permutation(2 * DEPTH)[:DEPTH] for _ in range(RANKINGS)]
    plain = [one.tolist() for one in docs]
    scores = [np.sort(draw.integers(0, DEPTH, DEPTH))[::-1].astype(np.float64) for _ in docs]
    strict, tied = [Ranked(one) for one in docs], [Ranked(*each) for each in zip(docs, scores, strict=True)]
    pairs = list(combinations_with_replacement(range(RANKINGS), 2))
    found = rbo_matrix(strict, p=P)
    apart = max(abs(found[i, j] - by_growing_sets(plain[i], plain[j])) for i, j in pairs)
    ours, theirs = interleaved(
        [partial(rbo, docs[0], docs[1], P), partial(by_sets, plain[0], plain[1])], settings.repetitions
    )
    yield Result(f"RBO, two rankings of {DEPTH:,}", ours, theirs, "sets at every depth, Python", DEMANDED)
    works = [partial(rbo_matrix, strict, p=P), partial(_every, plain, pairs)]
    ours, theirs = interleaved(works, settings.repetitions)
    notes = f"{ours.best / len(pairs) * 1e6:.1f} us a pair; they agree to {apart:.0e}"
    what = f"RBO, {len(pairs)} pairs of {RANKINGS} rankings of {DEPTH:,}"
    yield Result(what, ours, theirs, "growing sets, Python", DEMANDED, notes)
    apart = abs(float(rbo_matrix(tied[:1], tied[1:2], p=P)[0, 0]) - by_parts(tied[0], tied[1]))
    works = [partial(rbo_matrix, tied[:1], tied[1:2], p=P), partial(by_parts, tied[0], tied[1])]
    ours, theirs = interleaved(works, settings.repetitions)
    notes = f"ties broken in expectation; they agree to {apart:.0e}"
    yield Result(
        f"RBO, two rankings of {DEPTH:,} with ties", ours, theirs, "parts of tie groups, Python", DEMANDED, notes
    )


def by_sets(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the extrapolated RBO of two rankings of one length as the equation has it (Webber et al. 2010)."""
    agreement = [len(set(a[:d]) & set(b[:d])) / d for d in range(1, len(a) + 1)]
    total = sum(share * P**d for d, share in enumerate(agreement, 1))
    return (1 - P) / P * total + agreement[-1] * P ** len(a)


def by_growing_sets(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the same, with the overlap carried from depth to depth."""
    one: set[int] = set()
    two: set[int] = set()
    total, common, power = 0.0, 0, 1.0
    for d, (x, y) in enumerate(zip(a, b, strict=True), 1):
        one.add(x)
        two.add(y)
        common += (x in two) + (y in one) - (x == y)
        power *= P
        total += common / d * power
    return (1 - P) / P * total + common / len(a) * power


def by_parts(one: Ranked, two: Ranked) -> float:
    """Return the same with ties broken in expectation: parts of tie groups that have arrived (Corsi & Urbano 2024)."""
    spans = [_spans(one), _spans(two)]
    common = [(spans[0][doc], spans[1][doc]) for doc in spans[0].keys() & spans[1].keys()]
    total = shared = 0.0
    for d in range(1, len(one) + 1):
        shared = 0.0
        for (t, u), (v, w) in common:
            if d >= t and d >= v:
                shared += min(1.0, (d - t + 1) / (u - t + 1)) * min(1.0, (d - v + 1) / (w - v + 1))
        total += shared / d * P**d
    return (1 - P) / P * total + shared / len(one) * P ** len(one)


def _spans(of: Ranked) -> dict[int, tuple[int, int]]:
    """Return the first and last rank of each document's tie group."""
    scores = [] if of.scores is None else of.scores.tolist()
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, score in enumerate(scores, 1):
        first.setdefault(score, rank)
        last[score] = rank
    return {doc: (first[score], last[score]) for doc, score in zip(of.docs.tolist(), scores, strict=True)}


def _every(plain: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int]]) -> list[float]:
    return [by_growing_sets(plain[i], plain[j]) for i, j in pairs]

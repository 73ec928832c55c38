"""Peers written for the comparison, from the published formulas: where no code was published, or its checkout is away.

Each is the plain vectorised form that a careful user would write, so that a ratio is not won against bad code.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def full_rankings(score: Floats, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw whole Plackett-Luce rankings: Gumbel noise and a sort (Yellott 1977)."""
    noisy = rng.gumbel(size=(draws, len(score)))
    noisy += score
    np.negative(noisy, out=noisy)
    return np.argsort(noisy, axis=1)


def top_rankings(score: Floats, k: int, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw the first k ranks: float64 Gumbel noise, a partition, a sort of the k found."""
    noisy = rng.gumbel(size=(draws, len(score)))
    noisy += score
    np.negative(noisy, out=noisy)
    near = np.argpartition(noisy, k - 1, axis=1)[:, :k]
    inside = np.argsort(np.take_along_axis(noisy, near, axis=1), axis=1)
    return np.take_along_axis(near, inside, axis=1)


def cascade_exposure(order: NDArray[np.intp], continuation: Floats) -> Floats:
    """Return the exposure of the document at each rank, (S, k): the product of continuations before it."""
    seen = np.ones(order.shape)
    np.cumprod(continuation[order[:, :-1]], axis=1, out=seen[:, 1:])
    return seen


def mean_exposure(order: NDArray[np.intp], seen: Floats, size: int) -> Floats:
    """Return the mean exposure of documents over rankings (S, k)."""
    return np.bincount(order.ravel(), weights=seen.ravel(), minlength=size) / len(order)


def fine_quadrature(score: Floats, continuation: Floats, step: float = 1 / 16, left: float = 60.0) -> Floats:
    """Return the exact exposure by a trapezoid rule in log time, four times finer than it needs to be."""
    score = score - score.max()
    value = np.zeros(len(score))
    nodes = np.arange(-left, 4.5 - score.min(), step)
    with np.errstate(divide="ignore"):
        kept, lost = np.log(continuation), np.log1p(-continuation)
    for some in np.array_split(nodes, 1 + len(nodes) * len(score) // 1_000_000):
        arrived = np.exp(score + some[:, None])
        factor = np.logaddexp(kept, lost - arrived)
        rest = factor.sum(axis=1, keepdims=True) - factor
        value += step * np.exp(score + some[:, None] - arrived + rest).sum(axis=0)
    return value


def pl_rank_3(position: Floats, value: Floats, score: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Estimate the gradient of the expected sum of position weight times value: PL-Rank-3 (Oosterhuis, SIGIR 2022).

    Parameters
    ----------
    position
        (k,), weight of each rank; k up to n.
    value
        (n,), what a document is worth.
    """
    n, k = len(score), min(len(position), len(score))
    order = full_rankings(score, draws, rng)
    placed, unplaced = order[:, :k], order[:, k:]
    weight, theta = np.exp(score - score.max()), position[:k]
    gain = theta * value[placed]
    from_here = np.cumsum(gain[:, ::-1], axis=1)[:, ::-1]
    left = np.cumsum(weight[order[:, ::-1]], axis=1)[:, ::-1][:, :k]  # a suffix sum: never all minus the placed
    direct, risk = np.cumsum(theta / left, axis=1), np.cumsum(from_here / left, axis=1)
    part = from_here - gain + weight[placed] * (value[placed] * direct - risk)
    total = np.bincount(placed.ravel(), weights=part.ravel(), minlength=n)
    if k < n:
        rest = weight[unplaced] * (value[unplaced] * direct[:, -1:] - risk[:, -1:])
        total += np.bincount(unplaced.ravel(), weights=rest.ravel(), minlength=n)
    return total / draws


def frontier_path(position: Floats, relevance: Floats, start: Floats) -> list[Floats]:
    """Follow the Pareto front from a point of the permutahedron to the best ranking, face by face.

    The method of Kletti, Renders and Loiseau (WSDM 2022): go along the relevance as far as the present face allows,
    then along its projection on the smaller face met. The projection takes a mean away a block, where the published
    code solves for an orthonormal basis; the way to the border comes from bisection of majorisation.
    """
    best, low = np.sort(position) @ np.sort(relevance), np.cumsum(np.sort(position))
    point = start
    points, (order, block) = [start], _face(start, low)
    while best - point @ relevance > 1e-9 and len(points) <= len(position):
        direction = np.empty(len(point))
        direction[order] = relevance[order] - _block_means(relevance[order], block)
        inside, outside = 0.0, 1.0
        while np.all(np.cumsum(np.sort(point + outside * direction)) >= low - 1e-12):
            inside, outside = outside, 2 * outside
        while outside - inside > 1e-13 * outside:
            middle = (inside + outside) / 2
            if np.all(np.cumsum(np.sort(point + middle * direction)) >= low - 1e-12):
                inside = middle
            else:
                outside = middle
        point = point + inside * direction
        order, block = _face(point, low)
        point[order] += _block_means(np.sort(position) - point[order], block)  # rounding must not add up
        points.append(point)
    return points


def _face(point: Floats, low: Floats) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return documents by exposure, ascending, and the block each is in: blocks end where a prefix sum is tight."""
    order = np.argsort(point, kind="stable")
    tight = np.abs(np.cumsum(point[order]) - low) < 1e-8
    return order, np.concatenate([[0], np.cumsum(tight[:-1])])


def _block_means(values: Floats, block: NDArray[np.int64]) -> Floats:
    return (np.bincount(block, weights=values) / np.bincount(block))[block]


def expeval_values(qrels: Path, run: Path, patience: float, utility: float) -> dict[str, tuple[float, float, float]]:
    """Return (disparity, relevance, difference) a query from text files: line by line into dictionaries.

    The measures of Diaz et al. (CIKM 2020) under GERR with complete judgments, not normalised.
    """
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in qrels.read_text().splitlines():
        qid, _, docno, grade = line.split()
        grades[qid][docno] = int(grade)
    rankings: dict[str, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    with run.open() as lines:
        for line in lines:
            qid, sample, docno, rank, score = line.split()[:5]
            float(score)
            rankings[qid][sample][int(rank)] = docno
    out = {}
    for qid, grade in grades.items():
        exposure: dict[str, float] = defaultdict(float)
        for ranking in rankings[qid].values():
            found = 0
            for place in range(len(ranking)):
                docno = ranking[place + 1]
                exposure[docno] += patience**place * (1 - utility) ** found / len(rankings[qid])
                found += grade.get(docno, 0) > 0
        target = _gerr_target(grade, patience, utility)
        both = set(exposure) | set(target)
        out[qid] = (
            sum(value * value for value in exposure.values()),
            sum(target[docno] * value for docno, value in exposure.items() if docno in target),
            sum((exposure.get(docno, 0.0) - target.get(docno, 0.0)) ** 2 for docno in both),
        )
    return out


def _gerr_target(grade: dict[str, int], patience: float, utility: float) -> dict[str, float]:
    """Share the exposure of the ranks of a grade among its documents."""
    level, better = {}, 0
    for value in sorted(set(grade.values()), reverse=True):
        size = sum(one == value for one in grade.values())
        kept, ahead = (patience * (1 - utility), 1.0) if value > 0 else (patience, (1 - utility) ** better)
        level[value] = ahead * sum(kept**rank for rank in range(better, better + size)) / size
        better += size
    return {docno: level[value] for docno, value in grade.items()}


def foeir_program(relevance: Floats, groups: NDArray[np.int64], position: Floats, constraint: str) -> dict[str, Any]:
    """Return the linear program of Singh and Joachims (KDD 2018) for scipy: doubly stochastic, one group constraint.

    Variables are the n x n probabilities of document at rank, row by row; all matrices are sparse.
    """
    from scipy import sparse

    n = len(relevance)
    size, merit = np.bincount(groups, minlength=2), np.bincount(groups, weights=relevance, minlength=2)
    share = np.where(groups == 0, 1.0, -1.0) / size[groups]
    if constraint != "parity":
        share /= (merit / size)[groups]
    if constraint == "impact":
        share *= relevance
    one, eye = np.ones((1, n)), sparse.eye_array(n)
    equal = sparse.vstack(
        [sparse.kron(eye, one), sparse.kron(one, eye), sparse.csr_array(np.outer(share, position).reshape(1, -1))]
    )
    return {
        "c": -np.outer(relevance, position).ravel(),
        "A_eq": equal.tocsr(),
        "b_eq": np.append(np.ones(2 * n), 0.0),
        "bounds": (0, None),
        "method": "highs",
    }

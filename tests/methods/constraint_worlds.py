"""The methods that are tested together, and small blocks for all of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from tilt_worlds import alignment, block

from rerankers.exposure import DCG
from rerankers.methods.det_const_sort import DetConstSort
from rerankers.methods.epsilon_greedy import EpsilonGreedy
from rerankers.methods.equal_opportunity import EqualOpportunity
from rerankers.methods.expost_group_fair import ExpostGroupFair
from rerankers.methods.fa_star_ir import FaStarIr
from rerankers.methods.foeir import Foeir
from rerankers.methods.linear_fusion import LinearFusion
from rerankers.methods.mmr import Mmr
from rerankers.methods.phi_fair import PhiFair
from rerankers.methods.pm2 import Pm2
from rerankers.methods.round_robin import RoundRobin
from rerankers.methods.rrf import Rrf
from rerankers.methods.targets import Uniform
from rerankers.values import Block

MADE: dict[str, Callable[[], object]] = {
    "fa_star_ir": lambda: FaStarIr(protected="A"),
    "fa_star_ir pool": lambda: FaStarIr(protected="A", pool=True, unknown="keep"),
    "det_const_sort": DetConstSort,
    "det_const_sort published": lambda: DetConstSort(published=True),
    "det_greedy": lambda: DetConstSort("det_greedy"),
    "det_cons": lambda: DetConstSort("det_cons", unknown="keep"),
    "det_relaxed": lambda: DetConstSort("det_relaxed"),
    "expost_group_fair": lambda: ExpostGroupFair(draws=5),
    "expost_group_fair score": lambda: ExpostGroupFair("score", every=3, slack=1, cutoff=3, draws=5, unknown="keep"),
    "equal_opportunity": EqualOpportunity,
    "phi_fair": PhiFair,
    "foeir": Foeir,
    "foeir impact": lambda: Foeir("impact", group="A", infeasible="parity", unknown="other"),
    "rrf": Rrf,
    "linear_fusion": LinearFusion,
    "mmr": Mmr,
    "mmr columns": lambda: Mmr(similarity="columns"),
    "pm2": Pm2,
    "round_robin": RoundRobin,
    "round_robin across": lambda: RoundRobin("target", rankings=4),
    "epsilon_greedy": lambda: EpsilonGreedy(0.3, draws=5),
}


def world(rows: list[list[float]], labels: list[str | None], unknown: str = "count", **fields: object) -> Block:
    """Return a block of queries whose documents have the labels of the first documents of a list, in turn."""
    total = sum(len(row) for row in rows)
    own = [labels[at % len(labels)] for at in range(total)]
    groups = {"g": alignment("g", own, unknown, ("A", "B"))}
    return block(rows, groups, **{"target": Uniform(), "browsing": DCG(), **fields})


def alone(part: Block, row: int) -> Block:
    """Return one row of a block as a block."""
    estimates = None if part.estimates is None else part.estimates.at(part.candidates.row(row))
    return Block(
        part.candidates.rows(row, row + 1),
        part.stream[row : row + 1],
        part.groups,
        estimates,
        part.browsing,
        part.target,
        part.seed,
    )


def rankings_of(policy: object, row: int = 0) -> list[list[int]]:
    """Return the rankings of one row of a mixture."""
    found = policy.rankings  # type: ignore[attr-defined]
    bounds = found.item_ptr[found.query_ptr[row] : found.query_ptr[row + 1] + 1]
    return [found.item[low:high].tolist() for low, high in pairwise(bounds)]


def exposure_by_rank(policy: object, weight: np.ndarray, row: int = 0) -> np.ndarray:
    """Return the mean weight of each document's rank in the rankings of one row, plainly."""
    found = policy.rankings  # type: ignore[attr-defined]
    own = found.weight[found.query_ptr[row] : found.query_ptr[row + 1]]
    total = np.zeros(len(rankings_of(policy, row)[0]))
    for chance, ranking in zip(own, rankings_of(policy, row), strict=True):
        total[ranking] += chance * weight[: len(ranking)]
    return total

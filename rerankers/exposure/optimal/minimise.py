"""The Frank-Wolfe loop over any region that has an oracle: fully corrective, with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.optimal.atoms import Atoms, normalised, prune
from rerankers.exposure.optimal.line_search import descend
from rerankers.exposure.optimal.newton import Model
from rerankers.exposure.optimal.objective import evaluate, matrix_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.objective import Objective, Point
    from rerankers.exposure.optimal.regions import Region, Vertex

_WORTH = 0.5  # a start from twice as many rankings must lower the gap by this factor
_ENOUGH = 0.03  # of the gap: how far from optimal a mixture of the points at hand may be left
_SHARE = 0.1  # of the tolerance, likewise
_KEPT = 8  # times as many points are remembered as there are documents
_FLAT = 1e-3  # of the slope, after a step towards a single ranking


class Minimum(NamedTuple):
    """Rankings int64 (m, n), weights (m,), the gap, the exposure (n,), its value, the oracle calls, whether enough."""

    rankings: NDArray[np.int64]
    weights: NDArray[np.float64]
    gap: float
    exposure: NDArray[np.float64]
    value: float
    iterations: int
    converged: bool


def minimise(
    objective: Objective,
    region: Region,
    tolerance: float,
    max_iterations: int,
    matrix: NDArray[np.float64] | None = None,
    start: Atoms | None = None,
) -> Minimum:
    """Minimise a convex function over a region.

    Each iteration asks the oracle for the lowest point against the gradient (Frank & Wolfe 1956), which also bounds
    how far the value lies above the minimum (Jaggi 2013), takes it in and finds the best mixture of all points so
    far (fully corrective; Lacoste-Julien & Jaggi 2015 show linear convergence).

    Parameters
    ----------
    matrix
        (G, n), what must look the same after pruning; by default what the objective sees.
    start
        a mixture that lies near the minimum, where one is known.
    """
    if start is None:
        atoms, point = _begin(objective, region)
    else:
        atoms, point = start, evaluate(objective, start.mean(start.weight))
    model = Model(objective, point)
    iterations = 0
    for _ in range(max_iterations):
        vertex, gap = _gap(region, point)
        iterations += 1
        if gap <= tolerance:
            break
        atoms.add(vertex)
        enough = max(_ENOUGH * gap, _SHARE * tolerance)
        if not model.improve(atoms, point, enough) and not _towards(objective, atoms, vertex, point):
            break  # rounding allows no step
        _forget(atoms, model, point)
        # From the weights anew: sums of steps would drift.
        point = evaluate(objective, atoms.mean(atoms.weight))
    return _finish(objective, region, atoms, tolerance, iterations, matrix_of(objective) if matrix is None else matrix)


def gap_at(region: Region, point: Point) -> float:
    """Return a bound on how far the value at a point lies above the minimum over the region."""
    return _gap(region, point)[1]


def _gap(region: Region, point: Point) -> tuple[Vertex, float]:
    vertex, bound = region.lowest(point.gradient)
    return vertex, max(0.0, float(np.dot(point.gradient, point.exposure)) - bound)


def _begin(objective: Objective, region: Region) -> tuple[Atoms, Point]:
    """Start from one ranking, or from more where that lowers the gap much: where exposures near 0 cost much."""
    count, size = 1, max(1, region.oracle.size)
    best: tuple[float, Atoms, Point] | None = None
    while True:
        atoms = Atoms(region.start(count))
        point = evaluate(objective, atoms.mean(atoms.weight))
        gap = gap_at(region, point) if point.value < np.inf else np.inf
        if best is not None and not gap < _WORTH * best[0]:
            if best[0] < np.inf:
                return best[1], best[2]
        elif gap < np.inf or best is None:
            best = gap, atoms, point
        if count == size:
            break
        count = min(2 * count, size)
    if best[0] == np.inf:
        raise InputError.one("objective", "infinity at every start", "finite values of some mixture")
    return best[1], best[2]


def _forget(atoms: Atoms, model: Model, point: Point) -> None:
    """Leave out points without weight when there are very many, those first that lie highest."""
    if len(atoms) <= _KEPT * (len(point.exposure) + _KEPT):
        return
    level = atoms.exposure @ point.gradient
    level[atoms.weight > 0] = -np.inf
    kept = np.zeros(len(atoms), dtype=bool)
    kept[np.argsort(level, kind="stable")[: len(atoms) // 2]] = True
    kept |= atoms.weight > 0
    atoms.keep(kept)
    model.keep(kept)


def _towards(objective: Objective, atoms: Atoms, vertex: Vertex, point: Point) -> bool:
    """Go straight towards a vertex, a step that only rounding can fail; return whether it was taken."""
    along = vertex.exposure - point.exposure
    if not np.dot(point.gradient, along) < 0:
        return False
    place = atoms.add(vertex)
    old = atoms.weight
    single = np.zeros(len(atoms))
    single[place] = 1.0

    def at(length: float) -> Point:
        return evaluate(objective, atoms.mean(old + length * (single - old)))

    length, _ = descend(at, along, point, 1.0, 1.0, _FLAT)
    atoms.weight = old + length * (single - old)
    return length > 0


def _finish(
    objective: Objective,
    region: Region,
    atoms: Atoms,
    tolerance: float,
    iterations: int,
    matrix: NDArray[np.float64] | None,
) -> Minimum:
    """Return the policy, with its exposure, value and gap computed from nothing but its rankings and weights."""
    rankings, weights = atoms.rankings()
    seen = region.oracle.exposure(rankings)
    if matrix is not None:
        weights = prune(seen, weights, matrix)
        stays = weights > 0
        rankings, weights, seen = rankings[stays], normalised(weights[stays]), seen[stays]
    exposure = weights @ seen
    point = evaluate(objective, region.coordinates(exposure))
    gap = gap_at(region, point)
    return Minimum(rankings, weights, gap, exposure, point.value, iterations, gap <= tolerance)

"""The rankings that a policy in the making mixes, and how few of them suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.optimal.regions import Vertex

_RANK = 1e-14  # singular values below this part of the largest count as 0


class Atoms:
    """Weighted points, each once: a repeated one adds to the weight it has.

    Attributes
    ----------
    vertices
        the m points.
    weight
        float64 (m,), at least 0, sum 1.
    """

    def __init__(self, vertices: list[Vertex], weights: NDArray[np.float64] | None = None) -> None:
        self.vertices: list[Vertex] = []
        self.weight = np.empty(0)
        self._place: dict[bytes, int] = {}
        self._buffer = np.empty((max(8, 2 * len(vertices)), len(vertices[0].exposure)))
        given = np.ones(len(vertices)) if weights is None else weights
        for vertex, weight in zip(vertices, given.tolist(), strict=True):
            place = self.add(vertex)
            self.weight[place] += weight
        self.weight /= self.weight.sum()

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def exposure(self) -> NDArray[np.float64]:
        """float64 (m, n), the exposures of the points."""
        return self._buffer[: len(self.vertices)]

    def mean(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exposure (n,) of the mixture with weights (m,)."""
        return weight @ self.exposure

    def add(self, vertex: Vertex) -> int:
        """Take in a point with weight 0, unless it is there; return its place."""
        key = _key(vertex)
        place = self._place.setdefault(key, len(self.vertices))
        if place == len(self.vertices):
            if place == len(self._buffer):
                self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
            self._buffer[place] = vertex.exposure
            self.vertices.append(vertex)
            self.weight = np.append(self.weight, 0.0)
        return place

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out points (m,) and scale the weights of the others to sum 1."""
        self._buffer[: int(kept.sum())] = self.exposure[kept]
        self.vertices = [vertex for vertex, stays in zip(self.vertices, kept, strict=True) if stays]
        self._place = {_key(vertex): place for place, vertex in enumerate(self.vertices)}
        self.weight = self.weight[kept] / self.weight[kept].sum()

    def rankings(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the rankings int64 (m, n), each once in the order they came in, and their weights (m,), sum 1."""
        share: dict[bytes, float] = {}
        order: dict[bytes, NDArray[np.int64]] = {}
        for vertex, weight in zip(self.vertices, self.weight.tolist(), strict=True):
            if weight == 0:
                continue
            for ranking, part in zip(vertex.rankings, vertex.weights.tolist(), strict=True):
                key = ranking.tobytes()
                order[key] = ranking
                share[key] = share.get(key, 0.0) + weight * part
        weights = np.array(list(share.values()))
        stays = weights > 0
        return np.stack(list(order.values()))[stays], normalised(weights[stays])


def _key(vertex: Vertex) -> bytes:
    return vertex.rankings.tobytes() + vertex.weights.tobytes()


def normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights (m,) scaled so that their sum is 1 to the last bit, or the one before."""
    scaled: NDArray[np.float64] = weights / weights.sum()
    scaled[np.argmax(scaled)] += 1.0 - scaled.sum()
    return scaled


def prune(
    exposures: NDArray[np.float64], weights: NDArray[np.float64], matrix: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return weights of few rankings whose mixture looks the same through a matrix.

    Rankings are left out one after the other along directions of weights that change neither the sum of the weights
    nor ``matrix @ exposure``, until those left are affinely independent there (Carathéodory 1907).

    Parameters
    ----------
    exposures
        float64 (m, n), of the rankings.
    weights
        float64 (m,), at least 0, sum 1.
    matrix
        float64 (G, n).

    Returns
    -------
    float64 (m,), at most rank(matrix) + 1 of them positive, sum 1.
    """
    seen = matrix @ exposures.T
    size = np.abs(seen).max(axis=1, initial=0.0)
    rows = np.vstack([np.ones(len(weights)), seen[size > 0] / size[size > 0, None]])
    weight = weights.copy()
    active = np.flatnonzero(weight > 0)
    while len(active) > 1:
        # One more than there are rows are dependent for sure.
        some = active[: len(rows) + 1]
        _, singular, directions = np.linalg.svd(rows[:, some])
        if len(some) <= len(rows) and singular[-1] > _RANK * singular[0]:
            break
        weight[some] = _first_zero(weight[some], directions[-1])
        active = np.flatnonzero(weight > 0)
    return normalised(weight)


def _first_zero(weight: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move weights along a direction, whichever way is shorter, until the first is 0."""
    with np.errstate(divide="ignore"):
        step = weight / np.abs(direction)
    at = int(np.argmin(step))
    moved: NDArray[np.float64] = np.maximum(weight - np.sign(direction[at]) * step[at] * direction, 0.0)
    moved[at] = 0.0
    return moved

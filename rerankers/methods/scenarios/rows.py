"""One row in M scenarios: labels drawn from beliefs, and what browsing and fairness would be if they were true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import stream_key
from rerankers.exposure.targets import equal_exposure
from rerankers.methods.targets.believed import relevant_grade
from rerankers.policies._points import quasi_uniforms
from rerankers.policies.label_shuffle import levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel

PURPOSE = "scenarios"
LANES = 4
"""Scenarios are worked on four at a time; their number is rounded up to a multiple."""


@dataclass(frozen=True, slots=True, eq=False)
class Scenarios:
    """The row of a query in M scenarios of equal weight.

    Attributes
    ----------
    relevant
        bool (M, n).
    continuation, target, satisfaction
        float64 (n, M): the continuation past a document, its exposure under an ideal policy, what seeing it is worth.
    position
        float64 (n,), weights of ranks; all 1 where the model has none.
    plain
        whether the model has no weights of ranks.
    """

    relevant: NDArray[np.bool_]
    continuation: NDArray[np.float64]
    target: NDArray[np.float64]
    satisfaction: NDArray[np.float64]
    position: NDArray[np.float64]
    plain: bool

    @property
    def size(self) -> int:
        """Number of documents n."""
        return int(self.relevant.shape[1])

    @property
    def count(self) -> int:
        """Number of scenarios M."""
        return len(self.relevant)


def draw_scenarios(
    chance: NDArray[np.float64],
    model: BrowsingModel,
    count: int,
    at_least_one: bool,
    seed: int,
    stream: NDArray[np.uint64],
) -> Scenarios:
    """Draw scenarios of one row.

    Parameters
    ----------
    chance
        float64 (n,), n >= 1, chances of relevance, independent of each other.
    model
        the browsing model; relevant documents have its highest grade.
    count
        scenarios, rounded up to a multiple of four. They are the points of a Latin hypercube: each is drawn from the
        beliefs, and a document is relevant in as many of them as expected, rounded up or down, as far as
        ``at_least_one`` leaves labels independent.
    at_least_one
        draw from the labels with a relevant document, without rejection; see `rerankers.policies.label_shuffle`.
    seed, stream
        the source of randomness.
    """
    count = -(-count // LANES) * LANES
    noise = quasi_uniforms(stream_key(seed, stream, PURPOSE), count, len(chance))
    return scenarios_of(noise < (levels(chance, noise) if at_least_one else chance), model)


def scenarios_of(relevant: NDArray[np.bool_], model: BrowsingModel) -> Scenarios:
    """Return the scenarios of given labels, bool (M, n) with M a multiple of four."""
    count, n = relevant.shape
    indptr = np.arange(count + 1, dtype=np.int64) * n
    grade = np.where(relevant.ravel(), relevant_grade(model), 0.0)
    browsing = model.bind(grade, indptr)
    target = equal_exposure(indptr, grade, browsing)
    across = [
        np.ascontiguousarray(values.reshape(count, n).T)
        for values in (browsing.continuation, target, np.where(grade > 0, browsing.satisfaction, 0.0))
    ]
    position = np.ones(n) if browsing.position is None else np.array(browsing.position[:n], dtype=np.float64)
    return Scenarios(relevant, across[0], across[1], across[2], position, browsing.position is None)

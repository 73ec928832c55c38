"""How much work fronts may be: all of it, or, where nobody asked, no more than some seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.universe import Universe
from rerankers.methods.fronts import WEIGHTS

if TYPE_CHECKING:
    from rerankers.stages.fronts import Scene

AUTO = "auto"
MOST_SECONDS = 4.0
"""Of computing that ``auto`` may take, as `seconds_of` estimates it."""
A_SOLUTION, A_CANDIDATE, A_PLACE = 2e-3, 3e-6, 0.12e-6
"""Seconds that the best policy of one query at one weight costs: for itself, for each candidate, and, where all
documents are browsed alike, for each candidate and rank that is looked at, since the policy is then taken apart into
rankings. Measured on one core with 20 to 360 candidates a query under GERR, ERR, RBP, DCG and a set of 5. They are
constants, so that what a job leaves does not depend on how busy the machine was."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How closely fronts are computed.

    Attributes
    ----------
    weights
        of utility, one point each.
    tolerance, max_iterations
        of the search at every point (`rerankers.methods.pareto_optimal.ParetoOptimal`).
    """

    weights: tuple[float, ...] = WEIGHTS
    tolerance: float = 1e-6
    max_iterations: int = 1000


FULL = Effort()
QUICK = Effort((0.0, 1.0, 5.0, 20.0, 1000.0), 1e-3, 30)
"""Of ``auto``: points further apart, each within about a thousandth of the best where the search converges."""


def check_fronts(wanted: object) -> None:
    """Raise `ConfigError` for anything but true, false and ``auto``."""
    if not isinstance(wanted, bool) and wanted != AUTO:
        raise ConfigError(f"measures.fronts: found {wanted}; expected {AUTO}, true or false")


def too_long(seconds: float) -> str:
    """Return the sentence that says why there are no fronts."""
    return f"Not computed, since they would take about {seconds:.0f} s: measures.fronts=true asks for them."


def least_seconds(queries: int, effort: Effort = QUICK) -> float:
    """Return what the fronts of so many judged queries take at least."""
    return A_SOLUTION * queries * len(effort.weights)


def seconds_of(scene: Scene, truth: bool, effort: Effort = QUICK) -> float | None:
    """Return about how many seconds the fronts of a scene take; None where no best ranking is known exactly.

    Parameters
    ----------
    scene
        what they are computed on.
    truth
        whether there is a true front.
    effort
        how closely.
    """
    candidates = scene.block.candidates
    grade = np.maximum(Universe(candidates, scene.judgments, "union").candidate_grade, 0.0)
    browsing = scene.options.model.bind(grade, candidates.indptr)
    lengths = candidates.lengths.astype(np.float64)
    weight, alike = browsing.position, bool(np.all(browsing.continuation == browsing.continuation[:1]))
    ranks = lengths if weight is None else np.minimum(lengths, np.count_nonzero(weight))
    if not alike and weight is not None and np.any(weight[weight != 0] != weight[0]):
        return None
    once = A_SOLUTION * len(candidates) + A_CANDIDATE * candidates.nnz + alike * A_PLACE * float(lengths @ ranks)
    beliefs = 1 + truth + (scene.block.relevance.probability is not None)
    losses = 1 + (len(scene.groups) == 1)
    return float(beliefs * losses * len(effort.weights) * once)

"""L-BFGS on the terms of an additive model, with early stopping on validation queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.learning.additive.scorer import AdditiveScorer
from rerankers.learning.additive.terms import Terms
from rerankers.learning.checked import row_counts, same_features, usable
from rerankers.learning.learner import Fitted, Monitor, Point
from rerankers.learning.monitors import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.additive.options import Additive
    from rerankers.learning.objectives.base import Bound, Objective
    from rerankers.learning.rows import LearningRows

_HIDDEN = 1e-6  # derivatives of this share of the loss change it by less than its last digits: there line searches end
_MEMORY = 20  # pairs of steps and gradients that L-BFGS remembers


def fit(
    options: Additive,
    train: LearningRows,
    objective: Objective,
    valid: LearningRows | None,
    monitor: Monitor | None,
    seed: int,
    progress: Callable[[Point], None] | None,
) -> Fitted:
    """Fit; see `Additive.fit`."""
    rows = usable(train, "train")
    terms = Terms.learn(rows.features, rows.indptr, rows.names, _quantiles(options), options.clip)
    varied = np.concatenate([curve.inverse for curve in terms.curves]) > 0
    if not np.any(varied):
        raise InputError.one("train", "no feature with two different values", "at least one")
    bound = objective.bind(rows, seed)
    counts = {**getattr(bound, "counts", {}), **row_counts(train, rows)}
    watch = None
    if valid is not None:
        held = same_features(usable(valid, "valid"), rows)
        watch = _Watch(_matrix(terms, held), objective.bind(held, seed), held, monitor, options.patience)
    problem = _Problem(_matrix(terms, rows), bound, rows, options.l2)
    descent = _Descent(problem, watch, progress)
    best, iterations = descent.run(options)
    scorer = AdditiveScorer(rows.names, terms, best[:-1].copy(), float(best[-1]))
    found = {**counts, **descent.counts}
    return Fitted(scorer, iterations, tuple(descent.curve), {name: count for name, count in found.items() if count})


def _quantiles(options: Additive) -> NDArray[np.float64]:
    return np.linspace(options.outermost, 1.0 - options.outermost, options.knots)


def _matrix(terms: Terms, rows: LearningRows) -> NDArray[np.float64]:
    """Return the terms and a term of ones, float64 (T + 1, nnz)."""
    out = np.empty((terms.size + 1, rows.over.nnz))
    for place, term in enumerate(terms(rows.features, rows.indptr)):
        out[place] = term
    out[-1] = 1.0
    return out


def _scores(matrix: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    # einsum adds in one fixed order whatever the number of threads; BLAS does not promise it.
    scores: NDArray[np.float64] = np.einsum("tn,t->n", matrix, weights)
    return scores


@dataclass(slots=True, eq=False)
class _Problem:
    """The mean over queries of the loss plus the penalty, as a function of the weights; the intercept is the last."""

    matrix: NDArray[np.float64]
    bound: Bound
    rows: LearningRows
    l2: float
    evaluations: int = 0

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        self.evaluations += 1
        size = len(self.rows)
        loss = self.bound(_scores(self.matrix, weights))
        if not np.all(np.isfinite(loss.value)) or not np.all(np.isfinite(loss.slope)):
            row = int(np.argmax(~np.isfinite(loss.value)))
            found = f"a loss that is not finite in evaluation {self.evaluations}"
            raise InputError.one(f"query {self.rows.qids[row]}", found, "a finite one", mend="Raise model.l2.")
        slope = np.einsum("tn,n->t", self.matrix, loss.slope)
        slope[:-1] += self.l2 * weights[:-1]
        return float(loss.value.sum()) / size + self.penalty(weights), slope / size

    def penalty(self, weights: NDArray[np.float64]) -> float:
        return 0.5 * self.l2 * float(np.sum(weights[:-1] ** 2)) / len(self.rows)


@dataclass(slots=True, eq=False)
class _Watch:
    """The validation queries: what is seen there, and whether it has stopped getting better."""

    matrix: NDArray[np.float64]
    bound: Bound
    rows: LearningRows
    monitor: Monitor | None
    patience: int | None

    def __call__(self, weights: NDArray[np.float64]) -> dict[str, float]:
        scores = _scores(self.matrix, weights)
        loss = float(self.bound(scores).value.mean())
        if self.monitor is None:
            return {"valid": loss, "monitor": loss}
        seen = reading(self.monitor, scores)
        if not np.isfinite(seen.value):
            raise InputError.one("monitor", f"the value {seen.value}", "a finite number")
        return {"valid": loss, "monitor": seen.value, **seen.parts}


class _Descent:
    """One run of L-BFGS, its curve, and the best weights on the validation queries."""

    def __init__(self, problem: _Problem, watch: _Watch | None, progress: Callable[[Point], None] | None) -> None:
        self.problem, self.watch, self.progress = problem, watch, progress
        self.curve: list[Point] = []
        self.counts: dict[str, int] = {}
        self.best, self.best_value, self.best_iteration = np.zeros(len(problem.matrix)), np.inf, 0
        self.begin = perf_counter()

    def run(self, options: Additive) -> tuple[NDArray[np.float64], int]:
        """Return the best weights and their iteration."""
        from scipy.optimize import minimize

        limits = {"maxiter": options.iterations, "maxfun": 60 * options.iterations, "ftol": 0.0}
        search = {"maxcor": _MEMORY, "maxls": 50, "gtol": options.tolerance}
        start = np.zeros(len(self.problem.matrix))
        found = minimize(
            self.problem, start, jac=True, method="L-BFGS-B", callback=self._step, options={**limits, **search}
        )
        weights = np.array(found.x, dtype=np.float64)
        ran_out = self._stalled() or len(self.curve) >= options.iterations
        if not ran_out and not self._flat(weights, options):
            self.counts["stopped_before_convergence"] = 1  # no step along the slope lowers the loss
        if self.watch is None:
            return weights, max(len(self.curve), 1)
        return self.best, max(self.best_iteration, 1)

    def _flat(self, weights: NDArray[np.float64], options: Additive) -> bool:
        value, slope = self.problem(weights)
        return float(np.abs(slope).max()) <= max(options.tolerance, _HIDDEN * max(abs(value), 1.0))

    def _step(self, intermediate_result: Any) -> None:
        weights = np.array(intermediate_result.x, dtype=np.float64)
        values = {"train": float(intermediate_result.fun) - self.problem.penalty(weights)}
        number = len(self.curve) + 1
        if self.watch is not None:
            values |= self.watch(weights)
            if values["monitor"] < self.best_value:
                self.best, self.best_value, self.best_iteration = weights, values["monitor"], number
        self.curve.append(Point(number, perf_counter() - self.begin, values))
        if self.progress is not None:
            self.progress(self.curve[-1])
        if self._stalled():
            raise StopIteration

    def _stalled(self) -> bool:
        patience = None if self.watch is None else self.watch.patience
        return patience is not None and len(self.curve) - self.best_iteration >= patience

"""The options of the additive model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.learning.learner import Fitted, Monitor, Point
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True)
class Additive:
    """A generalised additive model (Hastie and Tibshirani 1986): score = sum over features of a curve of the feature.

    The curve of a feature is a line in its z-score within the query plus hinges max(x - knot, 0), so that it is
    piecewise linear (`terms.Terms`). What is minimised is the objective, summed over queries, plus l2/2 times the sum
    of the squared weights, all terms being standardised by the training pairs: with the objective ``binary`` this is
    ridge logistic regression. It is convex where the objective is, starts at 0, and runs by L-BFGS (Liu and Nocedal
    1989) until the gradient vanishes, so that nothing is drawn and the seed changes nothing but what an estimated
    objective draws: one set of draws for the whole fit.

    Attributes
    ----------
    l2
        penalty, on the scale of the objective's sum over queries: 1/C of other programs. Larger is smoother.
    knots
        hinges a feature, at equally spaced quantiles of the training pairs from ``outermost`` to 1 - ``outermost``;
        0 for lines alone. Features with fewer than `terms.FEWEST` distinct values have none.
    outermost
        the quantile of the first knot, from 0 to .5.
    clip
        z-scores beyond are cut to it, above 0.
    iterations
        of L-BFGS, at most.
    tolerance
        the fit has converged when no derivative of the mean over queries is larger.
    patience
        iterations without a new best on the validation queries after which fitting stops; None runs to convergence and
        still keeps the best. Without validation queries it is not looked at.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    l2: float = 100.0
    knots: int = 7
    outermost: float = 0.1
    clip: float = 4.0
    iterations: int = 1000
    tolerance: float = 1e-8
    patience: int | None = 20

    def __post_init__(self) -> None:
        for name, least in (("knots", 0), ("iterations", 1), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigError(f"model.{name}: found {value}; expected a whole number of at least {least}")
        if not (math.isfinite(self.l2) and self.l2 >= 0):
            raise ConfigError(f"model.l2: found {self.l2}; expected a number of at least 0")
        if not 0 <= self.outermost <= 0.5:
            raise ConfigError(f"model.outermost: found {self.outermost}; expected a quantile from 0 to .5")
        for name in ("clip", "tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"model.{name}: found {value}; expected a number above 0")

    def with_iterations(self, iterations: int) -> Additive:
        """Return the spec that runs at most this many iterations: fewer where it converges before."""
        return replace(self, iterations=iterations)

    def fit(
        self,
        train: LearningRows,
        objective: Objective,
        *,
        valid: LearningRows | None = None,
        monitor: Monitor | None = None,
        seed: int = 0,
        checkpoint: Path | None = None,
        progress: Callable[[Point], None] | None = None,
    ) -> Fitted:
        """Fit the model; the arguments are those of `rerankers.learning.learner.Learner.fit`.

        ``counts`` has ``stopped_before_convergence`` where L-BFGS found no step that lowers the loss before its slope
        vanished: so it may be with losses that jump as the ranking changes (LambdaLoss, LambdaRank), which trees and
        networks with small steps get past.

        Nothing is kept in ``checkpoint``: a fit takes seconds, and one that was stopped starts again and ends with the
        same bits.

        Raises
        ------
        InputError
            for rows without a pair or without a feature that varies, validation rows with other features, a feature
            too large to be squared, by name, and a loss that is not finite, with the iteration and the query.
        """
        from rerankers.learning.additive.fitting import fit

        return fit(self, train, objective, valid, monitor, seed, progress)

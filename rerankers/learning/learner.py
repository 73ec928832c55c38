"""What every learner is: a spec that fits a scorer, and a scorer that can be written and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

Monitor = Callable[["NDArray[np.float64]"], float]
"""Scores of the validation pairs, float64 (nnz,), in; a number to be minimised out. Early stopping looks at it."""


@dataclass(frozen=True, slots=True)
class Point:
    """One line of ``training.csv``: an iteration, seconds since the fit began, and what was measured there."""

    iteration: int
    seconds: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What a fit gives.

    Attributes
    ----------
    scorer
        of the best iteration where there was a validation set, else of the last.
    iterations
        that the scorer has.
    curve
        every iteration (or every few, as the learner says): ``train`` (the objective's mean over queries), and with a
        validation set ``valid`` (likewise) and ``monitor``.
    counts
        what was met, for instance ``queries_of_one_grade``: shown and stored, never silent.
    """

    scorer: Scorer
    iterations: int
    curve: tuple[Point, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


class Scorer(Protocol):
    """A trained function of features. Each kind has a class method ``read(folder)`` that inverts ``write``."""

    kind: ClassVar[str]

    def score(self, features: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every pair, float64 (nnz,): features (nnz, F) with NaN where missing, indptr (B + 1,).

        The bits of a row's scores depend on that row alone.
        """
        ...

    def write(self, folder: Path) -> None:
        """Write the scorer's files, text or safetensors, into a folder that is there."""
        ...


class Learner(Protocol):
    """A spec; its dataclass fields are the options of ``conf/model/<name>.yaml``."""

    def with_iterations(self, iterations: int) -> Self:
        """Return the spec that runs exactly this many iterations unless something stops it early."""
        ...

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
        """Fit a scorer.

        Parameters
        ----------
        train
            what is fitted on.
        objective
            what is minimised: the mean over queries of its loss.
        valid
            what early stopping looks at; None runs all iterations.
        monitor
            what early stopping minimises on ``valid``; None takes the objective's own loss there.
        seed
            of everything random; equal seeds give equal bits.
        checkpoint
            a folder for checkpoints: a fit that was stopped and is started again with equal arguments continues
            from the last and ends with the same bits; None keeps none.
        progress
            called with every point of the curve as it is measured.

        Raises
        ------
        ConfigError
            for an objective that the learner cannot minimise.
        InputError
            for rows that cannot be fitted on (no pair, no feature), naming the query where there is one.
        """
        ...

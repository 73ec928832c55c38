"""What every objective is: a spec that is bound to rows, and then a function of scores with exact slopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows
    from rerankers.values.relevance import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """The loss of each query at some scores, to be minimised, with its derivatives by the scores.

    Attributes
    ----------
    value
        float64 (B,), the loss of each query; of an estimated objective, its estimate.
    slope
        float64 (nnz,), derivative of a query's loss by each of its scores.
    curvature
        float64 (nnz,), at least 0: a second-order term for each score such that Newton steps of boosting converge;
        how each objective makes it, and that it bounds or approximates, stands in its module.
    """

    value: NDArray[np.float64]
    slope: NDArray[np.float64]
    curvature: NDArray[np.float64]


class Bound(Protocol):
    """An objective bound to rows."""

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores, float64 (nnz,).

        ``step`` keys the draws of an estimated objective: equal steps give equal bits, whatever was computed before.
        Exact objectives do not look at it.
        """
        ...


class Objective(Protocol):
    """A spec; its dataclass fields are the options of ``conf/objective/<name>.yaml``.

    ``scores`` says how the scores of a model that is trained with it are to be read: ``score`` (only their order
    and standardised distances), ``logit`` (log-weights of a Plackett-Luce policy), or ``log_odds`` of relevance.
    ``needs_groups`` says whether it looks at groups.
    """

    @property
    def scores(self) -> Kind | str:
        """How scores are to be read; a class variable of most objectives."""
        ...

    @property
    def needs_groups(self) -> bool:
        """Whether it looks at groups; a class variable of most objectives."""
        ...

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        """Return the function of scores for these rows; ``seed`` is that of estimated objectives."""
        ...

r"""Fair-PGRank (Singh & Joachims 2019): expected utility less the disparity of exposure given merit.

The loss of a query is -U / U* + \lambda D under the Plackett-Luce policy of the scores, U the expected utility (see
`pl_utility`), and D one of

    group        the mean over pairs of groups with merits M_i >= M_j > 0 of max(0, v_i / M_i - v_j / M_j),
    individual   the same over pairs of documents,

v the exposure, of a group the mean over its documents, and M the merit, 2^grade - 1, likewise. Documents and groups of
merit 0 are skipped, and counted: any exposure is proportional to none. Equal merits make a pair in both orders.

The authors estimate the gradient by the score function; exact ones are the default here. D is not smooth, so that
estimates of it from draws are right only as the number of draws grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.exposure.rows import row_sums
from rerankers.learning.objectives.cells import Cells
from rerankers.learning.objectives.exposure_bound import ExposureBound, Gradient
from rerankers.learning.objectives.mixture import check_weight
from rerankers.learning.objectives.pl_utility import PLUtility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing, BrowsingModel
    from rerankers.learning.objectives.terms import Term
    from rerankers.learning.rows import LearningRows

DISPARITIES = ("group", "individual")
NO_MERIT, NO_PAIR = "cells_without_merit", "queries_without_pair"


@dataclass(frozen=True, slots=True)
class FairPGRank:
    """Minus the expected utility as a share of the best, plus a weight times disparity.

    Attributes
    ----------
    disparity
        ``group`` or ``individual``.
    weight
        of the disparity, at least 0.
    gradient, draws, browsing
        as in `PLUtility`.
    """

    disparity: str = "group"
    weight: float = 1.0
    gradient: str = "exact"
    draws: int = 1000
    browsing: Any = None
    scores: ClassVar[str] = "logit"

    def __post_init__(self) -> None:
        choose("objective.disparity", self.disparity, DISPARITIES)
        check_weight(self.weight)
        self.gradients()

    @property
    def needs_groups(self) -> bool:
        """Whether it looks at groups."""
        return self.disparity == "group"

    def model(self) -> BrowsingModel:
        """Return the browsing model."""
        return self._utility().model()

    def gradients(self) -> Gradient:
        """Return how slopes come about."""
        return self._utility().gradients()

    def _utility(self) -> PLUtility:
        return PLUtility(self.gradient, self.draws, self.browsing)

    def terms(self, rows: LearningRows, browsing: Browsing) -> tuple[list[Term], Mapping[str, int]]:
        """Return utility and disparity for rows that ``browsing`` is bound to, and counts of what was skipped.

        Raises
        ------
        InputError
            for groups that are needed and absent.
        """
        terms, counts = self._utility().terms(rows, browsing)
        if not self.needs_groups:
            cells = Cells.documents(rows.indptr)
        elif rows.groups is None:
            raise InputError.one("groups", "none", "groups of documents, whose disparity is looked at")
        else:
            cells = Cells.groups(rows.over, rows.groups)
        merit = cells.totals(np.exp2(rows.grade) - 1.0)
        disparity = Disparity.of(cells, merit, cells.totals(np.ones(rows.over.nnz)), self.weight)
        lacking = {
            NO_MERIT: int(np.sum(merit <= 0)),
            NO_PAIR: int(np.sum((disparity.pairs == 0) & (rows.over.lengths > 0))),
        }
        return [*terms, disparity], {**counts, **lacking}

    def bind(self, rows: LearningRows, seed: int = 0) -> ExposureBound:
        """Return the loss as a function of scores for these rows.

        Raises
        ------
        InputError
            for groups that are needed and absent.
        """
        return ExposureBound(rows, [(1.0, self)], seed)


@dataclass(frozen=True, slots=True, eq=False)
class Disparity:
    """A weight times the mean over pairs of cells of what the first is seen more than the second, given their merit.

    Attributes
    ----------
    cells
        documents or groups.
    scale
        float64 (cells,), one over the total merit of a cell; 0 for none.
    first, second
        int64 (P,), the cells of the pairs, row by row.
    pairs
        int64 (B,), pairs a row.
    weight
        at least 0.
    """

    cells: Cells
    scale: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    pairs: NDArray[np.int64]
    weight: float

    @classmethod
    def of(cls, cells: Cells, merit: NDArray[np.float64], size: NDArray[np.float64], weight: float) -> Disparity:
        """Pair the cells of each row, total merits (cells,) and sizes (cells,) given."""
        mean = merit / np.where(size > 0, size, 1.0)
        firsts, seconds, pairs = [], [], []
        for low, high in zip(cells.cell_ptr[:-1], cells.cell_ptr[1:], strict=True):
            some = low + np.flatnonzero(merit[low:high] > 0)
            more = (mean[some][:, None] >= mean[some][None, :]) & ~np.eye(len(some), dtype=np.bool_)
            one, other = np.nonzero(more)
            firsts.append(some[one])
            seconds.append(some[other])
            pairs.append(len(one))
        empty = np.empty(0, dtype=np.int64)
        scale = np.where(merit > 0, 1.0 / np.where(merit > 0, merit, 1.0), 0.0)
        count = np.array(pairs, dtype=np.int64)
        return cls(cells, scale, np.concatenate([empty, *firsts]), np.concatenate([empty, *seconds]), count, weight)

    def _gaps(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        given_merit = self.cells.totals(exposure) * self.scale
        gaps: NDArray[np.float64] = np.maximum(given_merit[self.first] - given_merit[self.second], 0.0)
        return gaps

    def _share(self) -> NDArray[np.float64]:
        return self.weight / np.maximum(self.pairs, 1)

    def value(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted mean."""
        pair_ptr = np.concatenate([[0], np.cumsum(self.pairs)])
        return self._share() * row_sums(self._gaps(exposure), pair_ptr)

    def between(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value for the mean of both, which is too large on average."""
        return self.value(0.5 * (one + other))

    def pull(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivatives; where a gap is 0, that of the side on which there is none."""
        active = (self._gaps(exposure) > 0) * np.repeat(self._share(), self.pairs)
        size = len(self.scale)
        by_cell = np.bincount(self.first, weights=active, minlength=size)
        by_cell = by_cell - np.bincount(self.second, weights=active, minlength=size)
        return self.cells.back(by_cell * self.scale)

    def squares(self) -> Sequence[tuple[float, Cells]]:
        """Return none: it is linear between its kinks."""
        return []

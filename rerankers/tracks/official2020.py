"""What is odd in the evaluator of 2020, each as a function of its own.

Bounds and normalised values are those of fair-trec-tools at ba07124 and of expeval at 69ab070, which differ in one
formula only. They hold for a satisfaction of 1/2, and the upper bound of the groups' relevance is always 0: values
normalised with them are of historical interest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problems

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMALISE = ("none", "tools_ba07124", "expeval_69ab070")
DISPARITY, RELEVANCE, DIFFERENCE = "EED", "EER", "EEL"
Bounds = Mapping[str, tuple[float, float]]
"""Measure -> lower and upper bound."""


@dataclass(frozen=True, slots=True)
class UserModel:
    """A browsing model as the bounds take it: patience p in [0, 1), satisfaction u, and whether it is RBP."""

    patience: float
    satisfaction: float
    rbp: bool

    @property
    def ratio(self) -> float:
        """The ratio of the lower bounds' geometric series: p u where exposure goes down by p (1 - u)."""
        return self.patience if self.rbp else self.patience * self.satisfaction


def negative_level_factor(
    indptr: NDArray[np.int64], grade: NDArray[np.integer], satisfaction: float
) -> NDArray[np.float64]:
    """Return what the target of a negative grade is multiplied by, float64 (nnz,): (1 - u) ^ b0.

    Grades below 0 are levels of their own, and all b documents of better levels are taken for relevant ones, the b0
    of them with a grade of at most 0 included. Other grades have factor 1.
    """
    factor = np.ones(len(grade))
    for row in np.unique(np.searchsorted(indptr, np.flatnonzero(grade < 0), side="right") - 1):
        part = slice(int(indptr[row]), int(indptr[row + 1]))
        own = grade[part]
        lower = np.sort(own[own <= 0])
        above = len(lower) - np.searchsorted(lower, own, side="right")
        factor[part] = np.where(own < 0, (1.0 - satisfaction) ** above, 1.0)
    return factor


def infinite_where_zero(square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squared norms with infinity in place of 0, as for a run that gives no judged document any exposure."""
    return np.where(square > 0, square, math.inf)


def geometric(ratio: float, size: float) -> float:
    """Return 1 + x + ... + x^(n - 1), for n = infinity too."""
    return (1.0 - (0.0 if size == math.inf else ratio**size)) / (1.0 - ratio)


def document_bounds(target: NDArray[np.float64], levels: int, model: UserModel, complete: bool) -> Bounds:
    """Return the bounds of the measures of documents.

    Parameters
    ----------
    target
        float64 (n,), of the judged documents of one query.
    levels
        distinct grades among them.
    model, complete
        with complete judgments a run ranks these n documents, otherwise infinitely many.
    """
    size = len(target) if complete else math.inf
    rising = np.sort(target)
    static = model.ratio ** np.arange(len(target))
    norm = float(target @ target)
    relevance = (float(static @ rising) if complete else 0.0, norm if norm > 0 else math.inf)
    worst = float(np.sum((static - rising) ** 2)) if complete else norm + geometric(model.ratio, size)
    return {
        DISPARITY: (geometric(model.ratio, size) ** 2 / size if complete else 0.0, geometric(model.patience**2, size)),
        RELEVANCE: (0.0, 0.0) if levels <= 1 else relevance,
        DIFFERENCE: (0.0, worst),
    }


def group_bounds(target: NDArray[np.float64], relevant: int, model: UserModel) -> Bounds:
    """Return the bounds of the measures of groups.

    Parameters
    ----------
    target
        float64 (k,), of the groups that occur among the judged documents of one query.
    relevant
        judged documents of a grade above 0.
    """
    mass, least = geometric(model.patience, relevant), geometric(model.ratio, relevant)
    groups = len(target)
    return {
        DISPARITY: (0.0, 0.0) if groups == 1 else (groups * least**2, groups * mass**2),
        RELEVANCE: (0.0, 0.0),
        DIFFERENCE: (0.0, max(float(target @ target), float(np.sum((mass - target) ** 2)))),
    }


def missing_query_values(bounds: Bounds) -> Mapping[str, float]:
    """Return the values of a query that the run lacks: the difference is taken from the bound of the relevance.

    For groups that bound is 0, so that a query without any ranking counts as a perfect one.
    """
    return {DISPARITY: bounds[DISPARITY][1], RELEVANCE: bounds[RELEVANCE][0], DIFFERENCE: bounds[RELEVANCE][1]}


def normalised(measure: str, value: float, bounds: Bounds, form: str) -> float:
    """Return a normalised value; where the bounds are equal 1 for the relevance, 0 for the others.

    Parameters
    ----------
    form
        ``tools_ba07124``: value / (upper - lower); ``expeval_69ab070``: (value - lower) / (upper - lower).
    """
    low, high = bounds[measure]
    if low == high:
        return 1.0 if measure == RELEVANCE else 0.0
    return (value if form == "tools_ba07124" else value - low) / (high - low)


def check_group_words(words: Iterable[str], problems: Problems) -> None:
    """Note groups that are no whole numbers: the evaluator stops at ``1,2``, although its manual writes it so.

    Raises
    ------
    InputError
        with each such word.
    """
    for word in dict.fromkeys(words):
        try:
            [int(part) for part in word.split("|")]
        except ValueError:
            problems.add(None, f"groups {word!r}", "whole numbers joined with |, as in 1|2")
    if problems:
        raise InputError(problems.kept)

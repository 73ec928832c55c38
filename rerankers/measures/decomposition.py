"""The terms of the squared distance between exposure and target, of documents or groups, unbiased over draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.objectives import expected_exposure
from rerankers.exposure.rankings import item_exposure
from rerankers.measures.hits import mean_over_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.values import GroupAlignment, Rankings

_CELLS = 1 << 22  # totals held at once: 32 MB


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """One decomposition, float64 (B,) each: loss = disparity - 2 relevance + target.

    ``too_few_draws`` says that disparity and loss would need a second draw.
    """

    loss: NDArray[np.float64]
    disparity: NDArray[np.float64]
    relevance: NDArray[np.float64]
    target: NDArray[np.float64]
    too_few_draws: bool


def decompose(evaluation: Evaluation, model: BrowsingModel, attribute: str | None) -> Terms:
    """Return the terms under a browsing model: of documents, or of the groups of an attribute."""
    return evaluation.once(("terms", model, attribute), lambda: _decompose(evaluation, model, attribute))


def _decompose(evaluation: Evaluation, model: BrowsingModel, attribute: str | None) -> Terms:
    exposure, target = evaluation.exposure(model), evaluation.target(model)
    if attribute is None:
        parts = expected_exposure(exposure, target, evaluation.over.indptr)
    else:
        parts = expected_exposure(evaluation.by_group(attribute, exposure), evaluation.by_group(attribute, target))
    disparity, loss, draws = parts.EED, parts.EEL, evaluation.options.samples
    few = False
    if evaluation.estimated(model) and not evaluation.options.force_draws:
        few = draws < 2
        excess = (mean_square(evaluation, model, attribute) - disparity) / max(draws - 1, 1)
        disparity, loss = disparity - excess, loss - excess
    return Terms(loss, disparity, parts.EER, parts.EET, few)


def mean_square_of_sum(evaluation: Evaluation, model: BrowsingModel) -> NDArray[np.float64]:
    """Return the mean over draws of the squared sum of one draw's exposure, float64 (B,); see `mean_square`."""
    universe, draws = evaluation.universe, evaluation.draws
    exposure = item_exposure(draws, model.bind(universe.candidate_grade, draws.over.indptr))
    exposure *= universe.candidate_counts[draws.flat]
    total = np.bincount(draws.ranking_of_item, weights=exposure, minlength=len(draws))
    return mean_over_draws(draws, (total * total).astype(np.float64, copy=False))


def mean_square(evaluation: Evaluation, model: BrowsingModel, attribute: str | None) -> NDArray[np.float64]:
    """Return the mean over draws of the squared norm of one draw's exposure, float64 (B,).

    Only documents of the universe count; with an attribute, the norm is that of the groups' exposures.
    """
    universe, draws = evaluation.universe, evaluation.draws
    over = draws.over
    exposure = item_exposure(draws, model.bind(universe.candidate_grade, over.indptr))
    pair = draws.flat
    exposure *= universe.candidate_counts[pair]
    if attribute is None:
        norm = np.bincount(draws.ranking_of_item, weights=exposure * exposure, minlength=len(draws))
        return mean_over_draws(draws, norm.astype(np.float64, copy=False))
    square: NDArray[np.float64] = np.empty(len(draws))
    for start, stop, totals in _group_totals(draws, evaluation.groups[attribute], over.doc[pair], exposure):
        square[start:stop] = np.sum(totals * totals, axis=1)
    return mean_over_draws(draws, square)


def mean_squares_of_groups(evaluation: Evaluation, model: BrowsingModel, attribute: str) -> NDArray[np.float64]:
    """Return the mean over draws of the square of each group's exposure and, last, of their sum: float64 (B, G + 1)."""
    universe, draws = evaluation.universe, evaluation.draws
    alignment = evaluation.groups[attribute]
    exposure = item_exposure(draws, model.bind(universe.candidate_grade, draws.over.indptr))
    exposure *= universe.candidate_counts[draws.flat]
    square: NDArray[np.float64] = np.empty((len(draws), len(alignment.groups) + 1))
    for start, stop, totals in _group_totals(draws, alignment, draws.over.doc[draws.flat], exposure):
        square[start:stop] = np.column_stack([totals, totals.sum(axis=1)]) ** 2
    return np.column_stack([mean_over_draws(draws, column) for column in square.T])


def _group_totals(
    draws: Rankings, alignment: GroupAlignment, doc: NDArray[np.int32], exposure: NDArray[np.float64]
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Yield (first, last + 1, totals by group) of ranges of rankings; doc and exposure are those of their items."""
    step = max(1, _CELLS // max(len(alignment.groups), 1))
    for start in range(0, len(draws), step):
        stop = min(start + step, len(draws))
        items = slice(int(draws.item_ptr[start]), int(draws.item_ptr[stop]))
        ranking = np.repeat(np.arange(stop - start), np.diff(draws.item_ptr[start : stop + 1]))
        yield start, stop, alignment.totals(ranking, doc[items], exposure[items], stop - start)

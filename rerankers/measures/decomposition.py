"""The terms of the squared distance between exposure and target, of documents or groups, unbiased over draws."""

from __future__ import annotations

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
    alignment = evaluation.groups[attribute]
    square: NDArray[np.float64] = np.empty(len(draws))
    step = max(1, _CELLS // max(len(alignment.groups), 1))
    for start in range(0, len(draws), step):
        stop = min(start + step, len(draws))
        items = slice(int(draws.item_ptr[start]), int(draws.item_ptr[stop]))
        ranking = np.repeat(np.arange(stop - start), np.diff(draws.item_ptr[start : stop + 1]))
        totals = alignment.totals(ranking, over.doc[pair[items]], exposure[items], stop - start)
        square[start:stop] = np.sum(totals * totals, axis=1)
    return mean_over_draws(draws, square)

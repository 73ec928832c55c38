"""A browsing model bound to beliefs about relevance in place of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import GERR, Browsing
from rerankers.methods.belief import probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.values import Block


def aimed_model(block: Block) -> BrowsingModel:
    """Return the browsing model that a block aims at: its own, or GERR(0.5, 0.5), as jobs do, where it names none."""
    model: BrowsingModel = GERR() if block.browsing is None else block.browsing
    return model.completed(np.ones(1))


def relevant_grade(model: BrowsingModel) -> float:
    """Return the grade that a relevant document has: the highest of the model's scale, 1 where it has none."""
    highest = getattr(model, "max_grade", None)
    return 1.0 if highest is None else float(highest)


def believed_browsing(block: Block) -> Browsing:
    r"""Bind the browsing model of a block to what the block believes about relevance.

    A document that is relevant with probability \rho is passed with probability (1 - \rho) c_0 + \rho c_1, of the
    continuations after irrelevant and relevant documents. Each document's continuation occurs at most once in the
    product that is its exposure, so that where documents are relevant independently of each other the exposure with
    these continuations is exactly the mean over what may be relevant: for GERR, c = p (1 - u \rho).

    Returns
    -------
    Browsing over the block's candidates, the satisfaction likewise. Where a block has scores in place of
    probabilities, these are guessed from them (see `rerankers.methods.belief.probabilities`); models that do not
    depend on relevance take no beliefs.
    """
    model, indptr = aimed_model(block), block.candidates.indptr
    if not model.needs_grades:
        return model.bind(None, indptr)
    rho = probabilities(block)
    none, all_relevant = np.zeros(len(rho)), np.full(len(rho), relevant_grade(model))
    low, high = model.bind(none, indptr), model.bind(all_relevant, indptr)
    return Browsing(
        low.position,
        _mixed(rho, low.continuation, high.continuation),
        _mixed(rho, low.satisfaction, high.satisfaction),
    )


def _mixed(rho: NDArray[np.float64], none: NDArray[np.float64], relevant: NDArray[np.float64]) -> NDArray[np.float64]:
    mixed: NDArray[np.float64] = (1.0 - rho) * none + rho * relevant
    return mixed

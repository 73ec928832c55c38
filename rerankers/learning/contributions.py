"""What each feature adds to the scores of a model: exact parts of additive models and of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.learning.additive.scorer import AdditiveScorer
from rerankers.learning.boosting.parameters import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray


def contributions(
    scorer: Any, features: NDArray[np.float64], indptr: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return what features add to scores.

    Parameters
    ----------
    scorer
        of a trained model.
    features
        float64 (nnz, F), NaN where a value is missing.
    indptr
        int64 (B + 1,), the rows.

    Returns
    -------
    part, base
        float64 (nnz, F) and (nnz,): each row of ``part`` and its ``base`` add up to the score. Of additive models a
        part is the sum of the feature's weighted terms; of trees its Shapley value along their paths (Lundberg et al.
        2020, as LightGBM computes it), the base their expectation. None for models without such parts.
    """
    if isinstance(scorer, AdditiveScorer):
        return _of_terms(scorer, features, indptr)
    if getattr(scorer, "kind", None) == "lightgbm":
        return _of_trees(scorer, features)
    return None


def _of_terms(
    scorer: AdditiveScorer, features: NDArray[np.float64], indptr: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    owner = np.repeat(np.arange(len(scorer.terms.curves)), [curve.terms for curve in scorer.terms.curves])
    part = np.zeros(features.shape)
    for feature, weight, term in zip(owner, scorer.weight, scorer.terms(features, indptr), strict=True):
        part[:, feature] += weight * term
    return part, np.full(len(features), scorer.intercept)


def _of_trees(scorer: Any, features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not len(features):
        return np.zeros(features.shape), np.zeros(0)
    total = np.zeros((len(features), features.shape[1] + 1))
    for text in scorer.texts:
        total += engine().Booster(model_str=text).predict(features, pred_contrib=True, num_threads=1)
    total /= len(scorer.texts)
    return total[:, :-1], total[:, -1]

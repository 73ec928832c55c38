"""An additive model: a sum of one smooth curve a feature, fitted to convergence; without torch or LightGBM."""

from rerankers.learning.additive.options import Additive
from rerankers.learning.additive.scorer import AdditiveScorer

__all__ = ["Additive", "AdditiveScorer"]

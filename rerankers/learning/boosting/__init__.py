"""Boosted trees by LightGBM: whole queries, any objective, early stopping on any number, text models."""

from rerankers.learning.boosting.distributed import DaskLightGBM
from rerankers.learning.boosting.native import Native
from rerankers.learning.boosting.options import LightGBM
from rerankers.learning.boosting.scorer import TreeScorer

__all__ = ["DaskLightGBM", "LightGBM", "Native", "TreeScorer"]

"""Features of (query, document) pairs: functions that add columns to candidates."""

from rerankers.features.base import Columns, Family, FeatureTable
from rerankers.features.export import write_letor
from rerankers.features.families import FAMILIES
from rerankers.features.feature_set import FeatureSet

__all__ = ["FAMILIES", "Columns", "Family", "FeatureSet", "FeatureTable", "write_letor"]

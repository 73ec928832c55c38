"""Statistics over queries."""

from rerankers.stats.bootstrap import Interval, mean_intervals
from rerankers.stats.means import exact_mean

__all__ = ["Interval", "exact_mean", "mean_intervals"]

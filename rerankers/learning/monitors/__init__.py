"""Monitors: what early stopping looks at on validation queries. Any function of scores is one; these go by name."""

from rerankers.learning.monitors.base import Reading, Recording, reading
from rerankers.learning.monitors.watch import MeasureMonitor, Watch

__all__ = ["MeasureMonitor", "Reading", "Recording", "Watch", "reading"]

"""One verb, ``map``: apply a function to blocks and yield results in block order, on any engine.

Results never depend on the engine, the worker count or the block size: every random draw is keyed by its query
(`rerankers._base.streams`), and results come back in block order, so that sums are added in a fixed order.
"""

from rerankers.execution.base import Executor
from rerankers.execution.blocks import block_bounds
from rerankers.execution.dask_cluster import Dask
from rerankers.execution.joblib_processes import Joblib
from rerankers.execution.ray_cluster import Ray
from rerankers.execution.serial import Serial
from rerankers.execution.threads import thread_count, thread_map

__all__ = ["Dask", "Executor", "Joblib", "Ray", "Serial", "block_bounds", "thread_count", "thread_map"]

"""Other queries for the same need: balanced recommendations, and variants for pooling."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rerankers.measures.rank_overlap import rbo
    from rerankers.queries.pareto import pareto_mask
    from rerankers.queries.pool_bounds import pool_overlap_bounds
    from rerankers.queries.rarefaction import pool_growth

_LATER = {
    "pareto_mask": "rerankers.queries.pareto",
    "pool_growth": "rerankers.queries.rarefaction",
    "pool_overlap_bounds": "rerankers.queries.pool_bounds",
    "rbo": "rerankers.measures.rank_overlap",
}
"""Function -> module, imported when first used."""

__all__ = ["pareto_mask", "pool_growth", "pool_overlap_bounds", "rbo"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)

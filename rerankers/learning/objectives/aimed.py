"""Objectives aimed at a browsing model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rerankers.learning.objectives.mixture import Mixture

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel


def aimed(objective: Any, browsing: BrowsingModel) -> Any:
    """Return an objective that looks at exposure under a browsing model; itself where it looks at none."""
    if isinstance(objective, Mixture):
        parts = {name: aimed(getattr(objective, name), browsing) for name in ("relevance", "unfairness")}
        return dataclasses.replace(objective, **parts)
    if looks_at_exposure(objective):
        return dataclasses.replace(objective, browsing=browsing)
    return objective


def looks_at_exposure(objective: Any) -> bool:
    """Return whether an objective has a browsing model."""
    if isinstance(objective, Mixture):
        return looks_at_exposure(objective.relevance) or looks_at_exposure(objective.unfairness)
    return dataclasses.is_dataclass(objective) and any(
        item.name == "browsing" for item in dataclasses.fields(objective)
    )

"""What the published tables say about themselves: identities that hold between their columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers.tracks.leaderboards import leaderboard

if TYPE_CHECKING:
    from rerankers.tracks.reproduce import Compute


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the part ``tables``."""
    return {"tables": _tables}


def _tables(seed: int) -> Mapping[str, float]:
    """Return how far EEL = EED - 2 EER + EET (Diaz et al. 2020) is from holding, and the range of EER."""
    rerank, editors = leaderboard("trec2020-rerank"), leaderboard("trec2021-task2")
    relevance = [entry.values["group_EER"] for entry in rerank.entries]
    targets = [one["EEL"] - one["EED"] + 2 * one["EER"] for one in (entry.values for entry in editors.entries)]
    gaps = {
        prefix: max(
            abs(
                one[f"{prefix}EEL"] - one[f"{prefix}EED"] + 2 * one[f"{prefix}EER"] - rerank.constant[f"{prefix}EET"][0]
            )
            for one in (entry.values for entry in rerank.entries)
        )
        for prefix in ("group_", "")
    }
    return {
        "2020/groups": gaps["group_"],
        "2020/documents": gaps[""],
        "2020/lowest_relevance": min(relevance),
        "2020/highest_relevance": max(relevance),
        "2021/target": max(targets) - min(targets),
    }

"""Presets of the track of 2021: Wikipedia pages by geography and gender."""

from __future__ import annotations

from typing import Any

from rerankers.tracks.official2021 import DROPPED_GENDERS
from rerankers.tracks.wiki_task1 import WikiTask1
from rerankers.tracks.wiki_task2 import WikiTask2

YEAR = 2021
_OFFICIAL: dict[str, Any] = {
    "reader": "blocks",
    "duplicates": "accumulate",
    "long_rankings": "keep",
    "missing_query": "official_default",
    "unjudged_query": "error",
    "no_known_relevant": "undefined",
    "discount_dtype": "float32",
}
_CORRECTED: dict[str, Any] = {"no_known_relevant": "background"}
_TASK1_OFFICIAL: dict[str, Any] = {
    "eval_depth": 20,
    "ideal_depth": 1000,
    "unknown_pages": "skip_row",
    "empty_alignment": "ones",
}
_TASK2_OFFICIAL: dict[str, Any] = {
    "eval_depth": 6,  # ranks are counted from 0 and cut at 5
    "eval_samples": 25,
    "target_mass_depth": 50,
    "relevant_only": False,
    "min_tier": 2,
    "unjudged_query": "skip",  # only topics of the second tier are looked at
}


def preset(name: str) -> WikiTask1 | WikiTask2:
    """Return ``trec2021_task1_official``, ``trec2021_task1_corrected`` or the same of task 2."""
    official = name.endswith("_official")
    shared = {"name": name, "year": YEAR, "drop_values": DROPPED_GENDERS, **(_OFFICIAL if official else _CORRECTED)}
    if "_task1_" in name:
        return WikiTask1(**{**shared, "depth": 1000, "unknown_cell": "drop", **(_TASK1_OFFICIAL if official else {})})
    return WikiTask2(**{**shared, "depth": 50, **(_TASK2_OFFICIAL if official else {})})

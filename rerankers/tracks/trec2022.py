"""Presets of the track of 2022: Wikipedia pages in eight dimensions."""

from __future__ import annotations

from typing import Any

from rerankers.tracks.wiki_task1 import WikiTask1
from rerankers.tracks.wiki_task2 import WikiTask2

YEAR = 2022
_OFFICIAL: dict[str, Any] = {
    "reader": "blocks",
    "duplicates": "accumulate",
    "missing_query": "official_default",
    "unjudged_query": "error",
    "relevant_without_row": "error",
    "discount_dtype": "float32",
}
_CORRECTED: dict[str, Any] = {"gender_rows": "normalised", "relevant_without_row": "unknown"}


def preset(name: str) -> WikiTask1 | WikiTask2:
    """Return ``trec2022_task1_official``, ``trec2022_task1_corrected`` or the same of task 2."""
    official = name.endswith("_official")
    shared = {"name": name, "year": YEAR, **(_OFFICIAL if official else _CORRECTED)}
    if "_task1_" in name:
        return WikiTask1(**shared, depth=500, empty_alignment="undefined" if official else "zero")
    # The official code of task 2 has no cut: rankings that are too long count in full.
    return WikiTask2(**shared, depth=20, long_rankings="keep" if official else "error")

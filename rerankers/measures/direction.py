"""Whether more of a measure is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerankers.measures.names import Measure

HIGHER_IS_BETTER = frozenset(
    [
        *("EER", "group_EER", "utility", "nDCG", "AP", "RR", "P", "R", "Judged"),
        *("DP", "EUR", "RUR", "GF", "GFR", "TSE", "worst_exposure", "consistency", "worst_nDCG", "AWRF"),
        *("CWEx", "nCWEx", "FaiRR", "NFaiRR", "TExFAIR"),
    ]
)
RATIOS = frozenset({"DP", "EUR", "RUR"})
NEITHER = frozenset(
    ["EED", "EET", "group_EED", "group_EET", "share", "group_share", "exposure_variance", "RaB", "ARaB", "nDRaB"]
)
"""Measures of which neither more nor less is better by itself."""


def direction(measure: Measure) -> float:
    """Return 1 where more is better (utility, ratios of groups, similarity to a target), -1 for losses."""
    if measure.own is not None:
        return 1.0 if better(measure) == "higher" else -1.0
    if _part_of(measure) in ("spread", "TED"):
        return -1.0
    ratio = measure.name not in RATIOS or measure.get("combine") == "min_max"
    return 1.0 if measure.name in HIGHER_IS_BETTER and ratio else -1.0


def better(measure: Measure) -> str:
    """Return ``higher``, ``lower``, or ``""`` where neither is better by itself, as of a part of a loss."""
    if measure.own is not None:
        return str(getattr(measure.own, "better", ""))
    part = _part_of(measure)
    if part not in ("", "spread", "TED", "low", "high"):
        return ""
    if measure.name in NEITHER or dict(measure.params).get("part", "loss") != "loss":
        return ""
    return "higher" if direction(measure) > 0 else "lower"


def _part_of(measure: Measure) -> str:
    """Return which part of CWEx, FaiRR, NFaiRR or TExFAIR is asked for; ``""`` for the whole, and for all others."""
    return str(dict(measure.params).get("of", "")) if measure.name in ("CWEx", "FaiRR", "NFaiRR", "TExFAIR") else ""

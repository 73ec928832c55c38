"""Slow, plain twins of the generated world's formulas."""

from __future__ import annotations

import math


def logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def affinity(topic_themes: list[int], topic_shares: list[float], themes: list[int], shares: list[float]) -> float:
    mine = dict(zip(themes, shares, strict=True))
    return sum(math.sqrt(q * mine.get(k, 0.0)) for k, q in zip(topic_themes, topic_shares, strict=True))


def h_index(citations: list[int]) -> int:
    ordered = sorted(citations, reverse=True)
    return sum(1 for rank, count in enumerate(ordered, start=1) if count >= rank)

"""Recommendations over all topics: what the best of them gain and cost, beside the best fair reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rerankers.queries.alternatives import NEAR, closest
from rerankers.queries.scored import RELEVANCE


def summary_of(topics: Mapping[str, Any], axes: Sequence[str], objectives: Sequence[str]) -> dict[str, Any]:
    """Return means over topics.

    Parameters
    ----------
    topics
        results by topic.
    axes, objectives
        names of the axes, and of the objectives: relevance, then one an axis.

    Returns
    -------
    dict
        ``queries``, ``candidates`` (originals left aside), ``candidates_without_documents``, ``candidates_left_out``
        (of the front), ``front_size`` (mean, originals included), and ``axes``: name -> over the queries where all
        have a value, their number ``queries``, the mean value of the ``original``, of the best candidate of the front
        (``recommended``) and of the best fair reranking (``reranked``), with the mean relevance of each; None where
        there is nothing to average. The best reranking may be far beyond the recommendation, at the cost of
        relevance; so ``as_close`` has the most relevant reranking that is at least as close as the recommendation:
        the number of ``queries`` that have one, its mean ``relevance``, and that of the recommendations there.
    """
    rows = [row for topic in topics.values() for row in topic["candidates"][1:]]
    fronts = [len(topic["front"]) for topic in topics.values() if not topic["reason"]]
    return {
        "queries": len(topics),
        "candidates": len(rows),
        "candidates_without_documents": sum(row["found"] == 0 for row in rows),
        "candidates_left_out": sum(row["rank"] is None for row in rows),
        "front_size": fmean(fronts) if fronts else None,
        "axes": {axis: _axis(topics, axis, objective) for axis, objective in zip(axes, objectives[1:], strict=True)},
    }


def _axis(topics: Mapping[str, Any], axis: str, objective: str) -> dict[str, Any]:
    columns: list[tuple[float, float, float, float | None, float | None]] = []
    close: list[tuple[float, float]] = []
    for topic in topics.values():
        original = topic["candidates"][0]["objectives"][objective]
        best = _best([row for row in topic["candidates"][1:] if row["on_front"]], objective)
        if original is None or best is None:
            continue
        others = topic["alternatives"] if objective == axis else []
        columns.append((original, *best, *(_best(others, axis) or (None, None))))
        pairs = [(one["objectives"].get(axis), one["objectives"].get(RELEVANCE)) for one in others]
        kept_by = [relevance or 0.0 for value, relevance in pairs if value is not None and value >= best[0] - NEAR]
        if kept_by:
            close.append((max(kept_by), best[1]))
    names = ("original", "recommended", "relevance_of_recommended", "reranked", "relevance_of_reranked")
    out: dict[str, Any] = {"queries": len(columns)}
    for place, name in enumerate(names):
        values = [row[place] for row in columns]
        known = [value for value in values if value is not None]
        out[name] = fmean(known) if known and len(known) == len(values) else None
    kept, of_recommended = (_mean([one[place] for one in close]) for place in (0, 1))
    out["as_close"] = {"queries": len(close), "relevance": kept, "relevance_of_recommended": of_recommended}
    return out


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _best(rows: Sequence[Mapping[str, Any]], objective: str) -> tuple[float, float] | None:
    """Return the highest value of an objective and its relevance, of those that are as high the most relevant one."""
    values = [(row["objectives"].get(objective), row["objectives"].get(RELEVANCE)) for row in rows]
    place = closest(values)
    return None if place is None else (values[place][0] or 0.0, values[place][1] or 0.0)

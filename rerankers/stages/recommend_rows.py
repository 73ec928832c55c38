"""What ``recommendations.json`` says of the candidates of one topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.fingerprint import fingerprint
from rerankers.queries.crowding import least_crowded
from rerankers.queries.explain import explain
from rerankers.queries.generators.base import ORIGINAL, same
from rerankers.queries.pareto import dominance_counts, pareto_ranks
from rerankers.queries.scored import RELEVANCE, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.axes import Axis
    from rerankers.queries.generators.base import Query
    from rerankers.queries.scoring import Evaluated
    from rerankers.values import GroupAlignment, Ids


def candidate_id(text: str) -> str:
    """Return the id of a candidate within its topic: from its text without case and blanks, so equal in every job."""
    return fingerprint("candidate", same(text))[:10]


def topic_rows(found: Sequence[Evaluated], axes: Mapping[str, GroupAlignment], docs: Ids, shown: int) -> dict[str, Any]:
    """Return the candidates of a topic with their places among each other.

    Parameters
    ----------
    found
        scored, the original first.
    axes
        name -> alignment.
    docs
        names of documents.
    shown
        recommendations to show, the original left aside.

    Returns
    -------
    dict
        ``candidates``, ``front``, ``shown`` (ids), ``excluded`` (reason -> number of candidates).
    """
    original = found[0]
    rows = [_row(one, original) for one in found]
    placed = [place for place, one in enumerate(found) if one.scored.point is not None]
    if placed:
        points = np.array([found[place].scored.point for place in placed], dtype=np.float64)
        ranks, (over, under) = pareto_ranks(points), dominance_counts(points)
        for number, place in enumerate(placed):
            rows[place] |= {
                "rank": int(ranks[number]),
                "on_front": bool(ranks[number] == 1),
                "dominates": int(over[number]),
                "dominated_by": int(under[number]),
            }
        front = [number for number, place in enumerate(placed) if ranks[number] == 1 and place != 0]
        # A query that shows the same documents is as good as the original on every axis, and of no use to anybody.
        chosen = [number for number in front if not _same(found[placed[number]], original)] or front
        for number in _spread(points[chosen], shown):
            rows[placed[chosen[number]]]["shown"] = True
    for row, one in zip(rows, found, strict=True):
        if row["on_front"] and one is not original:
            told = explain(_balanced(one, axes), _balanced(original, axes), axes, docs.take)
            row |= {key: told[key] for key in ("codes", "enter", "leave", "explanation")}
    excluded = Counter(sorted(set(one.scored.reasons.values()))[0] for one in found if one.scored.point is None)
    return {
        "candidates": rows,
        "front": [row["id"] for row in rows if row["on_front"]],
        "shown": [row["id"] for row in rows if row["shown"]],
        "excluded": dict(sorted(excluded.items())),
    }


def _same(one: Evaluated, other: Evaluated) -> bool:
    """Whether two candidates find the same documents in the same order."""
    return bool(np.array_equal(one.scored.docs, other.scored.docs))


def _balanced(one: Evaluated, axes: Mapping[str, Any]) -> Scored:
    """Return a candidate with its closeness to the targets, whatever it was selected on."""
    near = {name: one.closeness[name] for name in axes}
    values = {RELEVANCE: one.scored.objectives[RELEVANCE], **near}
    return replace(one.scored, objectives=values)


def _row(one: Evaluated, original: Evaluated) -> dict[str, Any]:
    scored, candidate = one.scored, one.scored.candidate
    base = original.scored
    return {
        "id": ORIGINAL if one is original else candidate_id(candidate.text),
        "text": candidate.text,
        "generators": list(candidate.generators),
        "parents": list(candidate.parents),
        "calls": candidate.calls,
        "found": len(scored.docs),
        "objectives": dict(scored.objectives),
        "reasons": dict(scored.reasons),
        "change": {name: _less(value, base.objectives[name]) for name, value in scored.objectives.items()},
        "relevance": dict(one.relevance),
        "closeness": dict(one.closeness),
        "difference_from_original": dict(one.difference),
        "distribution": {name: None if of is None else dict(of) for name, of in scored.distribution.items()},
        "coverage": {name: _known(scored.unknown_share.get(name)) for name in scored.distribution},
        "judged": dict(scored.judged),
        "rank": None,
        "dominates": None,
        "dominated_by": None,
        "on_front": False,
        "shown": False,
        "kept": len(np.intersect1d(scored.docs, base.docs)),
        "codes": [],
        "enter": None,
        "leave": None,
        "explanation": "",
        "click": None,
        "evaluation": None,
    }


def points_by_generator(found: Sequence[Evaluated], names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return generator -> float64 (m, objectives) of its candidates that have all objectives, the original left out."""
    width = len(found[0].scored.objectives) if found else 1
    out = {}
    for name in names:
        points = [one.scored.point for one in found[1:] if name in one.scored.candidate.generators]
        out[name] = np.array([point for point in points if point is not None], dtype=np.float64).reshape(-1, width)
    return out


def _spread(points: NDArray[np.float64], shown: int) -> list[int]:
    """Return places of the points to show, the most relevant first."""
    if not len(points):
        return []
    kept = range(len(points)) if len(points) <= shown else least_crowded(points, shown).tolist()
    return sorted(kept, key=lambda place: (-points[place, 0], place))


def _less(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def _known(unknown: float | None) -> float | None:
    return None if unknown is None else 1.0 - unknown


def named_shares(axis: Axis, query: Query) -> dict[str, float] | None:
    """Return the target of a query on an axis, group -> share; None where it has none."""
    target = axis.target_of(query.id)
    return None if target is None else dict(zip(axis.groups, target.tolist(), strict=True))


def axis_row(axis: Axis) -> dict[str, Any]:
    """Return what an axis is, for the results."""
    everywhere = axis.targets.get("*") if len(axis.targets) == 1 else None
    shares = None if everywhere is None else dict(zip(axis.groups, everywhere.tolist(), strict=True))
    return {
        "name": axis.name,
        "groups": list(axis.groups),
        "unknown": axis.unknown,
        "closeness": axis.kind,
        "target": axis.target,
        "shares": shares,
    }

"""Recommendations and rerankings judged by what they were not selected on.

Candidates are chosen because their objectives are high: among many, some are so by chance or because objectives and
targets are the same thing. So what was chosen with one retriever, one model of browsing and one target is scored again
with others, and with relevance judgments; what is the same on both sides is named, and an axis whose target is the
same is called circular.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers.queries.alternatives import NEAR, closest
from rerankers.queries.scored import RELEVANCE
from rerankers.stats import exact_mean
from rerankers.stats.paired import paired_intervals
from rerankers.stats.permutation import PERMUTATIONS, sign_flip_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ORIGINAL: Final = "original"
RECOMMENDATION: Final = "recommendation"
RERANKING: Final = "reranking"
AS_RELEVANT: Final = "reranking as relevant"
SYSTEMS: Final = (ORIGINAL, RECOMMENDATION, RERANKING, AS_RELEVANT)
OTHERS: Final = (ORIGINAL, RERANKING, AS_RELEVANT)
"""What recommendations are compared with."""
_PLACES = tuple(SYSTEMS.index(other) for other in OTHERS)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one side is computed with.

    Attributes
    ----------
    retriever
        in words, such as ``bm25(k1=0.9, b=0.4)``.
    weights
        of ranks, in words, such as ``uniform@20``.
    targets
        axis -> group -> share, None for an axis without a target.
    """

    retriever: str
    weights: str
    targets: Mapping[str, Mapping[str, float] | None]

    def told(self) -> dict[str, Any]:
        """Return the setting, JSON-ready."""
        targets = {axis: None if target is None else dict(target) for axis, target in self.targets.items()}
        return {"retriever": self.retriever, "weights": self.weights, "targets": targets}


@dataclass(frozen=True, slots=True)
class Judged:
    """One list or policy of a topic under both settings.

    Attributes
    ----------
    name
        of the query or the method.
    selected_on
        objective -> value it was selected on.
    values
        objective or measure -> value under the held-out setting; None where it has none.
    """

    name: str
    selected_on: Mapping[str, float | None]
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class TopicSystems:
    """What a topic has to choose from: the original, the recommendations that are shown, the rerankings."""

    original: Judged
    recommendations: Sequence[Judged] = field(default_factory=list)
    rerankings: Sequence[Judged] = field(default_factory=list)


def held_out(
    topics: Mapping[str, TopicSystems],
    selection: Setting,
    evaluation: Setting,
    *,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
) -> dict[str, Any]:
    """Compare what was selected on each axis with the original, by the held-out setting.

    On each axis and topic the recommendation and the reranking with the highest closeness *under selection* are taken
    (of those that are as close but for `NEAR` the most relevant), and their held-out values are compared over topics.
    The closest reranking may give up more relevance than the recommendation does, so there is a second one: the
    closest of those that are, under selection, at least as relevant as the recommendation.

    Parameters
    ----------
    topics
        topic id -> what there is to choose from.
    selection, evaluation
        the two settings, whose targets name the axes.
    seed, resamples, level
        of the intervals, all on the same resamples (`rerankers.stats.paired`).
    permutations
        sign patterns drawn where not all can be gone through.

    Returns
    -------
    dict
        JSON-ready. ``selection``, ``evaluation``: the settings; ``same``: which of ``retriever``, ``weights`` and
        ``targets`` (by axis) are equal; ``circular``: the axes with equal targets; ``topics``: how many;
        ``without``: how many topics have no recommendation and no reranking; ``axes``: axis -> measure ->
        ``means`` of `SYSTEMS`, ``topics`` that all of them have a value for, and ``recommendation - original`` and so
        on for `OTHERS` (``mean``, ``low``, ``high``, ``topics``, ``p``, ``p_holm``); and ``shrinkage``: by how much
        the closeness that was selected on exceeds the held-out one.
    """
    ids = sorted(topics)
    same: dict[str, Any] = {
        "retriever": selection.retriever == evaluation.retriever,
        "weights": selection.weights == evaluation.weights,
        "targets": {axis: _equal(target, evaluation.targets.get(axis)) for axis, target in selection.targets.items()},
    }
    how = {"seed": seed, "resamples": resamples, "level": level, "permutations": permutations}
    chosen = {axis: [_chosen(topics[qid], axis) for qid in ids] for axis in selection.targets}
    return {
        "selection": selection.told(),
        "evaluation": evaluation.told(),
        "same": same,
        "circular": [axis for axis, equal in same["targets"].items() if equal],
        "topics": len(ids),
        "without": {
            RECOMMENDATION: sum(not topics[qid].recommendations for qid in ids),
            RERANKING: sum(not topics[qid].rerankings for qid in ids),
        },
        "axes": _compared(chosen, how),
        "shrinkage": {axis: _shrinkage(rows, axis) for axis, rows in chosen.items()},
    }


def _chosen(topic: TopicSystems, axis: str) -> dict[str, Judged | None]:
    recommendation = _best(topic.recommendations, axis)
    return {
        ORIGINAL: topic.original,
        RECOMMENDATION: recommendation,
        RERANKING: _best(topic.rerankings, axis),
        AS_RELEVANT: _best(_as_relevant(topic.rerankings, recommendation), axis),
    }


def _as_relevant(found: Sequence[Judged], recommendation: Judged | None) -> list[Judged]:
    least = None if recommendation is None else recommendation.selected_on.get(RELEVANCE)
    if least is None:
        return []
    known = [(one, one.selected_on.get(RELEVANCE)) for one in found]
    return [one for one, value in known if value is not None and value >= least - NEAR]


def _best(found: Sequence[Judged], axis: str) -> Judged | None:
    place = closest([(one.selected_on.get(axis), one.selected_on.get(RELEVANCE)) for one in found])
    return None if place is None else found[place]


def _compared(chosen: Mapping[str, Sequence[Mapping[str, Judged | None]]], how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparisons of all axes and measures; they are one family for Holm's correction."""
    cells = []
    for axis, rows in chosen.items():
        names = dict.fromkeys(name for row in rows for one in row.values() if one is not None for name in one.values)
        cells += [(axis, name, _table(rows, name)) for name in names]
    differences = [table[:, 1] - table[:, other] for _, _, table in cells for other in _PLACES]
    out: dict[str, Any] = {axis: {} for axis in chosen}
    if not cells:
        return out
    matrix = np.stack(differences, axis=1)
    intervals = paired_intervals(matrix, seed=how["seed"], resamples=how["resamples"], level=how["level"])
    flips = sign_flip_tests(matrix, permutations=how["permutations"], seed=how["seed"])
    for place, (axis, name, table) in enumerate(cells):
        common = table[~np.isnan(table).any(axis=1)]
        entry: dict[str, Any] = {
            "means": {system: exact_mean(common[:, column]) for column, system in enumerate(SYSTEMS)},
            "topics": len(common),
        }
        for offset, other in enumerate(OTHERS):
            at = len(OTHERS) * place + offset
            one = intervals[at]
            entry[f"{RECOMMENDATION} - {other}"] = {
                "mean": one.mean,
                "low": one.low,
                "high": one.high,
                "topics": one.units,
                "p": _number(flips.p[at]),
                "p_holm": _number(flips.holm[at]),
            }
        out[axis][name] = entry
    return out


def _table(rows: Sequence[Mapping[str, Judged | None]], name: str) -> Floats:
    """Return the values of a measure, float64 (Q, 4), NaN where there is none."""
    found = [[None if row[system] is None else row[system].values.get(name) for system in SYSTEMS] for row in rows]  # type: ignore[union-attr]
    return np.array([[math.nan if value is None else value for value in row] for row in found], dtype=np.float64)


def _shrinkage(rows: Sequence[Mapping[str, Judged | None]], axis: str) -> dict[str, float | None]:
    out = {}
    for system in SYSTEMS:
        pairs = [(one.selected_on.get(axis), one.values.get(axis)) for row in rows if (one := row[system]) is not None]
        gaps = [before - after for before, after in pairs if before is not None and after is not None]
        out[system] = exact_mean(np.array(gaps, dtype=np.float64))
    return out


def _equal(first: Mapping[str, float] | None, second: Mapping[str, float] | None) -> bool:
    if first is None or second is None:
        return first is second
    names = set(first) | set(second)
    return all(abs(first.get(name, 0.0) - second.get(name, 0.0)) < 1e-9 for name in names)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""Why a document has its exposure: its ranks, who stands above it, who takes from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.exposure.account import plackett_luce_pressure
from rerankers.policies import PlackettLuce
from rerankers.policies.account import above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.side_by_side_numbers import Numbers

FEW = 5
"""Documents named as those that take exposure, and that stand above."""
_NOISE = 1e-12


def why(found: Numbers, docno: str) -> dict[str, Any]:
    """Return the account of a document in one system.

    Parameters
    ----------
    found
        the numbers of the system.
    docno
        one of ``found.names``.

    Returns
    -------
    dict
        ``exposure``, ``error``, ``draws``, ``unsatisfied``, ``stopping``; ``steps`` (name -> change; they add up to
        the exposure); ``target``; ``ranks``: rows ``from``, ``to``, ``probability``, ``weight`` (mean weight there),
        ``exposure``, whose exposures add up; ``left_out``: the chance of no rank at all; ``takers``: documents whose
        logits take most of it, a nat, for Plackett-Luce policies; ``above``: documents most often above it; ``model``:
        what features add to its score (`rerankers.stages.explain_model.Parts.of`).
    """
    at = found.names.index(docno)
    place = int(found.place[at])
    told: dict[str, Any] = {
        "exposure": float(found.exposure[at]),
        "draws": found.account.draws,
        "error": finite(found.error[at]) if found.account.draws else None,
        "unsatisfied": float(found.unsatisfied[at]),
        "stopping": float(found.exposure[at] - found.unsatisfied[at]),
        "steps": {name: float(value[at]) for name, value in found.steps().items()},
        "target": finite(found.target[at]),
        "candidate": place >= 0,
        "ranks": [],
        "left_out": 1.0,
        "takers": None,
        "own": None,
        "above": [],
        "above_draws": None,
        "model": None if found.side.parts is None or place < 0 else found.side.parts.of(place),
    }
    if place < 0:
        return told
    told["ranks"], told["left_out"] = _ranks(found, place)
    policy = found.side.policy
    chance, draws = above(policy, place, found.side.options.samples, found.side.options.seed)
    told["above"], told["above_draws"] = _named(found, chance, "chance"), draws
    if isinstance(policy, PlackettLuce):
        browsing = found.side.options.model.bind(_candidate_grade(found), policy.over.indptr)
        pressure = plackett_luce_pressure(policy.logit, browsing, place)
        told["own"] = float(pressure[place])
        taken = np.where(np.arange(len(pressure)) == place, 0.0, -pressure)
        told["takers"] = _named(found, taken, "per_nat")
    return told


def finite(value: float) -> float | None:
    """Return a number, None for not-a-number."""
    return float(value) if np.isfinite(value) else None


def _ranks(found: Numbers, place: int) -> tuple[list[dict[str, Any]], float]:
    ranks, before, rows = found.account.ranks, 0, []
    for k, end in enumerate(ranks.ends.tolist()):
        chance, part = float(ranks.probability[place, k]), float(ranks.part[place, k])
        if chance > _NOISE or part > 0.0:
            weight = part / chance if chance > 0.0 else None
            rows.append({"from": before + 1, "to": end, "probability": chance, "weight": weight, "exposure": part})
        before = end
    return rows, max(0.0, 1.0 - float(ranks.probability[place].sum()))


def _named(found: Numbers, value: NDArray[np.float64], key: str) -> list[dict[str, Any]]:
    """Return the documents with the largest values above 0, at most `FEW`."""
    order = np.argsort(-value, kind="stable")[:FEW]
    order = order[value[order] > _NOISE]
    names = found.side.docs.take(found.side.policy.over.doc[order])
    return [{"docno": name, key: float(value[at])} for name, at in zip(names, order.tolist(), strict=True)]


def _candidate_grade(found: Numbers) -> NDArray[np.float64]:
    grade = np.zeros(found.side.policy.over.nnz)
    inside = found.place >= 0
    grade[found.place[inside]] = np.nan_to_num(found.grade[inside])
    return grade

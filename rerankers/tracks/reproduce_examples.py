"""Ours of numbers that published code gives on worked examples: FA*IR, joint exposure, FairRankTune, DELTR."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.files import read_lines
from rerankers.measures import group_rates, iaa, jme, ndkl, unequal
from rerankers.methods import fa_star_ir_fail_probability, fa_star_ir_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerankers.tracks.reproduce import Compute

LISTS: Mapping[str, Sequence[Sequence[int]]] = {
    "1": ((0, 2), (1, 3), (0, 2), (1, 3)),
    "2": ((0, 1), (2, 3), (0, 1), (2, 3)),
    "3": ((0, 2), (0, 2), (1, 3), (1, 3)),
    "4": ((0, 2), (0, 2), (0, 2), (0, 2)),
    "5": ((0, 1), (0, 1), (2, 3), (2, 3)),
    "6": ((0, 1), (0, 1), (0, 1), (0, 1)),
}
"""Situation of Wu et al. (2022) -> the two items, of equal exposure, that each of the four users is shown."""
SPREAD = ((0.1, 0.2, 0.3, 0.4), (0.2, 0.3, 0.3, 0.2), (0.1, 0.4, 0.2, 0.3), (0.1, 0.3, 0.2, 0.4))
"""Exposure of items (columns) to users in the seventh situation."""
SKEW = (0.4, 0.3, 0.2, 0.1)
HALVES = ((1, 1, 0, 0), (0, 0, 1, 1))
UNFAIR = 1e-9

RANKING = (2, 0, 1, 3)
"""Documents by rank; those with an even number are one group, those with an odd one the other."""
RELEVANCE, CLICKS = (0.041, 0.017, 0.813, 0.913), (0.607, 0.729, 0.544, 0.935)
"""Of the document at each rank."""
DECAY = 0.8

QUERIES = Path(__file__).with_name("tables") / "deltr.csv"
"""Three queries of generated documents: whether each is protected, its score and its grade."""
GAMMAS = (0.0, 5.0)


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts ``FA*IR``, ``joint exposure``, ``FairRankTune`` and ``DELTR``."""
    return {
        "FA*IR": _fa_star_ir,
        "joint exposure": _joint_exposure,
        "FairRankTune": _fair_rank_tune,
        "DELTR": _deltr,
    }


def _fa_star_ir(seed: int) -> Mapping[str, float]:
    """Return how many of 20 ranks have each minimum, and how likely a fair ranking fails them, last rank left out."""
    table = fa_star_ir_table(20, 0.25, 0.1, adjusted=False)
    found = {f"minimum {least}": float(np.sum(table == least)) for least in range(4)}
    return {**found, "failure": fa_star_ir_fail_probability(table, 0.25, published=True)}


def _joint_exposure(seed: int) -> Mapping[str, float]:
    """Return which of the six measures see anything where all items are due the same, and the losses of the last."""
    found: dict[str, float] = {}
    even = np.full((4, 4), 0.25)
    for name, shown in LISTS.items():
        exposure = np.zeros((4, 4))
        np.put_along_axis(exposure, np.array(shown), 0.5, axis=1)
        seen = jme(exposure, even, even, item_groups=HALVES, user_groups=HALVES)
        found[f"{name}/unfair"] = float(sum(parts_of.loss > UNFAIR for parts_of in seen.values()))
    last = jme(SPREAD, np.tile(SKEW, (4, 1)), even, item_groups=HALVES, user_groups=HALVES)
    return found | {f"7/{measure}": parts_of.loss for measure, parts_of in last.items()}


def _fair_rank_tune(seed: int) -> Mapping[str, float]:
    """Return smallest over largest rate of two groups in its forms of exposure, and two measures of one ranking."""
    order = np.argsort(RANKING)  # rank of each document
    group = [doc % 2 for doc in range(len(RANKING))]
    log = 1.0 / np.log2(order + 2.0)
    geometric = (1.0 - DECAY) * DECAY**order
    relevance, clicks = np.array(RELEVANCE)[order], np.array(CLICKS)[order]
    rates = {
        "EXP": group_rates(log, group, "member"),
        "EXPU": group_rates(log, group, relevance),
        "EXPRU": group_rates(clicks, group, relevance),
        "ERBE": group_rates(geometric, group, "group"),
        "ERBR": group_rates(geometric, group, relevance),
    }
    found = {name: unequal(rate, "min_max") for name, (rate, _) in rates.items()}
    found["NDKL"] = ndkl([doc % 2 for doc in RANKING], form="fairranktune")
    weight = 1.0 / np.log2(np.arange(len(RANKING)) + 2.0)
    return {**found, "IAA": iaa(weight, RELEVANCE, form="fairranktune")}


def _deltr(seed: int) -> Mapping[str, float]:
    """Return the loss of each query without and with its penalty, divided by the log of all documents as published."""
    from rerankers.learning.objectives.deltr import DELTR
    from rerankers.learning.rows import LearningRows

    rows = list(csv.DictReader(text for _, text in read_lines(QUERIES)))
    query, score, grade = (np.array([float(row[name]) for row in rows]) for name in ("query", "score", "grade"))
    bounds = np.concatenate([np.flatnonzero(np.diff(query, prepend=0.0)), [len(rows)]])
    groups = ["protected" if row["protected"] == "1" else "other" for row in rows]
    learning = LearningRows.of(bounds, score, grade, groups)
    found: dict[str, float] = {}
    for gamma in GAMMAS:
        loss = DELTR("protected", gamma, log_of_all=True).bind(learning)(score).value
        found |= {f"gamma {gamma:g}, query {number}": float(value) for number, value in enumerate(loss, 1)}
    return found

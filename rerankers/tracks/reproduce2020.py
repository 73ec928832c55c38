"""Ours of the numbers of 2020: submissions, anchors, and policies of a participant's relevance estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import DCG
from rerankers.measures.anchors import WORST_FIRST
from rerankers.policies import GradeShuffle, PlackettLuce, static
from rerankers.tracks.leaderboards import leaderboard
from rerankers.tracks.placing import standing
from rerankers.tracks.reproduce_losses2020 import detectable, losses, means, paired_t
from rerankers.tracks.reproduce_world2020 import OFFICIAL, World, read_estimates, read_world

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Policy
    from rerankers.tracks.lists import Lists
    from rerankers.tracks.reproduce import Compute

RUNS = ("UW_bm25", "UW_Kr_r60g20c20", "UW_Kr_r0g0c100")
ESTIMATES = {
    "2020 META": "nle_Evaluation_rel_scores_model_A.csv",
    "2020 TEXT": "nle_Evaluation_rel_scores_model_B.csv",
}
FEATURES = {
    "title": ("title_score",),
    "abstract": ("abstract_score",),
    "both": ("title_score", "abstract_score"),
    "citations": ("in_citations",),
    "h_index": ("max_hindex",),
}
DRAWS = 150  # rankings a query that the track asked for
SEEDS = 16  # whose mean is compared: its own noise is small beside that of the published number
FLOOR = 1e-12  # of relevance estimates, so that their logarithm is finite


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts of 2020; the data is read when the first of them asks for it."""
    world = cache(partial(read_world, data))

    @cache
    def read(name: str) -> Lists:
        return world().submission(name)

    def submission(name: str) -> Compute:
        return lambda seed: _submission(world(), name, read(name))

    def estimates(file: str) -> Compute:
        return lambda seed: _estimates(world(), file, seed)

    return {
        **{f"2020 {name}": submission(name) for name in RUNS},
        "2020 UW_bm25 and UW_Kr_r60g20c20": lambda seed: _pair(world(), {name: read(name) for name in RUNS[:2]}),
        "2020 anchors": lambda seed: _anchors(world(), seed),
        **{part: estimates(file) for part, file in ESTIMATES.items()},
        "2020 META and uniform": lambda seed: _compared(world(), ESTIMATES["2020 META"], seed),
        "2020 features": lambda seed: _features(world()),
    }


def _submission(world: World, name: str, submitted: Lists) -> Mapping[str, float]:
    """Return the means of a submission under the official form and other rules for mixed documents."""
    lists = {name: submitted}
    outcome = world.judge(lists)
    found = dict(means(outcome, name))
    for mixed in ("full", "drop"):
        other = world.judge(lists, replace(OFFICIAL, mixed_policy=mixed))
        found |= {f"{mixed}/{key}": value for key, value in means(other, name).items()}
    for short, form in (("tools", "tools_ba07124"), ("expeval", "expeval_69ab070")):
        other = world.judge(lists, replace(OFFICIAL, normalise=form), grouped=False)
        found |= {f"{short}/{key}": value for key, value in means(other, name).items()}
    if outcome.group_exposure is not None:
        rows = [row for row in outcome.group_exposure.to_pylist() if row["system"] == name]
        given, due = (np.array([row[key] for row in rows]) for key in ("exposure", "target"))
        found["share_distance"] = float(np.abs(given / given.sum() - due / due.sum()).sum() / 2)
    return found


def _pair(world: World, lists: Mapping[str, Lists]) -> Mapping[str, float]:
    outcome = world.judge(lists)
    first, second = (losses(outcome, name) for name in lists)
    return {"t": paired_t(first, second)}


def _anchors(world: World, seed: int) -> Mapping[str, float]:
    """Return shuffles and ideal policies, each the mean over seeds, and what they say about the official runs."""
    uniform, ideal = world.shuffle(np.zeros(world.over.nnz)), world.shuffle(world.grade)
    found = {
        **_drawn(world, "uniform", uniform, DRAWS, seed),
        **_drawn(world, "uniform_static", uniform, 1, seed),
        **_drawn(world, "ideal", ideal, DRAWS, seed),
        **_drawn(world, "ideal_static", ideal, 1, seed),
    }
    for draws in (5, 25):
        found |= _drawn(world, f"uniform{draws}", uniform, draws, seed)
    outcome = world.judge({"any": world.drawn("any", uniform, 1, seed)})
    found |= {f"worst_first/{key}": value for key, value in means(outcome, WORST_FIRST).items()}
    table = leaderboard("trec2020-rerank")
    for name in ("uniform", "worst_first"):
        stands = standing(table, name, found[f"{name}/group_EEL"])
        found[f"{name}/beaten"] = float(stands.of + 1 - stands.rank - len(stands.level))
    relevant = world.queries_with(world.grade > 0)
    found["queries_with_both"] = float(np.sum(relevant["Developing"] & relevant["Advanced"]))
    found["queries_without_developing"] = float(np.sum(~world.queries_with(world.grade >= 0)["Developing"]))
    return found


def _estimates(world: World, file: str, seed: int) -> Mapping[str, float]:
    """Return what sampling by relevance estimates and always ranking by them gives."""
    rho = read_estimates(world, file)
    policy = PlackettLuce(world.over, np.log(np.maximum(rho, FLOOR)), world.stream)
    fixed = world.drawn("static", static(world.over, rho, world.stream), 1, seed)
    found = {f"static/{key}": value for key, value in means(world.judge({"static": fixed}), "static").items()}
    found |= _drawn(world, "sampled", policy, DRAWS, seed)
    found |= {f"exact/{key}": value for key, value in world.exact(policy).items()}
    return found


def _compared(world: World, file: str, seed: int) -> Mapping[str, float]:
    """Return what tests over queries make of shuffles and sampling by relevance estimates, means over seeds."""
    rho = read_estimates(world, file)
    sampled = PlackettLuce(world.over, np.log(np.maximum(rho, FLOOR)), world.stream)
    policies: dict[str, Policy] = {"uniform": world.shuffle(np.zeros(world.over.nnz)), "sampled": sampled}
    compared: list[tuple[float, float]] = []
    for one in range(seed, seed + SEEDS):
        pair = {name: world.drawn(name, policy, DRAWS, one) for name, policy in policies.items()}
        outcome = world.judge(pair)
        first, second = (losses(outcome, name) for name in pair)
        compared.append((paired_t(first, second), detectable(first, second)))
    t, difference = np.mean(compared, axis=0)
    return {"t": float(t), "detectable": float(difference)}


def _features(world: World) -> Mapping[str, float]:
    """Return the mean nDCG of candidates by a feature, a missing value being 0, ties as they stand."""
    columns = world.features("feature_matrix_sayed_eval.csv", [name for names in FEATURES.values() for name in names])
    found = {
        name: _ndcg(world, static(world.over, np.sum([columns[column] for column in names], axis=0), world.stream))
        for name, names in FEATURES.items()
    }
    return {**found, "random": _ndcg(world, world.shuffle(np.zeros(world.over.nnz)))}


def _ndcg(world: World, policy: Policy) -> float:
    """Return expected DCG over that of the ideal order, mean over queries (Jarvelin and Kekalainen 2002)."""
    browsing = DCG().bind(world.grade, world.over.indptr)
    gains: list[NDArray[np.float64]] = []
    for one in (policy, GradeShuffle(world.over, world.grade, world.stream)):
        exposure = one.exposure(browsing)
        if exposure is None:
            raise ValueError("the policy has no exact exposure")
        gains.append(np.add.reduceat(exposure.value * world.grade, world.over.indptr[:-1]))
    return float(np.mean(gains[0] / gains[1]))


def _drawn(world: World, name: str, policy: Policy, draws: int, seed: int) -> dict[str, float]:
    """Return ``name/measure`` -> mean over queries, and over seeds from ``seed`` on; how far seeds differ in loss."""
    lists = {f"{name} {one}": world.drawn(name, policy, draws, one) for one in range(seed, seed + SEEDS)}
    outcome = world.judge(lists)
    parts = [means(outcome, one) for one in lists]
    found = {f"{name}/{key}": float(np.mean([part[key] for part in parts])) for key in parts[0]}
    return {**found, f"{name}/range": float(np.ptp([part["group_EEL"] for part in parts]))}

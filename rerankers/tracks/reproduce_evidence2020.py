"""Ours of what 2020 says about groups: ten policies beside shuffled labels, who carries their losses, what tests find.

The ten: three submissions, the ranking by a participant's estimates, Plackett-Luce sampling from these estimates at
three temperatures, shuffles, relevant documents last, and the ideal policy; exposure is exact where it is not given by
rankings. The ideal policy has no loss, so that there is nothing whose carriers could be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure import GERR
from rerankers.measures.anchors import IDEAL, RANDOM, WORST_FIRST
from rerankers.methods.thompson import Thompson
from rerankers.policies import PlackettLuce, static
from rerankers.stats.agreement import kendall_matrix
from rerankers.tracks.explained2020 import LOSS
from rerankers.tracks.reproduce2020 import ESTIMATES, FLOOR, RUNS
from rerankers.tracks.reproduce_losses2020 import detectable, losses
from rerankers.tracks.reproduce_world2020 import World, read_estimates, read_world
from rerankers.values import Block, Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evidence import Evidence
    from rerankers.measures.nulls import Null
    from rerankers.tracks.preset import Outcome
    from rerankers.tracks.reproduce import Compute

META = ESTIMATES["2020 META"]
SHARPNESS = (1.0, 2.0, 4.0)
TRACE = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SHUFFLES = 50  # draws of labels, as many as the reference computation had
CARRIERS = ("unknown", "Developing")


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts ``2020 evidence``, ``2020 Thompson`` and ``2020 temperatures``."""
    world = cache(partial(read_world, data))
    return {
        "2020 evidence": lambda seed: _evidence(world(), seed),
        "2020 Thompson": lambda seed: _thompson(world()),
        "2020 temperatures": lambda seed: _temperatures(world()),
    }


def ten_policies(world: World, seed: int) -> tuple[Outcome, dict[str, Evidence]]:
    """Return the scores of those that come as rankings, and the evidence about all ten.

    Raises
    ------
    MissingError
        when a submission or the estimates are not there.
    """
    rho = read_estimates(world, META)
    lists = {name: world.submission(name) for name in RUNS}
    lists["static"] = world.drawn("static", static(world.over, rho, world.stream), 1, seed)
    outcome = world.judge(lists, seed=seed, permutations=SHUFFLES)
    found = {name: outcome.evidence[name] for name in (*lists, RANDOM, WORST_FIRST, IDEAL)}
    sampled = {f"sharpness {one:g}": _sampled(world, rho, one) for one in SHARPNESS}
    return outcome, found | world.evidence(sampled, seed, SHUFFLES)


def _sampled(world: World, rho: NDArray[np.float64], sharpness: float) -> PlackettLuce:
    return PlackettLuce(world.over, sharpness * np.log(np.maximum(rho, FLOOR)), world.stream)


def _evidence(world: World, seed: int) -> Mapping[str, float]:
    """Return how losses and placebos agree, whose the losses are, and what differences can be found."""
    outcome, behind = ten_policies(world, seed)
    nulls = {name: one.nulls[f"{LOSS}_excess"] for name, one in behind.items()}
    found = _order(nulls)
    some = [name for name in behind if name != IDEAL]
    found["furthest"] = max(abs(_standardised(nulls[name])) for name in some)
    shares: dict[str, list[float]] = {}
    for name in some:
        parts_of = behind[name].gaps[LOSS].summary(seed=seed, resamples=2, level=0.95, method="percentile")
        if parts_of is None or parts_of.systematic_share is None:
            raise ValueError(f"{name}: no loss")
        shares.setdefault("systematic", []).append(parts_of.systematic_share)
        for group in CARRIERS:
            shares.setdefault(group, []).append(float(parts_of.groups[group]["share"] or 0.0))
    by_name = {name: losses(outcome, name) for name in RUNS}
    shares["detectable"] = [detectable(by_name[one], by_name[other]) for one, other in combinations(RUNS, 2)]
    for key, values in shares.items():
        found |= {f"{key}/lowest": min(values), f"{key}/highest": max(values)}
    return found


def _order(nulls: Mapping[str, Null]) -> dict[str, float]:
    """Return agreement of losses with placebos, in closed form and as means over draws of labels."""
    loss = np.array([(one.excess + one.placebo) / one.queries for one in nulls.values()])
    placebo = np.array([one.placebo / one.queries for one in nulls.values()])
    drawn = placebo + np.array([one.draws.mean() / one.queries for one in nulls.values()])
    tau = kendall_matrix([loss, placebo, drawn])[0]
    return {
        "kendall": float(tau[1]),
        "pearson": float(np.corrcoef(loss, placebo)[0, 1]),
        "kendall/drawn": float(tau[2]),
        "pearson/drawn": float(np.corrcoef(loss, drawn)[0, 1]),
    }


def _standardised(null: Null) -> float:
    test = null.test()
    if test is None or test["z"] is None:
        raise ValueError("no excess to test")
    return float(test["z"])


def _thompson(world: World) -> Mapping[str, float]:
    """Return what the exact exposure of labels drawn from the estimates gives."""
    rho = read_estimates(world, META)
    over = world.over
    candidates = Candidates(over.query, over.indptr, over.doc, {"score": rho, "estimates": rho})
    return world.exact(Thompson().policy(Block(candidates, world.stream, browsing=GERR())))


def _temperatures(world: World) -> Mapping[str, float]:
    """Return how document disparity and relevance go together from shuffles to a fixed ranking."""
    rho = read_estimates(world, META)
    scored = [world.exact(_sampled(world, rho, one)) for one in TRACE]
    return {"trace": float(kendall_matrix([[one[key] for one in scored] for key in ("EED", "EER")])[0, 1])}

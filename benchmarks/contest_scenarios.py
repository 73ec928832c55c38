"""Policies under uncertain relevance: the loss of all scenarios at once, and what a query takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from _settings import Settings
from _timing import Result, interleaved

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR
from rerankers.exposure.closed_form.plackett_luce import exact_exposure
from rerankers.methods.scenario_optimal import ScenarioOptimal
from rerankers.methods.scenarios.plackett_luce import exposures
from rerankers.methods.scenarios.rows import Scenarios, draw_scenarios
from rerankers.values import Block, Candidates, GroupAlignment

N, SCENARIOS, GROUPS = 24, 128, 4
DEMANDED = 5.0
BOUND = 0.6  # seconds a query: 200 queries in two minutes


def results(settings: Settings) -> Iterator[Result]:
    """Hold the contests: exposures in all scenarios, then both forms of the search."""
    rng = settings.generator("scenarios")
    chance = rng.beta(1, 5, N)
    drawn = draw_scenarios(chance, GERR(), SCENARIOS, True, settings.seed, query_streams(["q"])[0])
    logit = np.log(chance)
    at_once, apart = partial(exposures, logit, drawn), partial(_apart, logit, drawn)
    ours, theirs = interleaved([at_once, apart], settings.repetitions)
    off = np.abs(at_once()[0] - apart()).max()
    yield Result(
        f"Plackett-Luce exposures in {SCENARIOS} scenarios, n={N}",
        ours,
        theirs,
        "our exact exposure, a row for each scenario",
        DEMANDED,
        f"the two differ by {off:.1e}",
    )
    block = _block(chance, rng.integers(0, GROUPS, N), settings.seed)
    mixtures, weights = (ScenarioOptimal(group=1.0, scenarios=SCENARIOS, form=form) for form in FORMS)
    ours, theirs = interleaved([partial(mixtures.lowest, block), partial(weights.lowest, block)], settings.repetitions)
    found, other = mixtures.lowest(block), weights.lowest(block)
    met = "met" if ours.best <= BOUND else "missed"
    yield Result(
        f"the lowest loss in {SCENARIOS} scenarios, n={N}, {GROUPS} groups: rankings against Plackett-Luce weights",
        ours,
        theirs,
        "our L-BFGS over log-weights",
        None,
        f"{ours.best * 1e3:.0f} ms a query at best, at most {BOUND * 1e3:.0f} ms is {met}; loss {found.start[0]:.4f} "
        f"at the start, {other.value[0]:.4f} by weights, {found.value[0]:.4f} by rankings",
    )


FORMS = ("rankings", "plackett_luce")


def _apart(logit: np.ndarray, drawn: Scenarios) -> np.ndarray:
    indptr = np.arange(drawn.count + 1, dtype=np.int64) * len(logit)
    found = exact_exposure(indptr, np.tile(logit, drawn.count), drawn.continuation.T.ravel())
    return found.reshape(drawn.count, -1).T


def _block(chance: np.ndarray, code: np.ndarray, seed: int) -> Block:
    doc = np.arange(N)
    names = tuple(f"group {g}" for g in range(GROUPS))
    aligned = GroupAlignment.of_entries("group", names, doc, code, np.ones(N), N).resolve("drop")
    candidates = Candidates(np.zeros(1), np.array([0, N]), doc, {"score": chance, "estimates": chance})
    return Block(candidates, query_streams(["q"]), {"group": aligned}, browsing=GERR(), seed=seed)

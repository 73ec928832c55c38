"""Group shares of exposure that equal a target: our tilts against the plain fixed-point iteration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from _settings import Settings
from _timing import Result, interleaved

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR, RBP, Browsing, BrowsingModel
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.methods.kl_tilt import KlTilt
from rerankers.methods.targets import Uniform, believed_browsing
from rerankers.values import Block, Candidates, GroupAlignment

N, QUERIES = 100, 20
BOUND = 1.0  # ms a query
CLOSE = 1e-12  # nats


def results(settings: Settings) -> Iterator[Result]:
    """Hold the contest: a block of queries a call, all that the method does for it counted; both to 1e-12 nats.

    Under GERR(.5, .5) few documents are seen, the plain iteration needs few rounds, and no ratio is demanded.
    """
    for groups, model, demanded in ((2, GERR(), None), (4, GERR(), None), (2, RBP(0.9), 3.0), (4, RBP(0.9), 3.0)):
        block = _block(settings, groups, model)
        method = KlTilt(temperature=1.0)
        ours, theirs = interleaved([partial(method.policy, block), partial(_iterated, block)], settings.repetitions)
        found, each = method.tilted(block).tilts, ours.best * 1e3 / QUERIES
        met = "met" if each <= BOUND else "missed"
        yield Result(
            f"group shares of exposure equal to a target, {QUERIES} queries, n={N}, G={groups}, {model}",
            ours,
            theirs,
            "b += log(target / exact share), our exact exposure",
            demanded,
            f"{each:.2f} ms a query at best (at most {BOUND:g} ms: {met}); KL at most {found.divergence.max():.1e}; "
            f"{found.rounds.sum()} integrals against {_iterated(block)}",
        )


def _block(settings: Settings, groups: int, model: BrowsingModel) -> Block:
    rng = settings.generator("kl", groups, str(model))
    size = N * QUERIES
    code, doc = rng.integers(0, groups, size), np.arange(size)
    names = tuple(f"group {g}" for g in range(groups))
    aligned = GroupAlignment.of_entries("group", names, doc, code, np.ones(size), size).resolve("drop")
    # the probabilities of one group are higher, so that there is something to mend
    columns = {"score": rng.normal(size=size), "estimates": rng.random(size) ** 3 * (1 + code) / groups}
    candidates = Candidates(np.zeros(QUERIES), np.arange(0, size + 1, N), doc, columns)
    streams = query_streams([f"q{row}" for row in range(QUERIES)])
    return Block(candidates, streams, {"group": aligned}, browsing=model, target=Uniform())


def _iterated(block: Block) -> int:
    """Iterate to the targets and return how many exposures it took."""
    browsing, target = believed_browsing(block), Uniform().bind(block, "group")
    _, code, _ = block.groups["group"].entries(block.candidates.doc)
    logit, taken = np.log(np.maximum(block.relevance.value, 1e-12)), 0
    for row, wanted in enumerate(target):
        docs = block.candidates.row(row)
        own, indptr, tilt = code[docs], np.array([0, N]), np.zeros(len(wanted))
        one = Browsing(browsing.position, browsing.continuation[docs], browsing.satisfaction[docs])
        for _ in range(1000):
            exposure = plackett_luce_exposure(indptr, logit[docs] + tilt[own], one)
            taken += 1
            share = np.bincount(own, exposure, len(wanted)) / exposure.sum()
            if np.sum(wanted * np.log(wanted / share)) <= CLOSE:
                break
            tilt += np.log(wanted / share)
            tilt -= tilt.mean()
    return taken

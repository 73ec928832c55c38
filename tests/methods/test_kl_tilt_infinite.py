"""The group tilt where the nearest shares are those of infinite tilts: documents in several groups or parts of them."""

from __future__ import annotations

import numpy as np
import pytest
from tilt_worlds import alignment, block, divergence

from rerankers.exposure import DCG, GERR, RBP, TopKSet
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.gradients import plackett_luce_gradient
from rerankers.methods.kl_tilt import KlTilt, Tilted
from rerankers.methods.targets import Population, believed_browsing
from rerankers.methods.tilting.descent_loops import PROJECTED, REACHED
from rerankers.methods.tilting.solver import UNTILTED
from rerankers.values import Block


def slopes(found: Tilted, part: Block) -> np.ndarray:
    """Return the derivative of the divergence by each tilt, per nat of the document that is most of the group."""
    groups, browsing = found.groups, believed_browsing(part)
    parts = np.zeros((len(found.policy.logit), len(groups.target)))
    np.add.at(parts, (np.repeat(np.arange(len(parts)), np.diff(groups.start)), groups.group), groups.weight)
    value = groups.totals(plackett_luce_exposure(groups.indptr, found.policy.logit, browsing))
    pull = parts @ (1.0 / value.sum() - groups.target / value)
    slope = plackett_luce_gradient(groups.indptr, found.policy.logit, browsing, pull) @ parts
    return slope[groups.target > 0] / parts.max(axis=0)[groups.target > 0]


@pytest.mark.parametrize("seed", range(4))
def test_infinite_tilts_of_groups_that_share_documents(seed: int) -> None:
    """Nearest to the target is to show the second document, and with it the first, which only infinite tilts do.

    They are infinite in a ratio that lies in a narrow cone, and their mean is not 0.
    """
    labels = [{"c": 0.4454}, {"a": 0.6342, "c": 0.6197, "b": 0.9114}, {"c": 0.1363, "a": 0.4372}, {"c": 0.6106}]
    wanted = {"a": 0.0563, "b": 0.5740, "c": 0.3697}
    scores = np.random.default_rng(seed).normal(size=4) if seed else np.zeros(4)
    part = block([scores.tolist()], {"g": alignment("g", labels)}, browsing=TopKSet(2), target=Population(wanted))
    found = KlTilt().tilted(part)
    assert found.counts == {"targets_projected": 1}
    best = np.array([0.6342, 0.9114, 0.6197 + 0.4454])
    np.testing.assert_allclose(found.tilts.share, best / best.sum(), atol=1e-6)
    least = divergence(np.array(list(wanted.values())), best / best.sum())
    assert found.tilts.divergence[0] == pytest.approx(least, abs=1e-7)
    assert np.max(np.abs(slopes(found, part))) <= 1.1e-9


def test_projections_are_of_the_divergence_alone() -> None:
    """Whatever parts documents have in groups, the tilts end where no tilt makes the divergence less."""
    ended = []
    for seed in range(90):
        rng = np.random.default_rng(seed)
        n, groups = int(rng.integers(2, 9)), "abc"[: int(rng.integers(2, 4))]
        whole = [round(float(rng.uniform(0.05, 1.0)), 4) if seed % 2 else 1.0 for _ in range(n * len(groups))]
        labels = [{g: whole.pop() for g in groups if rng.random() < 0.5} or None for _ in range(n)]
        target = Population(dict(zip(groups, rng.dirichlet(np.ones(len(groups))).tolist(), strict=True)))
        model = (GERR(), TopKSet(2), DCG(), RBP(0.8), TopKSet(1))[seed % 5]
        scores = [(rng.normal(size=n) * rng.choice([0.0, 1.0, 3.0])).tolist()]
        part = block(scores, {"g": alignment("g", labels, "drop", groups)}, browsing=model, target=target)
        found = KlTilt().tilted(part)
        ended.append(int(found.tilts.status[0]))
        if ended[-1] == PROJECTED:
            steep = np.max(np.abs(slopes(found, part)))
            assert steep == pytest.approx(found.tilts.slope[0], abs=1e-12)
            assert steep <= 1.1e-9
    assert ended.count(PROJECTED) > 20
    assert ended.count(REACHED) > 20
    assert set(ended) <= {PROJECTED, REACHED, UNTILTED}

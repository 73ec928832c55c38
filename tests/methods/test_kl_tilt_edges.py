"""The group tilt at the odd ends of its input: absent and unknown groups, cold policies, degenerate rows."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from omegaconf import OmegaConf
from tilt_worlds import alignment, block, left

from rerankers._base.errors import ConfigError, InputError
from rerankers._conf import build, conf_folder
from rerankers.exposure import DCG, GERR, RBP
from rerankers.methods.infoseeking_kl import InfoseekingKl
from rerankers.methods.kl_greedy import KlGreedy
from rerankers.methods.kl_tilt import KlTilt
from rerankers.methods.targets import EqualExposure, Merit, Population, Uniform

SCORES = [2.0, 1.2, 0.7, 0.1, -0.4, -1.3]
LABELS = ["A", "B", "B", "A", "C", "B"]


def test_absent_groups_and_rows_without_target_are_counted() -> None:
    labels = ["A", "A", "B", "B", None, None, None]
    wanted = Population({"A": 0.5, "B": 0.3, "C": 0.2})
    groups = {"g": alignment("g", labels, "drop", "ABC")}
    part = block([[0.0, 1.0, 2.0, 0.5], [0.4, 0.2], [], [1.0]], groups, browsing=GERR(), target=wanted)
    found = KlTilt().tilted(part)
    assert found.counts["targets_on_absent_groups"] == 1
    assert found.counts["rows_without_target"] == 2  # of the rows with candidates, those without any group
    assert found.counts["rows_with_guessed_probabilities"] == 4
    np.testing.assert_allclose(found.groups.target, [0.625, 0.375])
    np.testing.assert_allclose(found.tilts.share, [0.625, 0.375], atol=1e-6)
    plain = KlTilt(strength=0.0).tilted(part)
    np.testing.assert_allclose(found.policy.logit[4:], plain.policy.logit[4:])


def test_unknown_keeps_its_place_unless_the_target_speaks_of_it() -> None:
    labels = ["A", None, "B", "A", None, "B"]
    groups = {"g": alignment("g", labels)}
    named = Population({"A": 0.3, "B": 0.3, "unknown": 0.4})
    silent = Population({"A": 0.5, "B": 0.5})
    for target, cells in ((named, 3), (silent, 2), (Uniform(), 2), (Uniform(unknown=True), 3), (Merit(), 3)):
        part = block([SCORES], groups, browsing=GERR(), target=target)
        found = KlTilt().tilted(part)
        assert len(found.groups.target) == cells
        assert left(found, part)[0] < 1e-12
        kept = KlTilt(unknown="keep").tilted(part)
        assert len(kept.groups.target) == 2
        moved = kept.policy.logit - KlTilt(strength=0.0).tilted(part).policy.logit
        assert np.ptp(moved[[1, 4]]) < 1e-12


@pytest.mark.parametrize("temperature", [0.1, 0.01, 1e-4, 1e-12])
def test_nearly_certain_rankings(temperature: float) -> None:
    rng = np.random.default_rng(7)
    labels = ["ABC"[i] for i in rng.integers(0, 3, 30)]
    part = block([rng.normal(size=30).tolist()], {"g": alignment("g", labels)}, browsing=GERR(), target=Uniform())
    found = KlTilt(temperature=temperature).tilted(part)
    assert np.all(np.isfinite(found.policy.logit))
    assert left(found, part)[0] < 1e-12


def test_rows_do_not_depend_on_their_block() -> None:
    rng = np.random.default_rng(2)
    sizes = [5, 0, 1, 30, 2]
    rows = [rng.normal(size=size).tolist() for size in sizes]
    labels = ["AB"[i] if i < 2 else None for i in rng.integers(0, 3, sum(sizes))]
    groups = {"g": alignment("g", labels)}
    for model in (GERR(), DCG()):
        part = block(rows, groups, browsing=model, target=EqualExposure())
        whole = KlTilt().policy(part).logit
        for row in range(len(sizes)):
            own = part.candidates.row(row)
            alone = replace(part, candidates=part.candidates.rows(row, row + 1), stream=part.stream[row : row + 1])
            np.testing.assert_array_equal(KlTilt().policy(alone).logit, whole[own])


def test_degenerate_rows() -> None:
    groups = {"g": alignment("g", ["A", "B", "A", "B", "A"])}
    for model in (RBP(1.0), RBP(0.0), GERR(1.0, 1.0), DCG(cutoff=1)):
        part = block([[1.0], [], [0.0, 0.0, 0.0, 0.0]], groups, [[0.0], [], [0.0, 1.0, 0.0, 0.0]], browsing=model)
        found = KlTilt().tilted(part)
        assert np.all(np.isfinite(found.policy.logit))
        assert found.policy.sample(2, 0).counts.tolist() == [2, 2, 2]
    empty = block([], {"g": alignment("g", [], names="AB")}, browsing=GERR())
    assert len(KlTilt().policy(empty).over) == 0


def test_messages() -> None:
    with pytest.raises(ConfigError, match=r"method.temperature: found 0\.0"):
        KlTilt(temperature=0.0)
    with pytest.raises(ConfigError, match=r"method.strength: found 2\.0; expected a number between 0 and 1"):
        KlTilt(strength=2.0)
    with pytest.raises(ConfigError, match=r"method.unknown: found 'cell'"):
        KlTilt(unknown="cell")
    with pytest.raises(ConfigError, match=r"method.tolerance: found 0\.0"):
        KlTilt(tolerance=0.0)
    with pytest.raises(ConfigError, match=r"method=kl_tilt: found no groups"):
        KlTilt().policy(block([SCORES], {}))
    part = block([SCORES], {"g": alignment("g", LABELS)})
    with pytest.raises(ConfigError, match=r"method.attributes: found 'h'; expected one of g"):
        KlTilt(attributes=["h"]).policy(part)
    with pytest.raises(ConfigError, match="each once"):
        KlTilt(attributes=["g", "g"]).policy(part)
    with pytest.raises(InputError, match=r"cell 'D'; expected a group of the job's attributes \(g: A, B, C, unknown\)"):
        KlTilt().policy(replace(part, target=Population({"D": 1.0})))


@pytest.mark.parametrize("kind", [KlTilt, KlGreedy, InfoseekingKl])
def test_configs_are_the_defaults(kind: type[object]) -> None:
    name = kind.__module__.rpartition(".")[2]
    node = OmegaConf.to_container(OmegaConf.load(conf_folder() / "method" / f"{name}.yaml"))
    assert isinstance(node, dict)
    assert build(node) == kind()
    assert set(node) - {"_target_"} == {field.name for field in fields(kind)}  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(build(node))) == kind()

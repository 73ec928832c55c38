"""What methods say about their policies: true, of the right row, and of the form that is asked for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError
from rerankers.exposure import RBP
from rerankers.methods.deterministic import Deterministic
from rerankers.methods.explanation import explained
from rerankers.methods.fa_star_ir import FaStarIr
from rerankers.methods.kl_greedy import KlGreedy
from rerankers.methods.kl_tilt import KlTilt
from rerankers.methods.own_accounts import minima_account
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.methods.plackett_luce import PlackettLuce
from rerankers.methods.targets import Population

SCORES = [[3.0, 2.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]]
LABELS = ["A", "A", "B", "A", "A", "A", "B", "B"]


def world(model: object = RBP(0.7)) -> Any:
    target = Population({"A": 0.5, "B": 0.5})
    return block(SCORES, {"g": alignment("g", LABELS, "drop", "AB")}, target=target, browsing=model)


def test_tilts_are_told_with_the_shares_that_they_make() -> None:
    part, method = world(), KlTilt()
    found = explained(method, part, 1)
    assert found is not None
    rows = {row["group"]: row for row in found["tables"]["Groups"]}
    assert set(rows) == {"g: A", "g: B"}
    assert rows["g: A"]["share"] == pytest.approx(0.5, abs=1e-6)
    exposed = PlackettLuce().policy(part).exposure(RBP(0.7).bind(np.zeros(8), part.candidates.indptr)).value[3:]
    assert rows["g: B"]["share_without_tilts"] == pytest.approx(exposed[3:].sum() / exposed.sum(), abs=1e-12)
    plain = PlackettLuce().policy(part).logit[3:]
    tilt = np.array([rows[f"g: {label}"]["tilt_in_nats"] for label in LABELS[3:]])
    np.testing.assert_allclose(found["documents"]["logit"], plain + tilt, atol=1e-12)
    assert rows["g: B"]["weights_times"] == pytest.approx(np.exp(rows["g: B"]["tilt_in_nats"]))
    assert found["facts"]["ended"] == "the target is reached"


def test_greedy_shares_are_those_of_its_prefixes() -> None:
    part, method = world(), KlGreedy(0.9)
    found = explained(method, part, 1)
    assert found is not None
    rows = {row["group"]: row for row in found["tables"]["Groups of the first documents"]}
    ranked = method.policy(part).rankings.item[3:]
    labels = np.array(LABELS[3:])[ranked]
    for k in (1, 3, 5):
        assert rows["g: A"][f"share_of_first_{k}"] == pytest.approx(np.mean(labels[:k] == "A"))
    assert rows["g: A"]["target"] == 0.5


def test_minima_bind_where_a_better_document_waits() -> None:
    # by score: u u p p; the first two ranks need one protected document, the third two
    found = minima_account(np.array([0, 1, 2]), np.array([False, False, True, True]), np.array([0, 2, 3, 1]), 0.5)
    assert [row["rank"] for row in found["tables"]["Ranks where the minimum binds"]] == [2, 3]
    assert [row["place_by_score_among_ranked"] for row in found["tables"]["Ranks where the minimum binds"]] == [3, 4]
    free = minima_account(np.array([0, 1]), np.array([True, False]), np.array([0, 1]), 0.5)
    assert free["facts"]["ranks_where_it_binds"] == 0


def test_minima_of_the_asked_row() -> None:
    found = explained(FaStarIr(protected="B", p=0.8, alpha=0.5, adjusted=False), world(), 1)
    assert found is not None
    assert found["facts"]["ranks_with_a_minimum"] == 5
    assert found["facts"]["wanted_share_of_protected"] == 0.8
    assert found["facts"]["ranks_where_it_binds"] >= 1


def test_the_certificate_of_an_optimal_policy() -> None:
    part, method = world(), ParetoOptimal()
    found = explained(method, part, 1)
    assert found is not None
    assert found["facts"]["gap"] == method.optimal(part).gap[1]


def test_logits_of_plackett_luce() -> None:
    part = world()
    found = explained(PlackettLuce(0.5), part, 0)
    assert found is not None
    np.testing.assert_array_equal(found["documents"]["logit"], PlackettLuce(0.5).policy(part).logit[:3])


def test_a_method_without_an_account_says_nothing() -> None:
    assert explained(Deterministic(), world()) is None


class Own(Deterministic):
    tier: ClassVar[str] = "blind"
    told: ClassVar[Any] = {}

    def explain(self, block: Any, row: int) -> Any:
        return self.told


@pytest.mark.parametrize("told", [[], {"sentences": []}, {"documents": {"x": [1.0]}}, None])
def test_an_account_of_another_form_is_refused(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Own, "told", told)
    with pytest.raises(ConfigError, match=r"method Own: its explain\(block, row\) returned"):
        explained(Own(), world())


def test_numbers_become_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {
        "facts": {"a": np.int64(3), "b": np.float32(0.5), "c": np.inf, "d": True},
        "documents": {"x": [1, np.nan, 2]},
        "tables": {"t": [{"k": np.float64(1.5), "n": None}]},
    }
    monkeypatch.setattr(Own, "told", told)
    found = explained(Own(), world())
    assert found == {
        "says": [],
        "facts": {"a": 3, "b": 0.5, "c": "inf", "d": True},
        "documents": {"x": [1.0, None, 2.0]},
        "tables": {"t": [{"k": 1.5, "n": None}]},
    }

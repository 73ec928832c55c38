"""Serving sequences in shards, by workers, in one piece or in a file, and the ledgers that refuse them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_worlds import QIDS, TOPICS, asked_by, pool

from rerankers._base.errors import InputError
from rerankers.execution import Joblib, Serial
from rerankers.exposure import GERR
from rerankers.ledger import Memory, SQLite
from rerankers.methods.fair_co import FairCo
from rerankers.methods.horizon_planner import HorizonPlanner
from rerankers.methods.nle_controller import NleController
from rerankers.stages.pool import Pool
from rerankers.stages.sequence import (
    topics_in_turn,
)
from rerankers.stages.serve import serve
from rerankers.values import Ids

METHODS = (
    NleController(scope="query"),
    NleController(scope="sequence", entities="authors"),
    NleController(scope="corpus", entities="side"),
    FairCo(scope="sequence", temperature=0.5, decay=0.9),
    HorizonPlanner(scope="sequence", replan=3, passes=2),
)
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12)


@pytest.mark.parametrize("method", METHODS, ids=lambda one: f"{type(one).__name__}-{one.scope}-{one.entities}")
@settings(max_examples=8)
@given(rows=ROWS, estimates=st.booleans())
def test_shards_and_files_give_the_same_bits(
    method: Any, rows: list[tuple[int, int]], estimates: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One block or one a sequence, in memory or in a file: rankings and the loss are the same."""
    world = pool(estimates=estimates)
    shown = asked_by(rows).impressions(TOPICS, world.candidates)
    path = tmp_path_factory.mktemp("ledgers") / "ledger.sqlite"
    found = [
        serve(method, world, shown, ledger, GERR(), 3, execution)
        for ledger, execution in (
            (Memory(), Serial()),
            (Memory(chunk=2), Serial(block=1)),
            (SQLite(str(path), chunk=2), Serial()),
            (SQLite(str(path), chunk=2), Serial()),
        )
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.served.start, found[0].served.start)
        np.testing.assert_array_equal(other.served.item, found[0].served.item)
        assert other.loss == pytest.approx(found[0].loss, rel=1e-12, abs=1e-15)
        assert other.counts["accounts"] == found[0].counts["accounts"]
    assert found[0].counts["impressions"] == len(rows)
    assert "impressions_served_before" not in found[2].counts
    assert found[3].counts.get("impressions_served_before", 0) == len(rows)


@pytest.mark.slow
def test_workers_give_the_same_bits() -> None:
    world = pool()
    shown = asked_by([(s, q) for _ in range(5) for s in range(3) for q in range(4)]).impressions(
        TOPICS, world.candidates
    )
    method = NleController(scope="sequence", entities="authors")
    one = serve(method, world, shown, Memory(), GERR(), 0, Serial())
    two = serve(method, world, shown, Memory(), GERR(), 0, Joblib(workers=2, block=1))
    np.testing.assert_array_equal(one.served.item, two.served.item)


def test_a_ledger_of_something_else_is_refused(tmp_path: Path) -> None:
    """Rankings are kept as places among the candidates, balances by name: others would be mistaken for them."""
    one, path = pool(0), tmp_path / "ledger.sqlite"
    shown = topics_in_turn(QIDS).impressions(TOPICS, one.candidates)
    method, ledger = FairCo(scope="corpus", entities="authors"), SQLite(str(path))
    serve(method, one, shown, ledger, GERR(), 0, Serial())
    kept = path.read_bytes()
    assert one.authors is not None
    moved = replace(one.authors, group=one.authors.group[::-1].copy())
    turned = topics_in_turn(QIDS[::-1]).impressions(TOPICS, one.candidates)
    for other, asked, options, text in (
        (pool(1), shown, {}, "other candidates than the ledger was kept with"),
        (replace(one, authors=moved), shown, {}, "other authors of the candidates than the ledger was kept with"),
        (one, turned, {}, "a ledger of another sequence: impression 0 of topics was of query '7' and is now of '40'"),
        (one, shown, {"strength": 2.0}, r"a ledger of another configuration \(strength=1.0\)"),
    ):
        with pytest.raises(InputError, match=text):
            serve(replace(method, **options), other, asked, ledger, GERR(), 0, Serial())
        assert path.read_bytes() == kept


def test_judged_documents_are_no_candidates(tmp_path: Path) -> None:
    """Documents that only move the codes of others leave a ledger what it is."""
    world, ledger = pool(), SQLite(str(tmp_path / "ledger.sqlite"))
    docs = Ids.of([f"c{code}" for code in range(3)] + [f"d{code}" for code in range(8)])
    moved = world.candidates.recode(np.arange(3, 11, dtype=np.int32))
    found = [
        serve(FairCo(scope="corpus"), one, shown, ledger, GERR(), 0, Serial()).counts
        for one in (world, Pool(docs, TOPICS, moved, world.judgments, {}))
        for shown in [topics_in_turn(QIDS).impressions(TOPICS, one.candidates)]
    ]
    assert found[1] == found[0] | {"impressions_served_before": 4}


def test_a_pool_of_the_queries_that_were_asked() -> None:
    world = pool(estimates=True)
    shown = asked_by([(0, 3), (0, 0), (0, 3)]).impressions(TOPICS, world.candidates)
    served = serve(FairCo(scope="corpus"), world, shown, Memory(), GERR(), 0, Serial()).served
    answered = world.with_served(served.rankings())
    assert answered.candidates.query.tolist() == [0, 3]
    assert answered.served is not None
    assert answered.served.counts.tolist() == [1, 2]
    assert answered.served.label.tolist() == [0, 0, 1]
    assert world.estimates is not None
    assert answered.estimates is not None
    np.testing.assert_array_equal(answered.estimates.value, np.delete(world.estimates.value, 4))
    part = answered.part(1, 2)
    assert part.served is not None
    np.testing.assert_array_equal(part.served.item, np.concatenate([served.item[:6], served.item[10:]]))
    assert part.candidates.query.tolist() == [3]

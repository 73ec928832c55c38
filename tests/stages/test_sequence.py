"""Sequences of queries: files, what stands for them, contradictions, and serving in shards or in one piece."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.streams import generator
from rerankers._conf import conf_folder
from rerankers.execution import Joblib, Serial
from rerankers.exposure import GERR
from rerankers.ledger import Memory, SQLite
from rerankers.methods.deterministic import Deterministic
from rerankers.methods.fair_co import FairCo
from rerankers.methods.horizon_planner import HorizonPlanner
from rerankers.methods.nle_controller import NleController
from rerankers.stages.pool import Pool
from rerankers.stages.sequence import (
    SAMPLES,
    Asked,
    asked_of,
    check_asked,
    check_numbers,
    check_sequence,
    read_asked,
    topics_apart,
    topics_in_turn,
)
from rerankers.stages.serve import serve
from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Relevance, Topics

QIDS = ("7", "q b", "12", "40")
LENGTHS = (4, 1, 0, 6)
TOPICS = Topics.of(QIDS, [""] * len(QIDS))


def pool(seed: int = 0, estimates: bool = False) -> Pool:
    """Return four queries that share documents, with authors and one attribute."""
    draw = generator(seed, "sequence tests")
    docs = Ids.of([f"d{code}" for code in range(8)])
    doc = np.concatenate([np.sort(draw.permutation(8)[:n]) for n in LENGTHS]).astype(np.int32)
    over = Candidates(np.arange(4), np.concatenate([[0], np.cumsum(LENGTHS)]), doc, {"score": draw.random(len(doc))})
    none = Judgments(np.empty(0), np.zeros(1), np.empty(0), {"grade": np.empty(0, np.int16)})
    ones = np.ones(8)
    side = GroupAlignment.of_entries("side", ("a", "b"), np.arange(8), np.arange(8) % 2, ones, 8).resolve("count")
    authors = GroupAlignment.of_entries("authors", ("x", "y", "z"), np.arange(8), np.arange(8) % 3, ones, 8)
    beliefs = Relevance(draw.random(len(doc)), "probability", "model:1") if estimates else None
    return Pool(docs, TOPICS, over, none, {"side": side}, beliefs, authors.resolve("drop"))


def written(folder: Path, *lines: str) -> Path:
    path = folder / "sequence.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def asked_by(rows: list[tuple[int, int]]) -> Asked:
    sequence, query = np.array(rows, dtype=np.int32).reshape(-1, 2).T
    return Asked(("s0", "s1", "s2"), sequence, QIDS, query, "test")


def test_a_file_is_read_in_its_order(tmp_path: Path) -> None:
    asked = read_asked(written(tmp_path, "0.1,12", "", " 0.0 , q b ", "1.0,007", "1.1,12", "5,40"), TOPICS)
    assert asked.names == ("0", "1")
    assert asked.sequence.tolist() == [0, 0, 1, 1, 0]
    assert [asked.qids[code] for code in asked.query] == ["12", "q b", "7", "12", "40"]
    assert asked.counts.tolist() == [2, 1, 1, 1]
    shown = asked.impressions(TOPICS, pool().candidates)
    assert shown.row.tolist() == [2, 1, 0, 2, 3]
    assert shown.number.tolist() == [0, 1, 0, 1, 2]


def test_rounds_go_on_where_a_sequence_ended(tmp_path: Path) -> None:
    asked = read_asked(written(tmp_path, "0.0,12", "1.0,40", "0.1,7"), TOPICS).repeated(2)
    shown = asked.impressions(TOPICS, pool().candidates)
    assert shown.sequence.tolist() == [0, 1, 0, 0, 1, 0]
    assert shown.number.tolist() == [0, 0, 1, 2, 1, 3]


def test_everything_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    lines = [
        "0.0,12",
        "0.1;7",
        "0.0,7",
        "0.2,99",
        "0.3,zebra",
        "0.4,99",
        "x.1,7",
        *[f"1.{n},u{n}" for n in range(1200)],
    ]
    with pytest.raises(InputError) as caught:
        read_asked(written(tmp_path, *lines), TOPICS)
    text = str(caught.value)
    assert len(caught.value.problems) == 3 + 2 + 1200
    assert "sequence.csv:2: found '0.1;7'; expected a line of the form" in text
    assert "sequence.csv:3: found '0.0' again, first on line 1" in text
    assert "sequence.csv:4: found query '99' (2 impressions); expected a query of the collection" in text
    assert "query 'zebra' (1 impressions)" in text
    assert "query 'u1199'" in text


def test_an_empty_file_and_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no entry"):
        read_asked(written(tmp_path, "", " "), TOPICS)
    with pytest.raises(MissingError):
        read_asked(tmp_path / "none.csv", TOPICS)


def test_what_stands_for_a_file() -> None:
    def asked(method: Any, ledger: Any = None, rounds: int = 1) -> Asked | None:
        return asked_of(method, TOPICS, None, rounds, Memory() if ledger is None else ledger, SAMPLES)

    assert asked(Deterministic()) is None
    assert asked(FairCo()) is None, "queries with accounts of their own make policies"
    turn = asked(FairCo(scope="corpus"))
    assert turn is not None
    assert (turn.names, turn.qids, turn.query.tolist()) == (("topics",), QIDS, [0, 1, 2, 3])
    assert len(asked(FairCo(scope="sequence"), rounds=3) or ()) == 12
    apart = asked(FairCo(impressions=3), SQLite("file"))
    assert apart is not None
    assert apart.names == QIDS
    assert apart.query.tolist() == apart.sequence.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(topics_in_turn(())) == len(topics_apart((), 5)) == 0


def test_options_without_effect_are_refused() -> None:
    for key, options in (
        ("sequence", (Path("s.csv"), 1, Memory())),
        ("rounds", (None, 2, Memory())),
        ("ledger", (None, 1, SQLite("l"))),
    ):
        with pytest.raises(ConfigError, match=f"^{key}: found .* has no effect: Deterministic keeps no ledger"):
            check_sequence(Deterministic(), *options)
        if key != "rounds":
            check_sequence(FairCo(), *options)
    with pytest.raises(ConfigError, match=r"rounds: found 2; expected 1, since method\.impressions"):
        check_sequence(FairCo(), None, 2, Memory())
    with pytest.raises(ConfigError, match="rounds: found 0"):
        check_sequence(FairCo(scope="corpus"), None, 0, Memory())
    check_sequence(FairCo(scope="corpus"), None, 2, Memory())


def test_a_sequence_wins_over_numbers_that_nobody_asked_for() -> None:
    assert yaml.safe_load((conf_folder() / "run.yaml").read_text())["samples"] == SAMPLES
    twice, uneven = topics_apart(QIDS, 2), asked_by([(0, 0), (0, 1), (0, 1), (0, 2), (0, 3)])
    check_numbers(FairCo(), twice, SAMPLES)
    check_numbers(FairCo(impressions=2), twice, 2)
    check_numbers(FairCo(), uneven, SAMPLES)
    check_numbers(FairCo(impressions=9), topics_in_turn(()), 9)
    for method, samples, name in ((FairCo(), 2, "samples"), (FairCo(impressions=2), SAMPLES, "method.impressions")):
        with pytest.raises(ConfigError, match=rf"^{name}: found 2; expected nothing, .* \(1 to 2 times; test\)"):
            check_numbers(method, uneven, samples)
    with pytest.raises(ConfigError, match=r"samples: found 7; .* \(2 times;"):
        check_numbers(FairCo(), twice, 7)
    with pytest.raises(InputError, match="8 impressions with 11 documents; expected at most 10"):
        check_asked(twice, 11, 10)
    check_asked(twice, 10, 10)


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

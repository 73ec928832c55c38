"""What a reviewer would object to is said, and nothing else: each warning with a case on either side."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rerankers.methods.targets import RelevantShare, Uniform
from rerankers.stages.pool import Pool
from rerankers.stages.run_account import flat, warnings_about, warnings_about_target
from rerankers.stages.warnings import few_judged_candidates, few_topics, judged_target, unknown_groups, warnings_of
from rerankers.values import Candidates, Ids, Judgments, Topics

TOPICS = Topics.of(["1", "2"], ["", ""])


def table(queries: int = 40, value: float | None = 0.5) -> pa.Table:
    return pa.table(
        {
            "system": ["mine"] * queries,
            "unit": [f"q{query}" for query in range(queries)],
            "seed": [0] * queries,
            "measure": ["EEL"] * queries,
            "value": pa.array([value] * queries, pa.float64()),
        }
    )


def excesses(own: float, noise: float) -> pa.Table:
    """Return excesses of a system and of a random order, 40 queries."""
    draw = np.random.default_rng(0)
    chance = 0.1 + 0.2 * draw.standard_normal(40)
    mine = chance + own + noise * draw.standard_normal(40)
    units = [f"q{query}" for query in range(40)]
    return pa.table(
        {
            "system": ["mine"] * 40 + ["anchor:random"] * 40,
            "unit": units * 2,
            "seed": [0] * 80,
            "measure": ["group_EEL_excess"] * 80,
            "value": pa.array([*mine, *chance], pa.float64()),
        }
    )


def summary(mine: dict[str, Any], interval: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return results of one system beside anchors whose losses are high."""
    around = {
        "anchor:random": {"mean": {"EEL": 0.9, "utility": 0.2}},
        "anchor:deterministic": {"mean": {"EEL": 0.9, "utility": 0.5}},
    }
    usual = {"EEL": 0.3, "utility": 0.5}
    return {"runs": {"mine": {"mean": usual | mine, "interval": interval or {}}, **around}, **more}


def said(*arguments: Any, **more: Any) -> list[str]:
    return warnings_of(table(), summary(*arguments, **more))


def test_nothing_is_said_of_sound_results() -> None:
    assert said({}) == []
    assert said({}, preset="trec2020_official") == []


def test_few_queries() -> None:
    assert any("only 5 queries" in text for text in warnings_of(table(5), summary({})))
    assert warnings_of(table(30), summary({})) == []


def test_few_topics() -> None:
    (found,) = few_topics(12, 60)
    assert "60 queries are variants of 12 topics" in found
    assert few_topics(30, 60) == []
    assert few_topics(12, 12) == []  # said of queries


def test_nothing_measured() -> None:
    assert any("no query has a judgment" in text for text in warnings_of(table(3, None), summary({"EEL": None})))
    assert any("no query" in text for text in warnings_of(table(0), {"runs": {}}))


def test_a_careless_anchor_with_a_lower_loss() -> None:
    found = said({"EEL": 0.95})
    assert len(found) == 1
    assert "than anchor:random" in found[0]
    assert "beside utility" in found[0]


@pytest.mark.parametrize(("unknown", "warned"), [(0, False), (33, False), (34, True), (100, True)])
def test_groups_that_are_mostly_unknown(unknown: int, warned: bool) -> None:
    found = unknown_groups("level", unknown, 100)
    assert bool(found) == warned
    if warned:
        assert f"level is not known of {unknown} of 100 documents" in found[0]
        assert "fair-rerank labels" in found[0]


def test_one_ranking_a_query() -> None:
    found = warnings_of(table(), summary({}), ["mine"])
    assert len(found) == 1
    assert "EEL of 0.300" in found[0]
    assert warnings_of(table(), summary({}), ["other"]) == []
    assert warnings_of(table(), summary({"EEL": 0.0}), ["mine"]) == []  # nothing had to be shared
    assert warnings_of(table(), summary({"EEL": None}), ["mine"]) == []


@pytest.mark.parametrize(
    ("interval", "warned"),
    [([-0.01, 0.03], True), ([0.0, 0.03], True), ([0.001, 0.03], False), ([-0.03, -0.01], False), (None, False)],
)
def test_no_more_than_shuffled_labels(interval: list[float] | None, warned: bool) -> None:
    means = {"group_EEL": 0.8, "group_EEL_excess": 0.01}
    found = said(means, {"group_EEL_excess": interval, "group_EEL": [0.0, 1.0]})
    assert bool(found) == warned
    if warned:
        assert "mine: group_EEL_excess 0.010 [" in found[0]
        assert "Claim nothing about groups beyond documents" in found[0]


def test_excesses_of_several_attributes_are_one_sentence() -> None:
    keys = ["EEL(group='a')", "EEL(group='b')", "AWRF"]
    means = dict.fromkeys(keys, 0.8) | {f"{key}_excess": 0.0 for key in keys}
    found = said(means, {f"{key}_excess": (-1.0, 1.0) for key in keys})
    assert len(found) == 1
    assert found[0].count("_excess") == 3


def test_a_loss_of_nothing_has_no_excess_to_speak_of() -> None:
    assert said({"group_EEL": 0.0, "group_EEL_excess": 0.0}, {"group_EEL_excess": [0.0, 0.0]}) == []


@pytest.mark.parametrize(("utility", "warned"), [(0.44, True), (0.46, False), (0.7, False), (None, False)])
def test_utility_that_was_given_up(utility: float | None, warned: bool) -> None:
    found = said({"utility": utility})
    assert bool(found) == warned
    if warned:
        assert "12% less utility than anchor:deterministic (0.440, 0.500)" in found[0]


@pytest.mark.parametrize(("high", "warned"), [(0.19, True), (0.21, False)])
def test_less_useful_than_chance(high: float, warned: bool) -> None:
    found = said({"utility": 0.15}, {"utility": [0.1, high]})
    assert any("less utility than a random order (0.150, 0.200)" in text for text in found) == warned


@pytest.mark.parametrize(
    ("means", "warned"),
    [
        ({"EEL": 0.3}, True),
        ({"group_EEL": 0.3}, True),
        ({"EEL(group='level')": 0.3, "NDKL@10": 0.1}, True),
        ({"EEL": 0.3, "nDCG@10": 0.5}, False),
        ({"EEL": 0.3, "AP": 0.5}, False),
        ({"EEL": None}, False),
        ({"EEL": 0.3, "utility": None}, False),
        ({"NDKL@10": 0.3}, False),
    ],
)
def test_losses_without_relevance(means: dict[str, Any], warned: bool) -> None:
    runs = {"runs": {"mine": {"mean": means, "interval": {}}}}
    assert any("Add utility" in text for text in warnings_of(table(), runs)) == warned
    assert warnings_of(table(), {**runs, "preset": "trec2020_official"}) == []


@pytest.mark.parametrize(
    ("key", "value", "warned"),
    [("Judged@10", 0.3, True), ("Judged@10", 0.5, False), ("Judged@100", 0.3, False), ("Judged", 0.3, False)],
)
def test_documents_that_nobody_judged(key: str, value: float, warned: bool) -> None:
    found = said({key: value})
    assert bool(found) == warned
    if warned:
        assert "Judged@10 is 0.30" in found[0]


def test_candidates_that_nobody_judged() -> None:
    assert "only 20% of the first 10 candidates" in few_judged_candidates(0.2)[0]
    assert few_judged_candidates(0.5) == few_judged_candidates(None) == []


def test_targets_of_the_judgments_that_evaluate() -> None:
    shares = RelevantShare(path="shares.csv", judged=True)
    assert "also evaluate" in judged_target(shares)[0]
    assert judged_target(RelevantShare(path="shares.csv")) == judged_target(Uniform()) == judged_target(None) == []
    job: Any = SimpleNamespace(method=SimpleNamespace(), target=Uniform(), name="mine")
    assert "also evaluate" in warnings_about_target(job, shares)[0]
    assert warnings_about_target(job, Uniform()) == []
    assert "has no effect" in warnings_about_target(job, None)[0]


@pytest.mark.parametrize(
    ("judged", "warned"), [(list(range(6)), False), (list(range(4)), True), ([*range(10, 20)], True), ([], False)]
)
def test_what_is_judged_of_the_first_candidates(judged: list[int], warned: bool) -> None:
    """Twenty candidates in the order of their scores, then a query without judgments, which does not count."""
    doc = np.concatenate([np.arange(20), np.arange(20)]).astype(np.int32)
    score = -np.tile(np.arange(20.0), 2)
    ptr = np.array([0, 20, 40])
    candidates = Candidates(np.array([0, 1], np.int32), ptr, doc, {"score": score})
    grade = np.ones(len(judged), np.int32)
    own = Judgments(
        np.array([0] if judged else [], np.int32),
        np.array([0, len(judged)] if judged else [0]),
        np.array(judged, np.int32),
        {"grade": grade},
    )
    pool = Pool(Ids.of([f"{code:02}" for code in range(20)]), TOPICS, candidates, own, {})
    collection: Any = SimpleNamespace(name="mine", docs=range(20))
    found = [text for text in warnings_about(collection, pool, {}, {}) if "candidates of judged" in text]
    assert bool(found) == warned


@pytest.mark.parametrize(("own", "warned"), [(0.0, True), (0.3, False), (-0.3, False)])
def test_an_excess_that_a_random_order_has_too(own: float, warned: bool) -> None:
    found = warnings_of(excesses(own, 0.1), summary({"group_EEL": 0.5, "group_EEL_excess": 0.1}))
    assert any("no other than that of anchor:random" in text for text in found) == warned


@pytest.mark.parametrize(("scores", "warned"), [([1.0, 1.0, 2.0], True), ([1.0, 2.0, 2.0], False)])
def test_beliefs_that_tell_nothing_apart(scores: list[float], warned: bool) -> None:
    candidates = Candidates(np.array([0, 1]), np.array([0, 2, 3]), np.array([0, 1, 1]), {"score": np.array(scores)})
    pool = Pool(Ids.of(["a", "b"]), TOPICS, candidates, Judgments.empty(), {})
    assert flat(pool) == warned

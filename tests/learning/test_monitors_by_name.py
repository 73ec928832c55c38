"""Monitors by name: the same numbers as the measures of a run, with a side that is better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import RBP, pl_exposure
from rerankers.learning.monitors import MeasureMonitor, Reading, Recording, Watch, reading
from rerankers.learning.monitors.pointwise import log_loss, row_auc
from rerankers.learning.monitors.terms import parse_sum
from rerankers.learning.rows import LearningRows
from rerankers.measures import evaluate, parse


def world(seed: int = 0, queries: int = 6, grouped: bool = True) -> tuple[LearningRows, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 9, queries)
    size = int(lengths.sum())
    grade = rng.integers(0, 3, size).astype(float)
    groups = [["a", "b", None][code] for code in rng.integers(0, 3, size)] if grouped else None
    rows = LearningRows.of(np.concatenate([[0], np.cumsum(lengths)]), np.zeros((size, 1)), grade, groups=groups)
    return rows, rng.normal(size=size)


def as_run(rows: LearningRows, scores: np.ndarray) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The static ranking as a run with its qrels and groups, as a user would write them down."""
    run, qrels, groups = {}, {}, {}
    names = {}
    if rows.groups is not None:
        for doc in range(rows.groups.n_docs):
            entries = slice(rows.groups.indptr[doc], rows.groups.indptr[doc + 1])
            names[doc] = [rows.groups.groups[code] for code in rows.groups.group[entries]]
    for row, qid in enumerate(rows.qids):
        place = np.arange(rows.indptr[row], rows.indptr[row + 1])
        order = place[np.argsort(-scores[place], kind="stable")]
        run[qid] = [[f"d{rows.over.doc[at]:04d}" for at in order]]
        qrels[qid] = {f"d{rows.over.doc[at]:04d}": int(rows.grade[at]) for at in place}
        groups |= {f"d{rows.over.doc[at]:04d}": names.get(int(rows.over.doc[at])) for at in place}
    return run, qrels, groups


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG@3", "EEL", "utility", "group_EEL", "AP", "EED(umodel='rbp',p=0.8)"])
def test_static_rankings_are_judged_as_runs(name: str) -> None:
    rows, scores = world()
    run, qrels, groups = as_run(rows, scores)
    table = evaluate(run, qrels, groups, measures=[name]).to_pydict()
    expected = np.mean([value for value in table["value"] if value is not None])
    monitor = Watch(name).bind(rows)
    assert monitor.read(scores).parts[name] == pytest.approx(expected, abs=1e-12)
    assert abs(monitor(scores)) == pytest.approx(expected, abs=1e-12)


def test_logits_are_judged_as_a_plackett_luce_policy() -> None:
    rows, scores = world(grouped=False)
    monitor = Watch("utility").bind(rows, "logit", RBP(0.8))
    expected = 0.0
    for row in range(len(rows)):
        span = rows.over.row(row)
        grade = rows.grade[span]
        expected += float(pl_exposure(scores[span], RBP(0.8), grade)[grade > 0].sum())
    assert monitor(scores) == pytest.approx(-expected / len(rows), abs=1e-12)
    assert Watch("utility", policy="static").bind(rows, "logit", RBP(0.8))(scores) != monitor(scores)
    assert Watch("utility", policy="plackett_luce").bind(rows, "score", RBP(0.8))(scores) == monitor(scores)


def test_draws_of_classic_measures_repeat() -> None:
    rows, scores = world()
    monitor, other = (Watch("nDCG@5", samples=5).bind(rows, "logit", seed=seed) for seed in (1, 2))
    assert monitor(scores) == monitor(scores)
    assert monitor(scores) != other(scores)
    assert monitor.key != other.key


def test_sums_and_records() -> None:
    rows, scores = world()
    monitor = Watch("utility - 0.5 * group_EEL", record=["nDCG@10", "AUC", "utility"]).bind(rows)
    seen = monitor.read(scores)
    utility, loss = (Watch(name).bind(rows).read(scores).parts[name] for name in ("utility", "group_EEL"))
    assert seen.parts["utility - 0.5 * group_EEL"] == pytest.approx(utility - 0.5 * loss, abs=1e-12)
    assert seen.value == -seen.parts["utility - 0.5 * group_EEL"] == monitor(scores)
    assert list(seen.parts) == ["utility - 0.5 * group_EEL", "nDCG@10", "AUC", "utility"]
    assert isinstance(monitor, Recording)
    assert reading(monitor, scores) == seen
    assert reading(lambda given: given[0], scores) == Reading(scores[0])


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("nDCG@10", -1),
        ("utility", -1),
        ("EEL", 1),
        ("group_EEL", 1),
        ("log_loss", 1),
        ("AUC", -1),
        ("utility - 2 * EEL", -1),
        ("EEL - 0.5 * utility", 1),
        ("- nDCG@10", 1),
        ("-nDCG@10", 1),
        ("-0.5 * utility + EE-L", 1),
        ("2 * nDCG@10 + auc", -1),
        ("EEL(umodel='rbp', p=0.5)@20 + .1 * EED(group='x y')", 1),
    ],
)
def test_sides_follow_from_the_measures(text: str, sign: int) -> None:
    assert parse_sum(text).sign == sign


def test_watches_say_whether_they_need_groups() -> None:
    assert not Watch("nDCG@10 + AUC", record=["EEL"]).needs_groups
    assert Watch("nDCG@10", record=["utility - group_EEL"]).needs_groups
    assert Watch("EEL(group='author')").needs_groups


def test_terms_are_read_as_written() -> None:
    (first, second) = parse_sum("-0.5 * utility + 3 * EE-L").terms
    assert (first.factor, str(first.measure)) == (-0.5, "utility")
    assert (second.factor, second.measure) == (3.0, parse("EEL"))
    assert [term.factor for term in parse_sum("utility - EEL - -2 * nDCG@3").terms] == [1.0, -1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a measure, or a sum"),
        ("utility -", "expected a measure, or a sum"),
        ("utility EEL", "expected a measure, or a sum"),
        ("* utility", "measure"),
        ("utility + + EEL", "expected a measure, or a sum"),
        ("utility + EEL", "expected all to pull to one side"),
        ("0 * utility", "factor 0"),
        ("inf * utility", "factor inf"),
        ("EET", "neither more nor less is better"),
        ("nDGC@10", "Did you mean 'nDCG'"),
        ("3", "expected a measure, or a sum"),
    ],
)
def test_texts_that_are_no_monitors(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Watch(text)


def test_options_and_rows_that_do_not_fit() -> None:
    rows, scores = world()
    bare, _ = world(grouped=False)
    with pytest.raises(ConfigError, match=r"monitor.policy: found 'greedy'"):
        Watch(policy="greedy")
    with pytest.raises(ConfigError, match=r"monitor.samples: found 0"):
        Watch(samples=0)
    for text in ("group_EEL", "EEL(group='group')", "utility - group_EEL"):
        with pytest.raises(ConfigError, match="measure of groups, and no groups"):
            Watch(text).bind(bare)
    with pytest.raises(ConfigError, match="found 'economy'"):
        Watch("EEL(group='economy')").bind(rows)
    with pytest.raises(ConfigError, match="log_loss, and an objective whose scores are no log-odds"):
        Watch("AUC", record=["log_loss"]).bind(rows, "score")
    with pytest.raises(InputError, match="scores: found shape"):
        Watch().bind(rows)(scores[1:])
    with pytest.raises(InputError, match="finite: False"):
        Watch().bind(rows)(np.full(len(scores), np.nan))
    nothing = LearningRows.of([0, 2], np.zeros((2, 1)), [0, 0])
    for text in ("nDCG@10", "AUC", "pooled_AUC"):
        with pytest.raises(InputError, match="no validation query that has a value"):
            Watch(text).bind(nothing)(np.zeros(2))
    half = LearningRows.of([0, 2, 4], np.zeros((4, 1)), [0, 1, 0.5, 1], qids=["a", "b"])
    with pytest.raises(InputError, match=r"query b: found the grade 0.5; expected whole grades"):
        Watch("nDCG@10").bind(half)
    assert Watch("AUC").bind(half)(np.arange(4.0)) == -1.0


def test_keys_tell_monitors_apart() -> None:
    rows, _ = world()
    keys = [
        Watch().bind(rows).key,
        Watch("EEL").bind(rows).key,
        Watch(record=["EEL"]).bind(rows).key,
        Watch().bind(rows, "logit").key,
        Watch().bind(rows, browsing=RBP(0.5)).key,
    ]
    assert len(set(keys)) == len(keys)
    assert Watch().bind(rows).key == keys[0]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=12), st.integers(0, 5))
def test_auc_counts_pairs(pairs: list[tuple[int, bool]], extra: int) -> None:
    score, relevant = np.array([pair[0] for pair in pairs], float), np.array([pair[1] for pair in pairs])
    good, bad = score[relevant], score[~relevant]
    won = [(a > b) + 0.5 * (a == b) for a in good for b in bad]
    indptr = np.array([0, len(score), len(score), len(score) + extra])
    both = np.concatenate([score, np.zeros(extra)]), np.concatenate([relevant, np.arange(extra) == 0])
    found = row_auc(indptr, *both)
    assert found[0] == pytest.approx(np.mean(won)) if won else np.isnan(found[0])
    assert np.isnan(found[1])
    assert found[2] == 0.5 if extra > 1 else np.isnan(found[2])


@given(st.lists(st.tuples(st.floats(-800, 800), st.booleans()), min_size=1, max_size=6))
def test_log_loss_is_that_of_the_logistic_function(pairs: list[tuple[float, bool]]) -> None:
    score, relevant = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    found = log_loss(score, relevant)
    assert np.all(np.isfinite(found))
    near = np.abs(score) < 30
    chance = 1 / (1 + np.exp(-score[near]))
    expected = -np.log(np.where(relevant[near], chance, 1 - chance))
    assert found[near] == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_pointwise_monitors() -> None:
    rows, scores = world(2)
    relevant = rows.grade > 0
    monitor = Watch("log_loss", record=["AUC", "pooled_AUC"]).bind(rows, "log_odds")
    seen = monitor.read(scores)
    assert isinstance(monitor, MeasureMonitor)
    assert seen.value == pytest.approx(np.log1p(np.exp(np.where(relevant, -scores, scores))).mean())
    pairs = scores[relevant][:, None] - scores[~relevant][None, :]
    assert seen.parts["pooled_AUC"] == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)))
    assert seen.parts["AUC"] == pytest.approx(np.nanmean(row_auc(rows.indptr, scores, relevant)))

"""Where group losses lie, and what a job says of them beside the means of its queries."""

from __future__ import annotations

import itertools
import json
import math
from functools import reduce

import numpy as np
import pytest
from label_worlds import BOOTSTRAP, judged_world, names
from measure_worlds import random_rankings, world

from rerankers.measures import parse_many
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.evidence import Evidence, evidence
from rerankers.measures.gaps import Gaps
from rerankers.measures.plan import chosen_measures
from rerankers.measures.summary import summarise
from rerankers.measures.table import measure_block
from rerankers.policies import PlackettLuce
from rerankers.values import Rankings


def test_parts_of_the_loss_add_up() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(size=(40, 3)) + np.array([0.5, 0.0, -0.2])
    units = names(40)
    gaps = Gaps(("a", "b", "unknown"), tuple(units), d, np.zeros((40, 4)))
    parts = gaps.summary(**BOOTSTRAP)
    assert parts is not None
    loss = np.mean(np.sum(d**2, axis=1))
    assert parts.loss == pytest.approx(loss)
    assert parts.systematic == pytest.approx(np.sum(d.mean(axis=0) ** 2))
    assert parts.systematic + parts.per_query == pytest.approx(loss)
    assert parts.per_query == pytest.approx(np.mean(np.sum((d - d.mean(axis=0)) ** 2, axis=1)))
    assert parts.total_mass == pytest.approx(np.mean(d.sum(axis=1) ** 2) / 3)
    assert parts.allocation == pytest.approx(np.mean(np.sum((d - d.mean(axis=1, keepdims=True)) ** 2, axis=1)))
    assert sum(group["loss"] for group in parts.groups.values()) == pytest.approx(loss)
    assert sum(group["share"] for group in parts.groups.values()) == pytest.approx(1.0)
    pairs = [d[i] @ d[j] for i, j in itertools.permutations(range(40), 2)]
    assert parts.systematic_unbiased == pytest.approx(np.mean(pairs))
    assert parts.systematic_share == pytest.approx(parts.systematic / loss)
    low, high = parts.systematic_interval
    assert low < parts.systematic < high
    order = rng.permutation(40)
    shuffled = Gaps(gaps.groups, tuple(units[i] for i in order), d[order], gaps.noise[order])
    assert shuffled.summary(**BOOTSTRAP) == parts
    halves = Gaps(gaps.groups, tuple(units[:15]), d[:15], gaps.noise[:15]) + Gaps(
        gaps.groups, tuple(units[15:]), d[15:], gaps.noise[15:]
    )
    assert halves.summary(**BOOTSTRAP) == parts
    assert Gaps(("a",), (), np.zeros((0, 1)), np.zeros((0, 2))).summary(**BOOTSTRAP) is None
    one = Gaps(("a",), ("q",), np.ones((1, 1)), np.zeros((1, 2))).summary(**BOOTSTRAP)
    assert one is not None
    assert (one.systematic, one.systematic_interval, one.systematic_unbiased) == (1.0, None, None)
    none = Gaps(("a",), ("p", "q"), np.zeros((2, 1)), np.zeros((2, 2))).summary(**BOOTSTRAP)
    assert none is not None
    assert (none.systematic_share, none.groups["a"]["share"]) == (None, None)
    json.dumps(parts.json, allow_nan=False)


def test_estimated_exposure_does_not_inflate_placebo_excess_or_parts() -> None:
    """Means over many sets of draws come near what the closed form of the policy gives."""
    made = world(11, queries=8, longest=6)
    policy = PlackettLuce(made.candidates, made.candidates.columns["score"], made.stream)

    class Drawn:
        """The same policy without closed form."""

        over, stream = policy.over, policy.stream

        def sample(self, *args: object, **words: object) -> Rankings:
            return policy.sample(*args, **words)

        def exposure(self, browsing: object) -> None:
            return None

    exact = Evaluation(policy, made.judgments, made.groups, Options(permutations=0))
    measures = parse_many("group_EEL group_EEL_placebo group_EED_placebo group_EER_placebo")
    expected = [np.nanmean(one.per_unit(exact, made.qids).value) for one in measures]
    whole = evidence({"s": exact}, {"s": made.qids}, measures)["s"].gaps["group_EEL"].summary(**BOOTSTRAP)
    found, parts = [], []
    for seed in range(250):
        drawn = Evaluation(Drawn(), made.judgments, made.groups, Options(samples=3, seed=seed, permutations=0))
        found.append([np.nanmean(one.per_unit(drawn, made.qids).value) for one in measures])
        gaps = evidence({"s": drawn}, {"s": made.qids}, measures)["s"].gaps["group_EEL"]
        one = gaps.summary(seed=0, resamples=1, level=0.95, method="percentile")
        parts.append([one.loss, one.systematic, one.systematic_unbiased, one.total_mass, one.groups["a"]["loss"]])
    error = np.std(found, axis=0) / math.sqrt(250)
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 4 * error + 1e-12)
    due = [whole.loss, whole.systematic, whole.systematic_unbiased, whole.total_mass, whole.groups["a"]["loss"]]
    error = np.std(parts, axis=0) / math.sqrt(250)
    assert np.all(np.abs(np.mean(parts, axis=0) - due) < 4 * error)


def test_blocks_add_up_to_the_whole_and_the_summary_has_every_key() -> None:
    evaluation, units = judged_world(2, 20, bias=0.5), names(20)
    asked = chosen_measures(None, ("g",))
    whole = evidence({"s": evaluation}, {"s": units}, asked)
    rankings = evaluation.source
    blocks = []
    for start, stop in ((0, 7), (7, 8), (8, 20)):
        rows = np.arange(start, stop)
        part = Evaluation(rankings.take(rows), evaluation.judgments, evaluation.groups, evaluation.options)
        blocks.append(evidence({"s": part}, {"s": units[start:stop]}, asked))
    joined = {"s": reduce(Evidence.__add__, (block["s"] for block in blocks))}
    table = measure_block(evaluation, asked, units, "s")
    one, other = (summarise(table, options={}, evidence=found)["runs"]["s"] for found in (whole, joined))
    assert one["decomposition"] == other["decomposition"]
    assert one["excess_test"] == other["excess_test"]
    assert one["mean"]["group_EEL"] == pytest.approx(one["decomposition"]["group_EEL"]["loss"])
    assert one["mean"]["group_EEL_systematic"] == one["decomposition"]["group_EEL"]["systematic"]
    assert one["mean"]["group_EEL_systematic_share"] == one["decomposition"]["group_EEL"]["systematic_share"]
    assert one["mean"]["group_EEL_excess_p"] == one["excess_test"]["group_EEL_excess"]["p"]
    low, high = one["interval"]["group_EEL_systematic"]
    assert low < one["mean"]["group_EEL_systematic"] < high
    excess = np.array([row["group_EEL_excess"] for row in one["per_query"].values()])
    assert one["mean"]["group_EEL_excess"] == pytest.approx(excess.mean())
    low, high = one["interval"]["group_EEL_excess"]
    assert low < excess.mean() < high
    json.dumps(one, allow_nan=False)


def test_several_attributes_have_keys_of_their_own() -> None:
    made = world(2, queries=12, attributes=2)
    evaluation = Evaluation(random_rankings(1, made.candidates), made.judgments, made.groups, Options(permutations=9))
    asked = chosen_measures(None, tuple(made.groups))
    behind = evidence({"s": evaluation}, {"s": made.qids}, asked)["s"]
    assert set(behind.gaps) == {"EEL(group='economy')", "EEL(group='h_index')"}
    assert set(behind.nulls) == {"EEL(group='economy')_excess", "EEL(group='h_index')_excess"}
    means = behind.summary(**BOOTSTRAP)["mean"]
    assert "EEL(group='h_index')_systematic" in means
    assert "EEL(group='h_index')_excess_p" in means
    only = evidence({"s": evaluation}, {"s": made.qids}, parse_many("EEL(group='h_index')_systematic"))["s"]
    assert set(only.gaps) == {"EEL(group='h_index')"}
    assert not only.nulls

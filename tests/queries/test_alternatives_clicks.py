"""Click rates that recommendations need, and evaluation by what was held out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.queries.alternatives import Judge, alternatives
from rerankers.queries.axis_scores import Axis
from rerankers.queries.click_cost import click_cost
from rerankers.queries.distributions import rank_weights
from rerankers.queries.held_out import SYSTEMS, Judged, Setting, TopicSystems, held_out
from rerankers.queries.rerankings import AlternativeOptions
from rerankers.queries.scored import RELEVANCE
from rerankers.stats.paired import paired_intervals
from rerankers.values import GroupAlignment

LABELS = "aaaaaaaaab" + "bbbbbbbbab" + "aabb??ab??"  # documents 0..29
DOCS = {name: np.flatnonzero([label == name for label in LABELS]) for name in "ab"}


def axis(**rest) -> Axis:
    known = np.flatnonzero([label != "?" for label in LABELS])
    code = np.array(["ab".index(LABELS[doc]) for doc in known])
    alignment = GroupAlignment.of_entries("side", ("a", "b"), known, code, np.ones(len(known)), len(LABELS))
    return Axis("side", alignment, {"a": 0.5, "b": 0.5}, **rest)


def judge(kind="jsd", weights="uniform") -> Judge:
    return Judge(np.arange(10), [axis(kind=kind)], rank_weights(weights, 10))


def row(name, relevance, side, single=None, of=None):
    return {"name": name, "axis": of, "objectives": {RELEVANCE: relevance, "side": side}, "single": {"side": single}}


def test_click_rate_among_those_with_enough_labels() -> None:
    # the original has two labels out of ten, the recommendation eight: six of a, two of b
    labels = "a?????????" + "aaaaaabb??"
    known = np.array([doc for doc, label in enumerate(labels) if label != "?"])
    code = np.array(["ab".index(labels[doc]) for doc in known])
    alignment = GroupAlignment.of_entries("side", ("a", "b"), known, code, np.ones(len(known)), len(labels))
    one = Axis("side", alignment, {"a": 0.8, "b": 0.2}, "tv", least_coverage=0.66)
    # at rate c: b has 2c of 1 + 7c labels, and 1 + 7c of 10 are labelled: from c = .8 on, b from .242 up
    found = click_cost(
        np.arange(10, 20), 0.3, Judge(np.arange(10), [one], np.ones(10)), [row("m", 0.8, 0.955, 0.9)], [0.0, 0.79, 0.81]
    )
    assert found["objectives"]["side"] == [None, None, pytest.approx(1 - (1.62 / 6.67 - 0.2))]
    assert found["equals_best_reranking"]["side"]["rate"] == pytest.approx(0.8, abs=1e-10)


@pytest.mark.parametrize("kind", ["jsd", "tv", "l2", "entropy"])
@pytest.mark.parametrize("weights", ["uniform", "log2", "rbp"])
def test_mixture_and_least_rate_by_scanning(kind, weights) -> None:
    one = judge(kind, weights)
    recommended = np.arange(10, 20)
    scan = np.linspace(0, 1, 401)
    weight = rank_weights(weights, 10)
    group = np.array([label == "b" for label in LABELS], float)
    share = (1 - scan) * (weight @ group[:10]) / weight.sum() + scan * (weight @ group[10:20]) / weight.sum()
    near = np.array([axis(kind=kind).stand(np.array([0, 9]), np.array([1 - s, s])).closeness for s in share])
    wanted = 0.9 * near.max() + 0.1 * near[0]
    found = click_cost(recommended, 0.3, one, [row("m", 0.8, float(wanted), 0.7)], scan[::80].tolist())
    assert found["objectives"]["side"] == pytest.approx(near[::80], abs=1e-9)
    assert found["objectives"][RELEVANCE] == pytest.approx(1 - 0.7 * scan[::80])
    best = found["equals_best_reranking"]["side"]
    first = scan[np.argmax(near >= wanted)]
    assert best["rate"] == pytest.approx(first, abs=1 / 400 + 1e-9)
    assert best["relevance_at_rate"] == pytest.approx(1 - 0.7 * best["rate"])
    assert (best["alternative"], best["closeness"], best["relevance"]) == ("m", float(wanted), 0.8)


def test_rate_of_what_one_user_sees_is_linear() -> None:
    # the original has 1 of 10 in b, the recommendation 9 of 10: together they balance at one half, alone never
    found = click_cost(np.arange(10, 20), 0.0, judge("tv"), [row("m", 0.5, 1.0, 0.6), row("n", 0.5, 0.9, 0.61)])
    best = found["equals_best_reranking"]["side"]
    assert best["rate"] == pytest.approx(0.5, abs=1e-6)
    assert best["single"] == {"closeness": 0.6, "rate": 0.0}
    out = click_cost(DOCS["b"][:10], 0.0, judge("tv"), [row("m", 0.5, 1.0, 0.61)])["equals_best_reranking"]["side"]
    assert out["single"]["rate"] is None
    half = click_cost(np.array([0, 1, 2, 3, 4, 10, 11, 12, 13, 14]), 0.5, judge("tv"), [row("m", 0.5, 0.8, 0.8)])
    assert half["equals_best_reranking"]["side"]["single"]["rate"] == pytest.approx(0.5)
    assert half["equals_best_reranking"]["side"]["rate"] == pytest.approx(0.5)


def test_no_rate_is_enough() -> None:
    found = click_cost(np.arange(10), 1.0, judge(), [row("m", 0.9, 0.99, 0.99, "side")])
    best = found["equals_best_reranking"]["side"]
    assert (best["rate"], best["reason"], best["axis_of_groups"]) == (None, "out_of_reach", "side")
    assert found["equals_as_relevant"]["side"] == {"rate": None, "reason": "no_reranking"}
    assert click_cost(np.arange(10), 1.0, judge(), [])["equals_best_reranking"]["side"]["reason"] == "no_reranking"


def test_nothing_needs_to_be_clicked_where_the_original_is_as_close() -> None:
    low = float(judge().axes[0].stand(np.arange(10), np.ones(10)).closeness)
    assert click_cost(np.arange(20), 0.1, judge(), [row("m", 1.0, low)])["equals_best_reranking"]["side"]["rate"] == 0.0


def test_recommendation_without_labels() -> None:
    unknown = np.flatnonzero([label == "?" for label in LABELS])
    found = click_cost(unknown, 0.0, judge(), [row("m", 1.0, 0.999)], [0.0, 0.5, 1.0])
    assert found["objectives"]["side"][2] is None
    assert found["objectives"]["side"][0] == pytest.approx(found["objectives"]["side"][1])
    assert found["equals_best_reranking"]["side"]["reason"] == "not_defined"
    json.dumps(found, allow_nan=False)


def test_as_relevant_and_dominated() -> None:
    recommended = np.array([0, 1, 2, 10, 11, 12, 13, 14, 15, 16])
    value = float(judge().axes[0].stand(recommended, np.ones(10)).closeness)
    rows = [row("far", 0.1, 1.0), row("better", 0.9, value), row("equal", 0.3, value), row("mixed", 0.95, 0.2)]
    found = click_cost(recommended, 0.3, judge(), rows)
    assert found["equals_best_reranking"]["side"]["alternative"] == "far"
    assert found["equals_as_relevant"]["side"]["alternative"] == "better"
    assert found["dominated_by"] == [{"name": "better", "axis": None}]


def test_clicks_against_real_rerankings() -> None:
    docs, scores = np.arange(20), np.linspace(5, 1, 20)
    options = AlternativeOptions(["deterministic", "kl_tilt"], n=10, draws=20)
    one = judge()
    found = click_cost(np.arange(10, 20), 0.0, one, alternatives("q", docs, scores, one, options))
    best = found["equals_best_reranking"]["side"]
    assert best["alternative"] == "kl_tilt"
    assert best["rate"] == pytest.approx(0.5, abs=1e-3)


def test_bad_rates() -> None:
    with pytest.raises(InputError, match="click rates between 0 and 1"):
        click_cost(np.arange(5), 0.5, judge(), [], [0.5, 1.5])


# held-out evaluation


def one(name, side, held, relevance=0.5, **more) -> Judged:
    return Judged(name, {RELEVANCE: relevance, "side": side}, {"side": held, "nDCG@10": more.get("ndcg", 0.4)})


SAME = Setting("bm25", "uniform@20", {"side": {"a": 0.5, "b": 0.5}})
OTHER = Setting("bm25(k1=1.2)", "rbp", {"side": {"a": 0.3, "b": 0.7}})


def topics(n=12):
    draw = np.random.default_rng(0)
    return {
        f"q{place}": TopicSystems(
            one("original", 0.5, draw.random(), ndcg=0.6),
            [one("low", 0.6, 0.0), one("high", 0.9, draw.random()), one("undefined", None, 1.0)],
            [one("m", 0.95, draw.random()), one("n", 0.95, 0.0, relevance=0.1)],
        )
        for place in range(n)
    }


def test_what_was_selected_is_compared_by_what_was_held_out() -> None:
    given = topics()
    found = held_out(given, SAME, OTHER, seed=3, resamples=300)
    values = np.array(
        [
            [
                given[q].original.values["side"],
                given[q].recommendations[1].values["side"],
                given[q].rerankings[0].values["side"],
            ]
            for q in sorted(given)
        ]
    )
    told = found["axes"]["side"]["side"]
    assert list(told["means"].values()) == pytest.approx(values[:, [0, 1, 2, 2]].mean(axis=0))
    gaps = np.stack([values[:, 1] - values[:, 0], values[:, 1] - values[:, 2]], axis=1)
    intervals = paired_intervals(gaps, seed=3, resamples=300)
    for name, expected in zip(("recommendation - original", "recommendation - reranking"), intervals, strict=True):
        assert (told[name]["mean"], told[name]["low"], told[name]["high"]) == pytest.approx(
            (expected.mean, expected.low, expected.high)
        )
        assert told[name]["p"] <= told[name]["p_holm"] <= 1
    assert found["axes"]["side"]["nDCG@10"]["recommendation - original"]["mean"] == pytest.approx(-0.2)
    assert found["shrinkage"]["side"]["recommendation"] == pytest.approx(0.9 - values[:, 1].mean())
    assert found["same"] == {"retriever": False, "weights": False, "targets": {"side": False}}
    assert found["circular"] == []
    json.dumps(found, allow_nan=False)


def test_equal_targets_are_circular() -> None:
    found = held_out(topics(3), SAME, Setting("bm25", "rbp", {"side": {"b": 0.5, "a": 0.5 + 1e-12}}))
    assert found["circular"] == ["side"]
    assert found["same"]["retriever"]
    none = Setting("x", "y", {"side": None})
    assert held_out(topics(3), none, none)["circular"] == ["side"]
    assert held_out(topics(3), none, SAME)["circular"] == []


def test_topics_without_something_to_choose() -> None:
    given = topics(4) | {"empty": TopicSystems(one("original", 0.5, 0.5)), "lost": TopicSystems(Judged("o", {}, {}))}
    found = held_out(given, SAME, OTHER, resamples=50)
    assert found["without"] == {"recommendation": 2, "reranking": 2}
    assert found["axes"]["side"]["side"]["topics"] == 4
    assert held_out({}, SAME, OTHER)["axes"] == {"side": {}}
    only = held_out({"q": TopicSystems(one("original", 0.5, 0.5))}, SAME, OTHER)["axes"]["side"]["side"]
    assert only["means"] == dict.fromkeys(SYSTEMS)
    assert only["recommendation - original"]["p"] is None


def test_rerankings_at_equal_relevance() -> None:
    rows = [one("near", 0.99, 0.1, relevance=0.1), one("middle", 0.9, 0.6, relevance=0.5), one("far", 0.2, 0.3, 1.0)]
    given = {str(q): TopicSystems(one("o", 0.5, 0.5, 1.0), [one("r", 0.8, 0.4, 0.5)], rows) for q in range(3)}
    found = held_out(given, SAME, OTHER, resamples=20)["axes"]["side"]["side"]
    assert list(found["means"].values()) == pytest.approx([0.5, 0.4, 0.1, 0.6])
    assert found["recommendation - reranking"]["mean"] == pytest.approx(0.3)
    assert found["recommendation - reranking as relevant"]["mean"] == pytest.approx(-0.2)
    # where no reranking is as relevant there is nothing to compare with
    none = {"q": TopicSystems(one("o", 0.5, 0.5), [one("r", 0.8, 0.4, 0.5)], rows[:1])}
    assert held_out(none, SAME, OTHER)["axes"]["side"]["side"]["means"]["reranking as relevant"] is None

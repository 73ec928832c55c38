"""Rerankings of the original query on the axes of recommendations: exact expectations against enumeration and draws."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.policies import PlackettLuce, static
from rerankers.queries.alternatives import Judge, alternatives, best_on, closest, expected_judged
from rerankers.queries.axis_scores import Axis
from rerankers.queries.distributions import rank_weights
from rerankers.queries.looks import ListLook, look_at
from rerankers.queries.relevance_of_lists import id_f1
from rerankers.queries.rerankings import AlternativeOptions, rerankings
from rerankers.queries.scored import RELEVANCE
from rerankers.values import Candidates, GroupAlignment

N_DOCS = 60


def axis(name="side", groups="ab", target=None, seed=0, known=1.0, **rest) -> Axis:
    draw = np.random.default_rng(seed)
    code = draw.choice(len(groups), N_DOCS, p=[0.75] + [0.25 / (len(groups) - 1)] * (len(groups) - 1))
    docs = np.flatnonzero(draw.random(N_DOCS) < known)
    alignment = GroupAlignment.of_entries(name, tuple(groups), docs, code[docs], np.ones(len(docs)), N_DOCS)
    return Axis(name, alignment, target or dict.fromkeys(groups, 1.0), **rest)


def candidates(docs, score) -> Candidates:
    return Candidates(np.zeros(1, np.int32), np.array([0, len(docs)]), np.asarray(docs, np.int32), {"score": score})


DOCS = np.random.default_rng(1).permutation(N_DOCS)[:30].astype(np.int32)
SCORES = np.sort(np.random.default_rng(2).normal(size=30))[::-1] * 2 + 9
QUICK = AlternativeOptions(n=8, draws=60)


def enumerated(logit):
    """All rankings of a Plackett-Luce policy with their probabilities."""
    for order in permutations(range(len(logit))):
        left, chance = np.exp(logit).sum(), 1.0
        for item in order:
            chance *= np.exp(logit[item]) / left
            left -= np.exp(logit[item])
        yield list(order), chance


@pytest.fixture
def small():
    docs = np.array([7, 3, 11, 20, 5, 8])
    logit = np.array([1.2, 0.8, 0.5, 0.1, -0.3, -1.0])
    return docs, logit, PlackettLuce(candidates(docs, logit), logit, query_streams(["q"]))


@pytest.mark.parametrize("name", ["uniform", "log2", "rbp", "wptrec"])
def test_expected_weights_distribution_relevance_and_judged_are_those_of_enumeration(small, name) -> None:
    docs, logit, policy = small
    weights = rank_weights(name, 3)
    sides = [axis(known=0.6), axis("place", "abc", seed=6)]
    original = docs[:3]
    judged = (np.array([7, 3, 20, 40]), np.array([2, 0, 1, -1]))
    found = Judge(docs, sides, weights, judgments=judged).score(look_at(policy, 10, 0))
    assert found["exact"]
    seen, relevance, ndcg, recall, unjudged, single = np.zeros(6), 0.0, 0.0, 0.0, 0.0, 0.0
    for order, chance in enumerated(logit):
        top = docs[order[:3]]
        seen[order[:3]] += chance * weights
        relevance += chance * id_f1(original, top)
        one = expected_judged(ListLook(docs[order]), *judged, 3)
        ndcg, recall = ndcg + chance * one["nDCG@10"], recall + chance * one["R@3"]
        unjudged += chance * one["unjudged@10"]
        single += chance * sides[1].stand(top, weights).closeness
    assert found["objectives"][RELEVANCE] == pytest.approx(relevance, abs=1e-10)
    for side in sides:
        expected = side.stand(docs, seen)
        assert found["objectives"][side.name] == pytest.approx(expected.closeness, abs=1e-10)
        assert found["distribution"][side.name] == pytest.approx(expected.distribution, abs=1e-10)
        assert found["unknown_share"][side.name] == pytest.approx(expected.unknown_share, abs=1e-10)
    assert found["judged"]["nDCG@10"] == pytest.approx(ndcg, abs=1e-10)
    assert found["judged"]["R@3"] == pytest.approx(recall, abs=1e-10)
    assert found["judged"]["unjudged@10"] == pytest.approx(unjudged, abs=1e-10)
    # where all is known, what one user sees is never closer, on average, than what all see together
    assert single < found["objectives"]["place"]
    drawn = Judge(docs, sides, weights).score(look_at(policy, 2000, 1))
    assert drawn["single"]["place"] == pytest.approx(single, abs=5 * drawn["standard_errors"]["place"])


def test_relevance_from_draws_comes_with_its_error(small) -> None:
    docs, _, policy = small
    original = docs[:3]
    exact = Judge(docs, [], np.ones(3)).score(look_at(policy, 10, 0))
    judge = Judge(docs, [], np.ones(3), lambda lists: np.array([id_f1(original, one) for one in lists]))
    drawn = judge.score(look_at(policy, 3000, 5))
    error = drawn["standard_errors"][RELEVANCE]
    assert 0 < error < 0.02
    assert drawn["objectives"][RELEVANCE] == pytest.approx(exact["objectives"][RELEVANCE], abs=5 * error)
    assert exact["standard_errors"] == {}


@pytest.mark.parametrize("n", [1, 3, 6, 9])
def test_a_list_is_a_policy_of_one_ranking(small, n) -> None:
    docs, logit, _ = small
    judge = Judge(docs, [axis()], rank_weights("log2", n), judgments=(docs[1:3], np.array([1, 2])))
    policy = static(candidates(docs, logit), logit, query_streams(["q"]))
    assert judge.score(look_at(policy, 5, 0)) == judge.score(ListLook(docs))
    assert judge.score(ListLook(docs))["objectives"][RELEVANCE] == 1.0


def test_the_original_itself_is_the_deterministic_alternative() -> None:
    judge = Judge(DOCS, [axis()], QUICK.by_rank)
    found = alternatives("q", DOCS, SCORES, judge, AlternativeOptions(["deterministic"], n=8))
    assert found[0]["objectives"] == judge.score(ListLook(DOCS))["objectives"]
    assert (found[0]["needs_click"], found[0]["axis"], found[0]["exact"]) == (False, None, True)
    assert found[0]["single"] == {"side": found[0]["objectives"]["side"]}


@pytest.mark.parametrize("weights", ["uniform", "log2", "rbp"])
@pytest.mark.parametrize("unknown", ["drop", "spread", "count"])
def test_tilting_reaches_the_target_of_the_axis(weights, unknown) -> None:
    target = {"a": 0.5, "b": 0.4, "unknown": 0.1} if unknown == "count" else {"a": 0.6, "b": 0.4}
    side = axis(target=target, known=0.8, unknown=unknown)
    options = AlternativeOptions(["kl_tilt"], n=8, weights=weights, draws=10)
    one = alternatives("q", DOCS, SCORES, Judge(DOCS, [side], options.by_rank), options)[0]
    assert one["objectives"]["side"] == pytest.approx(1.0, abs=1e-6)
    assert one["distribution"]["side"] == pytest.approx(target, abs=1e-4)
    assert one["counts"]["targets_reached"] == 1


def test_strength_goes_from_the_policy_to_the_target() -> None:
    methods = ["plackett_luce", *(f"kl_tilt(strength={s})" for s in (0.0, 0.5, 1.0))]
    found = alternatives("q", DOCS, SCORES, Judge(DOCS, [axis()], QUICK.by_rank), AlternativeOptions(methods, n=8))
    near = [one["objectives"]["side"] for one in found]
    assert near[0] == pytest.approx(near[1], abs=1e-9)
    assert near[1] < near[2] < near[3]


def test_several_axes_apart_together_and_joint() -> None:
    sides = [axis(), axis("place", "abc", seed=6)]
    judge = Judge(DOCS, sides, QUICK.by_rank)
    options = AlternativeOptions(["plackett_luce", "kl_tilt", "det_const_sort"], n=8, draws=10, joint=True)
    found = alternatives("q", DOCS, SCORES, judge, options)
    assert [(one["name"], one["axis"]) for one in found] == [
        ("plackett_luce", None),
        ("kl_tilt", "side"),
        ("kl_tilt", "place"),
        ("kl_tilt", "side & place"),
        ("kl_tilt", "side+place"),
        ("det_const_sort", "side"),
        ("det_const_sort", "place"),
        ("det_const_sort", "side & place"),
    ]
    together = found[4]["objectives"]
    assert together["side"] == pytest.approx(1, abs=1e-6)
    assert together["place"] == pytest.approx(1, abs=1e-6)
    assert found[1]["objectives"]["place"] < 0.999
    assert [one["axis"] for one in alternatives("q", DOCS, SCORES, judge, QUICK)].count("side & place") == 0
    json.dumps(found, allow_nan=False)


def test_aims_may_differ_from_what_judges() -> None:
    aim, judged_by = axis(target={"a": 0.2, "b": 0.8}), axis(target={"a": 0.8, "b": 0.2})
    options = AlternativeOptions(["kl_tilt"], n=8, weights="log2", draws=10)
    judge = Judge(DOCS, [judged_by], rank_weights("uniform", 5))
    apart = alternatives("q", DOCS, SCORES, judge, options, [aim])[0]
    assert apart["objectives"]["side"] < 0.9
    look = rerankings("q", DOCS, SCORES, [aim], options)[0].look
    assert Judge(DOCS, [aim], options.by_rank).score(look)["objectives"]["side"] == pytest.approx(1, abs=1e-6)
    assert judge.score(look)["objectives"] == apart["objectives"]


def test_entropy_aims_at_equal_shares() -> None:
    side = Axis("side", axis().alignment, None, "entropy")
    found = alternatives("q", DOCS, SCORES, Judge(DOCS, [side], QUICK.by_rank), AlternativeOptions(["kl_tilt"], n=8))
    assert found[0]["objectives"]["side"] == pytest.approx(1.0, abs=1e-6)


def test_without_labels_documents_and_judgments() -> None:
    bare = Axis("side", GroupAlignment.of_entries("side", ("a", "b"), *np.empty((3, 0), int), N_DOCS), {"a": 1.0})
    judge = Judge(DOCS, [bare], QUICK.by_rank, judgments=(np.empty(0, int), np.empty(0, int)))
    for one in alternatives("q", DOCS, SCORES, judge, QUICK):
        assert one["objectives"]["side"] is None
        assert one["reasons"] == {"side": "no_known_weight"}
        assert one["judged"] == {"nDCG@10": None, "R@8": None, "unjudged@10": 1.0}
    empty = ListLook(np.empty(0, int))
    found = judge.score(empty)
    assert found["objectives"] == {RELEVANCE: 0.0, "side": None}
    assert found["judged"]["unjudged@10"] is None
    assert alternatives("q", DOCS[:0], SCORES[:0], judge, QUICK) == []
    one = alternatives("q", DOCS[:1], SCORES[:1], Judge(DOCS[:1], [axis()], QUICK.by_rank), QUICK)
    assert {row["objectives"][RELEVANCE] for row in one} == {1.0}
    assert {row["objectives"]["side"] for row in one} == {one[0]["objectives"]["side"]}


def test_judged_values_of_a_list_are_those_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    draw = np.random.default_rng(3)
    judged, grades = draw.choice(N_DOCS, 25, replace=False), draw.integers(-1, 4, 25)
    found = expected_judged(ListLook(DOCS), judged, grades, 8)
    qrels = [ir_measures.Qrel("q", str(doc), int(grade)) for doc, grade in zip(judged, grades, strict=True)]
    run = [ir_measures.ScoredDoc("q", str(doc), float(-rank)) for rank, doc in enumerate(DOCS)]
    values = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(m) for m in ("nDCG@10", "R@8", "Judged@10")], qrels, run
    )
    told = {str(measure): value for measure, value in values.items()}
    assert found["nDCG@10"] == pytest.approx(told["nDCG@10"])
    assert found["R@8"] == pytest.approx(told["R@8"])
    assert found["unjudged@10"] == pytest.approx(1 - told["Judged@10"])


def test_same_seed_same_numbers() -> None:
    judge = Judge(DOCS, [axis()], QUICK.by_rank, lambda lists: np.array([id_f1(DOCS[:8], one) for one in lists]))
    first, second = (json.dumps(alternatives("q", DOCS, SCORES, judge, QUICK)) for _ in range(2))
    assert first == second


def test_best_is_the_nearest_then_the_most_relevant() -> None:
    rows = [
        {"objectives": {RELEVANCE: 0.9, "side": 0.5}},
        {"objectives": {RELEVANCE: 0.2, "side": 1.0}},
        {"objectives": {RELEVANCE: 0.4, "side": 1.0 - 1e-9}},
        {"objectives": {RELEVANCE: 0.4, "side": None}},
    ]
    assert best_on("side", rows) == 2
    assert best_on("side", rows[3:]) is None
    # as close but for the tolerance, on whichever side of a sixth digit
    assert closest([(0.1234565 + 1e-13, 0.1), (0.1234565 - 1e-13, 0.9), (0.1234565 - 2e-6, 1.0)]) == 1
    assert closest([(0.5, 0.7), (0.5, 0.7), (None, 1.0)]) == 0


def test_methods_without_a_closed_form_say_so() -> None:
    found = rerankings("q", DOCS, SCORES, [axis()], AlternativeOptions(["epsilon_greedy"], n=8, draws=400))
    judge = Judge(DOCS, [axis()], QUICK.by_rank)
    told = judge.score(found[0].look)
    lists = found[0].look.lists(8)
    assert told["exact"] or len(lists) == 400
    assert told["objectives"][RELEVANCE] == pytest.approx(np.mean([id_f1(DOCS[:8], one) for one in lists]), abs=0.1)

"""Classic measures against ir_measures on static runs, against plain loops on drawn ones, and against the clock."""

from __future__ import annotations

import math
import time

import ir_measures
import numpy as np
import pytest
from measure_worlds import grades_of, lists_of, random_rankings, world

from rerankers.measures import parse
from rerankers.measures.evaluation import Evaluation
from rerankers.values import Candidates, Judgments, Rankings

NAMES = (
    "nDCG", "nDCG@1", "nDCG@3", "nDCG@10", "P@1", "P@5", "P(rel=2)@5", "R@2", "R@100", "AP", "AP@4", "AP(rel=2)",
    "RR", "RR@2", "RR(rel=2)", "Judged@2", "Judged@10", "Judged",
)  # fmt: skip
NULL_WITHOUT_RELEVANT = ("nDCG", "AP", "RR", "R")


def as_ir_measures(rankings: Rankings, judgments: Judgments) -> tuple[list, list]:
    # pytrec_eval writes outside its arrays where all grades of a query are negative: such queries are kept from it.
    qrels = [
        ir_measures.Qrel(str(query), str(doc), grade)
        for query in judgments.query.tolist()
        for doc, grade in grades_of(judgments, query).items()
        if max(grades_of(judgments, query).values()) >= 0
    ]
    run = [
        ir_measures.ScoredDoc(str(rankings.over.query[row]), str(doc), -float(rank))
        for row in range(len(rankings.over))
        for _, ranking in lists_of(rankings, row)
        for rank, doc in enumerate(ranking)
    ]
    return qrels, run


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_static_runs_agree_with_ir_measures(seed: int, name: str) -> None:
    made = world(seed, queries=30, longest=14)
    rankings = random_rankings(seed, made.candidates, draws=1)
    measure = parse(name)
    qrels, run = as_ir_measures(rankings, made.judgments)
    expected = {
        result.query_id: result.value for result in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
    }
    scores = measure.per_unit(Evaluation(rankings, made.judgments))
    answered = {row for row in range(30) if lists_of(rankings, row)[0][1]}
    compared = 0
    for row in range(30):
        grades = grades_of(made.judgments, row)
        enough = any(grade >= int(dict(measure.params).get("rel", 1)) for grade in grades.values())
        if not grades or (not enough and measure.name in NULL_WITHOUT_RELEVANT):
            assert math.isnan(scores.value[row])
        elif row in answered and max(grades.values()) >= 0:
            assert scores.value[row] == pytest.approx(expected[str(row)], abs=1e-9)
            compared += 1
        elif row not in answered and measure.name == "Judged":
            assert math.isnan(scores.value[row])
        elif measure.name != "Judged":
            assert scores.value[row] == 0
    assert compared >= 8


def plain(name: str, ranking: list[int], grade: dict[int, int]) -> float:
    """The definitions, one ranking at a time."""
    measure = parse(name)
    least = int(dict(measure.params).get("rel", 1))
    k = measure.cutoff or len(ranking)
    gain = [max(grade.get(doc, 0), 0) for doc in ranking[:k]]
    hits = [value >= least for value in gain]
    relevant = sum(value >= least for value in grade.values())
    ideal = sorted((max(value, 0) for value in grade.values()), reverse=True)
    best = ideal if measure.cutoff is None else ideal[:k]
    dcg = [sum(value / math.log2(rank + 2) for rank, value in enumerate(values)) for values in (gain, best)]
    return {
        "nDCG": lambda: dcg[0] / dcg[1],
        "P": lambda: sum(hits) / k,
        "R": lambda: sum(hits) / relevant,
        "RR": lambda: max((1 / (rank + 1) for rank, hit in enumerate(hits) if hit), default=0.0),
        "AP": lambda: sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit) / relevant,
    }[measure.name]()


@pytest.mark.parametrize("name", [name for name in NAMES if "Judged" not in name])
def test_drawn_runs_are_the_weighted_mean_over_rankings(name: str) -> None:
    made = world(5, queries=40, longest=12)
    rankings = random_rankings(1, made.candidates, draws=6)
    scores = parse(name).per_unit(Evaluation(rankings, made.judgments))
    compared = 0
    for row in np.flatnonzero(~np.isnan(scores.value)).tolist():
        grade = grades_of(made.judgments, row)
        expected = sum(weight * plain(name, ranking, grade) for weight, ranking in lists_of(rankings, row))
        assert scores.value[row] == pytest.approx(expected, abs=1e-12)
        compared += 1
    assert compared >= 15


def test_judged_leaves_empty_rankings_out() -> None:
    over = Candidates(np.array([0]), np.array([0, 3]), np.array([0, 1, 2]))
    judgments = Judgments(np.array([0]), np.array([0, 2]), np.array([0, 2]), {"grade": np.array([0, -1], np.int16)})
    item, weight = np.array([0, 1, 2], np.int32), np.array([0.5, 0.25, 0.25])
    rankings = Rankings(over, np.array([0, 3]), np.array([0, 0, 2, 3]), item, weight, np.arange(3, dtype=np.int32))
    (value,) = parse("Judged@2").per_unit(Evaluation(rankings, judgments)).value
    assert value == pytest.approx((0.25 * 0.5 + 0.25 * 1.0) / 0.5)


def test_fast_enough_for_a_hundred_draws_of_a_thousand_documents() -> None:
    queries, draws, n = 52, 100, 1000
    rng = np.random.default_rng(0)
    over = Candidates(np.arange(queries), np.arange(queries + 1) * n, np.tile(np.arange(n), queries))
    orders = [rng.permuted(np.tile(np.arange(n, dtype=np.int32), (draws, 1)), axis=1) for _ in range(queries)]
    grade = (rng.random(queries * n) < 0.03).astype(np.int16)
    judgments = Judgments(over.query, over.indptr, over.doc, {"grade": grade})
    evaluation = Evaluation(Rankings.of_matrix(over, orders), judgments)
    evaluation.universe.grade  # noqa: B018 - the join is shared by all measures
    start = time.process_time()
    for name in ("nDCG@10", "AP", "RR@10", "P@10", "R@100", "Judged@10"):
        parse(name).per_unit(evaluation)
    assert time.process_time() - start < 0.6  # 0.15 s when measured alone

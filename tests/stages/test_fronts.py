"""Fronts beside measures: better beliefs are never worse, and what is written is what is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers._base.streams import generator, query_streams
from rerankers.collections import Generated
from rerankers.exposure import RBP
from rerankers.measures.evaluation import Options
from rerankers.stages.fronts import Scene, fronts_of, read_fronts, truth_of, write_fronts
from rerankers.stages.gathered import JobResults
from rerankers.values import Block, Candidates, Judgments, Ragged, Relevance

QUERIES, LENGTH = 40, 12


def scene(noise: float, seed: int = 0) -> tuple[Scene, np.ndarray]:
    """Return queries whose grades are drawn from known chances, believed in with some noise."""
    draw = generator(seed, "fronts")
    indptr = np.arange(QUERIES + 1) * LENGTH
    doc = np.arange(QUERIES * LENGTH)
    chance = draw.beta(0.5, 1.5, len(doc))
    grade = (draw.random(len(doc)) < chance).astype(np.int16)
    believed = np.clip(chance + noise * draw.standard_normal(len(doc)), 0.01, 0.99)
    rows = np.arange(QUERIES)
    block = Block(
        Candidates(rows, indptr, doc, {"score": believed}),
        query_streams([f"q{row}" for row in rows]),
        estimates=Relevance(believed, "score", "model:x", believed),
        browsing=RBP(0.7),
    )
    judgments = Judgments(rows, indptr, doc, {"grade": grade})
    return Scene(block, [f"q{row}" for row in rows], judgments, {}, Options(browsing=RBP(0.7))), chance


def means(points: dict[float, dict[str, dict[str, float]]], weight: float) -> tuple[float, float]:
    return tuple(np.mean(list(points[weight][key].values())) for key in ("utility", "EEL"))  # type: ignore[return-value]


def test_more_weight_more_utility_and_the_truth_is_best() -> None:
    given, chance = scene(0.4)
    found = fronts_of(given, chance)
    assert list(found) == ["plug-in front, documents", "true front, documents", "oracle front, documents"]
    plug_in, true, oracle = (dict(points) for points in found.values())
    for points in (plug_in, true):
        utilities = [means(points, weight)[0] for weight in sorted(points)]
        assert utilities[-1] > utilities[0]
    # Who knows the grades meets the target by rankings that are of the highest utility already.
    assert means(oracle, 1000.0)[0] == pytest.approx(means(oracle, 0.0)[0], rel=1e-6)
    for weight in (0.0, 1.0, 5.0):  # what the optimum of the truth minimises, on average over grades
        own, better = means(plug_in, weight), means(true, weight)
        assert better[1] - weight * better[0] < own[1] - weight * own[0]
        known = means(oracle, weight)
        assert known[1] - weight * known[0] < better[1] - weight * better[0], "nothing beats knowing the grades"
    assert means(oracle, 0.0)[1] == pytest.approx(0.0, abs=1e-6)


def test_right_beliefs_give_the_true_front() -> None:
    given, chance = scene(0.0)
    plug_in, true, _ = fronts_of(given, np.clip(chance, 0.01, 0.99)).values()
    for weight in true:
        assert means(plug_in, weight) == pytest.approx(means(true, weight), abs=1e-9)  # type: ignore[arg-type]


def test_written_and_read(tmp_path: Path) -> None:
    given, chance = scene(0.2)
    found = fronts_of(given, chance)
    write_fronts(tmp_path, found)
    job = JobResults(tmp_path, None, "blind", {}, {}, {}, None)
    curves = read_fronts([job], "EEL", given.units)
    assert list(curves) == list(found)
    for name, curve in curves.items():
        for place, weight in enumerate(sorted(found[name])):
            np.testing.assert_array_equal(curve.loss[place], [found[name][weight]["EEL"][unit] for unit in given.units])
    assert read_fronts([job], "group_EEL", given.units) == {}


def test_truth_of_a_generated_world() -> None:
    world = Generated(topics=3, documents=200).load()
    judged = world.judgments
    over = Ragged(judged.query[:1], np.array([0, 3]), np.array([judged.doc[0], judged.doc[2], 199]))
    truth = truth_of(world, over)
    assert truth is not None
    chance = world.truth["relevance_probability"]
    assert truth[:2].tolist() == [chance[0], chance[2]]
    assert truth_of(Generated(topics=3, documents=200).load().over(world.docs), over) is not None

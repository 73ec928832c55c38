"""First-stage headroom: against enumerated policies, plain loops and numbers by hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from rerankers._base.errors import ConfigError
from rerankers.exposure import DCG, ERR, GERR, RBP, BrowsingModel, TopKSet, ranking_exposure
from rerankers.measures.evaluation import Options
from rerankers.measures.table import SCHEMA
from rerankers.stages.gathered import JobResults
from rerankers.stages.headroom_account import divided, least_losses, recalls, together
from rerankers.stages.headroom_rows import (
    HeadroomBlock,
    HeadroomRows,
    cells,
    least_group,
    least_individual,
    losses,
    parts_of,
)
from rerankers.stages.pool import Part
from rerankers.values import Candidates, GroupAlignment, Judgments
from tests.measures.measure_worlds import enumerated_target, grades_of, world

MODELS = [GERR(), GERR(0.9, 0.7), RBP(0.8), DCG(), TopKSet(2), GERR(cutoff=2), ERR(max_grade=2), GERR(0.8, 1.0)]


def least_by_enumeration(goal: np.ndarray, matrix: np.ndarray, grade: np.ndarray, model: BrowsingModel) -> float:
    """The least squared distance of matrix @ exposure from a goal over mixtures of all rankings."""
    n = len(grade)
    seen = np.array([ranking_exposure(np.array(order), model, grade) for order in permutations(range(n))])
    reached = matrix @ seen.T
    heavy = 1e4  # holds the sum of the mixture's weights to 1
    weights, _ = nnls(np.vstack([reached, np.full(len(seen), heavy)]), np.append(goal, heavy), maxiter=10_000)
    weights /= weights.sum()
    return float(np.square(reached @ weights - goal).sum())


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(MODELS))
@settings(max_examples=40)
def test_least_losses_are_those_of_enumerated_mixtures(seed: int, n: int, model: BrowsingModel) -> None:
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 3, n).astype(float)
    goal = np.array([0.9, 0.4, 0.7])[grade.astype(int)] * rng.random()
    found, gap = least_individual(goal, 0.25, grade, model)
    assert found == pytest.approx(0.25 + least_by_enumeration(goal, np.eye(n), grade, model), abs=1e-6)
    assert 0 <= gap < 1e-6
    matrix = rng.random((3, n)) * rng.integers(0, 2, (3, n))
    due = 2 * rng.random(3)
    found, gap = least_group(due, matrix, grade, model)
    assert found == pytest.approx(least_by_enumeration(due, matrix, grade, model), abs=1e-6)
    assert 0 <= gap < 1e-6


def test_an_empty_list_leaves_everything_due() -> None:
    nothing = np.empty(0)
    assert least_individual(nothing, 0.7, nothing, GERR()) == (0.7, 0.0)
    assert least_group(np.array([0.5, 1.0]), np.empty((2, 0)), nothing, GERR()) == (1.25, 0.0)
    assert least_group(np.array([2.0]), np.zeros((1, 3)), np.zeros(3), GERR()) == (4.0, 0.0)


def part_of(made: object) -> Part:
    return Part(made.candidates, made.judgments, made.stream)  # type: ignore[attr-defined]


def rounded(value: float) -> float:
    """Return nine digits; values are sums of halves, so that without the shift some would lie between two of them."""
    return round(float(value) + 1.23e-10, 9)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_rows_of_a_world(seed: int) -> None:
    made = world(seed, queries=4, longest=4)
    depths = [1, 3, 9]
    task = HeadroomBlock(made.groups, Options(), depths)
    rows = task(part_of(made))
    names = cells(made.groups)
    judged = [q for q in range(4) if grades_of(made.judgments, q)]
    assert rows.query.tolist() == judged
    assert rows.left_out == 4 - len(judged)
    align = made.groups["economy"]
    entries = set()
    for place, query in enumerate(judged):
        order = made.candidates.doc[made.candidates.row(query)].tolist()
        grade = grades_of(made.judgments, query)
        docs = sorted({*order, *grade})
        target = enumerated_target(docs, grade) if len(docs) <= 7 else None
        for doc, g in grade.items():
            if g > 0 and target is not None:
                rank = order.index(doc) + 1 if doc in order else 0
                entries.add((place, 0, rank, rounded(target[doc])))
                for entry in range(align.indptr[doc], align.indptr[doc + 1]):
                    due = rounded(target[doc] * align.weight[entry])
                    entries.add((place, 1 + int(align.group[entry]), rank, due))
        if target is None:
            continue
        everywhere = parts_of(align, np.array(docs, np.int32)) @ np.array([target[doc] for doc in docs])
        for number, depth in enumerate(depths):
            head = order[:depth]
            gain = np.array([max(grade.get(doc, 0), 0) for doc in head], float)
            rest = sum(value**2 for doc, value in target.items() if doc not in head)
            goal = np.array([target[doc] for doc in head])
            individual, group = rest, float(np.square(everywhere).sum())
            if head:
                individual += least_by_enumeration(goal, np.eye(len(head)), gain, GERR())
                matrix = parts_of(align, np.array(head, np.int32))
                group = least_by_enumeration(everywhere, matrix, gain, GERR())
            assert rows.best[place, number] == pytest.approx([individual, group], abs=1e-6)
            assert depth < len(order) or np.all(rows.best[place, number] <= rows.own[place] + 1e-8)
    assert names[0] == ("", "all documents")
    assert names[1:] == [("economy", group) for group in align.groups]
    got = zip(rows.row.tolist(), rows.cell.tolist(), rows.rank.tolist(), map(rounded, rows.due), strict=True)
    assert entries <= set(got)


def test_blocks_change_nothing() -> None:
    made = world(7, queries=8, attributes=2)
    task = HeadroomBlock(made.groups, Options(browsing=RBP(0.7)), [2, 5])
    whole = task(part_of(made))
    pieces = []
    for start, stop in ((0, 3), (3, 4), (4, 8)):
        candidates = made.candidates.rows(start, stop)
        mine = np.flatnonzero(np.isin(made.judgments.query, candidates.query))
        pieces.append(task(Part(candidates, made.judgments.take(mine), made.stream[start:stop])))
    joined = together(pieces)
    assert joined.left_out == whole.left_out
    assert np.array_equal(joined.best, whole.best)
    assert np.array_equal(joined.own, whole.own)
    names = cells(made.groups)
    assert recalls(joined, names, [2, 5], 0.9) == recalls(whole, names, [2, 5], 0.9)
    assert losses(made.groups) == ["EEL", "EEL(group='economy')", "EEL(group='h_index')"]


def rows_of(entries: list[tuple[int, int, int, float, float]], best: list, own: list) -> HeadroomRows:
    row, cell, rank, due, weight = (np.array(column) for column in zip(*entries, strict=True))
    values = np.array(best, float)
    return HeadroomRows(
        np.arange(len(own), dtype=np.int32), row, cell, rank, due, weight, values, values * 0, np.array(own, float), 0
    )


ENTRIES = [(0, 0, 1, 0.5, 1.0), (0, 0, 0, 0.5, 1.0), (1, 0, 7, 1.0, 1.0), (1, 1, 7, 0.3, 0.3), (0, 1, 3, 0.1, 0.2)]
TWO = rows_of(ENTRIES, [[[0.4], [0.2]], [[0.2], [0.0]]], [[1.0], [0.5]])


def test_recall_and_depths_by_hand() -> None:
    everything, group, empty = recalls(TWO, [("", "all documents"), ("a", "x"), ("a", "y")], [3, 10], 0.75)
    assert everything["recall_due"] == [0.25, 0.75]
    assert everything["recall_relevant"] == pytest.approx([1 / 3, 2 / 3])
    assert everything["mean_recall_due"] == [0.25, 0.75]
    assert (everything["depth"], everything["depth_relevant"], everything["queries"]) == (7, None, 2)
    assert group["recall_due"] == pytest.approx([0.25, 1.0])
    assert group["mean_recall_due"] == [0.5, 1.0]
    assert (group["depth"], group["depth_relevant"]) == (7, 7)
    assert empty["recall_due"] == [None, None]
    assert (empty["queries"], empty["due"], empty["depth"]) == (0, 0.0, None)


def test_losses_and_depths_by_hand() -> None:
    (found,) = least_losses(TWO, ["EEL"], [3, 10], 0.1, ["b", "a"], seed=0, resamples=200, level=0.9).values()
    assert found["best"] == pytest.approx([0.3, 0.1])
    assert (found["depth"], found["gap"], found["first_stage"]) == (10, 0.0, 0.75)
    low, high = found["interval"][0]
    assert low <= 0.3 <= high
    assert least_losses(TWO, ["EEL"], [3, 10], 0.05, ["b", "a"])["EEL"]["depth"] is None


MINE = {"a": 0.8, "b": None, "c": 3.0}


def results(losses: Mapping[str, float | None] = MINE, **changes: object) -> JobResults:
    rows = [("m", 0, unit, "EEL", loss, None) for unit, loss in losses.items()]
    rows += [("m", 0, "a", "utility", 0.5, None), ("anchor:random", 0, "b", "EEL", 0.5, None)]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)
    given = {
        "folder": Path("mine"), "preset": None, "tier": "blind", "counts": {}, "table": table,
        "options": {"browsing": "gerr", "universe": "union", "cutoff": None, "groups": {"unknown": "count"}},
        "runs": {"m": {}, "anchor:random": {}},
    } | changes  # fmt: skip
    return JobResults(**given)  # type: ignore[arg-type]


def test_whose_part_a_loss_is() -> None:
    ours = {"browsing": "gerr", "universe": "union", "cutoff": None, "groups.unknown": "count"}
    own, run = divided(TWO, ["EEL"], ["a", "b"], [results()], ours)
    assert (own["run"], own["loss"], own["first_stage"]) == ("first stage as it stands", 0.75, 0.1)
    assert own["first_stage_share"] == pytest.approx(0.1 / 0.75)
    assert (run["run"], run["queries"], run["loss"], run["first_stage"]) == ("m", 1, 0.8, 0.2)
    assert (run["ranking"], run["first_stage_share"]) == pytest.approx((0.6, 0.25))
    for wrong, text in (
        ({"preset": "trec2020_official"}, "judged by preset=trec2020_official"),
        ({"options": {"browsing": "rbp"}}, "browsing is rbp; expected gerr"),
        ({"options": {"groups": {"unknown": "drop"}}}, "groups.unknown is drop; expected count"),
        ({"losses": {"z": 1.0}}, "m has no EEL"),
    ):
        with pytest.raises(ConfigError, match=text):
            divided(TWO, ["EEL"], ["a", "b"], [results(**wrong)], ours)  # type: ignore[arg-type]


def test_one_document_nothing_relevant_and_unknown_groups() -> None:
    candidates = Candidates(np.arange(2), np.array([0, 1, 1]), np.zeros(1, np.int32))
    judgments = Judgments(
        np.arange(2), np.array([0, 1, 2]), np.zeros(2, np.int32), {"grade": np.array([1, 0], np.int16)}
    )
    unknown = GroupAlignment.of_entries("g", (), np.empty(0, int), np.empty(0, int), np.empty(0), 1).resolve("count")
    rows = HeadroomBlock({"g": unknown}, Options(), [1])(Part(candidates, judgments, world(0, queries=2).stream))
    assert rows.best[0] == pytest.approx(np.zeros((1, 2)))
    assert rows.best[1] == pytest.approx(np.ones((1, 2)))  # its only document is judged, not relevant, not retrieved
    everything, group = recalls(rows, cells({"g": unknown}), [1], 0.95)
    assert everything["recall_due"] == group["recall_due"] == [1.0]
    assert group["queries"] == 1

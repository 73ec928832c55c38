"""What rows boosted trees take, and what is said of those that they do not; scorers as files."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_cases import ByLightGBM, Softmax, rows

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.learning.boosting import LightGBM, Native, TreeScorer
from rerankers.learning.boosting.history import History
from rerankers.learning.boosting.native import native_task
from rerankers.learning.boosting.text import Forest
from rerankers.learning.learner import Fitted, Point
from rerankers.learning.rows import LearningRows

SMALL = LightGBM(iterations=5, learning_rate=0.2, leaves=5, min_rows=3)
BINARY = ByLightGBM(parameters={"objective": "binary"})
OBJECTIVES = [Softmax(), ByLightGBM(), BINARY]


def lists(*lengths: int, grade: Any = None, x: Any = None) -> LearningRows:
    size = sum(lengths)
    features = np.arange(size) % 7 if x is None else x
    graded = np.arange(size) % 3 if grade is None else np.broadcast_to(grade, size)
    return LearningRows.of(np.concatenate([[0], np.cumsum(lengths)]), features, graded)


def fit(train: LearningRows, objective: Any, **more: Any) -> Fitted:
    return SMALL.fit(train, objective, **more)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=["own", "lambdarank", "binary"])
class TestOddRows:
    def test_queries_of_one_document(self, objective: Any) -> None:
        found = fit(lists(*[1] * 30), objective)
        assert found.counts["queries_of_one_document"] == 30
        assert found.counts["queries_of_one_grade"] == 30
        assert np.all(np.isfinite(found.scorer.score(np.ones((2, 1)), np.array([0, 2]))))

    def test_no_relevant_document(self, objective: Any) -> None:
        found = fit(lists(*[10] * 5, grade=0.0), objective)
        assert found.counts["queries_without_relevant"] == 5
        assert len(np.unique(found.scorer.score(np.arange(7.0)[:, None], np.array([0, 7])))) == 1
        assert found.counts["iterations_without_a_split"] == found.iterations == 1

    def test_equal_grades(self, objective: Any) -> None:
        found = fit(lists(*[10] * 5, grade=2.0), objective)
        assert found.counts["queries_of_one_grade"] == 5
        assert len(np.unique(found.scorer.score(np.arange(7.0)[:, None], np.array([0, 7])))) == 1

    def test_empty_queries_are_left_out_and_counted(self, objective: Any) -> None:
        train = rows(3)
        lengths = np.insert(train.over.lengths, [0, 7, 40], 0)
        spread = LearningRows.of(np.concatenate([[0], np.cumsum(lengths)]), train.features, train.grade)
        with_empty, without = fit(spread, objective), fit(train, objective)
        assert with_empty.scorer.texts == without.scorer.texts
        assert with_empty.counts == {**without.counts, "queries_without_documents": 3}

    def test_constant_and_missing_features_are_counted_and_change_nothing(self, objective: Any) -> None:
        train = rows(3)
        more = np.column_stack([train.features, np.ones(len(train.grade)), np.full(len(train.grade), np.nan)])
        wide = LearningRows.of(train.indptr, more, train.grade)
        found, plain = fit(wide, objective), fit(train, objective)
        assert found.counts["features_constant"] == 1
        assert found.counts["features_always_missing"] == 1
        assert np.array_equal(found.scorer.score(more, train.indptr), plain.scorer.score(train.features, train.indptr))

    @pytest.mark.parametrize("value", [1.0, np.nan])
    def test_no_feature_that_can_be_split(self, objective: Any, value: float) -> None:
        with pytest.raises(InputError, match="found 1 features of 50 documents, none with a split that leaves 3 on"):
            fit(lists(*[10] * 5, x=np.full(50, value)), objective)

    def test_missing_stays_missing(self, objective: Any) -> None:
        rng = np.random.default_rng(0)
        x = rng.normal(size=400)
        x[::2] = np.nan
        grade = np.where(np.isnan(x), 2.0, 0.0)  # being missing is all there is to know
        train = LearningRows.of(np.arange(41) * 10, x, grade)
        score = fit(train, objective).scorer.score(np.array([[np.nan], [0.0], [-5.0], [5.0]]), np.array([0, 4]))
        assert score[0] > score[1:].max()

    def test_nothing_to_fit_on(self, objective: Any) -> None:
        with pytest.raises(InputError, match="train: found 2 queries without a document"):
            fit(LearningRows.of([0, 0, 0], np.empty((0, 2)), []), objective)
        with pytest.raises(InputError, match="train: found no feature"):
            fit(LearningRows.of([0, 3], np.empty((3, 0)), [0, 1, 2]), objective)

    def test_validation_rows_of_other_features(self, objective: Any) -> None:
        train, other = rows(3), rows(4)
        with pytest.raises(InputError, match="valid, feature 2: found length; expected f2"):
            fit(train, objective, valid=replace(other, names=("f1", "length", "f3", "f4", "f5")))
        with pytest.raises(InputError, match="valid: found 4 features; expected 5"):
            fit(train, objective, valid=rows(4, features=4))


def test_a_query_beyond_the_limit_is_named() -> None:
    train = LearningRows.of([0, 5, 10_006], np.arange(10_006.0), np.zeros(10_006), qids=["short", "long"])
    with pytest.raises(InputError, match=r"query long: found 10,001 documents; expected at most 10,000 .*retriever"):
        fit(train, ByLightGBM())
    one = replace(SMALL, iterations=1)
    assert one.fit(train, Softmax()).counts["queries"] == 2  # LightGBM's limit is none of ours


def test_fractional_grades_are_named_for_ranking_only() -> None:
    train = LearningRows.of([0, 2, 4, 6], np.arange(6.0), [0, 1, 0.5, 1, 2, 1.25], qids=["a", "b", "c"])
    with pytest.raises(InputError) as caught:
        fit(train, ByLightGBM())
    assert [problem.where for problem in caught.value.problems] == ["query b", "query c"]
    assert "(0.5)" in str(caught.value)
    assert "(1.25)" in str(caught.value)
    for objective in (Softmax(), BINARY, ByLightGBM(parameters={"objective": "regression"})):
        replace(SMALL, min_rows=1, parameters={"min_data_in_bin": 1}).fit(train, objective)
    with pytest.raises(InputError, match="query c: found grades above 1 with cross_entropy"):
        fit(train, ByLightGBM(parameters={"objective": "cross_entropy"}))


def test_only_the_first_problems_are_listed() -> None:
    train = LearningRows.of(np.arange(31) * 2, np.arange(60.0), np.tile([0, 0.5], 30))
    with pytest.raises(InputError) as caught:
        fit(train, ByLightGBM())
    assert len(caught.value.problems) == 21
    assert "10 more such queries" in str(caught.value)


def test_high_grades_get_gains() -> None:
    grade = np.tile([0, 1, 40, 3, 7], 8)
    train = LearningRows.of(np.arange(9) * 5, np.column_stack([grade % 6, grade % 4]), grade)
    task = native_task(ByLightGBM(), train)
    assert task is not None
    assert len(task.parameters["label_gain"]) == 41
    assert task.parameters["label_gain"][40] == 2.0**40 - 1
    score = fit(train, ByLightGBM()).scorer.score(train.features, train.indptr)
    assert np.argmax(score[:5]) == 2
    with pytest.raises(InputError, match=r"query 1: found grades too high \(2000\); expected at most 1000"):
        fit(LearningRows.of([0, 2], [1.0, 2.0], [0, 2000]), ByLightGBM())
    with pytest.raises(ConfigError, match="label_gain: found gains for grades 0 to 1; expected gains up to grade 40"):
        fit(train, ByLightGBM(parameters={"objective": "lambdarank", "label_gain": [0, 1]}))


def test_usual_grades_leave_gains_to_lightgbm() -> None:
    task = native_task(ByLightGBM(), lists(5, 5))
    assert task is not None
    assert task.parameters == {"objective": "lambdarank"}
    assert isinstance(ByLightGBM(), Native)
    assert native_task(Softmax(), lists(5)) is None
    assert native_task(ByLightGBM(parameters=None), lists(5)) is None  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"found 'lamdarank'.*Did you mean 'lambdarank'"):
        native_task(ByLightGBM(parameters={"objective": "lamdarank"}), lists(5))


@pytest.mark.parametrize("members", [1, 2])
def test_scorers_are_read_back_to_the_same_scores(members: int, tmp_path: Path) -> None:
    train = rows()
    options = replace(SMALL, members=members, query_fraction=1.0 if members == 1 else 0.5)
    scorer = options.fit(train, Softmax()).scorer
    scorer.write(tmp_path)
    names = ["model.txt", "scorer.json"] if members == 1 else ["model-2.txt", "model.txt", "scorer.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    again = TreeScorer.read(tmp_path)
    expected = scorer.score(train.features, train.indptr)
    assert np.array_equal(again.score(train.features, train.indptr), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(scorer)).score(train.features, train.indptr), expected)
    # A row's scores are a function of the row alone.
    some = np.array([3, 0, 17])
    taken = train.take(some)
    assert np.array_equal(
        again.score(taken.features, taken.indptr), np.concatenate([expected[train.over.row(row)] for row in some])
    )


def test_scorers_refuse_what_they_were_not_trained_on() -> None:
    scorer = fit(rows(), Softmax()).scorer
    assert len(scorer.score(np.empty((0, 5)), np.array([0, 0]))) == 0
    with pytest.raises(InputError, match=r"shape \(3, 4\); expected \(3, 5\)"):
        scorer.score(np.zeros((3, 4)), np.array([0, 3]))
    with pytest.raises(InputError, match="infinite"):
        scorer.score(np.full((3, 5), np.inf), np.array([0, 3]))


@pytest.mark.parametrize("name", ["model.txt", "scorer.json"])
def test_damaged_files_give_one_clear_error(name: str, tmp_path: Path) -> None:
    fit(rows(), Softmax()).scorer.write(tmp_path)
    path = tmp_path / name
    data = path.read_bytes()
    for spoilt in (data[:-30], data[: len(data) // 2], b"", data.replace(b"1", b"2", 1), b"\xff" + data):
        path.write_bytes(spoilt)
        with pytest.raises(InputError) as caught:
            TreeScorer.read(tmp_path)
        assert str(path) in str(caught.value)
        assert len(caught.value.problems) == 1
    path.unlink()
    with pytest.raises(MissingError, match="no such file"):
        TreeScorer.read(tmp_path)


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "scorer.json").write_text(json.dumps({"kind": "neural", "version": 1}))
    with pytest.raises(InputError, match="found kind 'neural', version 1"):
        TreeScorer.read(tmp_path)


def test_text_models_come_apart_and_together() -> None:
    (text,) = fit(rows(), Softmax()).scorer.texts
    forest = Forest.of(text)
    assert str(forest) == text
    assert len(forest.trees) == 5
    assert "num_threads" not in text  # equal trees have equal texts
    assert str(forest.first(2).plus(Forest(forest.head, forest.trees[2:], forest.tail))) == text
    for spoilt in (text.replace("tree_sizes", "sizes"), text.replace("Tree=1\n", "Tree=1 \n"), text[:900]):
        with pytest.raises(ValueError, match="no "):
            Forest.of(spoilt)


def test_histories_know_the_best_and_how_stale_it_is() -> None:
    history = History()
    assert history.best == 0
    for iteration, value in enumerate([3.0, 1.0, 1.0, 2.0], 1):
        history = history.plus((iteration != 1, True), Point(iteration, 0.0, {"monitor": value}))
    assert (history.iterations, history.best, history.idle) == (4, 2, 1)
    assert [history.trees(0, n) for n in range(5)] == [0, 1, 2, 3, 4]  # the first stays even without a split
    assert history.stale(2)
    assert not history.stale(3)
    assert not history.stale(None)
    assert history.first(1) == History(((False, True),), history.curve[:1])
    later = History(((True,), (False,), (True,)))
    assert [later.trees(0, n) for n in range(4)] == [0, 1, 1, 2]

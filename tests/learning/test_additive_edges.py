"""The additive model: early stopping, odd rows, files, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from additive_cases import curved
from neural_cases import Net

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.learning.additive import Additive, AdditiveScorer
from rerankers.learning.calibration import ListCount
from rerankers.learning.cross_fit import Fitting, Validation, cross_fit
from rerankers.learning.learner import Point
from rerankers.learning.objectives import Binary, ListNet
from rerankers.learning.objectives.base import Bound, Loss
from rerankers.learning.rows import LearningRows
from rerankers.learning.store import SCORERS

Floats = np.ndarray


def test_early_stopping() -> None:
    train, valid = curved(30), curved(20, seed=9)
    seen: list[Point] = []
    loose = Additive(l2=0.0, patience=None).fit(train, Binary(), valid=valid, progress=seen.append)
    values = [point.values["monitor"] for point in loose.curve]
    assert tuple(seen) == loose.curve
    assert loose.iterations == int(np.argmin(values)) + 1
    score = loose.scorer.score(valid.features, valid.indptr)
    assert Binary().bind(valid)(score).value.mean() == pytest.approx(min(values), rel=1e-9)
    short = Additive(l2=0.0, patience=2).fit(train, Binary(), valid=valid)
    assert len(short.curve) == short.iterations + 2 < len(loose.curve)
    assert short.curve[-1].values.keys() == {"train", "valid", "monitor"}
    watched = Additive().fit(train, Binary(), valid=valid, monitor=lambda scores: float(-np.std(scores)))
    assert watched.curve[0].values["monitor"] < 0
    exact = Additive().with_iterations(3).fit(train, Binary())
    assert (exact.iterations, len(exact.curve)) == (3, 3)
    assert "stopped_before_convergence" not in exact.counts


def test_odd_rows() -> None:
    single = LearningRows.of([0, 1, 1, 2], [[1.0, np.nan], [2.0, np.nan]], [1.0, 0.0])
    fit = Additive(l2=0.1).fit(single, Binary())
    assert fit.counts["queries_of_one_document"] == 2
    assert fit.counts["queries_without_documents"] == 1
    assert fit.counts["features_always_missing"] == 1
    found = fit.scorer.score(np.array([[1.0, 5.0], [2.0, np.nan], [np.nan, -1.0]]), np.array([0, 1, 3]))
    assert found[0] > found[1], "features of one-document queries tell queries apart"
    assert np.all(np.isfinite(found))
    none = curved(10)
    flat = Additive().fit(replace(none, grade=np.zeros(none.over.nnz)), ListNet())
    np.testing.assert_allclose(flat.scorer.score(none.features, none.indptr), 0.0, atol=1e-6)
    assert flat.counts["queries_without_relevant"] == 10


class _Broken:
    scores, needs_groups = "score", False

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        def loss(scores: Floats, step: int = 0) -> Loss:
            value = np.zeros(len(rows))
            value[2] = np.nan
            return Loss(value, np.zeros(len(scores)), np.ones(len(scores)))

        return loss


def test_refusals() -> None:
    rows = curved(6)
    for bad, message in (
        (replace(rows, features=np.ones_like(rows.features)), "no feature with two different values"),
        (replace(rows, features=np.where(rows.features == 4.0, 1e200, rows.features)), "feature constant"),
        (replace(rows, features=rows.features[:, :0], names=()), "no feature"),
        (LearningRows.of([0, 0], np.empty((0, 1)), []), "without a document"),
    ):
        with pytest.raises(InputError, match=message):
            Additive().fit(bad, Binary())
    with pytest.raises(InputError, match=r"query q2.*not finite in evaluation 1"):
        Additive().fit(rows, _Broken())
    with pytest.raises(InputError, match="valid, feature 1"):
        Additive().fit(rows, Binary(), valid=replace(rows, names=("y", "few", "level", "constant")))
    with pytest.raises(InputError, match="monitor"):
        Additive().fit(rows, Binary(), valid=rows, monitor=lambda _: float("nan"))
    scorer = Additive().fit(rows, Binary()).scorer
    for features in (rows.features[:, :2], rows.features[1:], np.full_like(rows.features, np.inf)):
        with pytest.raises(InputError, match="features"):
            scorer.score(features, rows.indptr)
    for options, message in (
        ({"l2": -1.0}, r"model\.l2"),
        ({"l2": float("nan")}, r"model\.l2"),
        ({"knots": -1}, r"model\.knots"),
        ({"outermost": 0.6}, r"model\.outermost"),
        ({"clip": 0.0}, r"model\.clip"),
        ({"iterations": 0}, r"model\.iterations"),
        ({"tolerance": 0.0}, r"model\.tolerance"),
        ({"patience": 0}, r"model\.patience"),
    ):
        with pytest.raises(ConfigError, match=message):
            Additive(**options)  # type: ignore[arg-type]


def test_written_and_read_back(tmp_path: Path) -> None:
    rows = curved()
    scorer = Additive().fit(rows, Binary()).scorer
    scorer.write(tmp_path)
    module, _, name = SCORERS["additive"].partition(":")
    assert (module, name) == ("rerankers.learning.additive", AdditiveScorer.__name__)
    again = AdditiveScorer.read(tmp_path)
    assert again.score(rows.features, rows.indptr).tobytes() == scorer.score(rows.features, rows.indptr).tobytes()
    (tmp_path / "again").mkdir()
    again.write(tmp_path / "again")
    text = (tmp_path / "scorer.json").read_text()
    assert (tmp_path / "again" / "scorer.json").read_text() == text
    body = json.loads(text)
    assert [feature["name"] for feature in body["features"]] == ["x", "few", "level", "constant"]
    assert [feature["level"] for feature in body["features"]] == [False, False, True, True]
    with pytest.raises(MissingError, match=r"scorer\.json: no such file"):
        AdditiveScorer.read(tmp_path / "nowhere")
    for changed, message in (
        (text.replace('"clip": 4.0', '"clip": 5.0'), "changed or damaged"),
        (text[:-30], "no JSON"),
        (text.replace('"additive"', '"neural"'), "kind 'neural'"),
        ("[1]", "kind None"),
    ):
        (tmp_path / "scorer.json").write_text(changed)
        with pytest.raises(InputError, match=message):
            AdditiveScorer.read(tmp_path)


def test_cross_fitted_and_calibrated_by_count() -> None:
    rows = curved(60)
    fitting = Fitting(Additive(l2=3.0), Binary(), ListCount(slope=1.0), Validation(folds=3, stop=0.0))
    fit = cross_fit(rows, fitting)
    assert fit.probability is not None
    assert fit.calibrator is not None
    sums = np.add.reduceat(fit.probability, rows.indptr[:-1])
    assert abs(sums.sum() / rows.grade.sum() - 1) < 0.2
    stopped = cross_fit(rows, replace(fitting, validation=Validation(folds=3, stop=0.3)))
    assert stopped.final.iterations == int(np.median([part.iterations for part in stopped.parts]))


def test_estimated_objectives_keep_their_draws() -> None:
    rows = curved(12)
    steps: set[int] = set()

    class Drawn:
        scores, needs_groups = "score", False

        def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
            inner = Net().bind(rows)

            def loss(scores: Floats, step: int = 0) -> Loss:
                steps.add(step)
                return inner(scores, step)

            return loss

    Additive().fit(rows, Drawn())
    assert steps == {0}

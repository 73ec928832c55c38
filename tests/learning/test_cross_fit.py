"""Cross-fitting: nobody is scored by a model that saw it, and nothing depends on what it should not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from training_worlds import rows_of

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.calibration import Isotonic, NoCalibration, Platt
from rerankers.learning.cross_fit import Fitting, Validation, cross_fit
from rerankers.learning.neural import Linear
from rerankers.learning.objectives.binary import Binary

LEARNER = Linear(epochs=8, queries_per_batch=None)


def fitting(calibration: object = Platt(), **validation: object) -> Fitting:
    return Fitting(LEARNER, Binary(), calibration, Validation(**validation), seed=3)  # type: ignore[arg-type]


def test_scores_of_a_fold_do_not_depend_on_its_labels() -> None:
    rows = rows_of()
    first = cross_fit(rows, fitting(folds=4))
    inside = np.repeat(first.fold == 2, rows.over.lengths)
    changed = replace(rows, grade=np.where(inside, 1.0 - rows.grade, rows.grade))
    other = cross_fit(changed, fitting(folds=4))
    assert np.array_equal(first.fold, other.fold)
    assert first.score is not None
    assert other.score is not None
    np.testing.assert_array_equal(first.score[inside], other.score[inside])
    assert not np.array_equal(first.score[~inside], other.score[~inside])
    assert first.probability is not None
    assert other.probability is not None
    assert not np.array_equal(first.probability[~inside], other.probability[~inside])


def test_scores_are_those_of_the_parts() -> None:
    rows = rows_of()
    fit = cross_fit(rows, fitting(folds=3))
    assert len(fit.parts) == 3
    assert fit.score is not None
    for row in range(len(rows)):
        one = rows.take(np.array([row]))
        expected = fit.parts[fit.fold[row]].scorer.score(one.features, one.indptr)
        np.testing.assert_array_equal(fit.score[rows.over.row(row)], expected)


def test_variants_share_a_fold() -> None:
    rows = rows_of()
    paired = replace(rows, topic=np.arange(len(rows)) // 2)
    fold = cross_fit(paired, fitting(folds=4)).fold
    assert np.array_equal(fold[::2], fold[1::2])


def test_the_final_model_runs_the_middle_number_of_iterations() -> None:
    rows = rows_of()
    fit = cross_fit(rows, fitting(folds=3))
    assert fit.final.iterations == max(1, int(np.median([part.iterations for part in fit.parts])))
    all_of_them = cross_fit(rows, fitting(folds=3, stop=0.0))
    assert {part.iterations for part in all_of_them.parts} == {8} == {all_of_them.final.iterations}


def test_no_folds_no_scores() -> None:
    fit = cross_fit(rows_of(), fitting(folds=0))
    assert fit.score is None
    assert fit.probability is None
    assert fit.calibrator is None
    assert np.all(fit.fold == -1)
    assert fit.parts == ()


def test_another_collection_to_stop_on() -> None:
    fit = cross_fit(rows_of(), fitting(folds=0), valid=rows_of(seed=1))
    assert "valid" in fit.final.curve[-1].values


def test_without_calibration_scores_stay() -> None:
    fit = cross_fit(rows_of(), fitting(NoCalibration(), folds=3))
    assert fit.score is not None
    assert fit.probability is None
    assert fit.calibrator is None


def test_calibration_within_queries_gets_rows() -> None:
    fit = cross_fit(rows_of(), fitting(Isotonic(per_query=True), folds=3))
    assert fit.probability is not None
    assert np.all((fit.probability > 0) & (fit.probability < 1))


def test_same_seed_same_bits() -> None:
    rows = rows_of()
    one, two = cross_fit(rows, fitting(folds=3)), cross_fit(rows, fitting(folds=3))
    assert one.score is not None
    assert two.score is not None
    assert one.score.tobytes() == two.score.tobytes()


@pytest.mark.parametrize(
    ("options", "word"), [({"folds": 1}, "folds"), ({"folds": -1}, "folds"), ({"stop": 1.0}, "stop")]
)
def test_what_is_refused(options: dict[str, float], word: str) -> None:
    with pytest.raises(ConfigError, match=f"validation.{word}"):
        Validation(**options)  # type: ignore[arg-type]


def test_more_folds_than_topics() -> None:
    with pytest.raises(InputError, match="folds"):
        cross_fit(rows_of(queries=3), fitting(folds=5))

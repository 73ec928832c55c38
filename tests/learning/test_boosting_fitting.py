"""Boosted trees: equal to LightGBM given the same, whole queries, early stopping, curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import lightgbm
import numpy as np
import pytest
from boosting_cases import ByLightGBM, Noisy, Softmax, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import generator
from rerankers.learning.boosting import LightGBM
from rerankers.learning.boosting.job import Job
from rerankers.learning.boosting.native import native_task
from rerankers.learning.boosting.parameters import member_seeds, tree_parameters
from rerankers.learning.learner import Fitted, Point
from rerankers.learning.monitors import Watch
from rerankers.learning.objectives import ExactExposure, LambdaRank, PLUtility
from rerankers.learning.rows import LearningRows

SMALL = LightGBM(iterations=12, learning_rate=0.2, leaves=6, min_rows=5)
DRAWN = replace(SMALL, feature_fraction=0.6, query_fraction=0.7)


def direct(options: LightGBM, train: LearningRows, objective: Any, seed: int = 0) -> lightgbm.Booster:
    """Fit by LightGBM's own function, with the parameters spelled out here."""
    parameters = {
        "learning_rate": options.learning_rate,
        "num_leaves": options.leaves,
        "min_data_in_leaf": options.min_rows,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbosity": -1,
    }
    if options.sampled:
        parameters |= {"feature_fraction": options.feature_fraction}
    label = train.grade
    if isinstance(objective, ByLightGBM):
        parameters |= objective.parameters
        label = (label > 0) * 1.0 if objective.parameters["objective"] == "binary" else label
    else:
        bound = objective.bind(train, seed)
        first = bound(np.zeros(train.over.nnz)).curvature.mean()
        factor = 2.0 ** -np.ceil(np.log2(first))

        iterations = iter(range(options.iterations))

        def slopes(scores: np.ndarray, data: lightgbm.Dataset) -> tuple[np.ndarray, np.ndarray]:
            assert np.array_equal(data.get_group(), train.over.lengths)
            step = bound(scores)
            order = generator(seed, "boosting_queries", next(iterations)).permutation(len(train))
            drawn = np.isin(train.over.row_index, order[: round(options.query_fraction * len(train))])
            return drawn * step.slope * factor, drawn * step.curvature * factor

        parameters["objective"] = slopes
    data = lightgbm.Dataset(train.features, label, group=train.over.lengths)
    return lightgbm.train(parameters, data, options.iterations)


FEATURES = replace(SMALL, feature_fraction=0.6)


@pytest.mark.parametrize("options", [SMALL, FEATURES, DRAWN], ids=["all", "features drawn", "queries drawn"])
@pytest.mark.parametrize("name", ["lambdarank", "binary", "own"])
def test_trees_are_those_of_lightgbm_given_the_same(options: LightGBM, name: str) -> None:
    train = rows(queries=60)
    objective = Softmax() if name == "own" else ByLightGBM(parameters={"objective": name})
    fit = options.fit(train, objective, seed=7)
    # Where queries are drawn, slopes are handed over even for objectives that LightGBM has itself.
    expected = direct(options, train, objective if options.query_fraction == 1 else Softmax(), 7)
    assert fit.iterations == options.iterations
    assert np.array_equal(
        fit.scorer.score(train.features, train.indptr), expected.predict(train.features, raw_score=True)
    )


def test_the_seed_counts_where_something_is_drawn() -> None:
    train = rows()
    one, same, other = (DRAWN.fit(train, Softmax(), seed=seed).scorer.texts for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert member_seeds(-5, 3)[0] != member_seeds(2**70, 3)[0]
    assert len(set(member_seeds(3, 4))) == 4
    assert member_seeds(3, 1) == [3]


@given(exponent=st.integers(-130, 130))
@settings(max_examples=12)
def test_a_common_factor_of_slopes_and_curvatures_changes_nothing(exponent: int) -> None:
    """Slopes of 2^-130 would be 0 as 32-bit numbers after a division by the number of documents, say."""
    train = rows(queries=12)
    small = replace(SMALL, iterations=3)
    plain, scaled = (small.fit(train, Softmax(scale=scale)).scorer for scale in (1.0, 2.0**exponent))
    assert plain.texts == scaled.texts


def test_newton_steps_lower_the_loss() -> None:
    curve = replace(SMALL, iterations=30).fit(rows(), Softmax()).curve
    train = [point.values["train"] for point in curve]
    assert [point.iteration for point in curve] == list(range(1, 31))
    assert all(later < earlier for earlier, later in pairwise(train))
    assert all(later.seconds >= earlier.seconds for earlier, later in pairwise(curve))


@pytest.mark.parametrize("name", ["lambdarank", "binary", "own"])
def test_curves_are_the_losses_of_the_scorer(name: str) -> None:
    train, valid = rows(1), rows(2)
    objective = Softmax() if name == "own" else ByLightGBM(parameters={"objective": name})
    seen: list[Point] = []
    kept: list[np.ndarray] = []

    def monitor(scores: np.ndarray) -> float:
        kept.append(scores)
        return -float(len(kept))  # the last is the best

    fit = SMALL.fit(train, objective, valid=valid, monitor=monitor, progress=seen.append)
    last = fit.curve[-1]
    assert tuple(seen) == fit.curve
    assert fit.iterations == last.iteration == 12
    for data, word in ((train, "train"), (valid, "valid")):
        expected = objective.bind(data)(fit.scorer.score(data.features, data.indptr)).value.mean()
        assert last.values[word] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(kept[-1], fit.scorer.score(valid.features, valid.indptr))
    assert [point.values["monitor"] for point in fit.curve] == [-1.0 - place for place in range(12)]


def test_early_stopping_keeps_the_best_iteration_by_any_monitor() -> None:
    train, valid = rows(1), rows(2)
    values = iter([3.0, 1.0, 2.0, 1.0, 4.0, 5.0, 0.0])
    fit = replace(SMALL, patience=3).fit(train, Softmax(), valid=valid, monitor=lambda _: next(values))
    assert (fit.iterations, len(fit.curve)) == (2, 5)
    expected = replace(SMALL, iterations=2).fit(train, Softmax()).scorer
    assert np.array_equal(fit.scorer.score(valid.features, valid.indptr), expected.score(valid.features, valid.indptr))


def test_without_patience_all_iterations_run_and_the_best_is_kept() -> None:
    train, valid = rows(1), rows(2)
    values = iter([3.0, 1.0, *[2.0] * 10])
    fit = replace(SMALL, patience=None).fit(train, Softmax(), valid=valid, monitor=lambda _: next(values))
    assert (fit.iterations, len(fit.curve)) == (2, 12)


def test_without_a_monitor_the_objective_is_looked_at() -> None:
    fit = replace(SMALL, iterations=200, patience=5).fit(rows(1), Softmax(), valid=rows(2))
    losses = [point.values["valid"] for point in fit.curve]
    assert losses == [point.values["monitor"] for point in fit.curve]
    assert fit.iterations == int(np.argmin(losses)) + 1
    assert len(losses) == fit.iterations + 5


def test_members_are_averaged_and_differ_by_their_draws() -> None:
    train = rows()
    fit = replace(DRAWN, members=3).fit(train, Softmax(), seed=4)
    alone = [
        direct(DRAWN, train, Softmax(), seed).predict(train.features, raw_score=True) for seed in member_seeds(4, 3)
    ]
    assert len({score.tobytes() for score in alone}) == 3
    assert np.array_equal(fit.scorer.score(train.features, train.indptr), (alone[0] + alone[1] + alone[2]) / 3)


def test_estimated_objectives_draw_by_seed_and_iteration() -> None:
    one, same, other = (SMALL.fit(rows(), Noisy(), seed=seed).scorer.texts for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_tree_sees_whole_queries_and_all_scores_move() -> None:
    """Of each query one document goes to either leaf: among whole queries both leaves weigh the same."""
    size = 301
    x = np.tile([0.0, 1.0], size)
    train = LearningRows.of(np.arange(size + 1) * 2, x, x)
    options = replace(SMALL, iterations=1, leaves=2, query_fraction=0.5)
    fit = options.fit(train, Softmax())
    (weights,) = [line for line in fit.scorer.texts[0].splitlines() if line.startswith("leaf_weight=")]
    low, high = map(float, weights.partition("=")[2].split())
    exact = 0.25 * 2.0 * round(0.5 * size)  # curvature at equal scores, times the factor to a mean from .5 to 1
    assert low == pytest.approx(exact, rel=1e-6)
    assert high == pytest.approx(exact, rel=1e-6)
    expected = Softmax().bind(train)(fit.scorer.score(train.features, train.indptr)).value.mean()
    assert fit.curve[-1].values["train"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spoil", ["value", "slope", "curvature"])
def test_a_loss_that_is_no_number_names_iteration_and_query(spoil: str) -> None:
    with pytest.raises(InputError, match=r"of query 40 after iteration 3"):
        SMALL.fit(rows(), Softmax(spoil=spoil))


def test_a_monitor_that_is_no_number_names_the_iteration() -> None:
    values = iter([1.0, float("nan")])
    with pytest.raises(InputError, match="monitor: found monitor of nan after iteration 2"):
        SMALL.fit(rows(1), Softmax(), valid=rows(2), monitor=lambda _: next(values))


def test_slopes_without_curvature_are_refused() -> None:
    class Flat(Softmax):
        def bind(self, given: LearningRows, seed: int = 0) -> Any:
            exact = super().bind(given)

            def loss(scores: np.ndarray, step: int = 0) -> Any:
                found = exact(scores, step)
                return replace(found, curvature=0 * found.curvature)

            return loss

    with pytest.raises(InputError, match="slopes but no curvature at the start"):
        SMALL.fit(rows(), Flat())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("iterations", 0, "model.iterations: found 0; expected a whole number of at least 1"),
        ("leaves", 1, "at least 2"),
        ("learning_rate", 0.0, "above 0, at most 1"),
        ("query_fraction", 1.5, "above 0, at most 1"),
        ("l2", float("nan"), "at least 0"),
        ("depth", 0, "at least 1"),
        ("patience", 0, "at least 1"),
        ("members", 2, "nothing drawn"),
        ("parameters", {"num_leaves": 5}, "model.parameters: found 'num_leaves'"),
        ("parameters", {"path_smoth": 5}, "Did you mean 'path_smooth'"),
    ],
)
def test_options_out_of_range_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LightGBM(**{name: value})


def test_other_parameters_are_handed_through() -> None:
    assert SMALL.with_iterations(5).iterations == 5
    train = rows()
    plain, smooth = (
        replace(SMALL, parameters=more).fit(train, ByLightGBM()).scorer.texts for more in ({}, {"path_smooth": 50.0})
    )
    assert "[path_smooth: 50]" in smooth[0]
    assert plain != smooth
    task = native_task(ByLightGBM(), train)
    assert tree_parameters(SMALL, task, 3)["seed"] == 3


@pytest.mark.shared_data
def test_lambdamart_equals_lightgbm_on_its_own_example(shared: Any) -> None:
    """nDCG@10 on the test part to 1e-12, with all features and with some drawn."""
    folder = shared / "data" / "lambdarank-example"
    train, test = (example(folder, part) for part in ("rank.train", "rank.test"))
    monitor = Watch("nDCG@10").bind(test)
    plain = LightGBM(iterations=30, learning_rate=0.1)
    for options in (plain, replace(plain, feature_fraction=0.8)):
        fit = options.fit(train, LambdaRank())
        expected = direct(options, train, ByLightGBM()).predict(test.features)
        ours = fit.scorer.score(test.features, test.indptr)
        assert np.array_equal(ours, expected)
        assert monitor(ours) == pytest.approx(monitor(expected), abs=1e-12)
        assert -monitor(ours) > 0.5


def example(folder: Any, part: str) -> LearningRows:
    lines = (folder / part).read_text().splitlines()
    features = np.zeros((len(lines), 301))
    grade = np.zeros(len(lines))
    for place, line in enumerate(lines):
        label, *pairs = line.split()
        grade[place] = float(label)
        for pair in pairs:
            column, value = pair.split(":")
            features[place, int(column)] = float(value)
    sizes = np.loadtxt(folder / f"{part}.query", dtype=np.int64)
    return LearningRows.of(np.concatenate([[0], np.cumsum(sizes)]), features, grade)


@pytest.mark.parametrize("objective", [ExactExposure(), PLUtility()], ids=["exposure", "utility"])
def test_exact_objectives_of_the_package_converge(objective: Any) -> None:
    """Newton steps on whole queries: the loss falls at every iteration, and far."""
    train = rows(queries=30)
    losses = [point.values["train"] for point in replace(SMALL, iterations=25).fit(train, objective).curve]
    at_zero = objective.bind(train)(np.zeros(train.over.nnz)).value.mean()
    assert all(later < earlier for earlier, later in pairwise([at_zero, *losses]))
    if isinstance(objective, ExactExposure):
        assert losses[-1] < 0.5 * at_zero


def test_the_job_of_a_checkpoint_changes_with_all_that_counts() -> None:
    train = rows()
    base = Job(SMALL, train, Softmax(), None, None, 0)
    names = [
        base.fingerprint(),
        replace(base, seed=1).fingerprint(),
        replace(base, objective=Softmax(scale=2.0)).fingerprint(),
        replace(base, options=replace(SMALL, l2=1.0)).fingerprint(),
        replace(base, valid=rows(2)).fingerprint(),
        replace(base, monitor=len).fingerprint(),  # type: ignore[arg-type]
        replace(base, train=rows(3)).fingerprint(),
    ]
    assert len(set(names)) == len(names)
    assert replace(base, options=replace(SMALL, checkpoint_every=3)).fingerprint() == names[0]


def test_an_objective_without_content_needs_no_checkpoint(tmp_path: Any) -> None:
    class Loose:
        scores, needs_groups = "logit", False

        def bind(self, given: LearningRows, seed: int = 0) -> Any:
            return Softmax().bind(given, seed)

    assert isinstance(SMALL.fit(rows(), Loose()), Fitted)
    with pytest.raises(ConfigError, match="Loose, by whose content no checkpoint"):
        SMALL.fit(rows(), Loose(), checkpoint=tmp_path)

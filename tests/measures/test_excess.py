"""What stands behind the excess of measures of groups: drawn placebos, tests against chance, where losses lie."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from label_worlds import BOOTSTRAP, judged_world, names
from measure_worlds import random_rankings, world

from rerankers._base.errors import ConfigError
from rerankers.measures import awrf, parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.evidence import Evidence
from rerankers.measures.excess import nulls
from rerankers.measures.names import TABLE, definition
from rerankers.measures.nulls import Null
from rerankers.policies import PlackettLuce
from rerankers.values import GroupAlignment


def outcome(evaluation: Evaluation, measure: str = "group_EEL_excess") -> dict[str, float]:
    units = names(len(evaluation.over))
    found = nulls({"s": evaluation}, {"s": units}, {measure: parse(measure)})["s"][measure].test()
    assert found is not None
    return found


def test_p_values_are_uniform_where_labels_mean_nothing() -> None:
    worlds = [outcome(judged_world(seed, 12)) for seed in range(150)]
    for key in ("p", "p_greater", "p_less", "p_normal"):
        p = np.array([found[key] for found in worlds])
        assert 0.43 < p.mean() < 0.57  # standard error .024
        assert np.mean(p <= 0.1) < 0.18  # standard error .024
        assert np.mean(p <= 0.1) > 0.03
    z = np.array([found["z"] for found in worlds])
    assert abs(z.mean()) < 0.3
    assert 0.75 < z.std() < 1.25


def test_a_planted_bias_is_found() -> None:
    found = outcome(judged_world(0, 80, bias=1.5))
    assert found["p"] == found["p_greater"] == 0.01
    assert found["p_less"] == 1.0
    assert found["z"] > 4
    assert found["p_normal"] < 1e-4
    drawn = outcome(judged_world(0, 80, bias=1.5), "AWRF_excess")
    assert drawn["p"] == drawn["p_less"] == 0.01
    assert drawn["placebo"] == "permutations"


def test_the_null_distribution_is_that_of_all_permutations() -> None:
    evaluation = judged_world(3, 1, n=5)
    form = parse("group_EEL").bilinear(evaluation)
    assert form is not None
    labels = np.eye(2)[evaluation.groups["g"].group]
    values = [np.sum((form.x @ labels[list(order)]) ** 2) for order in itertools.permutations(range(5))]
    placebo, real = np.mean(values), values[0]
    exact = np.mean(np.abs(values - placebo) >= abs(real - placebo) - 1e-12)
    many = Evaluation(evaluation.source, evaluation.judgments, evaluation.groups, Options(permutations=4000))
    found = outcome(many)
    assert found["p"] == pytest.approx(exact, abs=0.03)
    assert found["null_sd"] == pytest.approx(np.std(values))
    assert found["z"] == pytest.approx((real - placebo) / np.std(values))


def test_labels_that_are_all_alike_have_no_excess() -> None:
    evaluation = judged_world(1, 6)
    same = GroupAlignment.of_entries("g", (), np.empty(0, int), np.empty(0, int), np.empty(0), 48).resolve("count")
    unknown = Evaluation(evaluation.source, evaluation.judgments, {"g": same}, evaluation.options)
    assert same.groups == ("unknown",)
    for measure in ("group_EEL_excess", "AWRF_excess"):
        found = outcome(unknown, measure)
        assert (found["p"], found["p_greater"], found["p_less"]) == (1.0, 1.0, 1.0)
        assert found["null_sd"] == 0.0
        assert found["z"] == 0.0
    value = parse("group_EEL_excess").per_unit(unknown, names(6)).value
    np.testing.assert_allclose(value, 0.0, atol=1e-12)


def test_awrf_and_its_drawn_placebo() -> None:
    evaluation = judged_world(5, 3, n=5)
    many = Evaluation(evaluation.source, evaluation.judgments, evaluation.groups, Options(permutations=3000))
    exposure, labels = evaluation.exposure(evaluation.options.model), np.eye(2)[evaluation.groups["g"].group]
    units = names(3)
    value, placebo = (parse(name).per_unit(many, units).value for name in ("AWRF", "AWRF_placebo"))
    for row in range(3):
        part = evaluation.over.row(row)
        mine = labels[part]
        share = mine.mean(axis=0)
        assert value[row] == pytest.approx(awrf(exposure[part], mine, share))
        every = [awrf(exposure[part], mine[list(order)], share) for order in itertools.permutations(range(5))]
        assert placebo[row] == pytest.approx(np.mean(every), abs=4.5 * np.std(every) / math.sqrt(3000))
    found = outcome(many, "AWRF_excess")
    assert 0 < found["placebo_standard_error"] < 0.01
    assert found["permutations"] == 3000


ARGUMENTS = {"share": "(cell='a')@3", "out_of_bounds": "(cell='a')@3", "group_share": "(cell='a')@3",
             "group_out_of_bounds": "(cell='a')@3"}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in TABLE if definition(name).depends_on_groups([])])
def test_every_measure_of_groups_has_placebo_and_excess(name: str) -> None:
    made = world(4, queries=6, n_docs=20, longest=8)
    policy = PlackettLuce(made.candidates, made.candidates.columns["score"], made.stream)
    cut = "@3" if definition(name).cutoff == "required" else ""
    text = name + ARGUMENTS.get(name, cut)
    for source in (policy, random_rankings(1, made.candidates)):
        options = Options(samples=6, permutations=4, max_grade=3)
        evaluation = Evaluation(source, made.judgments, made.groups, options)
        whole = parse(text).per_unit(evaluation).value
        placebo, excess = (parse(f"{text}_{p}").per_unit(evaluation, made.qids).value for p in ("placebo", "excess"))
        there = ~np.isnan(placebo)
        assert np.all(~np.isnan(whole[there]))
        np.testing.assert_allclose((whole - placebo)[there], excess[there], atol=1e-12)


def test_without_permutations_the_closed_form_stays_and_the_rest_is_refused() -> None:
    evaluation = judged_world(0, 5)
    quiet = Evaluation(evaluation.source, evaluation.judgments, evaluation.groups, Options(permutations=0))
    found = outcome(quiet)
    assert (found["p"], found["permutations"]) == (None, 0)
    assert 0 <= found["p_normal"] <= 1
    with pytest.raises(ConfigError, match=r"measures\.permutations: found 0"):
        outcome(quiet, "AWRF_excess")
    with pytest.raises(ValueError, match="names of the units"):
        parse("AWRF_placebo").per_unit(evaluation)
    with pytest.raises(ConfigError, match="permutations: found -1"):
        Options(permutations=-1)


def test_undefined_draws_are_counted_and_nothing_judged_has_no_test() -> None:
    draws = np.array([[1.0, np.nan, 3.0], [0.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    null = Null.of(np.array([2.0, 0.0, np.nan]), np.array([2.0, 0.0, 5.0]), draws, error=np.array([0.5, 0.0, 1.0]))
    found = null.test()
    assert found is not None
    assert (found["queries"], found["undefined_draws"], found["placebo_standard_error"]) == (2, 1, 0.25)
    assert found["p"] == 1.0
    empty = Null.of(np.array([np.nan]), np.array([1.0]), np.ones((1, 3)))
    assert empty.test() is None
    assert Evidence({}, {"group_EEL_excess": empty}).summary(**BOOTSTRAP)["mean"] == {"group_EEL_excess_p": None}

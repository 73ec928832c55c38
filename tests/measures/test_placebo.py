"""Placebos against all permutations of labels, in closed form and drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_worlds import World, random_rankings, world

from rerankers._base.errors import InputError
from rerankers.measures import group_exposure_placebo, parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.excess import Job, shuffled_values
from rerankers.measures.placebo import Bilinear
from rerankers.measures.placebo_variance import shuffled_variance
from rerankers.measures.shuffles import shuffled
from rerankers.policies import PlackettLuce
from rerankers.values import GroupAlignment


def all_values(x: np.ndarray, y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The form under every order of the rows of the labels."""
    orders = itertools.permutations(range(len(x)))
    return np.array([np.sum((x @ labels[list(order)]) * (y @ labels[list(order)])) for order in orders])


def aligned(labels: np.ndarray) -> GroupAlignment:
    doc, group = np.nonzero(labels)
    names = tuple("abcdefgh"[: labels.shape[1]])
    made = GroupAlignment.of_entries("g", names, doc, group, labels[doc, group], len(labels), "value")
    return made.resolve("drop")


def one(x: np.ndarray, labels: np.ndarray, y: np.ndarray | None = None) -> Bilinear:
    return Bilinear.of(aligned(labels), np.array([0, len(x)]), np.arange(len(x)), x, y)


def some_labels(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "all unknown":
        return np.ones((n, 1))
    if kind == "no group":
        return np.zeros((n, 2))
    if kind == "hard":
        return np.eye(3)[rng.integers(0, 3, n)]
    if kind == "overlapping":
        return (rng.random((n, 3)) < 0.6).astype(float)
    shares = rng.random((n, 3))  # soft, with a part that belongs to no group
    return shares / (shares.sum(axis=1, keepdims=True) + 0.3)


KINDS = ("hard", "overlapping", "soft", "all unknown", "no group")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_closed_forms_are_those_of_all_permutations(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y, labels = rng.normal(size=n), rng.normal(size=n), some_labels(kind, n, rng)
    square, product = all_values(x, x, labels), all_values(x, y, labels)
    assert one(x, labels).placebo()[0] == pytest.approx(square.mean(), abs=1e-12)
    assert one(x, labels, y).placebo()[0] == pytest.approx(product.mean(), abs=1e-12)
    assert one(x, labels).actual()[0] == pytest.approx(square[0], abs=1e-12)
    variance = shuffled_variance(one(x, labels))
    assert variance is not None
    assert variance[0] == pytest.approx(square.var(), rel=1e-9, abs=1e-11)
    assert shuffled_variance(one(x, labels, y)) is None
    assert group_exposure_placebo(x, labels) == pytest.approx(square.mean(), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_weights(data: st.DataObject) -> None:
    n, groups = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    number = st.floats(-3, 3, width=32)
    x = np.array(data.draw(st.lists(number, min_size=n, max_size=n)))
    weight = st.one_of(st.just(0.0), st.floats(0, 4, width=32))
    labels = np.array(data.draw(st.lists(weight, min_size=n * groups, max_size=n * groups))).reshape(n, groups)
    values = all_values(x, x, labels)
    scale = 1 + np.abs(values).max()
    assert group_exposure_placebo(x, labels) == pytest.approx(values.mean(), abs=1e-10 * scale)
    variance = shuffled_variance(one(x, labels))
    assert variance is not None
    assert variance[0] == pytest.approx(values.var(), abs=1e-8 * scale**2)


def test_rows_of_many_queries_do_not_mix() -> None:
    rng = np.random.default_rng(0)
    sizes = [3, 0, 1, 5, 6]
    x, labels = rng.normal(size=15), some_labels("soft", 15, rng)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    both = Bilinear.of(aligned(labels), indptr, np.arange(15), x)
    variance = shuffled_variance(both)
    assert variance is not None
    for row, (start, stop) in enumerate(itertools.pairwise(indptr.tolist())):
        values = all_values(x[start:stop], x[start:stop], labels[start:stop])
        assert both.placebo()[row] == pytest.approx(values.mean(), abs=1e-12)
        assert variance[row] == pytest.approx(values.var(), rel=1e-8, abs=1e-11)


def test_many_groups_take_the_other_way_to_the_same_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    made = one(rng.normal(size=6), some_labels("soft", 6, rng))
    dense = shuffled_variance(made)
    monkeypatch.setattr("rerankers.measures.placebo_variance._DENSE", 0)
    np.testing.assert_allclose(shuffled_variance(made), dense, rtol=1e-12)


def test_the_formula_for_hard_groups_as_it_is_published() -> None:
    rng = np.random.default_rng(5)
    x, groups = rng.normal(size=9), ["a", "b", None, "a", "a", "b", "c", None, "a"]
    loss, total, n = float(x @ x), float(x.sum()), 9
    expected = sum(size / n * loss + size * (size - 1) / (n * (n - 1)) * (total**2 - loss) for size in (4, 2, 2, 1))
    assert group_exposure_placebo(x, groups) == pytest.approx(expected, abs=1e-14)
    assert group_exposure_placebo(x, np.array(groups, dtype=object)) == pytest.approx(expected, abs=1e-14)
    assert group_exposure_placebo([0.5], ["a"]) == 0.25
    assert group_exposure_placebo([], []) == 0.0
    assert group_exposure_placebo(x, ["a"] * 9) == pytest.approx(total**2)


@pytest.mark.parametrize(
    ("difference", "groups", "words"),
    [
        ([[1.0]], ["a"], "difference: found shape"),
        ([math.nan], ["a"], "a vector of finite numbers"),
        ([1.0, 2.0], ["a"], "one label or row for each of 2"),
        ([1.0], [[-1.0]], "negative"),
        ([1.0, 2.0], [["a"], {}], "labels that are no single values"),
        ([1.0, 2.0], [[1.0], [1.0, 0.0]], "rows of different lengths"),
        ([1.0, 2.0], [["a"], ["b"]], "of text"),
        ([1.0], [math.nan], "None for documents of unknown group"),
    ],
)
def test_bad_arguments(difference: list[float], groups: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        group_exposure_placebo(difference, groups)


NAMES = ("group_EEL", "group_EED", "group_EER", "group_EET")


def values(name: str, evaluation: Evaluation, made: World) -> np.ndarray:
    return parse(name).per_unit(evaluation, made.qids).value


@pytest.mark.parametrize("universe", ["union", "judged"])
def test_measures_against_all_permutations_of_each_querys_labels(universe: str) -> None:
    made = world(2, queries=25, longest=4)
    evaluation = Evaluation(
        random_rankings(3, made.candidates), made.judgments, made.groups, Options(universe=universe)
    )
    model, over = evaluation.options.model, evaluation.over
    exposure, target, alignment = evaluation.exposure(model), evaluation.target(model), made.groups["economy"]
    compared = 0
    for row in range(25):
        part = over.row(row)
        item, group, weight = alignment.entries(over.doc[part])
        labels = np.zeros((part.stop - part.start, 4))
        labels[item, group] = weight
        if not evaluation.query_judged[row]:
            assert all(math.isnan(values(f"{name}_placebo", evaluation, made)[row]) for name in NAMES)
            continue
        e, t = exposure[part], target[part]
        pairs = ((e - t, e - t), (e, e), (e, t), (t, t))
        for name, (x, y) in zip(NAMES, pairs, strict=True):
            expected = all_values(x, y, labels).mean()
            placebo, excess = (values(f"{name}_{p}", evaluation, made)[row] for p in ("placebo", "excess"))
            assert placebo == pytest.approx(expected, abs=1e-12)
            assert excess == pytest.approx(np.sum((x @ labels) * (y @ labels)) - expected, abs=1e-12)
        compared += 1
    assert compared >= 15


def test_excesses_of_the_terms_add_up_to_that_of_the_loss() -> None:
    made = world(7, queries=20)
    policy = PlackettLuce(made.candidates, made.candidates.columns["score"], made.stream)
    for options in (Options(samples=5), Options(samples=5, force_draws=True)):
        evaluation = Evaluation(policy, made.judgments, made.groups, options)
        loss, disparity, relevance, target = (values(f"{name}_excess", evaluation, made) for name in NAMES)
        np.testing.assert_allclose(loss, disparity - 2 * relevance + target, atol=1e-12)
        assert np.nanmax(np.abs(loss)) > 0.01


def test_drawn_labels_come_near_the_closed_form_and_are_the_same_for_every_way() -> None:
    made = world(9, queries=12, longest=6)
    evaluation = Evaluation(random_rankings(1, made.candidates), made.judgments, made.groups, Options(permutations=400))
    measure = parse("group_EEL")
    form = measure.bilinear(evaluation)
    assert form is not None
    quick = shuffled_values([Job(form, evaluation.over.doc, made.qids)], 400, 0)[0]
    from rerankers.measures.shuffles import Origin

    slow = np.stack([measure.per_unit(one).value for one in Origin(evaluation).shuffles(made.qids, 400)], axis=1)
    judged = evaluation.query_judged
    np.testing.assert_allclose(quick[judged], slow[judged], atol=1e-12)
    variance = shuffled_variance(form)
    assert variance is not None
    error = np.sqrt(variance / 400)
    assert np.all(np.abs(quick.mean(axis=1) - form.placebo()) <= 4.5 * error + 1e-12)


def test_shuffles_depend_on_seed_query_and_draw_alone() -> None:
    whole = shuffled(3, "q", 6, 20)
    np.testing.assert_array_equal(np.sort(whole, axis=1), np.tile(np.arange(6), (20, 1)))
    np.testing.assert_array_equal(shuffled(3, "q", 6, 5, first=12), whole[12:17])
    assert not np.array_equal(shuffled(4, "q", 6, 20), whole)
    assert not np.array_equal(shuffled(3, "p", 6, 20), whole)
    orders = shuffled(0, "q", 3, 6000)
    counts = np.bincount(orders @ [9, 3, 1])
    assert np.all(np.abs(counts[counts > 0] - 1000) < 130)
    assert np.sum(counts > 0) == 6


def test_order_of_the_candidates_and_blocks_change_no_bit() -> None:
    made = world(3, queries=10)
    rankings = random_rankings(1, made.candidates)
    evaluation = Evaluation(rankings, made.judgments, made.groups)
    whole = values("group_EEL_excess", evaluation, made)
    for row in range(10):
        alone = Evaluation(rankings.take(np.array([row])), made.judgments, made.groups)
        value = parse("group_EEL_excess").per_unit(alone, made.qids[row : row + 1]).value
        np.testing.assert_array_equal(value, whole[row : row + 1])

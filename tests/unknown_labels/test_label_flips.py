"""Wrong labels: expected measures against enumeration and draws, swaps, and corrections by a confusion matrix."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.measures.unknown_labels import (
    FlipPath,
    GroupForm,
    Moments,
    alignment_of,
    condition_number,
    corrected_measure,
    corrected_sums,
    drawn_sweep,
    flip_sweep,
    group_form,
    inverse_confusion,
)
from rerankers.measures.unknown_labels.flips import swap_rate
from rerankers.values import GroupAlignment
from tests.unknown_labels.label_twins import product_of_sums

MATRIX = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])
INDPTR = np.array([0, 5, 8])
DOC = np.array([0, 1, 2, 3, 4, 1, 2, 5])
LABELS = ["A", "B", "C", None, "B", "A"]
CODES = [0, 1, 2, -1, 1, 0]


def form_of(measure: str = "group_EEL", seed: int = 0) -> GroupForm:
    rng = np.random.default_rng(seed)
    return group_form(measure, INDPTR, DOC, rng.random(8), rng.random(8))


def alignment() -> GroupAlignment:
    return alignment_of(LABELS, ["A", "B", "C"])


def labelled(form: GroupForm, codes: list[int], unknown: str) -> np.ndarray:
    """Return the measure of every query under some labels; documents without one are a fourth group, or none."""
    values = []
    for low, high in itertools.pairwise(INDPTR.tolist()):
        own = [codes[doc] if codes[doc] >= 0 else 3 for doc in DOC[low:high]]
        groups = 4 if unknown == "count" else 3
        values.append(product_of_sums(form.left[low:high], form.right[low:high], own, groups))
    return np.array(values)


def expectation(form: GroupForm, matrix: np.ndarray, unknown: str) -> np.ndarray:
    """Return the mean of the measure over every labelling that true labels can turn into, by its probability."""
    known = [doc for doc, code in enumerate(CODES) if code >= 0]
    total = np.zeros(2)
    for wrong in itertools.product(range(3), repeat=len(known)):
        codes, chance = list(CODES), 1.0
        for doc, label in zip(known, wrong, strict=True):
            chance *= matrix[codes[doc], label]
            codes[doc] = label
        total += chance * labelled(form, codes, unknown)
    return total


@pytest.mark.parametrize("measure", ["group_EEL", "group_EED", "group_EER"])
@pytest.mark.parametrize("unknown", ["count", "drop"])
def test_expected_measure_is_the_mean_over_all_labellings(measure: str, unknown: str) -> None:
    form = form_of(measure)
    moments = Moments.of(form, alignment(), unknown)
    assert moments.under(np.eye(3)) == pytest.approx(form.value(alignment().resolve(unknown)))
    assert moments.under(np.eye(3)) == pytest.approx(labelled(form, CODES, unknown))
    assert moments.under(MATRIX) == pytest.approx(expectation(form, MATRIX, unknown), abs=1e-12)


def test_documents_shared_equally_stay_as_they_are() -> None:
    form = form_of()
    moments = Moments.of(form, alignment(), "spread")
    assert moments.under(np.eye(3)) == pytest.approx(form.value(alignment().resolve("spread")))


@pytest.mark.parametrize("measure", ["group_EEL", "group_EER"])
@pytest.mark.parametrize("unknown", ["count", "drop"])
def test_the_mean_of_the_correction_over_all_wrong_labellings_is_the_truth(measure: str, unknown: str) -> None:
    form = form_of(measure)
    known = [doc for doc, code in enumerate(CODES) if code >= 0]
    total, sums = np.zeros(2), np.zeros(3)
    for wrong in itertools.product(range(3), repeat=len(known)):
        labels: list[str | None] = list(LABELS)
        chance = 1.0
        for doc, label in zip(known, wrong, strict=True):
            chance *= MATRIX[CODES[doc], label]
            labels[doc] = "ABC"[label]
        seen = alignment_of(labels, ["A", "B", "C"])
        total += chance * corrected_measure(Moments.of(form, seen, unknown), MATRIX)
        sums += chance * corrected_sums(form.sums(seen)[0], MATRIX)[0]
    assert total == pytest.approx(labelled(form, CODES, unknown), abs=1e-12)
    assert sums == pytest.approx(form.sums(alignment())[0][0], abs=1e-12)
    naive = Moments.of(form, alignment(), unknown).under(MATRIX)
    assert np.abs(naive - labelled(form, CODES, unknown)).max() > 1e-3  # without correction there is something to mend


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_correction_undoes_expectation(seed: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    matrix = 0.6 * np.eye(groups) + 0.4 * rng.dirichlet(np.ones(groups), groups)
    names = [f"g{group}" for group in range(groups)]
    labels = [names[code] for code in rng.integers(groups, size=n)]
    form = group_form("group_EEL", np.array([0, n]), np.arange(n), rng.random(n), rng.random(n))
    moments = Moments.of(form, alignment_of(labels, names))
    # what labels do on average is undone exactly where every label is replaced by its expectation
    assert corrected_sums(moments.left @ matrix, matrix) == pytest.approx(moments.left, abs=1e-10)
    inverse = inverse_confusion(matrix)
    assert inverse @ matrix == pytest.approx(np.eye(groups), abs=1e-10)
    assert corrected_measure(moments, np.eye(groups)) == pytest.approx(moments.under(np.eye(groups)), abs=1e-12)


def test_sweep_against_draws() -> None:
    forms = {name: form_of(seed=seed) for seed, name in enumerate(("one", "two"))}
    moments = {name: Moments.of(form, alignment()) for name, form in forms.items()}
    rates = [0.0, 0.2, 0.5]
    streams = query_streams([f"d{doc}" for doc in range(6)])
    for path in (FlipPath.uniform(3), FlipPath.along(MATRIX, np.array([2.0, 2.0, 1.0]))):
        usable = [rate for rate in rates if rate <= path.highest]
        sweep = flip_sweep(moments, path, usable)
        drawn = drawn_sweep(forms, moments, alignment(), path, usable, streams, repetitions=4000)
        for name in forms:
            assert sweep.expected[name] == pytest.approx(
                [np.mean(moments[name].under(path.at(rate))) for rate in usable], abs=1e-12
            )
            error = drawn[name].std(axis=1) / np.sqrt(4000)
            assert np.all(np.abs(drawn[name].mean(axis=1) - sweep.expected[name]) <= 4 * error + 1e-12)
            assert drawn[name][0] == pytest.approx(np.full(4000, sweep.expected[name][0]))


def test_draws_depend_on_the_documents_id_alone() -> None:
    forms = {"one": form_of()}
    moments = {"one": Moments.of(forms["one"], alignment())}
    path, streams = FlipPath.uniform(3), query_streams([f"d{doc}" for doc in range(6)])
    few = drawn_sweep(forms, moments, alignment(), path, [0.3], streams, 5, seed=1)["one"]
    many = drawn_sweep(forms, moments, alignment(), path, [0.1, 0.3], streams, 50, seed=1)["one"]
    assert many[1, :5].tolist() == few[0].tolist()
    order = np.array([3, 0, 5, 1, 4, 2])
    place = np.argsort(order)
    form = GroupForm(INDPTR, place[DOC], forms["one"].left, forms["one"].right)
    moved = alignment_of([LABELS[doc] for doc in order], ["A", "B", "C"])
    again = drawn_sweep({"one": form}, {"one": Moments.of(form, moved)}, moved, path, [0.3], streams[order], 5, seed=1)
    assert again["one"] == pytest.approx(few, abs=1e-12)
    other = drawn_sweep(forms, moments, alignment(), path, [0.3], streams, 5, seed=2)["one"]
    assert not np.array_equal(other, few)


def test_the_rate_at_which_two_systems_swap() -> None:
    """Exposure aside of the target by group, against exposure aside of it within groups."""
    indptr, doc = np.array([0, 4]), np.arange(4)
    seen = alignment_of(["A", "A", "B", "B"])
    by_group = np.array([0.4, 0.4, -0.4, -0.4])
    within = np.array([0.9, -0.3, 0.3, -0.9])
    forms = {
        "by group": GroupForm(indptr, doc, by_group, by_group),
        "within": GroupForm(indptr, doc, within, within),
    }
    moments = {name: Moments.of(form, seen) for name, form in forms.items()}
    sweep = flip_sweep(moments, FlipPath.uniform(2), [0.0, 0.5])
    # at rate r: (1-2r)^2 |s|^2 + (1 - (1-r)^2 - r^2) |x|^2, |s|^2 being 1.28 and .72, |x|^2 .64 and 1.8
    rates = np.linspace(0, 0.5, 500_001)
    gap = (1 - 2 * rates) ** 2 * (1.28 - 0.72) + 2 * rates * (1 - rates) * (0.64 - 1.8)
    by_hand = rates[np.argmax(gap < 0)]
    assert sweep.swaps["by group", "within"] == pytest.approx(by_hand, abs=2e-6)
    assert sweep.first_swap == sweep.swaps["by group", "within"]
    assert sweep.expected["by group"][0] > sweep.expected["within"][0]
    assert sweep.expected["by group"][1] < sweep.expected["within"][1]
    alone = flip_sweep({"within": moments["within"]}, FlipPath.uniform(2), [0.1])
    assert alone.first_swap is None


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ([1.0, -4.0, 0.0], 0.25),
        ([1.0, -1.0, 0.0], None),
        ([-1.0, 5.0, -6.0], 1 / 3),
        ([1.0, 0.0, -16.0], 0.25),
        ([1.0, -8.0, 16.0], None),  # touches 0 and turns back
        ([0.0, 1.0, 1.0], 0.0),
        ([1.0, 0.0, 0.0], None),
    ],
)
def test_swap_rate(coefficients: list[float], expected: float | None) -> None:
    found = swap_rate(np.array(coefficients), 0.5)
    assert found == (None if expected is None else pytest.approx(expected))


def test_the_path_towards_a_confusion_matrix() -> None:
    path = FlipPath.along(MATRIX, np.array([5.0, 3.0, 2.0]))
    assert path.overall == pytest.approx(0.5 * 0.2 + 0.3 * 0.3 + 0.2 * 0.1)
    assert path.at(path.overall) == pytest.approx(MATRIX)
    assert path.at(0.0) == pytest.approx(np.eye(3))
    half = path.at(path.overall / 2)
    assert np.array([0.5, 0.3, 0.2]) @ (1 - np.diag(half)) == pytest.approx(path.overall / 2)
    assert path.at(path.highest).min() >= -1e-12
    assert np.all(FlipPath.uniform(3).at(0.3).sum(axis=1) == pytest.approx(1))


def test_wrong_arguments() -> None:
    form = form_of()
    moments = {"one": Moments.of(form, alignment())}
    with pytest.raises(InputError, match="two or more"):
        FlipPath.uniform(1)
    with pytest.raises(InputError, match="without errors"):
        FlipPath.along(np.eye(3), np.ones(3))
    for rates in ([], [-0.1], [0.6]):
        with pytest.raises(InputError, match=r"error rates from 0 to 0\.5"):
            flip_sweep(moments, FlipPath.uniform(3), rates)
    streams = query_streams(["a"] * 6)
    with pytest.raises(InputError, match="repetitions"):
        drawn_sweep({"one": form}, moments, alignment(), FlipPath.uniform(3), [0.1], streams, 0)
    with pytest.raises(InputError, match="a row a group"):
        moments["one"].under(np.eye(2))
    both = alignment_of(["A", "B"])
    several = GroupAlignment.of_entries("g", ("A", "B"), np.array([0, 0]), np.array([0, 1]), np.ones(2), 2)
    with pytest.raises(InputError, match="one group a document"):
        Moments.of(group_form("group_EEL", np.array([0, 2]), np.arange(2), np.ones(2), np.ones(2)), several)
    assert both.groups == ("A", "B")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.full((2, 2), 0.5), "labelled alike, and no correction"),
        (np.array([[0.5, 0.5], [0.5 + 1e-9, 0.5 - 1e-9]]), "labelled alike"),
        (np.array([[0.9, 0.2], [0.1, 0.9]]), "rows that sum to 1.1, 1"),
        (np.array([[1.1, -0.1], [0.0, 1.0]]), r"outside of \[0, 1\]"),
        (np.ones((2, 3)) / 3, "shape"),
    ],
)
def test_matrices_that_will_not_do(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        corrected_sums(np.ones(2), matrix)


def test_condition_number() -> None:
    assert condition_number(np.zeros((2, 2))) == np.inf
    assert condition_number(np.eye(3)) == pytest.approx(1)
    assert condition_number(np.array([[0.9, 0.1], [0.1, 0.9]])) == pytest.approx(1 / 0.8)

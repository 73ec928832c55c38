"""Estimates from sampled labels: their mean over every sample is the truth, and so is the mean of their variances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.measures.unknown_labels import (
    Estimate,
    GroupForm,
    difference_form,
    group_form,
    group_sum,
    independent_design,
    mean_measure,
    simple_design,
)
from tests.unknown_labels.label_twins import product_of_sums, subsets

INDPTR = np.array([0, 5, 8])
DOC = np.array([0, 1, 2, 3, 4, 1, 2, 5])
LABEL = np.array([0, 1, 2, 0, 1, 0])
EVERYONE = np.ones(6, dtype=bool)


def form_of(measure: str, seed: int = 0) -> GroupForm:
    rng = np.random.default_rng(seed)
    return group_form(measure, INDPTR, DOC, rng.random(8), rng.random(8))


def truth(form: GroupForm) -> float:
    values = [
        product_of_sums(form.left[low:high], form.right[low:high], LABEL[DOC[low:high]].tolist(), 3)
        for low, high in itertools.pairwise(INDPTR.tolist())
    ]
    return float(np.mean(values))


def drawn(chosen: tuple[int, ...]) -> np.ndarray:
    flags = np.zeros(6, dtype=bool)
    flags[list(chosen)] = True
    return flags


def moments(chances: list[float], estimates: list[Estimate]) -> tuple[float, float, float]:
    """Return the mean of the estimates, their variance, and the mean of their estimated variances."""
    weight, value = np.array(chances), np.array([one.value for one in estimates])
    mean = float(weight @ value)
    spread = float(weight @ (value - mean) ** 2)
    return mean, spread, float(weight @ np.array([one.variance for one in estimates], dtype=float))


@pytest.mark.parametrize("measure", ["group_EEL", "group_EED", "group_EER"])
def test_independent_draws(measure: str) -> None:
    form, probability = form_of(measure), np.array([0.9, 0.5, 0.7, 0.3, 1.0, 0.6])
    chances, estimates, sums = [], [], []
    for chosen in subsets(6):
        flags = drawn(chosen)
        chances.append(float(np.prod(np.where(flags, probability, 1 - probability))))
        design = independent_design(probability, flags, EVERYONE)
        seen = np.where(flags, LABEL, -1)  # what was not drawn is not known
        estimates.append(mean_measure(form, seen, design))
        sums.append(group_sum(np.arange(6.0), seen == 0, design))
    assert sum(chances) == pytest.approx(1)
    mean, spread, estimated = moments(chances, estimates)
    assert mean == pytest.approx(truth(form), abs=1e-12)
    assert estimated == pytest.approx(spread, rel=1e-9)
    mean, spread, estimated = moments(chances, sums)
    assert mean == pytest.approx(8.0)  # documents 0, 3 and 5
    assert estimated == pytest.approx(spread)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_simple_samples(size: int) -> None:
    form = form_of("group_EEL")
    estimates, sums = [], []
    for chosen in itertools.combinations(range(6), size):
        flags = drawn(chosen)
        design = simple_design(flags, EVERYONE)
        seen = np.where(flags, LABEL, -1)
        estimates.append(mean_measure(form, seen, design))
        sums.append(group_sum(np.arange(6.0), seen == 0, design))
    chances = [1 / len(estimates)] * len(estimates)
    if size < 4:
        assert all(one.variance is None and one.standard_error is None for one in estimates)
        assert np.mean([one.value for one in estimates]) == pytest.approx(truth(form), abs=1e-12)
    else:
        mean, spread, estimated = moments(chances, estimates)
        assert mean == pytest.approx(truth(form), abs=1e-12)
        assert estimated == pytest.approx(spread, rel=1e-9, abs=1e-12)
    mean, spread, estimated = moments(chances, sums)
    assert mean == pytest.approx(8.0)
    assert estimated == pytest.approx(spread, abs=1e-12)


def test_differences_of_systems_are_estimated_alike() -> None:
    one, two = form_of("group_EEL", 1), form_of("group_EEL", 2)
    probability = np.full(6, 0.5)
    values = []
    for chosen in subsets(6):
        design = independent_design(probability, drawn(chosen), EVERYONE)
        seen = np.where(drawn(chosen), LABEL, -1)
        difference = mean_measure(difference_form(one, two), seen, design)
        apart = mean_measure(one, seen, design).value - mean_measure(two, seen, design).value
        assert difference.value == pytest.approx(apart, abs=1e-12)
        values.append(difference)
    mean, spread, estimated = moments([1 / 64] * 64, values)
    assert mean == pytest.approx(truth(one) - truth(two), abs=1e-12)
    assert estimated == pytest.approx(spread, rel=1e-9)


def test_labels_of_all_documents_leave_no_error() -> None:
    form = form_of("group_EEL")
    for design in (simple_design(EVERYONE, EVERYONE), independent_design(np.ones(6), EVERYONE, EVERYONE)):
        found = mean_measure(form, LABEL, design)
        assert found.value == pytest.approx(truth(form), abs=1e-12)
        assert found.standard_error == 0.0


def test_no_draw_leaves_what_needs_no_label() -> None:
    form = form_of("group_EEL")
    nobody = np.zeros(6, dtype=bool)
    found = mean_measure(form, np.full(6, -1), independent_design(np.full(6, 0.5), nobody, EVERYONE))
    assert found.value == pytest.approx(np.sum(form.left**2) / 2)
    assert found.variance == 0.0


def test_pairs_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.measures.unknown_labels import pairs

    form = form_of("group_EER")
    design = independent_design(np.full(6, 0.5), EVERYONE, EVERYONE)
    whole = mean_measure(form, LABEL, design)
    monkeypatch.setattr(pairs, "_PAIRS", 1)
    assert mean_measure(form, LABEL, design) == Estimate(
        pytest.approx(whole.value, abs=1e-12), pytest.approx(whole.variance, abs=1e-12)
    )


def test_wrong_arguments() -> None:
    form, some = form_of("group_EEL"), drawn((0, 1))
    with pytest.raises(InputError, match="two or more"):
        simple_design(drawn((0,)), EVERYONE)
    with pytest.raises(InputError, match="outside of the population"):
        simple_design(some, drawn((0,)))
    with pytest.raises(InputError, match="shape"):
        simple_design(some, EVERYONE[:5])
    with pytest.raises(InputError, match=r"outside of \(0, 1\]"):
        independent_design(np.zeros(6), some, EVERYONE)
    with pytest.raises(InputError, match="one a document"):
        independent_design(np.ones(5), some, EVERYONE)
    with pytest.raises(InputError, match="never to be drawn"):
        mean_measure(form, LABEL, simple_design(some, drawn((0, 1, 2))))
    with pytest.raises(InputError, match="without a label"):
        mean_measure(form, np.full(6, -1), simple_design(some, EVERYONE))

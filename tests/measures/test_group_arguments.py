"""What users hand to the functions of group measures by mistake: NaN labels, lists, options out of range."""

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures import evaluate, favoured_pairs, gfr, ndkl, prefix_parity
from rerankers.stats.paired import paired_intervals
from rerankers.stats.permutation import sign_flip_tests
from rerankers.stats.power import power_of

NAN = float("nan")


def test_labels_that_are_nan_are_no_groups() -> None:
    for call in (ndkl, favoured_pairs):
        with pytest.raises(InputError, match="the label NaN"):
            call(["A", NAN, NAN])
    with pytest.raises(InputError, match="several labels"):
        ndkl([["A", "B"], ["A"]])
    with pytest.raises(InputError, match="for document 'a'"):
        evaluate({"q": [["a", "b"]]}, {"q": {"a": 1}}, {"a": ["A", NAN], "b": "A"})


@pytest.mark.parametrize("smoothing", [2, -0.5, NAN])
def test_smoothing_is_a_share(smoothing: float) -> None:
    with pytest.raises(ConfigError, match="smoothing: found"):
        ndkl(["A", "B"], smoothing=smoothing)


@pytest.mark.parametrize("step", [0, -1, 1.5])
def test_steps_are_whole_numbers(step: float) -> None:
    with pytest.raises(ConfigError, match="step: found"):
        prefix_parity(["A", "B"] * 3, step=step)  # type: ignore[arg-type]


def test_several_attributes_have_as_many_targets() -> None:
    with pytest.raises(InputError, match="2 lists of groups, 1 targets and 2 divergences"):
        gfr([["A"], ["B"]], [{"A": 1}], [1], divergence=["jsd", "rnod"])


def test_high_grades_do_not_overflow() -> None:
    assert gfr(["A"], {"A": 1}, [2000])["GFR"] == pytest.approx(1.0)


def test_targets_are_numbers() -> None:
    with pytest.raises(InputError, match="target: found 'x'"):
        ndkl(["A"], "x")


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_sign_flips_do_not_depend_on_the_scale(scale: float) -> None:
    difference = np.array([1.0, 2.0, -0.5, 3.0])
    assert sign_flip_tests(scale * difference).p[0] == sign_flip_tests(difference).p[0]


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="infinite"):
        paired_intervals(np.array([[1.0], [np.inf]]))
    with pytest.raises(InputError, match="difference: found nan"):
        power_of(NAN, 1.0, 10)

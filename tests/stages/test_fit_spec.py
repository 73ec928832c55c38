"""How options are chosen: searches and grids over functions whose best is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InfeasibleError
from rerankers.stages.fit_spec import FitGrid, FitSearch, NoFit, Trial

STATIC = Trial({}, {"EEL": 2.0, "utility": 0.5})


def attempts(loss: Callable[..., float], utility: Callable[..., float] = lambda **_: 0.3) -> Any:
    """Return what evaluates options by plain functions, and remembers what was asked."""

    def attempt(options: Mapping[str, Any]) -> Trial:
        attempt.asked.append(dict(options))  # type: ignore[attr-defined]
        return Trial(options, {"EEL": loss(**options), "utility": utility(**options)})

    attempt.asked = []  # type: ignore[attr-defined]
    return attempt


@given(best=st.floats(0.05, 20.0))
def test_search_finds_the_best(best: float) -> None:
    attempt = attempts(lambda temperature: math.log(temperature / best) ** 2)
    found = FitSearch().choose(attempt, STATIC)
    assert found.options["temperature"] == pytest.approx(best, rel=0.02)
    asked = [one["temperature"] for one in attempt.asked]
    assert len(set(asked)) == len(asked), "nothing is evaluated twice"
    assert found.means["EEL"] == min(math.log(value / best) ** 2 for value in asked)


@given(best=st.sampled_from([0.02, 50.0]))
def test_search_at_the_ends(best: float) -> None:
    found = FitSearch().choose(attempts(lambda temperature: abs(math.log(temperature / best))), STATIC)
    assert found.options == {"temperature": best}


@given(share=st.floats(0.2, 0.95))
def test_search_reaches_a_level(share: float) -> None:
    attempt = attempts(lambda temperature: 0.0, lambda temperature: 0.5 / (1 + temperature))
    spec = FitSearch(measure="utility", level=share, relative=True)
    found = spec.choose(attempt, STATIC)
    assert found.means["utility"] == pytest.approx(share * 0.5, rel=0.01)
    assert FitSearch(measure="utility", level=share / 2).choose(attempt, STATIC).options == found.options


def test_level_out_of_reach() -> None:
    attempt = attempts(lambda temperature: 0.0, lambda temperature: 0.5 / (1 + temperature))
    with pytest.raises(InfeasibleError, match=r"from 0\.02 to 50 it goes from 0\.490196 to 0\.00980392"):
        FitSearch(measure="utility", level=0.6).choose(attempt, STATIC)


def test_grid_takes_the_best_within_the_bounds() -> None:
    spec = FitGrid(options={"a": [1, 2, 3], "b": [0.0, 1.0]})
    attempt = attempts(lambda a, b: abs(a - 2) + b, lambda a, b: 0.1 * a)
    assert spec.choose(attempt, STATIC).options == {"a": 2, "b": 0.0}
    assert len(attempt.asked) == 6
    keeping = FitGrid(options=spec.options, keep=0.6)
    assert keeping.choose(attempt, STATIC).options == {"a": 3, "b": 0.0}, "utility of at least .3"
    bounded = FitGrid(options=spec.options, measure="utility", at_most={"EEL": 0.5})
    assert bounded.choose(attempt, STATIC).options == {"a": 2, "b": 0.0}
    assert bounded.measures == ("utility", "EEL")
    with pytest.raises(InfeasibleError, match=r"6 choices is allowed: utility at least 0\.35, found at most 0\.3"):
        FitGrid(options=spec.options, keep=0.7).choose(attempt, STATIC)
    with pytest.raises(InfeasibleError, match=r"EEL at most -1, found at least 0"):
        FitGrid(options=spec.options, at_most={"EEL": -1.0}).choose(attempt, STATIC)


def test_of_equal_choices_the_first() -> None:
    assert FitGrid(options={"a": [3, 1, 2]}).choose(attempts(lambda a: 1.0), STATIC).options == {"a": 3}
    assert NoFit().choose(attempts(lambda: 1.0), STATIC) is None


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FitSearch(low=0.0), r"fit\.low, fit\.high: found 0"),
        (lambda: FitSearch(low=2.0, high=1.0), "low < high"),
        (lambda: FitSearch(relative=True), r"fit\.level"),
        (lambda: FitSearch(level=math.nan), r"fit\.level: found nan"),
        (lambda: NoFit(tried=0), r"fit\.tried: found 0"),
        (lambda: FitSearch(digits=0), r"fit\.digits"),
        (lambda: FitSearch(measure="EED"), "less or more is better"),
        (lambda: FitSearch(measure="EELL"), "EELL"),
        (lambda: FitGrid(options={}), "found none"),
        (lambda: FitGrid(options={"a": 1}), r"fit\.options\.a: found 1"),
        (lambda: FitGrid(options={"a": []}), "list of values"),
        (lambda: FitGrid(options={"a": [1]}, keep=1.5), r"fit\.keep"),
        (lambda: FitGrid(options={"a": [1]}, at_most={"EEL": math.inf}), r"fit\.at_most\.EEL"),
        (lambda: FitGrid(options={"a": list(range(101)), "b": list(range(100))}), "10,100 combinations"),
        (lambda: FitGrid().choose(attempts(lambda: 1.0), STATIC), "found null"),
    ],
)
def test_what_is_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build()


def test_a_level_needs_no_direction() -> None:
    attempt = attempts(lambda temperature: temperature)
    attempt_of_disparity = lambda options: Trial(options, {"EED": attempt(options).means["EEL"], "utility": 0.0})  # noqa: E731
    found = FitSearch(measure="EED", level=2.0).choose(attempt_of_disparity, STATIC)
    assert found.options["temperature"] == pytest.approx(2.0, rel=0.01)

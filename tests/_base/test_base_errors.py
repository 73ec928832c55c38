"""Errors carry every problem, also through a worker process."""

from __future__ import annotations

import pickle

import pytest

from rerankers._base.errors import (
    ConfigError,
    InfeasibleError,
    InputError,
    MissingError,
    Problem,
    Problems,
    choose,
)


def test_text_of_a_problem() -> None:
    assert str(Problem("f.txt", "x", "y", 3, "Do z.")) == "f.txt:3: found x; expected y. Do z."
    assert str(Problem("f.txt", "x", "y")) == "f.txt: found x; expected y"


def test_input_error_survives_pickling() -> None:
    error = InputError([Problem("a", "b", "c", 1), Problem("d", "e", "f", mend="g")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == str(error) == "a:1: found b; expected c\nd: found e; expected f. g"


@pytest.mark.parametrize(("kind", "code"), [(InputError, 1), (ConfigError, 2), (MissingError, 3), (InfeasibleError, 1)])
def test_exit_codes(kind: type[InputError], code: int) -> None:
    assert kind.exit_code == code


def test_array_errors_are_value_errors() -> None:
    assert all(issubclass(kind, ValueError) for kind in (InputError, ConfigError, InfeasibleError))
    assert not issubclass(MissingError, ValueError)


def test_problems_are_bounded_and_counted() -> None:
    problems = Problems("f", limit=2)
    assert not problems
    problems.raise_if_any()
    for line in range(5):
        problems.add(line, "x", "y")
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert [problem.line for problem in caught.value.problems] == [0, 1, None]
    assert "3 more problems" in str(caught.value)


def test_choose_suggests_the_near_word() -> None:
    assert choose("groups.unknown", "drop", ["drop", "count"]) == "drop"
    with pytest.raises(ConfigError, match=r"groups\.unknown: found 'coutn'; expected one of drop, count\. Did you"):
        choose("groups.unknown", "coutn", ["drop", "count"])
    with pytest.raises(ConfigError) as caught:
        choose("x", "qqqq", ["drop"])
    assert "Did you mean" not in str(caught.value)

"""Objectives that LightGBM has itself: how they say so, and what their grades must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from rerankers._base.errors import ConfigError, InputError, Problem, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

LONGEST = 10_000  # rows of a query, a limit of LightGBM's ranking objectives
USUAL_GRADE = 30  # the highest grade LightGBM has gains for unless it is given others
HIGHEST_GRADE = 1000  # 2^grade is a number up to here
_SHOWN = 20  # problems listed at most

GRADES = {
    "lambdarank": "whole",
    "rank_xendcg": "whole",
    "binary": "relevant",
    "cross_entropy": "share",
    "regression": "any",
}
"""LightGBM's name of an objective -> what it takes as labels: ``whole`` grades, whether a document is ``relevant``
(grade above 0), a ``share`` (grade from 0 to 1), or ``any`` grade."""
_TRANSFORMED = ("binary", "cross_entropy")  # whose predictions are probabilities unless raw scores are asked for


@runtime_checkable
class Native(Protocol):
    """What an `Objective` has besides where LightGBM may have an implementation of its own.

    Its function of scores (`Objective.bind`) is then used for the values in the curve, for early stopping without a
    monitor, and for trees that see some queries only (see `LightGBM`).
    """

    def native(self) -> Mapping[str, Any] | None:
        """Return LightGBM's parameters, ``objective`` (a key of `GRADES`) among them.

        None says that with these options LightGBM has no such objective, and the function of scores is used.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class NativeTask:
    """A native objective on some rows.

    Attributes
    ----------
    parameters
        for LightGBM, gains of all grades among them.
    label
        float64 (nnz,).
    transformed
        whether LightGBM shows evaluations something else than raw scores.
    """

    parameters: Mapping[str, Any]
    label: NDArray[np.float64]
    transformed: bool


def native_task(objective: Objective, rows: LearningRows) -> NativeTask | None:
    """Return LightGBM's own version of an objective, None where it has none.

    Raises
    ------
    ConfigError
        for an objective that LightGBM does not have under that name.
    InputError
        naming every query (the first 20) that is too long, or has grades that the objective cannot take.
    """
    given = objective.native() if isinstance(objective, Native) else None
    if given is None:
        return None
    parameters = dict(given)
    name = choose("objective for LightGBM", str(parameters.get("objective")), GRADES)
    kind = GRADES[name]
    label = (rows.grade > 0).astype(np.float64) if kind == "relevant" else rows.grade
    if kind == "share" and rows.grade.max(initial=0.0) > 1:
        high = rows.grade > 1
        raise _refused(rows, high, f"grades above 1 with {name}", "grades from 0 to 1", "Scale the grades.")
    if kind == "whole":
        _check_lengths(rows, name)
        fractional = rows.grade != np.floor(rows.grade)
        if np.any(fractional):
            mend = "Use an objective that takes any grade (list_net, exact_exposure), or round the grades."
            raise _refused(rows, fractional, f"grades that are not whole with {name}", "whole grades", mend)
        parameters = _with_gains(rows, parameters)
    return NativeTask(parameters, label, name in _TRANSFORMED)


def _check_lengths(rows: LearningRows, name: str) -> None:
    lengths = rows.over.lengths
    expected = f"at most {LONGEST:,} with {name}"
    mend = "Use fewer candidates (retriever.k=10000), or an objective that LightGBM does not have itself."
    problems = [
        Problem(f"query {rows.qids[row]}", f"{lengths[row]:,} documents", expected, None, mend)
        for row in np.flatnonzero(lengths > LONGEST)[:_SHOWN]
    ]
    if problems:
        raise InputError(problems)


def _refused(rows: LearningRows, pairs: NDArray[np.bool_], found: str, expected: str, mend: str) -> InputError:
    """Return the error that names the queries with such pairs, bool (nnz,), and an example of each."""
    place = np.flatnonzero(pairs)
    row = np.searchsorted(rows.indptr, place, side="right") - 1
    queries, first = np.unique(row, return_index=True)
    problems = [
        Problem(f"query {rows.qids[query]}", f"{found} ({rows.grade[place[at]]:g})", expected, None, mend)
        for query, at in zip(queries[:_SHOWN], first[:_SHOWN], strict=True)
    ]
    if len(queries) > _SHOWN:
        problems.append(Problem("rows", f"{len(queries) - _SHOWN} more such queries", "none"))
    return InputError(problems)


def _with_gains(rows: LearningRows, parameters: dict[str, Any]) -> dict[str, Any]:
    """Add gains where LightGBM's own end too early: 2^grade - 1 (Burges 2010), as its own are."""
    highest = int(rows.grade.max(initial=0.0))
    given = parameters.get("label_gain")
    if given is not None:
        if len(given) <= highest:
            raise ConfigError(
                f"objective.label_gain: found gains for grades 0 to {len(given) - 1}; expected gains up to grade "
                f"{highest}, which the training rows have"
            )
    elif highest > HIGHEST_GRADE:
        mend = "Map the grades to a shorter scale."
        raise _refused(rows, rows.grade > HIGHEST_GRADE, "grades too high", f"at most {HIGHEST_GRADE}", mend)
    elif highest > USUAL_GRADE:
        parameters["label_gain"] = [2.0**grade - 1.0 for grade in range(highest + 1)]
    return parameters

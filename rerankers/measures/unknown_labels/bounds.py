"""Sharp bounds on a group measure over all completions of labels that are not known, by query and in the mean.

An unknown document has one label in all queries where it occurs, though each query's extreme may want another. The
bounds of the mean respect that (`consistent`); where too many queries hang together by such documents they do not, and
are outer bounds, beside values of completions that do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.unknown_labels.branch import OPEN as BRANCHES
from rerankers.measures.unknown_labels.completion import Extreme, Incomplete
from rerankers.measures.unknown_labels.consistent import consistent
from rerankers.measures.unknown_labels.form import GroupForm, group_form
from rerankers.measures.unknown_labels.labels import alignment_of
from rerankers.measures.unknown_labels.products import EXACT, product_extremes
from rerankers.measures.unknown_labels.squares import POINTS, greatest_square, least_square
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment

SHARP = 1e-9
"""Bounds closer than this part of the larger one count as attained."""


SEARCHED = 256
"""Branches held open where a query is solved again and again, by a search that proves nothing."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a value can be over all completions.

    Attributes
    ----------
    lower, upper
        no completion is outside of them.
    lower_found, upper_found
        values that completions have, ``lower <= lower_found <= upper_found <= upper``.
    """

    lower: float
    lower_found: float
    upper_found: float
    upper: float

    @property
    def sharp(self) -> bool:
        """Whether both bounds are attained."""
        return self.gap <= SHARP * max(abs(self.lower), abs(self.upper))

    @property
    def gap(self) -> float:
        """How far the bounds may be from the extremes, the larger of the two sides."""
        return max(self.lower_found - self.lower, self.upper - self.upper_found, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class QueryBounds:
    """Bounds of Q queries and of their mean.

    Attributes
    ----------
    lower, lower_found, upper_found, upper
        float64 (Q,), see `Bounds`.
    unknown
        int64 (Q,), documents of each query whose group is not known, in full or in part.
    shared
        unknown documents that occur in several queries.
    mean
        bounds of the mean over queries, with one label for each document as far as `consistent` reaches; the found
        values always have one.
    """

    lower: NDArray[np.float64]
    lower_found: NDArray[np.float64]
    upper_found: NDArray[np.float64]
    upper: NDArray[np.float64]
    unknown: NDArray[np.int64]
    shared: int
    mean: Bounds

    def of(self, query: int) -> Bounds:
        """Return the bounds of one query."""
        parts = (self.lower, self.lower_found, self.upper_found, self.upper)
        return Bounds(*(float(part[query]) for part in parts))


def completion_bounds(
    form: GroupForm,
    alignment: GroupAlignment,
    none: bool = False,
    exact: int = EXACT,
    points: int = POINTS,
    branches: int = BRANCHES,
) -> QueryBounds:
    """Return bounds of a measure over all ways to give each unknown document to one of the known groups.

    The unknown part of a document (`GroupAlignment.unknown`) goes to one group as a whole.

    Parameters
    ----------
    form
        what is measured, see `group_form` and `difference_form`.
    alignment
        not resolved; known parts may be of any kind.
    none
        whether unknown documents may also belong to none of the groups.
    exact
        completions of a query that are compared one by one where the measure is no sum of squares.
    points, branches
        of the search for the least sum of squares, see `least_square`.

    Raises
    ------
    InputError
        where the alignment is resolved, has no group, or fewer documents than the form.
    """
    documents, problems = incomplete_queries(form, alignment, none)
    solver = _Solver(exact, points, branches)
    least, greatest = [solver.least(one) for one in problems], [solver.greatest(one) for one in problems]
    _, occurrences = np.unique(np.concatenate([np.zeros(0, np.int64), *documents]), return_counts=True)
    quick = _Solver(exact, points, min(branches, SEARCHED))
    low = consistent(problems, documents, least, 1, solver.least, quick.least)
    high = consistent(problems, documents, greatest, -1, solver.greatest, quick.greatest)
    lower, upper = _array([one.bound for one in least]), _array([one.bound for one in greatest])
    return QueryBounds(
        lower=lower,
        lower_found=_array([one.found for one in least]),
        upper_found=_array([one.found for one in greatest]),
        upper=upper,
        unknown=np.array([len(one.left) for one in problems], dtype=np.int64),
        shared=int(np.sum(occurrences > 1)),
        mean=Bounds(_mean(low.bound), _mean(low.found), _mean(high.found), _mean(high.bound)),
    )


def group_bounds(
    measure: str,
    exposure: NDArray[np.float64],
    target: NDArray[np.float64],
    labels: Sequence[str | None],
    groups: Sequence[str] | None = None,
    *,
    none: bool = False,
    exact: int = EXACT,
) -> Bounds:
    """Return bounds of one query's measure over all completions of its labels.

    Parameters
    ----------
    measure
        ``group_EEL``, ``group_EED``, ``group_EER`` or ``group_EET``.
    exposure, target
        float64 (n,).
    labels
        (n,), the group of each document, None where it is not known.
    groups
        all groups there are; None takes those among the labels.
    none, exact
        as of `completion_bounds`.

    Raises
    ------
    InputError
        for lengths that differ, a label that is no group, or no group at all.
    """
    n = len(labels)
    form = group_form(measure, np.array([0, n], dtype=np.int64), np.arange(n), exposure, target)
    return completion_bounds(form, alignment_of(labels, groups), none, exact).of(0)


def incomplete_queries(
    form: GroupForm, alignment: GroupAlignment, none: bool
) -> tuple[list[NDArray[np.int64]], list[Incomplete]]:
    """Return the unknown documents of every query, and what is known beside them; raises as `completion_bounds`."""
    if alignment.resolved:
        raise InputError.one("groups", "a resolved alignment", "one that still says what is unknown")
    if alignment.n_docs <= int(form.doc.max(initial=-1)):
        found = f"an alignment of {alignment.n_docs} documents"
        raise InputError.one("groups", found, f"one of at least {int(form.doc.max()) + 1}")
    if not alignment.groups:
        mend = "Name the groups that unknown documents may belong to."
        raise InputError.one("groups", "no document of a known group", "one group or more", mend=mend)
    part = alignment.unknown[form.doc]
    place = np.flatnonzero(part > 0)
    left = form.left[place] * part[place]
    right = left if form.squares else form.right[place] * part[place]
    base_left, base_right = form.sums(alignment)
    starts = np.searchsorted(place, form.indptr)
    documents, problems = [], []
    for query, (low, high) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        own = left[low:high]
        of_query = base_left[query]
        other, of_other = (own, of_query) if form.squares else (right[low:high], base_right[query])
        documents.append(form.doc[place[low:high]].astype(np.int64))
        problems.append(Incomplete(of_query, of_other, own, other, none))
    return documents, problems


@dataclass(frozen=True, slots=True, eq=False)
class _Solver:
    """Finds extremes of single queries. Both of a sum of products come at once, and are kept."""

    exact: int
    points: int
    branches: int
    kept: dict[tuple[bytes, ...], tuple[Extreme, Extreme]] = field(default_factory=dict)

    def least(self, problem: Incomplete) -> Extreme:
        """Return the least value."""
        return least_square(problem, self.points, self.branches) if problem.squares else self._both(problem)[0]

    def greatest(self, problem: Incomplete) -> Extreme:
        """Return the greatest value."""
        return greatest_square(problem) if problem.squares else self._both(problem)[1]

    def _both(self, problem: Incomplete) -> tuple[Extreme, Extreme]:
        parts = (problem.base_left, problem.base_right, problem.left, problem.right)
        key = tuple(part.tobytes() for part in parts)
        if key not in self.kept:
            self.kept[key] = product_extremes(problem, self.exact)
        return self.kept[key]


def _mean(values: NDArray[np.float64]) -> float:
    return exact_mean(values) or 0.0  # there is at least one query


def _array(values: list[float]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)

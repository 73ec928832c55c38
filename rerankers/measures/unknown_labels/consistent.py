"""Extremes of a sum over queries when a document has one label in all of them.

Queries hang together where they share unknown documents. Given the labels of the shared ones, queries fall apart: for
each way to label the shared documents of a query its other documents are given in the best way, and the labels of a
component's shared documents are compared one by one. Where there are too many of them, each query's own extreme stays
the bound, and a local search finds what is attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.unknown_labels.completion import Extreme, Incomplete
from rerankers.measures.unknown_labels.search import improve

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELLINGS = 1 << 16
"""Labellings of a component's shared documents that are compared."""
SOLVED = 256
"""Times that a query of such a component may have to be solved, all its queries together."""
ROUNDS = 5
"""Rounds of local search and of solving each query anew, in larger components."""

Solver = Callable[[Incomplete], Extreme]


@dataclass(frozen=True, slots=True, eq=False)
class Consistent:
    """The extreme of the sum over queries.

    Attributes
    ----------
    bound
        float64 (Q,): no completion's sum over queries is beyond the sum of these.
    found
        float64 (Q,), values under one completion that gives each document one label.
    """

    bound: NDArray[np.float64]
    found: NDArray[np.float64]


def consistent(
    problems: Sequence[Incomplete],
    documents: Sequence[NDArray[np.int64]],
    extremes: Sequence[Extreme],
    sign: int,
    solve: Solver,
    quick: Solver | None = None,
) -> Consistent:
    """Return the least (``sign`` 1) or greatest (-1) sum over queries under one label for each document.

    Parameters
    ----------
    problems, documents
        one a query; the codes of its unknown documents, int64 (n,).
    extremes
        of each query by itself.
    sign, solve
        which extreme, and what finds it in one query.
    quick
        the same without proof, for searches; None takes ``solve``.
    """
    bound, found = (np.array([getattr(one, part) for one in extremes], dtype=float) for part in ("bound", "found"))
    codes, times = np.unique(np.concatenate([np.zeros(0, np.int64), *documents]), return_counts=True)
    shared = codes[times > 1]
    places = [np.flatnonzero(np.isin(own, shared)) for own in documents]
    for queries in _components([own[at].tolist() for own, at in zip(documents, places, strict=True)]):
        part = [(problems[query], documents[query], places[query]) for query in queries]
        common = np.unique(np.concatenate([own[at] for _, own, at in part]))
        choices = part[0][0].choices
        solved = sum(choices ** len(at) for _, _, at in part)
        if solved <= SOLVED and choices ** len(common) <= LABELLINGS:
            bound[queries], found[queries] = _compared(part, common, sign, solve)
        else:
            found[queries] = _searched(part, [extremes[query].choice for query in queries], sign, quick or solve)
    return Consistent(bound, found)


def _components(own: list[list[int]]) -> list[list[int]]:
    """Return the queries that hang together by shared documents; those without any are left out."""
    parent = list(range(len(own)))

    def root(query: int) -> int:
        while parent[query] != query:
            parent[query] = parent[parent[query]]
            query = parent[query]
        return query

    first: dict[int, int] = {}
    for query, codes in enumerate(own):
        for code in codes:
            parent[root(query)] = root(first.setdefault(code, query))
    found: dict[int, list[int]] = {}
    for query, codes in enumerate(own):
        if codes:
            found.setdefault(root(query), []).append(query)
    return list(found.values())


_Part = list[tuple[Incomplete, "NDArray[np.int64]", "NDArray[np.int64]"]]
"""Queries of a component: what is to be completed, its documents, and the places of the shared ones."""


def _compared(
    part: _Part, common: NDArray[np.int64], sign: int, solve: Solver
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare all labellings of a component's shared documents."""
    choices = part[0][0].choices
    tables, shapes = [], []
    for problem, own, at in part:
        axes = np.searchsorted(common, own[at])
        rank = np.argsort(axes, kind="stable")
        cells = [solve(given(problem, at[rank], np.array(label))) for label in np.ndindex(*[choices] * len(at))]
        shape = np.ones(len(common), dtype=int)
        shape[axes] = choices
        shapes.append(tuple(shape.tolist()))
        tables.append(np.array([[one.bound, one.found] for one in cells]))
    everything = (choices,) * len(common)
    sides = []
    for side in (0, 1):
        grids = [table[:, side].reshape(shape) for table, shape in zip(tables, shapes, strict=True)]
        total = np.zeros(everything)
        for grid in grids:
            total = total + grid
        best = np.unravel_index(int(np.argmin(sign * total)), everything)
        sides.append(np.array([float(np.broadcast_to(grid, everything)[best]) for grid in grids]))
    return sides[0], sides[1]


def _searched(part: _Part, extreme: list[NDArray[np.int64]], sign: int, solve: Solver) -> NDArray[np.float64]:
    """Return the values of the best of several local optima.

    Each begins at one query's own extreme, to which the other queries' extremes are added, or with one choice for all.
    """
    documents = [own for _, own, _ in part]
    starts = [[np.full(len(own), choice) for own in documents] for choice in range(part[0][0].choices)]
    for query in range(len(part)):
        label: dict[int, int] = {}
        for place in (query, *range(len(part))):
            for code, choice in zip(documents[place].tolist(), extreme[place].tolist(), strict=True):
                label.setdefault(code, choice)
        starts.append([np.array([label[code] for code in own.tolist()], dtype=np.int64) for own in documents])
    found = [_climbed(part, start, sign, solve) for start in starts]
    return min(found, key=lambda values: sign * float(values.sum()))


def _climbed(part: _Part, start: list[NDArray[np.int64]], sign: int, solve: Solver) -> NDArray[np.float64]:
    """Move one document at a time, then solve each query anew beside its shared documents, while that helps."""
    problems, documents = [problem for problem, _, _ in part], [own for _, own, _ in part]
    best, values = math.inf, np.zeros(len(part))
    for _ in range(ROUNDS):
        start = [choice.copy() for choice in improve(problems, start, sign, documents)]
        for choice, (problem, _, at) in zip(start, part, strict=True):
            rest = np.setdiff1d(np.arange(len(choice)), at)
            again = choice.copy()
            again[rest] = solve(given(problem, at, choice[at])).choice
            if sign * problem.value(again) < sign * problem.value(choice):
                choice[:] = again
        now = np.array([problem.value(choice) for problem, choice in zip(problems, start, strict=True)])
        if sign * float(now.sum()) >= best:
            break
        best, values = sign * float(now.sum()), now
    return values


def given(problem: Incomplete, at: NDArray[np.integer], choice: NDArray[np.integer]) -> Incomplete:
    """Return what is left of a query once the documents in the places ``at`` have been given."""
    rest = np.setdiff1d(np.arange(len(problem.left)), at)
    width = problem.groups + 1
    added = np.bincount(choice, weights=problem.left[at], minlength=width)[: problem.groups]
    base, left = problem.base_left + added, problem.left[rest]
    if problem.squares:
        return Incomplete(base, base, left, left, problem.none)
    more = np.bincount(choice, weights=problem.right[at], minlength=width)[: problem.groups]
    return Incomplete(base, problem.base_right + more, left, problem.right[rest], problem.none)

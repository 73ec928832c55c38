"""Local search over completions: one document changes its group at a time, in every query where it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.completion import Incomplete

ROUNDS = 50
"""Times that all documents are looked at, at most."""
_CLOSE = 1e-13


def improve(
    problems: Sequence[Incomplete],
    start: Sequence[NDArray[np.int64]],
    sign: int = 1,
    document: Sequence[NDArray[np.int64]] | None = None,
) -> list[NDArray[np.int64]]:
    """Lower (``sign`` 1) or raise (-1) the sum of the measures of queries until no single document can.

    Parameters
    ----------
    problems
        one a query.
    start
        a completion of each, int64 (n,).
    sign
        1 or -1.
    document
        the documents of each query, int64 (n,): those of equal code have one label, that of ``start`` where they occur
        first. None: all are different.

    Returns
    -------
    The completion of each query. Documents are looked at in the order of their codes: no chance is in it.

    Raises
    ------
    InputError
        where lengths do not fit.
    """
    if len(start) != len(problems) or any(len(one.left) != len(two) for one, two in zip(problems, start, strict=True)):
        raise InputError.one("start", "completions of other documents", "one choice for each unknown document")
    own = _numbered(problems) if document is None else document
    label: dict[int, int] = {}
    places: dict[int, list[tuple[int, float, float]]] = {}
    for query, problem in enumerate(problems):
        parts = (own[query], start[query], problem.left, problem.right)
        for code, choice, left, right in zip(*(part.tolist() for part in parts), strict=True):
            label.setdefault(code, choice)
            places.setdefault(code, []).append((query, left, right))
    final = [np.array([label[code] for code in codes.tolist()], dtype=np.int64) for codes in own]
    sums = [[part.tolist() for part in one.sums(two)] for one, two in zip(problems, final, strict=True)]
    groups, choices = (problems[0].groups, problems[0].choices) if problems else (0, 0)
    order = sorted(label)
    for _ in range(ROUNDS):
        moved = False
        for code in order:
            moved |= _move(code, label, places[code], sums, groups, choices, sign)
        if not moved:
            break
    return [np.array([label[code] for code in codes.tolist()], dtype=np.int64) for codes in own]


def _move(
    code: int,
    label: dict[int, int],
    places: list[tuple[int, float, float]],
    sums: list[list[list[float]]],
    groups: int,
    choices: int,
    sign: int,
) -> bool:
    """Give one document to the best group, and say whether that is another one."""
    now = label[code]
    gain = [0.0] * choices
    reach = 0.0
    for query, left, right in places:
        of_left, of_right = sums[query]
        if now < groups:
            of_left[now] -= left
            of_right[now] -= right
        for group in range(groups):
            term = of_left[group] * right + of_right[group] * left + left * right
            gain[group] += sign * term
            reach += abs(term)
    best = gain.index(min(gain))
    if gain[best] >= gain[now] - _CLOSE * reach:  # rounding must not send a document back and forth
        best = now
    label[code] = best
    if best < groups:
        for query, left, right in places:
            sums[query][0][best] += left
            sums[query][1][best] += right
    return best != now


def _numbered(problems: Sequence[Incomplete]) -> list[NDArray[np.int64]]:
    ends = np.cumsum([0, *(len(problem.left) for problem in problems)])
    return [np.arange(low, high) for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

"""Compiled sums over the nodes of arrival times (see `arrivals`): every row by itself, every sum in one order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

LEAST = 1e-200  # of a chance: arithmetic with denormal numbers is a hundred times slower, and it adds nothing


@compiled
def arrive(arrived: Floats, rest: Floats, stop: Floats, weight: Floats, measure: Floats, sums: Floats) -> None:
    r"""Turn arrivals into densities and add up over the nodes.

    Parameters
    ----------
    arrived
        float64 (R, Q, n), a; overwritten by u.
    rest
        float64 (R, Q, n), e^{-a}.
    stop
        float64 (R, n), 1 - c.
    weight
        float64 (Q,), of the nodes.
    measure
        float64 (R, Q), written: the weights times P.
    sums
        float64 (3, R, n), zeros: the exposure, its derivative by the own logit, and \sum \omega P u^2 are added.
    """
    rows, nodes, n = arrived.shape
    factor = np.empty(n)
    for row in range(rows):
        hold, seen, own, square = stop[row], sums[0, row], sums[1, row], sums[2, row]
        for node in range(nodes):
            a, q = arrived[row, node], rest[row, node]
            product = weight[node]
            for d in range(n):
                factor[d] = (1.0 - hold[d]) + hold[d] * q[d]
                product *= factor[d]
            if product < LEAST:
                measure[row, node] = 0.0
                continue
            measure[row, node] = product
            for d in range(n):
                u = a[d] * q[d] / factor[d]
                part = product * u
                seen[d] += part
                own[d] += part * (1.0 - a[d])
                square[d] += part * u
                a[d] = u


@compiled
def carry(density: Floats, measure: Floats, pull: Floats, result: Floats) -> None:
    r"""Add \sum \omega P u_m \sum_d pull_d u_d to ``result`` (R, n), of pulls (R, n)."""
    rows, nodes, n = density.shape
    for row in range(rows):
        for node in range(nodes):
            if measure[row, node] == 0.0:
                continue
            u, total = density[row, node], 0.0
            for d in range(n):
                total += u[d] * pull[row, d]
            total *= measure[row, node]
            line = result[row]
            for d in range(n):
                line[d] += total * u[d]


@compiled
def _spread(pairs: Integers, values: Floats, entry_ptr: Integers, cell: Integers, part: Floats, totals: Floats) -> None:
    """Add the values (n,) of pairs to the totals of their cells."""
    for d in range(len(pairs)):
        for entry in range(entry_ptr[pairs[d]], entry_ptr[pairs[d] + 1]):
            totals[cell[entry]] += part[entry] * values[d]


@compiled
def _add_outer(weight: float, rows: Floats, columns: Floats, matrix: Floats) -> None:
    """Add a weighted outer product."""
    for number in range(len(rows)):
        factor, line = weight * rows[number], matrix[number]
        for m in range(len(columns)):
            line[m] += factor * columns[m]


@compiled
def add_squares(
    every: int,
    share: float,
    place: Integers,
    density: Floats,
    measure: Floats,
    stop: Floats,
    sums: Floats,
    entry_ptr: Integers,
    cell: Integers,
    part: Floats,
    widths: Integers,
    result: Floats,
) -> None:
    r"""Write for each logit m a bound on the sum over cells of squared derivatives, G of the cells by the logits.

    It is the larger of \sum_g G_{gm}^2 and a share of \sum_g |G_{gm}| \sum_l |G_{gl}|.

    Parameters
    ----------
    every
        one node in so many is looked at.
    share
        of the second.
    place
        int64 (R, n), the pairs.
    density, measure, stop, sums
        as in `arrive`.
    entry_ptr, cell, part
        int64 (nnz + 1,), int64 (entries,), float64 (entries,): pair d has the share ``part`` in the cells of the
        entries entry_ptr[d]:entry_ptr[d + 1], cells being numbered from 0 in each row.
    widths
        int64 (R,), how many cells each row has.
    result
        float64 (R, n), written.
    """
    n, most = place.shape[1], 0
    for width in widths:
        most = max(most, width)
    seen, moved, diagonal = np.empty(most), np.empty((most, n)), np.empty(n)
    for row in range(len(place)):
        its_seen, its_moved, pairs = seen[: widths[row]], moved[: widths[row]], place[row]
        its_moved[:] = 0.0
        for node in range(0, density.shape[1], every):
            if measure[row, node] > 0.0:
                u = density[row, node]
                its_seen[:] = 0.0
                _spread(pairs, u, entry_ptr, cell, part, its_seen)
                _add_outer(-every * measure[row, node], its_seen, u, its_moved)
        for m in range(n):
            its_moved[:, m] *= stop[row, m]
            # a document's own exposure moves by its own derivative, not by the product that the sum holds for it
            own = sums[1, row, m] + stop[row, m] * sums[2, row, m]
            for entry in range(entry_ptr[pairs[m]], entry_ptr[pairs[m] + 1]):
                its_moved[cell[entry], m] += part[entry] * own
        result[row] = 0.0
        diagonal[:] = 0.0
        for number in range(len(its_moved)):
            line, length = its_moved[number], 0.0
            for m in range(n):
                length += abs(line[m])
            for m in range(n):
                diagonal[m] += line[m] * line[m]
                result[row, m] += share * length * abs(line[m])
        for m in range(n):
            result[row, m] = max(result[row, m], diagonal[m])

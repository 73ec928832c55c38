"""From measured systems to agreement: taus between ways, by assumption and by measure, and what each way can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.stages.meta_grid import AXES, Measured, Way
from rerankers.stats.agreement import discriminative_power, kendall_matrix, pair_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """One way of measuring.

    Attributes
    ----------
    way
        the measure and its assumptions.
    means
        of each system, over the queries.
    queries
        with a value for every system.
    ties
        pairs of systems with equal means.
    power
        share of pairs whose difference is significant.
    """

    way: Way
    means: tuple[float, ...]
    queries: int
    ties: int
    power: float


@dataclass(frozen=True, slots=True)
class AxisAgreement:
    """How much the order depends on one assumption.

    Attributes
    ----------
    measure, axis
        which.
    pairs
        of ways that differ in that assumption alone and both have an order.
    mean, lowest
        tau over these pairs.
    between
        labels of the two ways of the lowest.
    """

    measure: str
    axis: str
    pairs: int
    mean: float
    lowest: float
    between: tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What a meta-evaluation finds.

    Attributes
    ----------
    systems, queries
        names of the systems; how many judged queries all of them answer.
    level
        of the tests.
    lines
        the ways that have a value.
    tau
        float64 (W, W) between them, NaN where one of the two ties all systems.
    axes
        agreement by measure and assumption.
    measures
        names of the measures, and ``between`` float64 (M, M): mean tau of pairs of ways of one and of the other, NaN
        where there is none.
    unmeasured
        labels of the ways that have no value on any query.
    """

    systems: tuple[str, ...]
    queries: int
    level: float
    lines: tuple[Line, ...]
    tau: Floats
    axes: tuple[AxisAgreement, ...]
    measures: tuple[str, ...]
    between: Floats
    unmeasured: tuple[str, ...]

    def power(self, measure: str) -> tuple[float, float, float]:
        """Return the lowest, mean and highest discriminative power of a measure's ways."""
        found = [line.power for line in self.lines if line.way.name == measure]
        return min(found), float(np.mean(found)), max(found)

    def record(self) -> dict[str, Any]:
        """Return everything as plain values, None for what there is not."""
        return {
            "systems": list(self.systems),
            "queries": self.queries,
            "level": self.level,
            "ways": [
                {
                    "measure": line.way.name,
                    "key": str(line.way.measure),
                    "setting": line.way.setting,
                    "better": "higher" if line.way.sign > 0 else "lower",
                    "means": dict(zip(self.systems, line.means, strict=True)),
                    "queries": line.queries,
                    "ties": line.ties,
                    "discriminative_power": line.power,
                }
                for line in self.lines
            ],
            "tau": [[_plain(value) for value in row] for row in self.tau],
            "by_assumption": [
                {
                    "measure": one.measure,
                    "assumption": one.axis,
                    "pairs": one.pairs,
                    "mean_tau": one.mean,
                    "lowest_tau": one.lowest,
                    "lowest_between": list(one.between),
                }
                for one in self.axes
            ],
            "by_measure": {
                first: {second: _plain(self.between[i, j]) for j, second in enumerate(self.measures)}
                for i, first in enumerate(self.measures)
            },
            "without_value": list(self.unmeasured),
        }


def summarise(measured: Sequence[Measured], systems: Sequence[str], queries: int, level: float) -> Summary:
    """Return agreement and power of ways of measuring the same systems."""
    there = [one for one in measured if one.values.shape[1]]
    lines = []
    for one in there:
        means = one.values.mean(axis=1)
        power, _ = discriminative_power(one.values, level)
        ties = int(np.sum(pair_signs(means[np.newaxis]) == 0))
        lines.append(Line(one.way, tuple(means.tolist()), one.values.shape[1], ties, power))
    scores = np.array([line.way.sign * np.array(line.means) for line in lines]).reshape(len(lines), len(systems))
    tau = kendall_matrix(scores)
    names = tuple(dict.fromkeys(line.way.name for line in lines))
    return Summary(
        tuple(systems),
        queries,
        level,
        tuple(lines),
        tau,
        tuple(_axes(lines, tau)),
        names,
        _between(lines, tau, names),
        tuple(one.way.label for one in measured if not one.values.shape[1]),
    )


def _axes(lines: Sequence[Line], tau: Floats) -> list[AxisAgreement]:
    found = []
    for name in dict.fromkeys(line.way.name for line in lines):
        for axis in AXES:
            pairs = [
                (tau[i, j], i, j)
                for i, first in enumerate(lines)
                for j in range(i + 1, len(lines))
                if first.way.name == lines[j].way.name == name
                and _differ_only(first.way, lines[j].way, axis)
                and np.isfinite(tau[i, j])
            ]
            if pairs:
                lowest, i, j = min(pairs)
                mean = float(np.mean([value for value, _, _ in pairs]))
                between = (lines[i].way.label, lines[j].way.label)
                found.append(AxisAgreement(name, axis, len(pairs), mean, float(lowest), between))
    return found


def _differ_only(a: Way, b: Way, axis: str) -> bool:
    """Whether two ways differ in one assumption; a model without patience differs from others in the model alone."""
    first, second = a.setting, b.setting
    shared = [other for other in AXES if other != axis and other in first and other in second]
    if axis not in first or axis not in second or first[axis] == second[axis]:
        return False
    return all(first[other] == second[other] for other in shared)


def _between(lines: Sequence[Line], tau: Floats, names: Sequence[str]) -> Floats:
    of = [np.array([i for i, line in enumerate(lines) if line.way.name == name]) for name in names]
    table = np.full((len(names), len(names)), np.nan)
    for i, rows in enumerate(of):
        for j, columns in enumerate(of):
            block = tau[np.ix_(rows, columns)]
            if i == j:
                block = block[np.triu_indices(len(rows), 1)]
            some = block[np.isfinite(block)]
            if some.size:
                table[i, j] = some.mean()
    return table


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

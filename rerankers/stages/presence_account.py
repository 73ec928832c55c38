"""What the systems of a ``presence`` say together: means, differences to the first stage, and whether labels matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.anchors import DETERMINISTIC, PREFIX
from rerankers.measures.grid import grids
from rerankers.stats.agreement import kendall_matrix
from rerankers.stats.paired import paired_intervals

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.measures.grid import Grid
    from rerankers.stages.presence_systems import System
    from rerankers.stats import Interval

FIRST_STAGE = DETERMINISTIC
WELL_JUDGED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of all systems by query, NaN where there is none.

    Attributes
    ----------
    systems, keys, queries
        names.
    value
        float64 (systems, keys, queries).
    """

    systems: tuple[str, ...]
    keys: tuple[str, ...]
    queries: tuple[str, ...]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, table: pa.Table) -> Values:
        """Take them from the result table; queries in the order of their names, so that resamples are alike."""
        found = grids(table)
        first = next(iter(found.values()))
        order = np.argsort(np.array(first.units, dtype=np.str_), kind="stable")
        value = np.stack([_values(found[name], first.units) for name in found])[:, :, order]
        return cls(tuple(found), tuple(first.keys), tuple(first.units[place] for place in order), value)

    def of_system(self, name: str) -> NDArray[np.float64]:
        """float64 (keys, queries)."""
        found: NDArray[np.float64] = self.value[self.systems.index(name)]
        return found


def _values(grid: Grid, units: Sequence[str]) -> NDArray[np.float64]:
    """Return float64 (keys, queries) in the order of ``units``."""
    place = {unit: row for row, unit in enumerate(grid.units)}
    rows = np.array([place[unit] for unit in units], dtype=np.int64)
    found: NDArray[np.float64] = grid.value[rows].T
    return found


def rows_of(values: Values, systems: Sequence[System], **bootstrap: Any) -> list[dict[str, Any]]:
    """Return a row a system: family, option, value, and by key its mean and its difference to the first stage.

    Parameters
    ----------
    values
        of all systems, the anchors among them.
    systems
        those that are no anchors; anchors follow them.
    **bootstrap
        ``seed``, ``resamples`` and ``level`` of `paired_intervals`: the same resamples for all.
    """
    known = {system.name: system for system in systems}
    base = values.of_system(FIRST_STAGE) if FIRST_STAGE in values.systems else None
    out = []
    for name in values.systems:
        mine, system = values.of_system(name), known.get(name)
        means = paired_intervals(mine.T, **bootstrap)
        apart = None if base is None else paired_intervals((mine - base).T, **bootstrap)
        out.append(
            {
                "system": name,
                "family": name.removeprefix(PREFIX) if system is None else system.family,
                "anchor": system is None,
                "front": system is not None and system.front,
                "option": None if system is None else system.option,
                "value": None if system is None else system.value,
                "mean": {key: _plain(one) for key, one in zip(values.keys, means, strict=True)},
                "difference": None
                if apart is None
                else {key: _plain(one) for key, one in zip(values.keys, apart, strict=True)},
            }
        )
    return out


def _plain(one: Interval) -> dict[str, Any]:
    return {"mean": one.mean, "low": one.low, "high": one.high, "queries": one.units, "reason": one.reason or None}


def choice_of_labels(rows: Sequence[Mapping[str, Any]], pairs: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Return whether it matters whose labels measure: one row a measure.

    Parameters
    ----------
    rows
        of `rows_of`; anchors and fronts are no systems and do not count.
    pairs
        (measure, its key by the labeller's labels, its key by the given ones).

    Returns
    -------
    list of dict
        ``measure``; ``systems`` that have both values; ``moved``, the mean difference without sign, and
        ``moved_most`` with the system ``where``; ``shift``, the mean difference; Kendall's ``tau`` between the orders
        of systems (None where there is none); ``conclusions``, systems whose interval of the difference to the first
        stage leaves 0 out by the labeller's labels, and ``kept``, those of them that do so on the same side by the
        given ones.
    """
    systems = [row for row in rows if not row["anchor"] and not row["front"]]
    out = []
    for measure, one, other in pairs:
        mine = [row for row in systems if all(row["mean"][key]["mean"] is not None for key in (one, other))]
        apart = np.array([row["mean"][one]["mean"] - row["mean"][other]["mean"] for row in mine])
        most = int(np.argmax(np.abs(apart))) if len(apart) else 0
        sides = [(_side(row, one), _side(row, other)) for row in mine if row["difference"] is not None]
        out.append(
            {
                "measure": measure,
                "systems": len(mine),
                "moved": float(np.mean(np.abs(apart))) if len(apart) else None,
                "moved_most": float(apart[most]) if len(apart) else None,
                "where": mine[most]["system"] if len(apart) else None,
                "shift": float(np.mean(apart)) if len(apart) else None,
                "tau": _tau(mine, one, other),
                "conclusions": sum(side != 0 for side, _ in sides),
                "kept": sum(side != 0 and side == its for side, its in sides),
            }
        )
    return out


def judged_note(rows: Sequence[Mapping[str, Any]], key: str, cutoff: int) -> list[str]:
    """Return a sentence where fewer than nine of ten documents that the first stage shows are judged."""
    share = next((row["mean"][key]["mean"] for row in rows if row["system"] == FIRST_STAGE), None)
    if share is None or share >= WELL_JUDGED:
        return []
    return [
        f"only {share:.0%} of the first {cutoff} documents of the first stage are judged: the others count as not "
        "relevant, which rerankers move up; universe=judged leaves them out"
    ]


def missing_notes(table: pa.Table, keys: Iterable[str], queries: int) -> list[str]:
    """Return a sentence for each key of which the first stage has no value for some queries, with the reasons."""
    rows = zip(*(table.column(name).to_pylist() for name in ("system", "measure", "value", "reason")), strict=True)
    lacking: dict[str, Counter[str]] = {key: Counter() for key in keys}
    for system, key, value, reason in rows:
        if system == FIRST_STAGE and value is None and key in lacking:
            lacking[key][reason] += 1
    return [
        f"{key} of the first stage: no value for {found.total():,} of {queries:,} queries ("
        + ", ".join(f"{reason} {number:,}" for reason, number in sorted(found.items()))
        + "), which its means leave out"
        for key, found in lacking.items()
        if found
    ]


def _side(row: Mapping[str, Any], key: str) -> int:
    """Return 1 or -1 where an interval of the difference lies on one side of 0, else 0."""
    low, high = row["difference"][key]["low"], row["difference"][key]["high"]
    return 0 if low is None or high is None or low <= 0 <= high else (1 if low > 0 else -1)


def _tau(rows: Sequence[Mapping[str, Any]], one: str, other: str) -> float | None:
    if len(rows) < 2:
        return None
    scores = [[row["mean"][key]["mean"] for row in rows] for key in (one, other)]
    tau = float(kendall_matrix(scores, tolerance=1e-9)[0, 1])
    return None if np.isnan(tau) else tau

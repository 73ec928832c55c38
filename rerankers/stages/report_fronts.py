"""Fronts as the report shows them: curves of means, and the least loss at the utilities of a job's systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.report.extras import FrontLine, Optimum
from rerankers.stages.fronts import PARTS, UTILITY
from rerankers.stats.trade_off import Curve, matched_losses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.stages.fronts import Fronts

STATIC = f"{ANCHOR}deterministic"
SHARE = 0.9
"""Of the static utility at which optima are told, beside the method's own."""
RESAMPLES = 500
"""Of the intervals of optima: each takes the envelope of every front anew."""
FOR_GROUPS = ", groups"


def front_lines(fronts: Fronts) -> list[FrontLine]:
    """Return the means of fronts over their queries."""
    return [_line(name, points) for name, points in fronts.items()]


def _line(name: str, points: Mapping[float, Mapping[str, Mapping[str, float]]]) -> FrontLine:
    groups = name.endswith(FOR_GROUPS)
    level = "group_" if groups else ""
    means = {
        key: np.array([np.mean(list(points[weight][key].values())) for weight in sorted(points)])
        for key in (UTILITY, *(f"{level}{part}" for part in PARTS))
    }
    order = np.argsort(means[UTILITY], kind="stable")
    columns = [values[order].tolist() for values in means.values()]
    return FrontLine(name.rpartition(", ")[0], groups, *columns)


def optima(fronts: Fronts, table: pa.Table, method: str, *, seed: int, resamples: int, level: float) -> list[Optimum]:
    """Return what fronts lose at the utility of a method and at 90 % of the static ranking's.

    Parameters
    ----------
    fronts
        of the job.
    table
        its result table, with the method and, where there are scores, the static anchor.
    method
        name of the system.
    seed, resamples, level
        of the intervals over queries.

    Notes
    -----
    A query without candidates has no part in a front. Every policy has the same utility and loss there, those that
    stand in the table, so that all numbers are means over the same queries.
    """
    found = []
    for name, points in fronts.items():
        groups = name.endswith(FOR_GROUPS)
        loss = "group_EEL" if groups else "EEL"
        own = _values(table, method, (UTILITY, loss))
        units = sorted(set(own[UTILITY]) & set(own[loss]))
        if not units:
            continue
        curve = Curve(*(_matrix(points, key, units, own[key]) for key in (UTILITY, loss)))
        static = _values(table, STATIC, (UTILITY,))[UTILITY]
        places = [("the utility of " + method, own[UTILITY], 1.0)]
        if method != STATIC and set(units) <= set(static):
            places.append((f"{SHARE:.0%} of the static utility", static, SHARE))
        for at, reference, share in places:
            values = np.array([reference[unit] for unit in units])
            how = {"seed": seed, "resamples": min(resamples, RESAMPLES), "level": level}
            (one,) = matched_losses({name: curve}, values, [share], **how)  # type: ignore[arg-type]
            span = None if one.low is None or one.high is None or len(units) == 1 else (one.low, one.high)
            found.append(Optimum(name.rpartition(", ")[0], groups, at, one.utility, one.loss, span))
    return found


def _matrix(
    points: Mapping[float, Mapping[str, Mapping[str, float]]],
    key: str,
    units: Sequence[str],
    own: Mapping[str, float],
) -> NDArray[np.float64]:
    return np.array([[points[weight][key].get(unit, own[unit]) for unit in units] for weight in sorted(points)])


def _values(table: pa.Table, system: str, keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return measure -> unit -> value of a system, without nulls."""
    rows = table.filter(pc.and_(pc.equal(table["system"], system), pc.is_valid(table["value"])))
    found: dict[str, dict[str, float]] = {key: {} for key in keys}
    for key in keys:
        mine = rows.filter(pc.equal(rows["measure"], key))
        found[key] = dict(zip(mine["unit"].to_pylist(), mine["value"].to_pylist(), strict=True))
    return found

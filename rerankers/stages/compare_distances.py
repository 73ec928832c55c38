"""How far runs lie above fronts at their own utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.stages.measured import values_of
from rerankers.stages.sweeps import UTILITY
from rerankers.stats.bootstrap import resample_counts
from rerankers.stats.trade_off import FEWEST, Curve, envelope, loss_at_utility, read_envelope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.compare_rows import Row


@dataclass(frozen=True, slots=True)
class Distance:
    """A run beside a front of its own job.

    Attributes
    ----------
    run, loss, front
        which.
    utility, value
        the run's means.
    least
        the front's loss at that utility; None where it does not reach it.
    above, low, high
        value less least, with the percentile interval over resampled queries; a single query has none.
    """

    run: str
    loss: str
    front: str
    utility: float
    value: float
    least: float | None
    above: float | None
    low: float | None
    high: float | None


def distances_of(
    rows: Sequence[Row],
    fronts: Mapping[str, Curve],
    loss: str,
    units: Sequence[str],
    level: float,
    resamples: int,
    seed: int,
) -> list[Distance]:
    """Return how far rows lie above fronts at their own utility; rows without a value of every query are left out.

    Parameters
    ----------
    rows
        runs whose jobs have these fronts.
    fronts
        name -> curve over the units.
    loss
        of the fronts.
    units
        query ids.
    level, resamples, seed
        of the intervals; the resamples are those of `rerankers.stats.trade_off.matched_losses`.
    """
    kept, pairs = [], []
    for row in rows:
        if set(units) <= set(row.grid.units):
            pair = np.array([values_of(row.grid, UTILITY, units), values_of(row.grid, loss, units)])
            if np.all(np.isfinite(pair)):
                kept.append(row)
                pairs.append(pair)
    if not kept:
        return []
    values = np.array(pairs)  # (rows, 2, units)
    means = values.mean(axis=2)
    out = []
    for name, front in fronts.items():
        least = loss_at_utility(front.utility.mean(axis=1), front.loss.mean(axis=1), means[:, 0])
        drawn = _drawn(values, front, resamples, seed)
        for place, row in enumerate(kept):
            known = drawn[~np.isnan(drawn[:, place]), place]
            reached = not np.isnan(least[place]) and len(known) > 0
            spans = reached and len(units) >= FEWEST
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if spans else (None, None)
            utility, value = (float(one) for one in means[place])
            out.append(
                Distance(
                    row.name,
                    loss,
                    name,
                    utility,
                    value,
                    float(least[place]) if reached else None,
                    value - float(least[place]) if reached else None,
                    None if low is None else float(low),
                    None if high is None else float(high),
                )
            )
    return out


def _drawn(values: NDArray[np.float64], front: Curve, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return loss less the front's in resamples, float64 (resamples, rows), NaN where the front does not reach."""
    queries = values.shape[2]
    out = np.empty((resamples, len(values)))
    start = 0
    for counts in resample_counts(queries, seed, resamples):
        weight = counts / queries
        # einsum adds in one fixed order; BLAS does not promise it
        utility, loss = (np.einsum("rb,mb->rm", weight, part) for part in (front.utility, front.loss))
        own = np.einsum("rb,nkb->rnk", weight, values)
        for row in range(len(weight)):
            out[start + row] = own[row, :, 1] - read_envelope(*envelope(utility[row], loss[row]), own[row, :, 0])
        start += len(weight)
    return out

"""Where the variance of one system's measure comes from: queries, training seeds, draws, labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.estimators import draws_needed
from rerankers.stats.bootstrap import Interval, mean_intervals
from rerankers.stats.components import Components, variance_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.drawn import Drawn

    Floats = NDArray[np.float64]

SMALL_SHARE = 0.05
"""Draws are many enough for most purposes where they add no more than this to the variance that queries make."""


@dataclass(frozen=True, slots=True)
class Split:
    """Where the variance of one system's measure comes from.

    Attributes
    ----------
    measure, system
        which.
    units, repetitions
        queries and seeds.
    parts
        source -> variance of a query's value: ``queries``, ``seeds``, ``draws``, ``rest``; what cannot be told apart
        is left out.
    labels
        the part of ``queries`` that goes back to which document of a query has which group label; None elsewhere.
    error
        source -> standard error that it gives the mean of one seed.
    draws
        published rankings a query (the fewest); None where they were not judged again.
    draws_for_precision, draws_for_queries
        draws a query that bring the mean within the asked precision, and that add no more than `SMALL_SHARE` to the
        variance that queries make; None where that is not known.
    """

    measure: str
    system: str
    units: int
    repetitions: int
    parts: Mapping[str, Interval]
    labels: Interval | None
    error: Mapping[str, float]
    draws: int | None
    draws_for_precision: int | None
    draws_for_queries: int | None


def split(
    measure: str, system: str, repetitions: Sequence[Floats], units: Sequence[str], drawn: Sequence[Drawn | None],
    noisy: bool, precision: float,
) -> Split | None:  # fmt: skip
    """Return where the variance of a system's measure comes from; None with fewer than two queries.

    Parameters
    ----------
    measure, system
        names.
    repetitions
        float64 (Q,) of each seed, NaN without a value.
    units
        Q query ids.
    drawn
        of each seed: what its published rankings say, or None.
    noisy
        whether the values are of the published rankings, and so have the noise of their draws.
    precision
        half width of the 95 % interval of a mean that draws are to allow.
    """
    table = np.column_stack(list(repetitions))
    if (~np.isnan(table).any(axis=1)).sum() < 2:
        return None
    found = variance_components(table)
    per_draw = _mean_of([one.by_draws.get(measure) for one in drawn if one], [one for one in drawn if one], units, True)
    labels = _mean_of([one.by_labels.get(measure) for one in drawn if one], [one for one in drawn if one], units, False)
    draws = min((int(one.draws.min()) for one in drawn if one is not None and len(one.draws)), default=None)
    noise = None
    if per_draw is not None and draws and noisy:
        (noise,) = mean_intervals(per_draw[:, None] / draws)
    parts = _parts(found, noise)
    error = {
        source: math.sqrt(max(value.mean or 0.0, 0.0) / (1 if source == "seeds" else found.units))
        for source, value in parts.items()
    }
    for_precision = for_queries = None
    if per_draw is not None:
        spread = math.sqrt(float(np.nansum(per_draw))) / int((~np.isnan(per_draw)).sum())
        for_precision = int(draws_needed(spread, 1, precision))
        between = parts["queries"].mean or 0.0
        if between > 0:
            for_queries = max(2, math.ceil(float(np.nanmean(per_draw)) / (SMALL_SHARE * between)))
    told = None if labels is None else mean_intervals(labels[:, None])[0]
    return Split(
        measure, system, found.units, found.repetitions, parts, told, error, draws, for_precision, for_queries
    )  # fmt: skip


def _parts(found: Components, noise: Interval | None) -> dict[str, Interval]:
    """Return the variances by source; the noise of draws is taken from what it is part of."""
    parts = {"queries": found.queries}
    if found.seeds is not None and found.rest is not None:
        parts |= {"seeds": found.seeds, "rest": found.rest}
    if noise is not None and noise.mean is not None:
        holds = "queries" if found.rest is None else "rest"
        parts[holds] = _less(parts[holds], noise.mean)
        parts["draws"] = noise
    return parts


def _mean_of(
    found: Sequence[Floats | None], drawn: Sequence[Drawn], units: Sequence[str], per_draw: bool
) -> Floats | None:
    """Return the mean over seeds by query, float64 (Q,), of one draw where asked; None where nobody has any."""
    rows = []
    for value, one in zip(found, drawn, strict=True):
        if value is not None:
            known = dict(zip(one.units, value * one.draws if per_draw else value, strict=True))
            rows.append([known.get(unit, math.nan) for unit in units])
    table = np.array(rows, dtype=np.float64)
    if not len(table) or np.isnan(table).all():
        return None
    kept = np.where(np.isnan(table).any(axis=0), np.nan, table.sum(axis=0) / len(table))
    return None if np.isnan(kept).all() else kept


def _less(whole: Interval, noise: float) -> Interval:
    """Return an interval moved down by what is known to be noise."""
    if whole.mean is None or whole.low is None or whole.high is None:
        return whole
    return replace(whole, mean=whole.mean - noise, low=whole.low - noise, high=whole.high - noise)

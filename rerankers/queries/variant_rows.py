"""Measures of variant sets topic by topic, and how they are told: mean, interval, bounds, and why there is no value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.pool_bounds import told
from rerankers.stats.means import exact_mean
from rerankers.stats.paired import paired_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.variant_options import AnalysisOptions

    Floats = NDArray[np.float64]

VALUE, FLOOR, CEILING, BETWEEN, ORACLE = "value", "floor", "ceiling", "between", "oracle_pick"
EQUAL, SMALLER = "equal_number", "smaller_number"
"""What a row is: the measure; chance; what humans reach among themselves; two generated sets with one another; a pick
that needs the judgments, and so no system; sets given equally many variants, so few that the ceiling has as many; and
as many as the smaller set has."""

REASONS = {
    "topic_not_in_set": "one of the sets has no such topic",
    "denominator_is_0": "there is nothing to divide by",
    "not_retrieved": "no rankings were given for the topic",
    "query_not_judged": "the topic has no judgment",
    "no_relevant_document": "the pools hold no document judged relevant",
    "part_without_judgments": "a part of the pools holds unjudged documents and not one judged",
    "fewer_than_two_rankings": "there are not two rankings with documents to compare",
    "too_few_variants": "the number of variants that both sides can give is 0",
    "variants_are_distinct": "the human variants hold no repeats, so that two halves share nothing by construction",
    "fewer_than_two_topics": "there is no other topic",
}
"""Why a topic has no value."""


class Key(NamedTuple):
    """What a row measures, whichever the sets.

    Attributes
    ----------
    measure
        its name.
    role
        of `VALUE` and so on.
    stage
        of normalisation, where texts are compared.
    depth
        of the pools.
    detail
        what the floor or ceiling is made of.
    """

    measure: str
    role: str = VALUE
    stage: str | None = None
    depth: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One measure of one set, over topics.

    Attributes
    ----------
    key
        what is measured.
    name
        of the set.
    against
        the set it is compared with; None where a set is measured by itself.
    values
        float64 (T,), NaN where there is no value.
    reasons
        topic row -> why, of `REASONS`, for every NaN.
    low, high
        float64 (T,), what the value lies between whatever the missing judgments say; None where all is known.
    parts
        further numbers by topic, such as the two residuals; float64 (T,) each.
    """

    key: Key
    name: str
    against: str | None
    values: Floats
    reasons: Mapping[int, str]
    low: Floats | None = None
    high: Floats | None = None
    parts: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = set(np.flatnonzero(np.isnan(self.values)).tolist())
        if missing - self.reasons.keys():
            raise InputError.one(str(self.key), "a topic without a value or reason", "one of the two")


def row_of(key: Key, name: str, against: str | None, values: Sequence[float | str | None], **more: Any) -> Row:
    """Return a row of values or reasons, one a topic; None stands for ``denominator_is_0``."""
    numbers = np.array([np.nan if one is None or isinstance(one, str) else one for one in values], dtype=np.float64)
    reasons = {at: one if isinstance(one, str) else "denominator_is_0" for at, one in enumerate(values)}
    return Row(
        key, name, against, numbers, {at: reasons[at] for at in np.flatnonzero(np.isnan(numbers)).tolist()}, **more
    )


def tell(rows: Sequence[Row], topics: Sequence[str], options: AnalysisOptions) -> list[dict[str, Any]]:
    """Return rows ready for JSON, every interval on the same resamples of the topics.

    Parameters
    ----------
    rows
        of T values each.
    topics
        T ids, sorted.
    options
        number of resamples, confidence, interval and seed.

    Returns
    -------
    list of dict
        ``measure``, ``role``, ``stage``, ``depth``, ``detail``, ``set``, ``against``, ``p`` (the persistence of
        rank-biased measures), ``mean``, ``low`` and ``high`` (the interval) with ``interval_reason`` where there is
        none, ``topics`` (how many have a value), ``undefined`` (how many have none), ``reasons`` (reason -> topics),
        ``bounds`` ([low, high] of the mean over the topics with a value, or None), ``parts`` (name -> mean) and
        ``per_topic`` (topic -> ``value``, ``reason``, ``bounds``, ``parts``).
    """
    if not rows:
        return []
    table = np.column_stack([row.values for row in rows])
    how = {"seed": options.seed, "resamples": options.resamples, "level": options.confidence}
    found = paired_intervals(table, method=options.interval, **how)  # type: ignore[arg-type]
    out = []
    for row, interval in zip(rows, found, strict=True):
        known = ~np.isnan(row.values)
        bounds = None
        if row.low is not None and row.high is not None:
            bounds = [exact_mean(row.low[known]), exact_mean(row.high[known])]
        counted: dict[str, int] = {}
        for reason in row.reasons.values():
            counted[reason] = counted.get(reason, 0) + 1
        out.append(
            {
                **_names(row),
                "p": _persistence(row.key.measure, options),
                "mean": interval.mean,
                "low": _within(row.key.measure, interval.low),
                "high": _within(row.key.measure, interval.high),
                "interval_reason": interval.reason,
                "topics": int(known.sum()),
                "undefined": int((~known).sum()),
                "reasons": dict(sorted(counted.items())),
                "bounds": bounds,
                "parts": {name: exact_mean(part[known]) for name, part in row.parts.items()},
                "per_topic": {topic: _topic(row, at) for at, topic in enumerate(topics)},
            }
        )
    return out


def _within(measure: str, bound: float | None) -> float | None:
    """Return a bound of an interval within what the measure can be: 0 to 1, or from 0 where documents are counted.

    Intervals that hold for few topics do not know where a measure ends.
    """
    counts = measure.startswith(("pool_size", "pool_judgments", "pool_expected_size", "pool_new"))
    return None if bound is None else max(bound, 0.0) if counts else min(max(bound, 0.0), 1.0)


def _persistence(measure: str, options: AnalysisOptions) -> float | None:
    """Return the persistence of a rank-biased measure, without which its value means nothing."""
    return {"rbo": options.rbo_p, "rbp": options.rbp_p}.get(measure.partition("_")[0])


def _names(row: Row) -> dict[str, Any]:
    return {**row.key._asdict(), "set": row.name, "against": row.against}


def _topic(row: Row, at: int) -> dict[str, Any]:
    """Return what is known of one topic; only what there is."""
    out: dict[str, Any] = {"value": told(row.values[at])}
    if at in row.reasons:
        out["reason"] = row.reasons[at]
    if row.low is not None and row.high is not None:
        out["bounds"] = [told(row.low[at]), told(row.high[at])]
    if row.parts:
        out["parts"] = {name: told(part[at]) for name, part in row.parts.items()}
    return out

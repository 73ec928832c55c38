"""Differences between sets of variants measured on the same topics, and the spread over completions of one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rerankers.queries.pool_bounds import told
from rerankers.queries.variant_options import AnalysisOptions
from rerankers.queries.variant_rows import EQUAL, ORACLE, SMALLER, VALUE, Key, Row
from rerankers.stats.means import exact_mean
from rerankers.stats.paired import paired_intervals
from rerankers.stats.permutation import sign_flip_tests

COMPARED = (VALUE, EQUAL, SMALLER, ORACLE)
UNCOMPARED = ("pool_judgments_needed", "pool_size_h")


def comparisons(rows: Sequence[Row], options: AnalysisOptions) -> list[dict[str, Any]]:
    """Return the paired differences of every two sets in every measure that both have.

    Parameters
    ----------
    rows
        of the same topics. Floors, ceilings and rows between generated sets are not compared.
    options
        resamples, permutations, confidence, interval and seed.

    Returns
    -------
    list of dict
        ``measure``, ``role``, ``stage``, ``depth``, ``detail``, ``set``, ``minus``, ``difference``, ``low`` and
        ``high`` (its bootstrap interval), ``topics`` (with both values), ``p`` (sign flips), ``p_holm`` and
        ``p_max_t`` (adjusted for all lines of this table; max-t keeps their dependence).
    """
    pairs = [(one, two) for group in _by_key(rows).values() for one, two in combinations(group, 2)]
    if not pairs:
        return []
    table = np.column_stack([two.values - one.values for one, two in pairs])
    how = {"seed": options.seed, "resamples": options.resamples, "level": options.confidence}
    intervals = paired_intervals(table, method=options.interval, **how)  # type: ignore[arg-type]
    tests = sign_flip_tests(table, permutations=options.permutations, seed=options.seed)
    return [
        {
            **two.key._asdict(),
            "set": two.name,
            "minus": one.name,
            "difference": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "interval_reason": interval.reason,
            "topics": interval.units,
            "p": told(tests.p[at]),
            "p_holm": told(tests.holm[at]),
            "p_max_t": told(tests.max_t[at]),
        }
        for at, ((one, two), interval) in enumerate(zip(pairs, intervals, strict=True))
    ]


def completion_spread(rows: Sequence[Row], completions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return how far several completions of one setting differ in every measure.

    Parameters
    ----------
    rows
        of the same topics.
    completions
        name of a set -> name of its setting.

    Returns
    -------
    list of dict
        ``measure`` and so on, ``setting``, ``sets``, ``means`` (one a completion), ``mean``, ``sd`` (over
        completions, None for a single one), ``least``, ``most`` and ``topic_sd`` (mean over the topics that all have
        a value for of the standard deviation over completions: how much of one topic's value is luck).
    """
    out = []
    for key, group in _by_key(rows).items():
        for setting in dict.fromkeys(completions.values()):
            some = [row for row in group if completions.get(row.name) == setting]
            means = [mean for row in some if (mean := exact_mean(row.values)) is not None]
            if not means:
                continue
            several = len(means) > 1
            table = np.stack([row.values for row in some])
            common = ~np.isnan(table).any(axis=0)
            within = np.std(table[:, common], axis=0, ddof=1) if several else np.zeros(0)
            out.append(
                {
                    **key._asdict(),
                    "setting": setting,
                    "sets": [row.name for row in some],
                    "means": means,
                    "mean": float(np.mean(means)),
                    "sd": float(np.std(means, ddof=1)) if several else None,
                    "least": min(means),
                    "most": max(means),
                    "topic_sd": exact_mean(within),
                }
            )
    return out


def _by_key(rows: Sequence[Row]) -> dict[Key, list[Row]]:
    """Return the rows that may be compared, by what they measure."""
    out: dict[Key, list[Row]] = {}
    for row in rows:
        if row.key.role in COMPARED and row.key.measure not in UNCOMPARED:
            out.setdefault(row.key, []).append(row)
    return out

"""Paired differences between compared runs: intervals, permutation tests, the whole table as one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.report.keys import UTILITIES, Key
from rerankers.stages.difference_options import DifferenceOptions
from rerankers.stages.measured import chosen_keys, values_of
from rerankers.stages.query_clusters import read_clusters
from rerankers.stats.equivalence import Equivalence, bootstrap_tost, tost
from rerankers.stats.flip_intervals import sign_flip_intervals
from rerankers.stats.permutation import sign_flip_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.grid import Grid
    from rerankers.stats.bootstrap import Interval

MOST = 50_000
"""Comparisons of one table: more of them would take hours and find nothing after correction."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One run less another in one measure.

    Attributes
    ----------
    key, run, baseline
        which.
    interval
        of the mean difference.
    p, max_t, holm
        of the sign-flip test: by itself, and adjusted for the whole table.
    units
        queries that all compared runs have a value of, clusters where there are.
    same, same_drawn
        tests of equivalence, by t and by the bootstrap; None for other measures than utilities or without a margin.
    """

    key: Key
    run: str
    baseline: str
    interval: Interval
    p: float
    max_t: float
    holm: float
    units: int
    same: Equivalence | None = None
    same_drawn: Equivalence | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """A family of comparisons.

    Attributes
    ----------
    rows
        measure after measure.
    exact, patterns
        as of `SignFlips`.
    level
        of the intervals.
    options
        as given.
    left_out
        measure -> queries that some compared run has no finite value of.
    without
        measure -> runs that have no value of it at all, and are compared in the others only.
    """

    rows: Sequence[Difference]
    exact: bool
    patterns: int
    level: float
    options: DifferenceOptions
    left_out: Mapping[str, int]
    without: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def baseline(self) -> str | None:
        """The run that others are compared with, None without comparisons."""
        return self.options.baseline or next((row.baseline for row in self.rows), None)


def differences(
    values: Mapping[str, Grid], runs: Sequence[str], options: DifferenceOptions, level: float, resamples: int
) -> Differences:
    """Return the paired differences of runs; of an anchor only where it is the baseline.

    Parameters
    ----------
    values
        name -> values of every query and measure; anchors too.
    runs
        the names that are no anchors.
    options
        which comparisons are made; without a baseline the first run is it.
    level, resamples
        of the intervals.

    Raises
    ------
    ConfigError
        for a baseline or a measure that is not there, and more comparisons than `MOST`.
    InputError, MissingError
        for a file of clusters that is damaged, lacks queries or is not there.
    """
    pairs = _pairs(list(values), runs, options)
    keys = chosen_keys(values, options.measures)
    if len(pairs) * len(keys) > MOST:
        raise ConfigError(
            f"pairs: found {len(pairs):,} pairs of runs in {len(keys)} measures; expected at most {MOST:,} "
            "comparisons. Type pairs=baseline, or fewer measures: measures=[utility]"
        )
    runs = list(dict.fromkeys(run for pair in pairs for run in pair))
    if not pairs or not keys:
        return Differences([], True, 0, level, options, {})
    units = sorted(set.intersection(*(set(values[run].units) for run in runs)))
    clusters = None if options.clusters is None else read_clusters(Path(options.clusters), units)
    columns, named = [], []
    left_out: dict[str, int] = {}
    without: dict[str, list[str]] = {}
    for key in keys:
        own = {run: values_of(values[run], key.text, units) for run in runs}
        lacking = [run for run, one in own.items() if np.isnan(one).all()]
        some = [pair for pair in pairs if not {*pair} & {*lacking}]
        if not some:
            continue
        if lacking:
            without[key.text] = lacking
        missing = np.any([np.isnan(one) for run, one in own.items() if run not in lacking], axis=0)
        if missing.all():
            continue
        if missing.any():
            left_out[key.text] = int(missing.sum())
        for run, other in some:
            named.append((key, run, other))
            columns.append(np.where(missing, np.nan, own[run] - own[other]))
    if not columns:
        return Differences([], True, 0, level, options, left_out, without)
    table = np.column_stack(columns)
    tests = sign_flip_tests(table, permutations=options.permutations, cluster=clusters)
    intervals = sign_flip_intervals(table, level=level, permutations=options.permutations, cluster=clusters)
    rows = [
        Difference(
            key,
            run,
            other,
            intervals[at],
            float(tests.p[at]),
            float(tests.max_t[at]),
            float(tests.holm[at]),
            int(tests.units[at]),
            *_same(key, table[:, at], clusters, options, resamples),
        )
        for at, (key, run, other) in enumerate(named)
    ]
    return Differences(rows, tests.exact, tests.patterns, level, options, left_out, without)


def _pairs(names: Sequence[str], runs: Sequence[str], options: DifferenceOptions) -> list[tuple[str, str]]:
    """Return (run, what it is compared with)."""
    baseline = options.baseline if options.baseline is not None else next(iter(runs), None)
    if baseline is None:
        return []
    choose("baseline", baseline, names)
    pairs = [(run, baseline) for run in runs if run != baseline]
    if options.pairs == "all":
        rest = [run for run in runs if run != baseline]
        pairs += [(later, earlier) for earlier, later in combinations(rest, 2)]
    return pairs


def _same(
    key: Key,
    column: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    options: DifferenceOptions,
    resamples: int,
) -> tuple[Equivalence | None, Equivalence | None]:
    if options.margin is None or key.base not in UTILITIES or key.attribute is not None:
        return None, None
    how = {"alpha": options.alpha, "cluster": clusters}
    drawn = bootstrap_tost(column, options.margin, resamples=resamples, **how)  # type: ignore[arg-type]
    return tost(column, options.margin, **how), drawn  # type: ignore[arg-type]

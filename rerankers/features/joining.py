"""Columns of several sources put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.features.base import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


def joined(parts: Sequence[Columns]) -> Columns:
    """Return the columns of all parts; no name may come twice."""
    times = Counter(name for part in parts for name in part.values)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        raise ConfigError(f"features: found two features named {', '.join(twice)}; expected each name once: rename one")
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.counts)
    return Columns(
        {name: column for part in parts for name, column in part.values.items()},
        {name: facts for part in parts for name, facts in part.sources.items()},
        frozenset().union(*(part.per_query for part in parts)),
        dict(counts),
    )


def one_of_files(parts: Mapping[str, Columns]) -> Columns:
    """Return the columns of files (path -> its columns) together; equal names are parts of one column.

    Raises
    ------
    ConfigError
        when two files have a value of the same column for the same pair.
    """
    values: dict[str, NDArray[np.float64]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    counts: Counter[str] = Counter()
    varied: set[str] = set()
    for path, part in parts.items():
        counts.update(part.counts)
        varied |= part.values.keys() - part.per_query
        for name, column in part.values.items():
            before = values.get(name)
            if before is None:
                values[name], sources[name] = column, part.sources[name]
                continue
            both = int(np.sum(~np.isnan(before) & ~np.isnan(column)))
            if both:
                raise ConfigError(
                    f"features.files: found two features named {name}, the second in {path}, with values of both for "
                    f"{both} pairs; expected files of different pairs: rename one, or leave it out by features.exclude"
                )
            values[name] = np.where(np.isnan(before), column, before)
            sources[name] = (*sources[name], *part.sources[name])
    return Columns(values, sources, frozenset(values.keys() - varied), dict(counts))

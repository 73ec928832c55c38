"""Numbers as features take them: finite, or missing."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Counts


def finite(name: str, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], Counts]:
    """Return numbers with NaN for infinite ones, and the counts ``infinite_NAME`` and ``pairs_without_NAME``."""
    infinite = np.isinf(values)
    if infinite.any():
        values = np.where(infinite, np.nan, values)
    return values, met(
        **{f"infinite_{name}": int(infinite.sum()), f"pairs_without_{name}": int(np.isnan(values).sum())}
    )


def is_count(field: str, patterns: Sequence[str]) -> bool:
    """Return whether a field is one of the counts, which enter as logarithms."""
    return any(fnmatchcase(field, pattern) for pattern in patterns)


def log_count(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 + x), NaN where x is negative: no count."""
    known = np.where(values >= 0, values, np.nan)
    return np.log1p(known)

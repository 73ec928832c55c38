"""Several scores of the same candidates: what is believed, the first stage, features, and the scores of other runs.

Whoever reads further runs puts their scores into columns of the candidates, matched by query and docno, and calls them
``run:<name>``; a document that a run does not have is not a number there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.values import Block

BELIEF, SCORE, RUN = "belief", "score", "run:"
FIRST = "run:first_stage"  # the first stage as one run among others, where documents that it did not find are ranked
MINMAX, ZSCORE, NONE = "minmax", "zscore", "none"
SCALES = (MINMAX, ZSCORE, NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Scores to be fused.

    Attributes
    ----------
    names
        of the C columns.
    value
        float64 (C, nnz), finite or, where a document is missing, not a number.
    weight
        float64 (C,).
    """

    names: tuple[str, ...]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, block: Block, columns: Sequence[str] | None, weights: Sequence[float] | None) -> Sources:
        """Return the columns of a block.

        Parameters
        ----------
        block
            with the candidates.
        columns
            their names, ``belief`` being what the block believes, by a model where there is one. None: the belief, the
            first stage's ``score`` where a model has beliefs of its own, and all columns ``run:…``. Where the first
            stage is itself such a column, that stands for its scores, since it says which documents are missing.
        weights
            one a column; None: all 1.

        Raises
        ------
        ConfigError
            for a column that the candidates do not have, and another number of weights.
        InputError
            for a column that is infinite somewhere, or holds no numbers.
        """
        candidates = block.candidates
        known = [BELIEF, *candidates.columns]
        names = _usual(block) if columns is None else list(columns)
        if not names:
            raise ConfigError("method.columns: found none; expected at least one, or null")
        for name in names:
            choose("method.columns", name, known)
        if weights is not None and len(weights) != len(names):
            raise ConfigError(f"method.weights: found {len(weights)}; expected one for each of {', '.join(names)}")
        if weights is not None and not np.all(np.isfinite(weights)):
            raise ConfigError(f"method.weights: found {list(weights)}; expected finite numbers")
        values = [block.relevance.value if name == BELIEF else candidates.columns[name] for name in names]
        for name, value in zip(names, values, strict=True):
            if value.dtype.kind not in "biuf" or np.any(np.isinf(value)):
                raise InputError.one(name, "values that are infinite or no numbers", "numbers, not a number if missing")
        heed = np.ones(len(names)) if weights is None else np.array(weights, dtype=np.float64)
        return cls(tuple(names), np.array(values, dtype=np.float64).reshape(len(names), candidates.nnz), heed)

    @property
    def missing(self) -> int:
        """How many documents are missing, over all columns."""
        return int(np.count_nonzero(np.isnan(self.value)))


def _usual(block: Block) -> list[str]:
    columns = block.candidates.columns
    runs, plain = [name for name in columns if name.startswith(RUN)], block.relevance.source == "first_stage"
    if FIRST in columns:
        return runs if plain else [BELIEF, *runs]
    return [BELIEF, *([SCORE] if SCORE in columns and not plain else []), *runs]


def ranks(indptr: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1-based ranks by value descending within rows, ties as the row stands; infinite where it is no number."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    order = np.lexsort((np.where(np.isnan(value), np.inf, -value), row))
    place = np.empty(len(value))
    place[order] = np.arange(len(value)) - np.repeat(indptr[:-1], lengths) + 1.0
    return np.where(np.isnan(value), np.inf, place)


def scaled(indptr: NDArray[np.int64], value: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """Bring values (nnz,) to a common scale within rows; where they are no numbers, to the least of their row.

    ``minmax``: to [0, 1], and 1/2 in rows of equal values; ``zscore``: to mean 0 and standard deviation 1, and 0 in
    rows of equal values; ``none``: as they are. Rows without any number become 0.
    """
    lengths, known = np.diff(indptr), ~np.isnan(value)
    row = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    count = row_sums(known.astype(np.float64), indptr)
    some = count > 0.0
    high = np.where(some, row_maxima(np.where(known, value, -np.inf), indptr), 0.0)
    low = np.where(some, -row_maxima(np.where(known, -value, -np.inf), indptr), 0.0)
    filled = np.where(known, value, low[row])
    level = (high == low)[row]
    if scale == NONE:
        return filled
    # halves, so that differences of very large values stay finite
    reach = np.where(high > low, high / 2.0 - low / 2.0, 1.0)[row]
    unit = np.where(level, 0.5, (filled / 2.0 - low[row] / 2.0) / reach)
    if scale == MINMAX:
        return np.where(some[row], unit, 0.0)
    mean = row_sums(np.where(known, unit, 0.0), indptr) / np.where(some, count, 1.0)
    spread = row_sums(np.where(known, (unit - mean[row]) ** 2, 0.0), indptr) / np.where(some, count, 1.0)
    deviation = np.sqrt(np.where(high > low, spread, 1.0))
    standard: NDArray[np.float64] = np.where(level, 0.0, (unit - mean[row]) / deviation[row])
    return standard


def reciprocal(ranks: NDArray[np.float64], weight: NDArray[np.float64], constant: float) -> NDArray[np.float64]:
    """Return the sum over rankings of weight / (constant + rank): float64 (nnz,) of ranks (C, nnz), 0 at infinity."""
    total = np.zeros(ranks.shape[1])
    for heed, rank in zip(weight, ranks, strict=True):  # one by one: bits do not depend on the block around a row
        total += heed / (constant + rank)
    return total

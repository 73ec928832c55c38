"""The parts of expected exposure and their standard errors, from the sums over the draws of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_maxima, row_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure._draw_sums import Along
    from rerankers.exposure.objectives import ExpectedExposure


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates of the parts of expected exposure, float64 (B,) each, by row.

    What a row's draws do not allow is not a number, as ``draws`` tells: everything but EET without a draw; EED, EEL
    and all standard errors with one; se_EED and se_EEL with two, whose terms h are equal.

    Attributes
    ----------
    EED, EEL
        disparity and loss, unbiased; below 0 now and then, where they are nearly 0.
    EER
        relevance, unbiased and plug-in alike.
    EET
        squared norm of the target, which is exact.
    plug_in_EED, plug_in_EEL
        disparity and loss of the mean exposure, too large by tr Cov(X) / S on average.
    se_EED, se_EER, se_EEL
        standard errors of EED, EER and EEL.
    draws
        int64 (B,).
    """

    EED: NDArray[np.float64]
    EER: NDArray[np.float64]
    EEL: NDArray[np.float64]
    EET: NDArray[np.float64]
    plug_in_EED: NDArray[np.float64]  # noqa: N815 - the measure's name
    plug_in_EEL: NDArray[np.float64]  # noqa: N815
    se_EED: NDArray[np.float64]  # noqa: N815
    se_EER: NDArray[np.float64]  # noqa: N815
    se_EEL: NDArray[np.float64]  # noqa: N815
    draws: NDArray[np.int64]


def masked(query_ptr: NDArray[np.int64], parts: ExpectedExposure, along: Along) -> Estimates:
    """Return the estimates, not-a-number where there are too few draws."""
    found = by_formula(query_ptr, parts, along)
    least = {"EED": 2, "EER": 1, "EEL": 2, "EET": 0, "plug_in_EED": 1, "plug_in_EEL": 1}
    least |= {"se_EED": 3, "se_EER": 2, "se_EEL": 3}
    known = {name: np.where(found.draws >= draws, getattr(found, name), np.nan) for name, draws in least.items()}
    return Estimates(**known, draws=found.draws)


def by_formula(query_ptr: NDArray[np.int64], parts: ExpectedExposure, along: Along) -> Estimates:
    """Return the estimates by their formulas (see `estimators`), which take two draws to mean something."""
    draws = np.diff(query_ptr)
    count, others = np.maximum(draws, 1), np.maximum(draws - 1, 1)
    excess = (row_sums(along.square, query_ptr) / count - parts.EED) / others
    disparity = 2.0 * (np.repeat(count, draws) * along.mean - along.square) / np.repeat(others, draws)
    return Estimates(
        EED=parts.EED - excess,
        EER=parts.EER,
        EEL=parts.EEL - excess,
        EET=parts.EET,
        plug_in_EED=parts.EED,
        plug_in_EEL=parts.EEL,
        se_EED=_standard_error(disparity, query_ptr),
        se_EER=_standard_error(along.target, query_ptr),
        se_EEL=_standard_error(disparity - 2.0 * along.target, query_ptr),
        draws=draws,
    )


def _standard_error(terms: NDArray[np.float64], query_ptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return sd(terms) / sqrt(S) of each row; exactly 0 where all terms of a row are equal."""
    draws = np.diff(query_ptr)
    count = np.maximum(draws, 1)
    moved = terms - np.repeat(terms[query_ptr[:-1][draws > 0]], draws[draws > 0])
    centred = moved - np.repeat(row_sums(moved, query_ptr) / count, draws)
    # Over a power of two near the largest, which is exact: its square may be beyond all numbers, or below.
    unit = np.exp2(np.frexp(np.maximum(row_maxima(np.abs(centred), query_ptr), 0.0))[1].astype(np.float64))
    scaled = centred / np.repeat(unit, draws)
    error: NDArray[np.float64] = np.sqrt(row_sums(scaled * scaled, query_ptr) / (np.maximum(draws - 1, 1) * count))
    return error * unit

r"""Rank-biased precision with its residual: what unjudged documents and the unseen rest might still add.

RBP = (1 - p) \sum_i r_i p^(i-1) with gains r in [0, 1], unjudged documents as 0; what they could add is
(1 - p) \sum_{i unjudged} p^(i-1), and what the ranks behind the last of n could add is p^n (Moffat and Zobel, TOIS
2008). The value lies between RBP and RBP plus both. Leaving unjudged documents out before ranks are counted is the
condensed-list alternative (Sakai 2007), which has no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.rank_overlap import check_persistence
from rerankers.queries.variant_options import GAINS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.queries.ranked import Ranked

    Floats = NDArray[np.float64]


class Residual(NamedTuple):
    """Rank-biased precision of one ranking, or means of several.

    Attributes
    ----------
    lower
        RBP with unjudged documents as not relevant.
    unjudged, tail
        what unjudged documents, and ranks behind the end, could add.
    condensed
        RBP of the ranking without its unjudged documents.
    """

    lower: float
    unjudged: float
    tail: float
    condensed: float

    @property
    def residual(self) -> float:
        """All that could be added."""
        return self.unjudged + self.tail

    @property
    def upper(self) -> float:
        """RBP if all that is not known were relevant, at most 1."""
        return min(self.lower + self.residual, 1.0)

    def __str__(self) -> str:
        return f"{self.lower:.3f} +{self.residual:.3f}"


def rbp_residual(gains: ArrayLike, p: float) -> Residual:
    """Return rank-biased precision and its residual.

    Parameters
    ----------
    gains
        float64 (n,), best first, each in [0, 1], NaN for an unjudged document; a list may hold None instead.
    p
        strictly between 0 and 1, the persistence. There is no default.

    Returns
    -------
    Residual
        of an empty ranking: 0 with a tail of 1.

    Raises
    ------
    InputError
        for other gains, another shape, or a p outside of (0, 1).
    """
    check_persistence(p)
    found = np.asarray(gains, dtype=np.float64)  # None becomes NaN
    if found.ndim != 1:
        raise InputError.one("gains", f"shape {found.shape}", "(n,), one a rank")
    known = ~np.isnan(found)
    if np.any((found[known] < 0) | (found[known] > 1)):
        raise InputError.one("gains", f"numbers up to {np.abs(found[known]).max():g}", "gains from 0 to 1")
    discount = np.power(float(p), np.arange(len(found), dtype=np.float64))
    judged = found[known]
    return Residual(
        (1.0 - p) * float(np.sum(judged * discount[known])),
        (1.0 - p) * float(np.sum(discount[~known])),
        float(p) ** len(found),
        (1.0 - p) * float(np.sum(judged * discount[: len(judged)])),
    )


def gains_of(grades: Floats, gain: str, most: float) -> Floats:
    """Return gains from 0 to 1 of grades; negative grades are judged and not relevant.

    Parameters
    ----------
    grades
        float64 (n,), NaN where unjudged.
    gain
        ``binary`` (grade > 0), ``linear`` (grade / most) or ``exponential`` ((2^grade - 1) / 2^most, the gain of
        expected reciprocal rank, Chapelle et al. 2009).
    most
        the largest grade of the scale, above 0; not looked at for ``binary``.

    Raises
    ------
    ConfigError
        for another gain.
    InputError
        for a grade above the largest.
    """
    choose("gain", gain, GAINS)
    if gain != "binary" and np.any(grades > most):
        raise InputError.one("grades", f"the grade {np.nanmax(grades):g}", f"at most max_grade, {most:g}")
    found: Floats = np.where(grades < 0, 0.0, grades)
    if gain == "linear":
        found = found / most
    elif gain == "exponential":
        found = (np.exp2(found) - 1.0) / np.exp2(most)
    else:
        found = np.sign(found)
    return found


def residuals(
    rankings: Sequence[Ranked], grades: Mapping[int, float], p: float, gain: str = "binary", most: float = 1.0
) -> list[Residual]:
    """Return the residual of each ranking.

    Parameters
    ----------
    rankings
        of the variants of one topic.
    grades
        document code -> grade of that topic; other documents are unjudged.
    p, gain, most
        as of `rbp_residual` and `gains_of`.
    """
    if not grades:
        return [rbp_residual(np.full(len(one), np.nan), p) for one in rankings]
    codes = np.fromiter(grades, dtype=np.int64, count=len(grades))
    values = np.fromiter(grades.values(), dtype=np.float64, count=len(grades))
    order = np.argsort(codes)
    codes, gains = codes[order], gains_of(values[order], gain, most)
    out = []
    for one in rankings:
        at = np.minimum(np.searchsorted(codes, one.docs), len(codes) - 1)
        out.append(rbp_residual(np.where(codes[at] == one.docs, gains[at], np.nan), p))
    return out


def mean_residual(found: Sequence[Residual]) -> Residual:
    """Return the mean of at least one residual, part by part."""
    return Residual(*(math.fsum(one[part] for one in found) / len(found) for part in range(len(Residual._fields))))


def expected_best(values: ArrayLike, m: int) -> float:
    """Return the expected largest of m values that are drawn without replacement.

    The i-th smallest of n is the largest of the m with probability C(i - 1, m - 1) / C(n, m). The best variant is
    picked with the judgments in hand: an oracle's choice and no system, and the more variants the better it looks,
    so that sets are compared at equal m.

    Parameters
    ----------
    values
        float64 (n,).
    m
        from 1 to n.

    Raises
    ------
    InputError
        for an m out of range.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    n = len(ordered)
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 1 <= m <= n:
        raise InputError.one("m", repr(m), f"a whole number from 1 to {n}")
    # the j-th largest is the best when it is drawn and none of the j - 1 larger ones is
    chance, left, total = m / n, n - m, 0.0
    for j in range(n - m + 1):
        total += float(ordered[j]) * chance
        chance *= (left - j) / (n - 1 - j) if n - 1 - j > 0 else 0.0
    return min(max(total, float(ordered[-1])), float(ordered[0]))  # rounding may carry a mean out of its values

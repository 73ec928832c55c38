r"""Tables of FA*IR (Zehlike et al. 2017): how many protected documents every prefix must hold at least.

A ranking is fair if no prefix holds fewer protected documents than a fair lottery would with some probability: the
minimum m(i) of the first i documents is the \alpha_c-quantile of their number, binomial with a wanted share, or
hypergeometric where documents come from a finite pool (hyperFA*IR, Cartier van Dissel et al. 2025). A ranking is
tested k times, so that \alpha_c is chosen below \alpha, such that fair rankings fail with probability \alpha. Tables
change with \alpha_c only where it passes a value of one of the k distributions: these are finitely many, and the
chance of failing rises from one to the next, so that a bisection over them finds the table nearest to \alpha exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure.checks import check_probability, whole_array, whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SAME = 1e-12  # relative distance of two values of distributions that are one, but for rounding
_HALVINGS = 60


def fa_star_ir_table(
    k: int, p: float, alpha: float, adjusted: bool = True, *, published: bool = False
) -> NDArray[np.int64]:
    """Return the least numbers of protected documents in the first 1, 2, …, k ranks (FA*IR, Zehlike et al. 2017).

    Parameters
    ----------
    k
        ranks, at least 1.
    p
        the wanted share of protected documents, in [0, 1].
    alpha
        significance in (0, 1): the chance that a fair ranking fails; in all with ``adjusted``, else at each rank.
    adjusted
        for k tests of one ranking: the table whose `fa_star_ir_fail_probability` is nearest to alpha, the lower of two
        as near. Without it the table is the alpha-quantile of the binomial distribution (``scipy.stats.binom.ppf``).
    published
        adjusted as the published code does: by a bisection with failure probabilities that leave out the last rank
        where its minimum rises, which are then too low.

    Returns
    -------
    int64 (k,), not decreasing.

    Raises
    ------
    ValueError
        for values out of range.
    """
    k = whole_number("k", k, 1)
    check_probability("p", p)
    _check_alpha(alpha)
    return _table(k, float(p), float(alpha), adjusted, published, 0, 0).copy()


def pool_table(k: int, protected: int, pool: int, alpha: float, adjusted: bool = True) -> NDArray[np.int64]:
    """Return the minima for the first k of a pool's documents, drawn without replacement (hyperFA*IR).

    Parameters
    ----------
    k
        ranks, from 1 to ``pool``.
    protected, pool
        how many documents are protected, of how many.
    alpha, adjusted
        as for `fa_star_ir_table`.

    Returns
    -------
    int64 (k,), not decreasing, never more than ``protected``.
    """
    pool = whole_number("pool", pool, 1)
    protected, k = whole_number("protected", protected, 0, pool), whole_number("k", k, 1, pool)
    _check_alpha(alpha)
    return _table(k, 0.0, float(alpha), adjusted, False, protected, pool).copy()


def fa_star_ir_fail_probability(table: ArrayLike, p: float, *, published: bool = False) -> float:
    """Return the chance that a ranking whose documents are protected with probability p fails a table.

    Parameters
    ----------
    table
        int (k,), the minimum of the first 1, 2, …, k documents.
    p
        in [0, 1].
    published
        leave out the last rank where its minimum is above the one before, as the published code does.

    Returns
    -------
    float, exact: a recursion over ranks and numbers of protected documents, of order k^2.

    Raises
    ------
    ValueError
        for a table that is empty or has negative entries, and a p outside [0, 1].
    """
    from rerankers.methods.prefixes.tables_loops import failure

    check_probability("p", p)
    minima = whole_array("table", table)
    if minima.ndim != 1 or not len(minima) or minima.min() < 0:
        raise InputError.one("table", f"shape {minima.shape} or negative minima", "minima of at least 0, shape (k,)")
    return float(failure(minima, float(p), 0, 0, not published))


@lru_cache(maxsize=256)
def _table(
    k: int, p: float, alpha: float, adjusted: bool, published: bool, protected: int, pool: int
) -> NDArray[np.int64]:
    tables = _Tables.of(k, p, alpha, protected, pool)
    if not adjusted:
        return tables.at(alpha)
    return tables.bisected(alpha) if published else tables.nearest(alpha)


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """All tables of one kind of lottery.

    Attributes
    ----------
    value
        float64 (k, J), the chance of at most j protected documents among the first i + 1, above 1 where j > i.
    share, protected, pool
        of the lottery, see `tables_loops.next_protected`.
    """

    value: NDArray[np.float64]
    share: float
    protected: int
    pool: int

    @classmethod
    def of(cls, k: int, p: float, alpha: float, protected: int, pool: int) -> _Tables:
        from scipy.special import bdtr
        from scipy.stats import binom

        from rerankers.methods.prefixes.tables_loops import distributions

        if pool:
            value = np.empty((k, k + 1))
            distributions(k, protected, pool, value)
        else:
            most = int(binom.ppf(alpha, k, p))  # minima of shorter prefixes, or of a lower alpha, are not above
            size, held = np.arange(1, k + 1)[:, None], np.arange(max(most, 0) + 1)[None, :]
            value = np.where(held >= size, 2.0, bdtr(np.minimum(held, size), size, p))
        value[np.arange(k)[:, None] < np.arange(value.shape[1])[None, :]] = 2.0
        return cls(value, p, protected, pool)

    def at(self, alpha: float) -> NDArray[np.int64]:
        """Return the alpha-quantiles: the least m such that at most m are protected with a chance of alpha or more."""
        return _counts(self.value < alpha * (1.0 - SAME))

    def failure(self, table: NDArray[np.int64], last: bool = True) -> float:
        from rerankers.methods.prefixes.tables_loops import failure

        return float(failure(table, self.share, self.protected, self.pool, last))

    def nearest(self, alpha: float) -> NDArray[np.int64]:
        """Return the table whose failure probability is nearest to alpha."""
        steps = np.unique(self.value[self.value < alpha * (1.0 - SAME)])
        steps = steps[np.append(steps[1:] > steps[:-1] * (1.0 + SAME), True)] if len(steps) else steps
        low, high = -1, len(steps)  # the table after step ``low`` does not fail too often, that after ``high`` does

        def after(step: int) -> NDArray[np.int64]:
            reached = -1.0 if step < 0 else float(steps[step]) * (1.0 + SAME)
            return _counts(self.value <= reached)

        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.failure(after(middle)) <= alpha else (low, middle)
        if high == len(steps):
            return after(low)
        below, above = after(low), after(high)
        return below if alpha - self.failure(below) <= self.failure(above) - alpha else above

    def bisected(self, alpha: float) -> NDArray[np.int64]:
        """Return the table where the published bisection over alpha ends, with its failure probabilities."""
        low, middle, high = (self._point(part * alpha) for part in (0.0, 0.5, 1.0))
        for _ in range(_HALVINGS):
            if low.mass >= high.mass or middle.failure == alpha:
                return middle.table
            low, high = (middle, high) if middle.failure < alpha else (low, middle)
            middle = self._point((low.alpha + high.alpha) / 2.0)
            if high.mass - low.mass == 1:
                return min(low, high, key=lambda point: abs(point.failure - alpha)).table
            if high.mass - middle.mass == 1 and middle.mass - low.mass == 1:
                return min(middle, low, high, key=lambda point: abs(point.failure - alpha)).table
        return min(low, high, key=lambda point: abs(point.failure - alpha)).table

    def _point(self, alpha: float) -> _Point:
        table = self.at(alpha)
        return _Point(alpha, table, self.failure(table, last=False))


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A table with its alpha and its published failure probability."""

    alpha: float
    table: NDArray[np.int64]
    failure: float

    @property
    def mass(self) -> int:
        return int(self.table.sum())


def _counts(below: NDArray[np.bool_]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.count_nonzero(below, axis=1).astype(np.int64)
    return counts


def _check_alpha(alpha: float) -> None:
    check_probability("alpha", alpha)
    if not 0.0 < alpha < 1.0:
        raise ConfigError(f"alpha: found {alpha}; expected a number above 0 and below 1")

"""What a paired comparison over queries can find: detectable differences, power, queries needed.

All of it is that of the two-sided paired t test, exactly, through the noncentral t distribution (Cohen 1988, ch. 2;
Sakai 2016 for topic sets). The permutation test of `sign_flip_tests` has the same power for as many queries.
"""

from __future__ import annotations

import math

from rerankers._base.errors import InfeasibleError, InputError

POWER, ALPHA = 0.8, 0.05
_MOST = 10**9  # queries


def power_of(difference: float, deviation: float, queries: int, alpha: float = ALPHA) -> float:
    """Return the probability that a two-sided paired t test finds a difference.

    Parameters
    ----------
    difference
        the true mean difference, in the units of the measure.
    deviation
        standard deviation of the paired differences over queries, at least 0.
    queries
        at least 2.
    alpha
        size of the test, between 0 and 1.

    Raises
    ------
    InputError
        for arguments out of range.
    """
    _check(deviation, alpha)
    if math.isnan(difference):
        raise InputError.one("difference", str(difference), "a number")
    if queries < 2:
        raise InputError.one("queries", str(queries), "at least 2")
    if deviation == 0:
        return alpha if difference == 0 else 1.0
    return _power(abs(difference) / deviation, queries, alpha)


def detectable_difference(deviation: float, queries: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest true difference that is found with the given power.

    Parameters
    ----------
    deviation, queries, alpha
        as in `power_of`.
    power
        above alpha and below 1.

    Raises
    ------
    InputError
        for arguments out of range.
    """
    from scipy.optimize import brentq

    _check(deviation, alpha, power)
    if queries < 2:
        raise InputError.one("queries", str(queries), "at least 2")
    if deviation == 0:
        return 0.0
    high = 1.0 / math.sqrt(queries)
    while _power(high, queries, alpha) < power:
        high *= 2
    return deviation * float(brentq(lambda effect: _power(effect, queries, alpha) - power, 0.0, high, xtol=1e-12))


def queries_needed(difference: float, deviation: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """Return the smallest number of queries with which a difference is found with the given power, at least 2.

    Parameters
    ----------
    difference
        not 0.
    deviation, power, alpha
        as in `detectable_difference`.

    Raises
    ------
    InputError
        for arguments out of range.
    InfeasibleError
        where it takes more than a billion queries.
    """
    _check(deviation, alpha, power)
    if not (math.isfinite(difference) and difference != 0):
        raise InputError.one("difference", str(difference), "a number other than 0")
    if deviation == 0:
        return 2
    effect, high = abs(difference) / deviation, 2
    while _power(effect, high, alpha) < power:
        high *= 2
        if high > _MOST:
            raise InfeasibleError(f"difference: found {difference:.6g}; more than {_MOST:,} queries would be needed")
    low = high // 2
    while high - low > 1:  # power grows with the queries
        middle = (low + high) // 2
        low, high = (low, middle) if _power(effect, middle, alpha) >= power else (middle, high)
    return max(high, 2)


def deviation_under(deviation: float, correlation: float) -> float:
    """Return the deviation of paired differences of two systems that vary alike: sd sqrt(2 (1 - correlation)).

    Parameters
    ----------
    deviation
        of one system's values over queries.
    correlation
        assumed between both systems' values, -1 to 1.

    Raises
    ------
    InputError
        for a correlation out of range.
    """
    if not -1 <= correlation <= 1:
        raise InputError.one("correlation", str(correlation), "a number from -1 to 1")
    return deviation * math.sqrt(2 * (1 - correlation))


def _power(effect: float, queries: int, alpha: float) -> float:
    from scipy.stats import nct, norm, t

    freedom, shift = queries - 1, effect * math.sqrt(queries)
    critical = float(t.ppf(1 - alpha / 2, freedom))
    right, wrong = float(nct.sf(critical, freedom, shift)), float(nct.cdf(-critical, freedom, shift))
    # far out in a tail the noncentral t gives up: it is normal on the right, and next to nothing on the wrong side
    right = float(norm.sf(critical - shift)) if math.isnan(right) else right
    wrong = 0.0 if math.isnan(wrong) else wrong
    return min(max(right + wrong, 0.0), 1.0)


def _check(deviation: float, alpha: float, power: float | None = None) -> None:
    if not (math.isfinite(deviation) and deviation >= 0):
        raise InputError.one("deviation", str(deviation), "a number of at least 0")
    if not 0 < alpha < 1:
        raise InputError.one("alpha", str(alpha), "a number between 0 and 1")
    if power is not None and not alpha < power < 1:
        raise InputError.one("power", str(power), f"a number between alpha={alpha} and 1")

"""Calibrators from what they wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.learning.calibration.base import Calibrator, PerQuery
from rerankers.learning.calibration.beta import INPUTS, BetaCalibrator
from rerankers.learning.calibration.isotonic import INTERPOLATIONS, IsotonicCalibrator
from rerankers.learning.calibration.list_count import ListCountCalibrator
from rerankers.learning.calibration.platt import PlattCalibrator

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = ("isotonic", "platt", "beta", "list_count", "per_query")


def calibrator_from_plain(plain: Mapping[str, Any], where: str = "calibrator") -> Calibrator:
    """Return the calibrator that `to_plain` wrote; its probabilities have the same bits.

    Parameters
    ----------
    plain
        a mapping as read from YAML or JSON.
    where
        the file, for messages.

    Raises
    ------
    InputError
        for anything that no calibrator writes: other keys, numbers that are not finite, a map that falls.
    """
    if not isinstance(plain, Mapping):
        raise InputError.one(where, type(plain).__name__, f"a mapping with kind, one of {', '.join(KINDS)}")
    kind = _word(plain, "kind", KINDS, where)
    if kind == "per_query":
        _keys(plain, ("inner",), where)
        return PerQuery(calibrator_from_plain(plain["inner"], f"{where} inner"))
    if kind == "platt":
        _keys(plain, ("slope", "intercept", "location", "scale"), where)
        slope, intercept, location, scale = (
            _number(plain, key, where) for key in ("slope", "intercept", "location", "scale")
        )
        _need(slope >= 0 and scale > 0, where, "a slope below 0 or a scale of at most 0", "a map that does not fall")
        return PlattCalibrator(slope, intercept, location, scale)
    if kind == "beta":
        _keys(plain, ("inputs", "a", "b", "c"), where)
        a, b, c = (_number(plain, key, where) for key in "abc")
        _need(a >= 0 and b >= 0, where, "a negative a or b", "a map that does not fall")
        return BetaCalibrator(a, b, c, _word(plain, "inputs", INPUTS, where))
    if kind == "list_count":
        return _list_count(plain, where)
    _keys(plain, ("interpolation", "low", "high", "value"), where)
    low, high, value = (_numbers(plain, key, where) for key in ("low", "high", "value"))
    sizes = (len(low), len(high), len(value))
    _need(len(set(sizes)) == 1 and min(sizes) > 0, where, f"blocks of lengths {sizes}", "equal lengths of at least 1")
    rising = np.all(low <= high) and np.all(high[:-1] < low[1:]) and np.all(np.diff(value) >= 0)
    _need(bool(rising), where, "blocks that overlap or fall", "ascending blocks whose values do not fall")
    _need(value[0] > 0 and value[-1] < 1, where, "values of 0, of 1 or beyond", "values strictly between 0 and 1")
    return IsotonicCalibrator(low, high, value, _word(plain, "interpolation", INTERPOLATIONS, where))


def _list_count(plain: Mapping[str, Any], where: str) -> ListCountCalibrator:
    numbers = ("slope", "c0", "c1", "lowest", "highest")
    _keys(plain, (*numbers, "cap"), where)
    slope, c0, c1, lowest, highest = (_number(plain, key, where) for key in numbers)
    cap = plain["cap"]
    whole = cap is None or (isinstance(cap, int) and not isinstance(cap, bool) and cap >= 1)
    _need(whole, where, f"cap {cap!r}", "a whole number of at least 1, or null")
    _need(slope >= 0, where, "a slope below 0", "a map that does not fall")
    _need(0 < lowest <= highest < 1, where, f"shares from {lowest} to {highest}", "0 < lowest <= highest < 1")
    return ListCountCalibrator(slope, c0, c1, cap, lowest, highest)


def _need(holds: bool, where: str, found: str, expected: str) -> None:
    if not holds:
        raise InputError.one(where, found, expected)


def _keys(plain: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    found, wanted = sorted(map(str, plain)), sorted(("kind", *keys))
    _need(found == wanted, where, f"keys {', '.join(found)}", f"keys {', '.join(wanted)}")


def _word(plain: Mapping[str, Any], key: str, words: tuple[str, ...], where: str) -> str:
    value = plain.get(key)
    _need(value in words, where, f"{key} {value!r}", f"one of {', '.join(words)}")
    return str(value)


def _number(plain: Mapping[str, Any], key: str, where: str) -> float:
    value = plain[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    _need(number and bool(np.isfinite(value)), where, f"{key} {value!r}", "a finite number")
    return float(value)


def _numbers(plain: Mapping[str, Any], key: str, where: str) -> NDArray[np.float64]:
    value = plain[key]
    _need(isinstance(value, list | tuple), where, f"{key} {type(value).__name__}", "a list of numbers")
    return np.array([_number({key: number}, key, where) for number in value], dtype=np.float64)

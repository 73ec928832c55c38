"""Checks of arguments, shared by the specs and the functions that take arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LARGEST = 1e150  # products of two numbers below it in size are finite, and sums of very many of them


def shown(value: object) -> str:
    """Return a value as errors show it: a number of numpy's like any other."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def float_array(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as float64 of any shape, not copied where they are; `InputError` for anything else.

    None, text, complex numbers and masked entries are no numbers; infinities and not-a-number pass.
    """
    array = plain_array(name, values)
    if array.dtype.kind not in "biuf":
        entries = np.asarray(values, dtype=object).ravel().tolist()
        wrong = [at for at, entry in enumerate(entries) if not isinstance(entry, Real | np.bool_)]
        if wrong:
            place = f" at {wrong[0]}" if array.ndim else ""
            raise InputError.one(name, f"{shown(entries[wrong[0]])}{place}", "numbers")
    try:
        return np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise InputError.one(name, "a number beyond 1.8e308 in size", "numbers that float64 holds") from None


def whole_array(name: str, values: ArrayLike, kind: type[np.signedinteger[Any]] = np.int64) -> NDArray[np.int64]:
    """Return whole numbers as int64 of any shape; `InputError` for others, and for those that ``kind`` cannot hold."""
    array = plain_array(name, values)
    if array.size and array.dtype.kind not in "iu":
        raise InputError.one(name, f"an array of {array.dtype}", "whole numbers")
    limits = np.iinfo(kind)
    for extreme in (array.min(), array.max()) if array.size else ():
        if not limits.min <= extreme <= limits.max:
            raise InputError.one(name, f"{extreme}", f"whole numbers from {limits.min} to {limits.max}")
    return array.astype(np.int64)


def plain_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return values as an array of whatever they are; `InputError` for masked entries and rows of different lengths."""
    if isinstance(values, np.ndarray) and np.any(getattr(values, "mask", False)):
        raise InputError.one(name, "a masked array", "no masked entries", mend="Fill them first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError.one(name, "rows of different lengths", "an array of numbers") from None


def whole_number(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number from ``least`` to ``most``, where these are given; `InputError` for anything else."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if (least is None or number >= least) and (most is None or number <= most):
            return number
    above = "" if least is None else f", {least} or more"
    bounds = above if most is None else f" from {least} to {most}"
    raise InputError.one(name, shown(value), f"a whole number{bounds}")


def chosen(name: str, value: object, options: Iterable[str]) -> str:
    """Return a word that is one of ``options``; `InputError` for anything but a word, `ConfigError` for another."""
    if not isinstance(value, str):
        raise InputError.one(name, shown(value), f"one of {', '.join(options)}")
    return choose(name, value, options)


def check_probability(name: str, value: float) -> None:
    """Raise `ConfigError` unless ``value`` lies in [0, 1]."""
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and 0 <= value <= 1):
        raise ConfigError(f"{name}: found {shown(value)}; expected a number between 0 and 1")


def check_rank(name: str, value: int | None, optional: bool = True) -> None:
    """Raise `ConfigError` unless ``value`` is a whole number of at least 1 or, where it is optional, None."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        null = ", or null" if optional else ""
        raise ConfigError(f"{name}: found {shown(value)}; expected a whole number, 1 or more{null}")


def position_array(name: str, weights: ArrayLike) -> NDArray[np.float64]:
    """Return weights of ranks as float64 (K,), K at least 1; `ConfigError` unless in [0, 1e150) and not increasing."""
    array = np.array(float_array(name, weights))
    if array.ndim != 1 or not len(array):
        raise ConfigError(f"{name}: found an array of shape {array.shape}; expected one weight a rank, at least one")
    wrong = ~((array >= 0) & (array < LARGEST))
    if np.any(wrong):
        raise ConfigError(f"{name}: found {array[wrong][0]}; expected finite weights >= 0, below {LARGEST:g}")
    rising = np.flatnonzero(np.diff(array) > 0)
    if len(rising):
        at = int(rising[0])
        raise ConfigError(
            f"{name}: found {array[at]:g} before {array[at + 1]:g}; expected weights that do not increase"
        )
    return array


def continuation_array(values: ArrayLike) -> NDArray[np.float64]:
    """Return continuation probabilities as float64 (n,); `ConfigError` unless all lie in [0, 1]."""
    array = np.array(float_array("continuation", values))
    if array.ndim != 1:
        raise ConfigError(f"continuation: found an array of shape {array.shape}; expected one value a document")
    outside = ~((array >= 0) & (array <= 1))
    if np.any(outside):
        raise ConfigError(f"continuation: found {array[outside][0]}; expected probabilities between 0 and 1")
    return array


def gain_array(grades: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return grades as float64 (size,), negative ones as 0; `InputError` for another shape or not-a-number."""
    array = float_array("grades", grades)
    if array.shape != (size,):
        raise InputError.one("grades", f"an array of shape {array.shape}", f"({size},), one a document")
    if not np.all(np.isfinite(array)):
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError.one("grades", f"{array[at]} at {at}", "finite numbers")
    return np.maximum(array, 0.0)


def row_grades(grades: ArrayLike) -> NDArray[np.float64]:
    """Return the grades of one row as float64 (n,), not changed; `InputError` unless they are one number each."""
    array = float_array("grades", grades)
    if array.ndim != 1:
        raise InputError.one("grades", f"an array of shape {array.shape}", "one number a document")
    return array


def bounded_array(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return numbers as float64 (size,); `InputError` for another shape, or unless all are below `LARGEST` in size."""
    array = float_array(name, values)
    if array.shape != (size,):
        raise InputError.one(name, f"an array of shape {array.shape}", f"({size},), one a document")
    check_bounded(name, array)
    return array


def check_bounded(name: str, array: NDArray[np.float64], most: float = LARGEST) -> None:
    """Raise `InputError` unless all numbers are finite and below ``most`` in size, so that products are finite."""
    wrong = np.flatnonzero(~(np.abs(array) < most))
    if len(wrong):
        found = f"{array.ravel()[wrong[0]]} at {wrong[0]}"
        raise InputError.one(name, found, f"finite numbers below {most:g} in size")


def logit_array(values: ArrayLike, name: str = "scores") -> NDArray[np.float64]:
    """Return logits as float64 (n,): finite or minus infinity; `InputError` for anything else."""
    array = float_array(name, values)
    if array.ndim != 1:
        raise InputError.one(name, f"an array of shape {array.shape}", "one value a document")
    wrong = np.flatnonzero(~(array < np.inf))
    if len(wrong):
        raise InputError.one(name, f"{array[wrong[0]]} at {wrong[0]}", "finite numbers or minus infinity")
    return array

"""Checks of arguments, shared by the specs and the functions that take arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def check_probability(name: str, value: float) -> None:
    """Raise `ConfigError` unless ``value`` lies in [0, 1]."""
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and 0 <= value <= 1):
        raise ConfigError(f"{name}: found {value!r}; expected a number between 0 and 1")


def check_rank(name: str, value: int | None) -> None:
    """Raise `ConfigError` unless ``value`` is None or a whole number of at least 1."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ConfigError(f"{name}: found {value!r}; expected a whole number, 1 or more, or null")


def position_array(name: str, weights: ArrayLike) -> NDArray[np.float64]:
    """Return weights of ranks as float64 (K,), K at least 1; `ConfigError` unless finite, >= 0, not increasing."""
    array = np.array(weights, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise ConfigError(f"{name}: found an array of shape {array.shape}; expected one weight a rank, at least one")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise ConfigError(f"{name}: found {array[~np.isfinite(array) | (array < 0)][0]}; expected finite weights >= 0")
    rising = np.flatnonzero(np.diff(array) > 0)
    if len(rising):
        at = int(rising[0])
        raise ConfigError(
            f"{name}: found {array[at]:g} before {array[at + 1]:g}; expected weights that do not increase"
        )
    return array


def continuation_array(values: ArrayLike) -> NDArray[np.float64]:
    """Return continuation probabilities as float64 (n,); `ConfigError` unless all lie in [0, 1]."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1:
        raise ConfigError(f"continuation: found an array of shape {array.shape}; expected one value a document")
    outside = ~((array >= 0) & (array <= 1))
    if np.any(outside):
        raise ConfigError(f"continuation: found {array[outside][0]}; expected probabilities between 0 and 1")
    return array


def gain_array(grades: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return grades as float64 (size,), negative ones as 0; `InputError` for another shape or not-a-number."""
    array = np.asarray(grades, dtype=np.float64)
    if array.shape != (size,):
        raise InputError.one("grades", f"an array of shape {array.shape}", f"({size},), one a document")
    if not np.all(np.isfinite(array)):
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError.one("grades", f"{array[at]} at {at}", "finite numbers")
    return np.maximum(array, 0.0)


def logit_array(values: ArrayLike, name: str = "scores") -> NDArray[np.float64]:
    """Return logits as float64 (n,): finite or minus infinity; `InputError` for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError.one(name, f"an array of shape {array.shape}", "one value a document")
    wrong = np.flatnonzero(~(array < np.inf))
    if len(wrong):
        raise InputError.one(name, f"{array[wrong[0]]} at {wrong[0]}", "finite numbers or minus infinity")
    return array

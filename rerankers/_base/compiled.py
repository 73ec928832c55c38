"""Loops that numpy has no word for, compiled at their first call (numba) and kept on disk for later processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers.

    The arithmetic is that of IEEE 754 as written: nothing is reordered, and a division by zero gives infinity as in
    numpy. Other threads run meanwhile. The machine code is kept beside the module, or in numba's cache folder where
    the module's cannot be written; where neither can, every process compiles anew.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        kernel: Callable[P, R] = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to write to
        kernel = numba.njit(**options)(function)
    return kernel

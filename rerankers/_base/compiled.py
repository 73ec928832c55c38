"""Loops that numpy has no word for, compiled at their first call (numba) and kept on disk for later processes."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")
_PACKAGE = __name__.partition(".")[0]


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers.

    The arithmetic is that of IEEE 754 as written: nothing is reordered, and a division by zero gives infinity as in
    numpy. Other threads run meanwhile. The machine code is kept beside the module, or in numba's cache folder where
    the module's cannot be written; where neither can, every process compiles anew.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        kernel: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to write to
        kernel = numba.njit(**options)(function)
    else:
        if kernel is not function:  # NUMBA_DISABLE_JIT leaves functions as they are
            kernel._cache = _Kept(kernel._cache, function)
    result: Callable[P, R] = kernel
    return result


class _Kept:
    """numba's cache of one function, which may fail without harm and knows what else the function is made of.

    By itself numba looks at the age of the function's own file only, and lets a full disk or a damaged file end the
    program; but kept machine code only saves the time of compiling.
    """

    def __init__(self, cache: Any, function: Callable[..., Any]) -> None:
        self._cache, self._function = cache, function
        self._stamped = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return what is kept for a signature, None where there is nothing that can be read."""
        if not self._stamped:  # not earlier: the module was not complete when it was decorated
            self._cache._cache_file._source_stamp = _digest(self._function.__globals__)
            self._stamped = True
        try:
            return self._cache.load_overload(signature, context)
        except Exception:  # whatever damaged bytes raise: it is compiled instead, and written anew
            self._try(self._cache.flush)
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep the machine code, where it can be written."""
        self._try(self._cache.save_overload, signature, data)

    @staticmethod
    def _try(write: Callable[..., None], *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError:  # a full disk, a quota: the next process compiles again
            return


def _digest(names: Mapping[str, Any]) -> str:
    """Return a digest of the numbers that a module's functions see, and of the files that its functions come from."""
    state = hashlib.blake2b(digest_size=16)
    for name, value in sorted(names.items()):
        if isinstance(value, bool | int | float):
            state.update(f"{name}={value!r};".encode())
    for path in sorted(set(_files(names, set()))):
        state.update(Path(path).read_bytes())
    return state.hexdigest()


def _files(names: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Yield the file of a module of this package, and those of the modules whose functions it uses."""
    module = str(names["__name__"])
    if module in seen:
        return
    seen.add(module)
    yield str(names["__file__"])
    for value in list(names.values()):
        other = str(getattr(value, "__module__", None) or "")
        if other.partition(".")[0] == _PACKAGE and other in sys.modules:
            yield from _files(vars(sys.modules[other]), seen)

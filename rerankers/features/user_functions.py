"""Features by functions of the user's own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers._targets import allowed_packages
from rerankers.features.base import Columns
from rerankers.features.values import finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.features.context import FeatureContext


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function (collection, candidates) -> mapping name -> numbers (nnz,), such as ``mine.features:novelty``.

    The collection that it is given has no judgments, no groups and no truth. It is called anew every time: what it
    gives is not cached, since nothing tells whether its code has changed.
    """

    target: str
    allowed: tuple[str, ...] = ()
    name: ClassVar[str] = "functions"

    def columns(self, context: FeatureContext) -> Columns:
        """Return the features, under the names that the function gives them.

        Raises
        ------
        ConfigError
            for a function outside the allowed packages, or that cannot be imported.
        InputError
            when it returns something else than such a mapping, or infinite numbers.
        """
        function = find_function(self.target, self.allowed)
        found = function(context.collection, context.candidates)
        where = f"features.functions {self.target}"
        if not isinstance(found, Mapping) or not all(isinstance(name, str) and name for name in found):
            raise InputError.one(where, f"a result that is {type(found).__name__}", "a mapping of names to numbers")
        values = {name: _numbers(f"{where}: {name}", column, context.candidates.nnz) for name, column in found.items()}
        counts = {key: count for name, column in values.items() for key, count in finite(name, column)[1].items()}
        return Columns(values, dict.fromkeys(values, (f"function:{self.target}",)), counts=counts)


def find_function(target: str, allowed: Sequence[str]) -> Callable[..., Any]:
    """Return the function that ``package.module:function`` or ``package.module.function`` names.

    Raises
    ------
    ConfigError
        when its package is not among ``allowed``, or there is no such function.
    """
    allowed = allowed_packages(allowed)[1:]
    module, _, name = target.partition(":") if ":" in target else target.rpartition(".")
    if not _inside(module, allowed) or not name.isidentifier():
        raise ConfigError(
            f"features.functions: found {target!r}; expected package.module:function of the packages "
            f"{', '.join(allowed) or '(none is allowed)'}. To use your own, add its package: allow_targets=[mypackage]"
        )
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # a package of the user's own may fail in any way while it is imported
        raise ConfigError(f"features.functions: {target!r} cannot be imported ({error})") from error
    # A module of an allowed package may import anything; only what an allowed package defines may be called.
    if not callable(function) or not _inside(str(getattr(function, "__module__", "")), allowed):
        raise ConfigError(f"features.functions: {target!r} is not a function of {', '.join(allowed)}")
    found: Callable[..., Any] = function
    return found


def _inside(module: str, allowed: Sequence[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in allowed)


def _numbers(where: str, column: Any, pairs: int) -> NDArray[np.float64]:
    try:
        values = np.array(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError.one(where, f"values that are no numbers ({error})", f"{pairs} numbers") from error
    if values.shape != (pairs,):
        raise InputError.one(where, f"shape {values.shape}", f"shape ({pairs},), one a candidate")
    if np.isinf(values).any():
        raise InputError.one(where, "infinite values", "finite numbers, or NaN where one is missing")
    return values

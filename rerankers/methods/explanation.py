"""What a method itself has to say about a policy that it made: an optional part of every method.

A method may have ``explain(block, row)``, which returns a mapping with the parts of `PARTS`, all optional:

``says``
    sentences, one string each.
``facts``
    name -> a number or a text about the query.
``documents``
    name -> one number a document of the row, in the order of its candidates.
``tables``
    title -> a list of rows, each a mapping name -> number or text.

A method without it says nothing, rather than something made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from rerankers.methods.base import Method
    from rerankers.values.block import Block

PARTS = ("says", "facts", "documents", "tables")


def explained(method: Method, block: Block, row: int = 0) -> dict[str, Any] | None:
    """Return a method's own account of one row in plain values, None where the method gives none.

    Parameters
    ----------
    method
        with or without ``explain(block, row)``.
    block
        what the method saw.
    row
        the query, as a row of the block.

    Raises
    ------
    ConfigError
        for a method whose account is not of the form above.
    """
    explain = getattr(method, "explain", None)
    if explain is None:
        return None
    found = explain(block, row)
    if not isinstance(found, Mapping) or not set(found) <= set(PARTS):
        shown = f"the parts {', '.join(map(str, found))}" if isinstance(found, Mapping) else type(found).__name__
        raise _wrong(method, shown, f"a mapping with some of {', '.join(PARTS)}")
    size = int(block.candidates.lengths[row])
    for name, values in found.get("documents", {}).items():
        if np.shape(values) != (size,):
            raise _wrong(method, f"documents.{name} of shape {np.shape(values)}", f"({size},), one a candidate")
    return {
        "says": [str(one) for one in found.get("says", ())],
        "facts": {str(name): _plain(value) for name, value in found.get("facts", {}).items()},
        "documents": {str(name): _column(values) for name, values in found.get("documents", {}).items()},
        "tables": {str(title): _rows(rows) for title, rows in found.get("tables", {}).items()},
    }


def _wrong(method: object, found: str, expected: str) -> ConfigError:
    return ConfigError(f"method {type(method).__name__}: its explain(block, row) returned {found}; expected {expected}")


def _rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _column(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in np.asarray(values, dtype=np.float64)]


def _plain(value: Any) -> str | int | float | bool | None:
    """Return a value as JSON has it; what is not finite becomes a text that says so."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    return number if np.isfinite(number) else str(number)

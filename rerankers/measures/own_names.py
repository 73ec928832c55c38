"""Measures of the user's own by name: which names they may have, and which are known to this process."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from rerankers.measures.definition import Definition

KNOWN: dict[str, type[Definition]] = {}
"""Name -> definition, of the job that runs. A `Measure` keeps its own, and takes it along to worker processes."""

RESERVED = ("score", "unfairness", "EEL_l2", "group")
"""Keys of results that are no measures of the table."""


class RowError(ConfigError):
    """A measure of the user's own that went wrong for one row of a block."""

    def __init__(self, measure: str, row: int, said: str) -> None:
        super().__init__(f"measure {measure}: row {row} of its block: {said}")
        self.measure, self.row, self.said = measure, row, said

    def __reduce__(self) -> tuple[type[RowError], tuple[str, int, str]]:
        # Exceptions are rebuilt from their text otherwise, which breaks on the way back from a worker process.
        return type(self), (self.measure, self.row, self.said)

    def at(self, units: Sequence[str] | None) -> ConfigError:
        """Return the same with the id of the query, where it is known."""
        return self if units is None else ConfigError(f"measure {self.measure}: query {units[self.row]!r}: {self.said}")


def know(measures: Mapping[str, type[Definition]]) -> None:
    """Make measures of the user's own known by their names, in place of those that were."""
    KNOWN.clear()
    KNOWN.update(measures)


def check_name(name: str, taken: Collection[str], parts: Sequence[str]) -> None:
    """Raise `ConfigError` unless a measure may have a name.

    Parameters
    ----------
    name
        of the measure.
    taken
        names and aliases of the table, in small letters.
    parts
        what may follow a name, such as ``placebo``.
    """
    where = f"measures.own.{name}"
    if not (name.isascii() and name.isidentifier()):
        raise ConfigError(f"{where}: found the name {name!r}; expected letters, digits and _, no digit first")
    bare = name.rstrip("0123456789").removesuffix("_cut").removesuffix("_").removesuffix("_cut")
    if {name.lower(), bare.lower()} & {*taken, *(word.lower() for word in RESERVED)}:
        raise ConfigError(f"{where}: there is a measure of this name; expected another name, such as my_{name}")
    ends = [part for part in (*parts, "excess_p", "systematic_share") if name.endswith(f"_{part}")]
    if name.startswith("group_") or ends:
        what = f"_{ends[0]} at the end" if ends else "group_ at the beginning"
        raise ConfigError(f"{where}: found {what}, which stands for something else; expected another name")

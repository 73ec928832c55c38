"""What a report is made of: the results of one job, already computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rerankers.report.extras import Extras

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.report.picture import Picture

ANCHOR = "anchor:"
ANCHORS = ("random", "worst_first", "deterministic", "plackett_luce", "ideal")
MEASURE_COLUMNS = ("system", "seed", "unit", "measure", "value", "reason")
GROUP_COLUMNS = ("system", "attribute", "group", "exposure", "target")

Interval = Sequence[float | None] | None


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table that the report shows as it is; the first column names the rows."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """The results of one job and what a reader has to know to judge them.

    Attributes
    ----------
    title
        one line.
    summary
        label -> plain text: collection, retriever, method, samples, seed, browsing model, universe, group
        policies, exact or drawn exposure, versions.
    options
        the resolved options, nested mappings allowed; shown in full, collapsed.
    tier
        the information tier, for instance ``blind``.
    counts
        name -> number, or part -> name -> number: what was skipped or treated.
    warnings
        sentences.
    measures
        Arrow table (system, seed, unit, measure, value, reason), the primary result.
    means
        system -> key -> mean over the units, None where there is none.
    intervals
        system -> key -> (low, high) of the bootstrap interval; None or missing where there is none.
    group_exposure
        Arrow table (system, attribute, group, exposure, target), means over the units; may be empty.
    unit
        what the units are called: ``query``, or ``sequence`` for the 2019 track.
    confidence
        of the intervals, between 0 and 1.
    lead
        what is said of the systems in place of their names, where they are many.
    tables, pictures
        shown besides what every report has, for instance how a model was trained.
    coverage
        for each attribute a table of how large its groups are, and how far judgments cover them; titled by it.
    extras
        what was run in words, fronts, shares of exposure, a sequence: what a job has of these.
    over_seeds
        systems that are means over several seeds.

    Raises
    ------
    ValueError
        when a table lacks a column.
    """

    title: str
    summary: Mapping[str, str]
    options: Mapping[str, Any]
    tier: str
    counts: Mapping[str, Mapping[str, int] | int]
    warnings: Sequence[str]
    measures: pa.Table
    means: Mapping[str, Mapping[str, float | None]]
    intervals: Mapping[str, Mapping[str, Interval]]
    group_exposure: pa.Table
    unit: str = "query"
    confidence: float = 0.95
    lead: str = ""
    tables: Sequence[PlainTable] = ()
    pictures: Sequence[Picture] = ()
    coverage: Sequence[PlainTable] = ()
    extras: Extras = field(default_factory=Extras)
    over_seeds: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, table, needed in (
            ("measures", self.measures, MEASURE_COLUMNS),
            ("group_exposure", self.group_exposure, GROUP_COLUMNS),
        ):
            missing = [column for column in needed if column not in table.column_names]
            if missing:
                found = ", ".join(table.column_names) or "none"
                raise ValueError(f"{name}: found the columns {found}; expected {', '.join(needed)}")

    @property
    def units(self) -> str:
        """The plural of ``unit``."""
        return "queries" if self.unit == "query" else f"{self.unit}s"

    @property
    def percent(self) -> str:
        """The confidence of the intervals as text, for instance ``95 %``."""
        return f"{100 * self.confidence:g} %"

    @property
    def methods(self) -> list[str]:
        """Systems that are not anchors, in their given order; the first is what the report is about."""
        return [system for system in self.means if not system.startswith(ANCHOR)]

    @property
    def anchors(self) -> list[str]:
        """Anchors, from the most careless to the ideal."""
        rank = {ANCHOR + name: place for place, name in enumerate(ANCHORS)}
        found = [system for system in self.means if system.startswith(ANCHOR)]
        return sorted(found, key=lambda system: rank.get(system, len(rank)))

    @property
    def systems(self) -> list[str]:
        """Methods, then anchors."""
        return self.methods + self.anchors

    @property
    def keys(self) -> list[str]:
        """Every measure key of any system, in order of first appearance."""
        return list(dict.fromkeys(key for means in self.means.values() for key in means))

    def attribute_name(self, attribute: str) -> str:
        """Return what an attribute is called; ``""`` is the chosen one, which the group table names if it is alone."""
        named = [attribute] if attribute else self.group_exposure["attribute"].unique().to_pylist()
        return str(named[0]) if len(named) == 1 else ""

    def mean(self, system: str, key: str) -> float | None:
        """Return a mean, or None where it is absent, null or not finite."""
        return _finite(self.means[system].get(key))

    def interval(self, system: str, key: str) -> tuple[float, float] | None:
        """Return (low, high), or None where there is no interval or one end is null."""
        pair = self.intervals.get(system, {}).get(key)
        if pair is None:
            return None
        low, high = _finite(pair[0]), _finite(pair[1])
        return None if low is None or high is None else (low, high)


def _finite(value: float | None) -> float | None:
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return float(value)


def decoded(table: pa.Table) -> pa.Table:
    """Return a table whose dictionary-encoded columns are plain text, which grouping needs."""
    import pyarrow as pa

    for index, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(index, column.name, table[index].cast(column.type.value_type))
    return table


def short_name(system: str) -> str:
    """Return a system's name without the anchors' prefix."""
    return system.removeprefix(ANCHOR)


def picture_names(systems: Sequence[str]) -> dict[str, str]:
    """Return what systems are called in pictures: anchors without prefix, unless a method has the same name."""
    return {
        system: f"{short_name(system)} (anchor)"
        if system.startswith(ANCHOR) and short_name(system) in systems
        else name
        for system in systems
        for name in (short_name(system),)
    }

"""Every way of measuring that a meta-evaluation compares: measures under a grid of assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure.browsing import TopKSet
from rerankers.measures.browse import WORDS
from rerankers.measures.definition import Value
from rerankers.measures.direction import direction
from rerankers.measures.group_measure import is_of_groups
from rerankers.measures.names import Measure, definition, parse
from rerankers.measures.plan import GROUP
from rerankers.stages.meta_systems import BETWEEN, System

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

AXES = ("browsing", "patience", "target", "unknown", "cutoff")


@dataclass(frozen=True, slots=True)
class Grid:
    """The assumptions.

    Attributes
    ----------
    browsing
        words of browsing models.
    patience
        of the models that have one.
    target
        what groups are due, for measures that have a target.
    unknown
        what is done with documents without a group.
    cutoff
        depths, None for none.
    """

    browsing: Sequence[str]
    patience: Sequence[float]
    target: Sequence[str]
    unknown: Sequence[str]
    cutoff: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Way:
    """One way of measuring.

    Attributes
    ----------
    name
        of the measure without assumptions.
    measure
        what is computed.
    pairs
        (axis, value), for the axes that the measure has.
    """

    name: str
    measure: Measure
    pairs: tuple[tuple[str, Any], ...]

    @property
    def setting(self) -> dict[str, Any]:
        """Axis -> value."""
        return dict(self.pairs)

    @property
    def sign(self) -> float:
        """1 where more is better, -1 where less is."""
        return direction(self.measure)

    @property
    def label(self) -> str:
        """For tables and messages."""
        told = ", ".join(f"{axis}={value}" for axis, value in self.pairs)
        return f"{self.name} ({told})" if told else self.name


def ways_of(texts: Sequence[str], grid: Grid, attribute: str | None) -> list[Way]:
    """Return every measure under all assumptions that it takes and does not state itself.

    Raises
    ------
    ConfigError
        for an unknown measure or model, a measure of groups without groups, or a grid without any value.
    """
    for axis in AXES:
        if not getattr(grid, axis):
            raise ConfigError(f"grid.{axis}: found an empty list; expected a value or more")
    return list(dict.fromkeys(way for text in texts for way in _ways(text, grid, attribute)))


def _ways(text: str, grid: Grid, attribute: str | None) -> list[Way]:
    asked = parse(text)
    name = asked.name.removeprefix(GROUP) if asked.name.startswith(GROUP) else asked.name
    kind = asked.kind if name == asked.name else definition(name)
    known = {parameter.name: parameter for parameter in kind.parameters}
    given = dict(asked.params)
    grouped = name != asked.name or is_of_groups(kind) or "group" in given
    if grouped and attribute is None:
        raise ConfigError(f"measures: found {text}, although there are no groups; expected measures of documents")
    models: list[dict[str, Any]] = [{}]
    if "umodel" in known and "umodel" not in given:
        models = [
            setting
            for word in grid.browsing
            for setting in _models(choose("grid.browsing", word, known["umodel"].choices), grid.patience)
        ]
    targets: list[dict[str, Any]] = [{}]
    if "target" in known and "target" not in given and known["target"].choices:
        targets = [{"target": choose("grid.target", word, known["target"].choices)} for word in grid.target]
    unknown: list[dict[str, Any]] = [{"unknown": word} for word in grid.unknown] if grouped else [{}]
    cutoffs: list[dict[str, Any]] = [{}]
    if kind.cutoff != "none" and asked.cutoff is None:
        cutoffs = [{"cutoff": depth} for depth in grid.cutoff if depth is not None or kind.cutoff == "optional"]
    found = []
    for parts in product(models, targets, unknown, cutoffs):
        setting = {axis: value for part in parts for axis, value in part.items()}
        cutoff = setting.get("cutoff", asked.cutoff)
        if setting.get("browsing") == TopKSet.word and cutoff is None:
            continue  # that is the cutoff
        params: dict[str, Value] = dict(given)
        if grouped:
            params["group"] = f"{attribute}{BETWEEN}{setting['unknown']}"
        for axis, parameter in (("browsing", "umodel"), ("patience", "p"), ("target", "target")):
            if axis in setting:
                params[parameter] = setting[axis]
        found.append(Way(text, Measure(name, tuple(params.items()), cutoff), tuple(setting.items())))
    return found


def _models(word: str, patience: Sequence[float]) -> list[dict[str, Any]]:
    has = any(field.name == "patience" for field in fields(cast("Any", WORDS[word])))
    return [{"browsing": word, "patience": p} for p in patience] if has else [{"browsing": word}]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The values of one way of measuring, for every system on the same queries.

    Attributes
    ----------
    way
        what was measured.
    values
        float64 (S, Q), of the queries for which every system has a value.
    left_out
        queries that lack one.
    """

    way: Way
    values: Floats
    left_out: int


def measure_all(ways: Sequence[Way], systems: Mapping[str, System]) -> list[Measured]:
    """Measure every system in every way."""
    found = []
    for way in ways:
        values = np.array([way.measure.per_unit(one.evaluation).value[one.rows] for one in systems.values()])
        there = np.all(np.isfinite(values), axis=0)
        found.append(Measured(way, values[:, there], int(np.sum(~there))))
    return found

"""Two generators of candidates, their measures by topic, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.queries.contest_shares import (
    COVERAGE,
    FRONT_SHARE,
    HYPERVOLUME,
    OF_PAIRS,
    OF_SETS,
    RAW_COUNT,
    Shares,
    all_of,
    equal_choices,
    shares,
)
from rerankers.stats import Interval, exact_mean
from rerankers.stats.bootstrap import METHODS
from rerankers.stats.permutation import PERMUTATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sets = Mapping[str, Floats]

TESTED: Final = (COVERAGE, FRONT_SHARE, HYPERVOLUME)
"""The normalised measures: differences in these are tested, all pairs of generators as one family."""


@dataclass(frozen=True, slots=True)
class ContestOptions:
    """How generators are compared.

    Attributes
    ----------
    enumerate_up_to
        choices of equally many candidates are all gone through where there are at most so many.
    draws
        choices drawn otherwise.
    resamples, level, interval
        of the bootstrap over topics: their number, the coverage, ``bca`` or ``percentile``.
    permutations
        sign patterns drawn where not all can be gone through.
    seed
        of all draws.
    """

    enumerate_up_to: int = 1000
    draws: int = 200
    resamples: int = 2000
    level: float = 0.95
    interval: str = "bca"
    permutations: int = PERMUTATIONS
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("enumerate_up_to", "draws", "resamples", "permutations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"contest.{name}: found {getattr(self, name)}; expected at least 1")
        if not 0 < self.level < 1:
            raise ConfigError(f"contest.level: found {self.level}; expected a number between 0 and 1")
        choose("contest.interval", self.interval, METHODS)


class Pair:
    """Two generators: their measures by topic, at equal numbers and as they are."""

    def __init__(self, a: str, b: str, topics: Mapping[str, Sets], options: ContestOptions) -> None:
        self.a, self.b, self.size = a, b, len(topics)
        self.cells = {
            (kind, measure, part): np.full(len(topics), np.nan)
            for kind in ("equal", "all")
            for measure in (*OF_PAIRS, *OF_SETS)
            for part in ("a", "b", "spread_a", "spread_b")
        }
        self.compared = self.enumerated = 0
        for place, (topic, sets) in enumerate(topics.items()):
            both = [sets[name] for name in (a, b) if name in sets]
            if len(both) < 2:
                continue
            self.compared += 1
            choices, complete = equal_choices(
                [len(points) for points in both], options.seed, (topic, a, b), options.enumerate_up_to, options.draws
            )
            self.enumerated += complete
            self._put("equal", place, shares(both, choices))
            self._put("all", place, shares(both, all_of(both)))

    def _put(self, kind: str, place: int, found: Shares) -> None:
        values = {name: (table[:, 0, 1], table[:, 1, 0]) for name, table in found.of_pairs.items()}
        values |= {name: (table[:, 0], table[:, 1]) for name, table in found.of_sets.items()}
        for measure, both in values.items():
            for part, value in zip(("a", "b"), both, strict=True):
                self.cells[kind, measure, part][place] = exact_mean(value)
                self.cells[kind, measure, f"spread_{part}"][place] = np.std(value)

    def columns(self) -> list[Floats]:
        """Return, kind by kind and measure by measure, what a has, what b has, and the difference: float64 (Q,)."""
        out = []
        for kind in ("equal", "all"):
            for measure in (*OF_PAIRS, *OF_SETS):
                a, b = (self.cells[kind, measure, part] for part in ("a", "b"))
                out += [a, b, a - b]
        return out

    def differences(self, measure: str) -> Floats:
        """Return a - b at equal numbers, float64 (Q,)."""
        out: Floats = self.cells["equal", measure, "a"] - self.cells["equal", measure, "b"]
        return out

    def told(self, intervals: Any, flips: Sequence[tuple[float | None, float | None]]) -> dict[str, Any]:
        """Return the pair as in the answer of `contest`."""
        kinds: dict[str, dict[str, Any]] = {"equal": {}, "all": {}}
        for kind, table in kinds.items():
            for measure in (*OF_PAIRS, *OF_SETS):
                parts = {part: interval(next(intervals)) for part in ("a", "b", "difference")}
                spread = {f"spread_{part}": exact_mean(self.cells[kind, measure, f"spread_{part}"]) for part in "ab"}
                p, adjusted = flips[TESTED.index(measure)] if kind == "equal" and measure in TESTED else (None, None)
                table[measure] = {**parts, **spread, "p": p, "p_holm": adjusted}
        return {
            "a": self.a,
            "b": self.b,
            "topics": self.compared,
            "topics_left_out": self.size - self.compared,
            "topics_enumerated": self.enumerated,
            **kinds,
            RAW_COUNT: self._raw(kinds["equal"]),
        }

    def _raw(self, equal: Mapping[str, Any]) -> dict[str, Any]:
        a, b = (int(np.nansum(self.cells["all", RAW_COUNT, part])) for part in ("a", "b"))
        means = {measure: equal[measure]["difference"]["mean"] for measure in TESTED}
        against = [measure for measure, mean in means.items() if mean is not None and mean * (a - b) < 0]
        return {"form": "paper", "a_over_b": a, "b_over_a": b, "contradicted_by": against}


def interval(found: Interval) -> dict[str, float | str | None]:
    """Return an interval as it stands in JSON, with a reason where something is missing."""
    out: dict[str, float | str | None] = {"mean": found.mean, "low": found.low, "high": found.high}
    return out if found.reason is None else {**out, "reason": found.reason}

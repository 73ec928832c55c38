"""What the analysis of variant sets is told: depths, stages, persistences, numbers of resamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rerankers._base.errors import ConfigError, choose
from rerankers.queries.normalise import STAGES
from rerankers.stats.bootstrap import METHODS, RESAMPLES
from rerankers.stats.paired import STUDENTIZED
from rerankers.stats.permutation import PERMUTATIONS

GAINS = ("binary", "linear", "exponential")
TIES = ("a", "b", "w")
COUNTS = ("rbo_depth", "resamples", "permutations")


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """Options of `analyse`.

    Attributes
    ----------
    depths
        of pools, each at least 1.
    stages
        of normalisation at which texts are compared, of `STAGES`.
    rbo_p, rbo_depth, rbo_ties
        rank-biased overlap: persistence strictly between 0 and 1, how much of a ranking is read, and what ties are
        (see `rerankers.measures.rank_overlap.rbo`).
    rbp_p
        persistence of rank-biased precision, strictly between 0 and 1.
    gain, max_grade
        gain of a grade in [0, 1]: ``binary`` (grade > 0), ``linear`` (grade / max_grade) or ``exponential``
        ((2^grade - 1) / 2^max_grade). ``max_grade`` None: the largest grade of the judgments.
    resamples, permutations, confidence, interval, seed
        bootstrap over topics, sign flips of paired differences, and the seed of all that is drawn.
    completions
        name of a set -> name of its setting, for sets that are several completions of one setting; their spread is
        reported.

    Raises
    ------
    ConfigError
        for a value out of range or an unknown word.
    """

    depths: tuple[int, ...] = (10, 20, 50, 100)
    stages: tuple[str, ...] = STAGES
    rbo_p: float = 0.9
    rbo_depth: int = 100
    rbo_ties: str = "a"
    rbp_p: float = 0.8
    gain: str = "binary"
    max_grade: float | None = None
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    confidence: float = 0.95
    interval: str = STUDENTIZED
    seed: int = 0
    completions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depths", tuple(sorted(set(_all("depths", self.depths, int)))))
        object.__setattr__(self, "stages", tuple(dict.fromkeys(_all("stages", self.stages, str))))
        for stage in self.stages:
            choose("stages", stage, STAGES)
        for depth in self.depths:
            _whole("depths", depth)
        for name in COUNTS:
            _whole(name, getattr(self, name))
        for name in ("rbo_p", "rbp_p", "confidence"):
            _inside(name, getattr(self, name))
        choose("rbo_ties", self.rbo_ties, TIES)
        choose("gain", self.gain, GAINS)
        choose("interval", self.interval, (STUDENTIZED, *METHODS))
        if self.max_grade is not None:
            _above("max_grade", self.max_grade)


def _all(name: str, found: object, kind: type) -> list[Any]:
    """Return the entries of a list that may not be empty, nor a single text."""
    entries = [] if isinstance(found, str) or not isinstance(found, Iterable) else list(found)
    if not entries or not all(isinstance(entry, kind) for entry in entries):
        raise ConfigError(f"{name}: found {found!r}; expected a list of at least one {kind.__name__}")
    return entries


def _whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name}: found {value!r}; expected a whole number of at least 1")


def _above(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ConfigError(f"{name}: found {value!r}; expected a number above 0, or null")


def _inside(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ConfigError(f"{name}: found {value!r}; expected a number strictly between 0 and 1")

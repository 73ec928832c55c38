"""The options of differences between runs, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import ConfigError, choose

PAIRS = ("baseline", "all")


@dataclass(frozen=True, slots=True)
class DifferenceOptions:
    """How runs are held against each other; the options of ``conf/compare.yaml``.

    Attributes
    ----------
    baseline
        the run (or anchor) that others are compared with; None: the first run.
    pairs
        ``baseline``: every run with the baseline; ``all``: all pairs of runs.
    measures
        of the family; None: those of `rerankers.stages.measured.USUAL` that the results have.
    margin
        the largest difference in utility that does not matter, for tests of equivalence; None: none are made.
    alpha
        size of the tests.
    permutations
        sign patterns drawn where there are too many to go through all.
    clusters
        CSV ``qid,cluster``: queries of one cluster are resampled and flipped together; None: each by itself.
    """

    baseline: str | None = None
    pairs: str = "baseline"
    measures: list[str] | None = None
    margin: float | None = None
    alpha: float = 0.05
    permutations: int = 9999
    clusters: str | None = None

    def __post_init__(self) -> None:
        choose("pairs", self.pairs, PAIRS)
        if self.measures is not None and not self.measures:
            raise ConfigError("measures: found an empty list; expected measures, or null for the usual ones")
        if self.margin is not None and not (_is_number(self.margin) and self.margin > 0):
            raise ConfigError(f"margin: found {self.margin}; expected a number above 0, or null for no such test")
        if not (_is_number(self.alpha) and 0 < self.alpha < 0.5):
            raise ConfigError(f"alpha: found {self.alpha}; expected a number between 0 and .5")
        if type(self.permutations) is not int or self.permutations < 1:
            raise ConfigError(f"permutations: found {self.permutations}; expected a whole number of at least 1")


def inner(config: Mapping[str, Any], key: str, word: str) -> Any:
    """Return ``config[key][word]``, or ``config[key]`` where it is the value itself.

    Raises
    ------
    ConfigError
        for other options under the key.
    """
    node = config[key]
    if not isinstance(node, Mapping):
        return node
    for found in node:
        choose(key, str(found), [word])
    return node.get(word)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""The options of the studies of labels; sections of ``conf/labels.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from rerankers._base.errors import ConfigError, choose
from rerankers.measures.unknown_labels.flips import HIGHEST
from rerankers.measures.unknown_labels.products import EXACT

DESIGNS = ("simple", "independent")


@dataclass(frozen=True, slots=True)
class BoundsOptions:
    """Of ``study=bounds``.

    Attributes
    ----------
    none
        whether unknown documents may also belong to none of the known groups.
    exact
        completions of one query that are compared one by one, where the measure is no sum of squares: differences of
        runs, and ``group_EER``.

    Raises
    ------
    ConfigError
        for fewer than one.
    """

    none: bool = False
    exact: int = EXACT

    def __post_init__(self) -> None:
        if self.exact < 1:
            raise ConfigError(f"bounds.exact: found {self.exact}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class FlipOptions:
    """Of ``study=flips``.

    Attributes
    ----------
    rates
        error rates, from 0 to 0.5.
    repetitions
        labellings drawn at each rate.
    path
        confusion matrix that says how labels go wrong (CSV ``true,label,value``); None: to a uniformly drawn other
        group.

    Raises
    ------
    ConfigError
        for rates outside, or fewer than two repetitions.
    """

    rates: list[float] = field(default_factory=lambda: [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
    repetitions: int = 200
    path: str | None = None

    def __post_init__(self) -> None:
        if not self.rates or not all(0 <= rate <= HIGHEST for rate in self.rates):
            raise ConfigError(f"flips.rates: found {self.rates}; expected error rates from 0 to {HIGHEST}")
        if self.repetitions < 2:
            raise ConfigError(f"flips.repetitions: found {self.repetitions}; expected 2 or more")


@dataclass(frozen=True, slots=True)
class DesignOptions:
    """Of ``study=design``.

    Attributes
    ----------
    kind
        ``simple``: the labelled documents are a simple random sample of all documents that are measured;
        ``independent``: each was drawn independently, with its probability in ``path``.
    path
        CSV ``docno,probability``, for ``independent``.

    Raises
    ------
    ConfigError
        for another kind, or a file that does not go with it.
    """

    kind: str = "simple"
    path: str | None = None

    def __post_init__(self) -> None:
        choose("design.kind", self.kind, DESIGNS)
        if self.kind == "independent" and self.path is None:
            raise ConfigError("design.path: no value; expected a CSV docno,probability. Type: design.path=FILE")
        if self.kind == "simple" and self.path is not None:
            raise ConfigError(f"design.path: found {self.path}; expected null, or design.kind=independent")


@dataclass(frozen=True, slots=True)
class ConfusionOptions:
    """Of ``study=confusion``.

    Attributes
    ----------
    path
        CSV ``true,label,value``: how often (counts or rates) documents of a true group have a label.
    """

    path: str | None = None

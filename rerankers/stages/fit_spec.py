"""How options of a method are chosen on training queries: what is tried, and which trial is kept."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rerankers._base.errors import ConfigError, InfeasibleError
from rerankers.measures.names import parse
from rerankers.report.keys import parse as parse_key

COARSE = 13  # values of a search before it looks closer around the best
MOST_TRIALS = 10_000
UTILITY = "utility"
EXAMPLE = "options with lists of values: fit.options={temperature:[0.5,1.0,2.0]}"


@dataclass(frozen=True, slots=True)
class Trial:
    """What one choice of options gives on the training queries.

    Attributes
    ----------
    options
        the values tried.
    means
        measure -> its mean over the training queries: the one that decides, utility, and those that are bounded.
    """

    options: Mapping[str, Any]
    means: Mapping[str, float]


Try = Callable[[Mapping[str, Any]], Trial]
"""Evaluates a choice of options on the training queries."""


@dataclass(frozen=True, slots=True)
class NoFit:
    """Take the method's options as they stand.

    Attributes
    ----------
    tried
        how many configurations were compared on training queries before these options were settled, to be printed
        with the results; null where nobody says.
    """

    tried: int | None = None

    def __post_init__(self) -> None:
        if self.tried is not None and self.tried < 1:
            raise ConfigError(f"fit.tried: found {self.tried}; expected at least 1, or null")

    @property
    def measures(self) -> tuple[str, ...]:
        """What has to be known of a trial: nothing."""
        return ()

    def choose(self, attempt: Try, static: Trial) -> Trial | None:
        """Return None: nothing is chosen."""
        return None


@dataclass(frozen=True, slots=True)
class FitSearch:
    """Fit one positive option by a search on the logarithmic scale.

    Attributes
    ----------
    parameter
        the option.
    low, high
        between which it is looked for.
    measure
        what decides, such as ``EEL``, ``group_EEL`` or ``utility``.
    level
        null: the best value of the measure; a number: the option at which the measure has that value.
    relative
        ``level`` is a share of the measure's value for the static ranking.
    digits
        significant digits to which the option is found.

    Notes
    -----
    The best value: thirteen values in equal steps, then Brent's method between the neighbours of the best of them. A
    level: Brent's root finding between the ends, so the measure is taken to move from one side of the level to the
    other once, as the exact utility of Plackett-Luce does with its temperature.
    """

    parameter: str = "temperature"
    low: float = 0.02
    high: float = 50.0
    measure: str = "EEL"
    level: float | None = None
    relative: bool = False
    digits: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise ConfigError(f"fit.low, fit.high: found {self.low:g} and {self.high:g}; expected 0 < low < high")
        if self.relative and self.level is None:
            raise ConfigError("fit.relative: found true without fit.level; expected a share, such as fit.level=0.9")
        if self.level is not None and not math.isfinite(self.level):
            raise ConfigError(f"fit.level: found {self.level}; expected a number, or null for the best value")
        if not 1 <= self.digits <= 12:
            raise ConfigError(f"fit.digits: found {self.digits}; expected 1 to 12")
        _sign(self.measure, self.level is None)

    @property
    def measures(self) -> tuple[str, ...]:
        """What has to be known of a trial; the first decides."""
        return tuple(dict.fromkeys([self.measure, UTILITY]))

    def choose(self, attempt: Try, static: Trial) -> Trial:
        """Return the trial that is kept.

        Raises
        ------
        InfeasibleError
            for a level that the measure does not reach.
        """
        tried: dict[float, Trial] = {}

        def at(place: float) -> Trial:
            value = self._rounded(place)
            if value not in tried:
                tried[value] = attempt({self.parameter: value})
            return tried[value]

        return self._best(at) if self.level is None else self._reaching(at, static)

    def _rounded(self, place: float) -> float:
        return float(f"{min(max(math.exp(place), self.low), self.high):.{self.digits}g}")

    def _best(self, at: Callable[[float], Trial]) -> Trial:
        from scipy.optimize import minimize_scalar

        sign = _sign(self.measure, True)
        places = np.linspace(math.log(self.low), math.log(self.high), COARSE).tolist()
        best = int(np.argmin([sign * at(place).means[self.measure] for place in places]))
        around = (places[max(best - 1, 0)], places[min(best + 1, COARSE - 1)])
        found = minimize_scalar(
            lambda place: sign * at(place).means[self.measure],
            bounds=around,
            method="bounded",
            options={"xatol": self._step},
        )
        return min(at(places[best]), at(float(found.x)), key=lambda trial: sign * trial.means[self.measure])

    def _reaching(self, at: Callable[[float], Trial], static: Trial) -> Trial:
        from scipy.optimize import brentq

        level = float(self.level or 0.0) * (static.means[self.measure] if self.relative else 1.0)
        ends = [math.log(self.low), math.log(self.high)]
        values = [at(place).means[self.measure] for place in ends]
        if (values[0] - level) * (values[1] - level) > 0:
            raise InfeasibleError(
                f"fit.level: found {self.level}, which is {self.measure} {level:.6g}; with {self.parameter} from "
                f"{self.low:g} to {self.high:g} it goes from {values[0]:.6g} to {values[1]:.6g} on the training queries"
            )
        return at(float(brentq(lambda place: at(place).means[self.measure] - level, *ends, xtol=self._step)))

    @property
    def _step(self) -> float:
        return float(10.0**-self.digits)


@dataclass(frozen=True, slots=True)
class FitGrid:
    """Try every combination of listed options and keep the best.

    Attributes
    ----------
    options
        option -> the values to try; needed.
    measure
        what decides; of equal values the first stands.
    at_most
        measure -> what a choice may have of it at most, such as ``{EEL: 0.49}``; null for no bounds.
    keep
        the least share of the static ranking's utility that a choice has to keep; 0 for none.
    """

    options: dict[str, Any] | None = None
    measure: str = "EEL"
    at_most: dict[str, float] | None = None
    keep: float = 0.0

    def __post_init__(self) -> None:
        options = self.options or {}
        if self.options is not None and not options:
            raise ConfigError(f"fit.options: found none; expected {EXAMPLE}")
        for name, values in options.items():
            if not isinstance(values, list) or not values:
                raise ConfigError(f"fit.options.{name}: found {values!r}; expected a list of values")
        if not 0 <= self.keep <= 1:
            raise ConfigError(f"fit.keep: found {self.keep}; expected a share from 0 to 1")
        for name, most in (self.at_most or {}).items():
            parse(name)
            if not math.isfinite(most):
                raise ConfigError(f"fit.at_most.{name}: found {most}; expected a number")
        number = math.prod(len(values) for values in options.values())
        if number > MOST_TRIALS:
            raise ConfigError(f"fit.options: found {number:,} combinations; expected at most {MOST_TRIALS:,}")
        _sign(self.measure, True)

    @property
    def measures(self) -> tuple[str, ...]:
        """What has to be known of a trial; the first decides."""
        return tuple(dict.fromkeys([self.measure, UTILITY, *(self.at_most or {})]))

    def choose(self, attempt: Try, static: Trial) -> Trial:
        """Return the trial that is kept.

        Raises
        ------
        ConfigError
            without options.
        InfeasibleError
            where no choice is within the bounds, or keeps enough utility.
        """
        if self.options is None:
            raise ConfigError(f"fit.options: found null; expected {EXAMPLE}")
        least = {UTILITY: self.keep * static.means[UTILITY]} if self.keep else {}
        most = self.at_most or {}
        trials = [attempt(one) for one in _combinations(self.options)]
        allowed = [
            trial
            for trial in trials
            if all(trial.means[name] >= bound for name, bound in least.items())
            and all(trial.means[name] <= bound for name, bound in most.items())
        ]
        if not allowed:
            raise InfeasibleError(f"fit: none of {len(trials):,} choices is allowed: {_reached(trials, least, most)}")
        sign = _sign(self.measure, True)
        return min(allowed, key=lambda trial: sign * trial.means[self.measure])


def _reached(trials: Sequence[Trial], least: Mapping[str, float], most: Mapping[str, float]) -> str:
    """Say what the choices reach of each bound."""
    found = [
        f"{name} at least {bound:.6g}, found at most {max(trial.means[name] for trial in trials):.6g}"
        for name, bound in least.items()
    ]
    found += [
        f"{name} at most {bound:.6g}, found at least {min(trial.means[name] for trial in trials):.6g}"
        for name, bound in most.items()
    ]
    return "; ".join(found)


def _combinations(options: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]


def _sign(measure: str, needed: bool) -> float:
    """Return 1 for a measure that is better when lower, -1 for one that is better when higher."""
    direction = parse_key(str(parse(measure))).better
    if needed and direction not in ("lower", "higher"):
        raise ConfigError(f"fit.measure: found {measure}; expected one of which less or more is better, such as EEL")
    return -1.0 if direction == "higher" else 1.0

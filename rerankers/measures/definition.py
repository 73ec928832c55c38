"""What a measure is made of: its name, parameters and description as data, and one function of an evaluation."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from rerankers._base.errors import ConfigError, choose

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.placebo import Bilinear
    from rerankers.measures.scores import Scores

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a measure.

    Attributes
    ----------
    name, description
        for parsing and for the documentation.
    kind
        str, int or float.
    default
        the value that is the same as leaving the parameter out; None where that depends on the evaluation.
    choices
        the words allowed; empty for any.
    low, high
        inclusive bounds of numbers.
    aliases
        other names it is written under.
    """

    name: str
    kind: type[str] | type[int] | type[float]
    description: str
    default: Value | None = None
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    aliases: tuple[str, ...] = ()

    def convert(self, measure: str, value: Value) -> Value:
        """Return the value as this parameter's kind.

        Raises
        ------
        ConfigError
            for a value of another kind, outside the bounds or not among the choices.
        """
        if self.kind is str:
            text = str(value)
            return choose(f"measure {measure}, {self.name}", text, self.choices) if self.choices else text
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if not self.low <= number <= self.high or (self.kind is int and number != round(number)):
            raise ConfigError(
                f"measure {measure}, {self.name}: found {value!r}; expected "
                f"{'a whole number' if self.kind is int else 'a number'} from {self.low:g} to {self.high:g}"
            )
        return int(number) if self.kind is int else number


class Definition(ABC):
    """A family member: subclasses hold data and compute the measure for every unit of an `Evaluation`.

    Attributes
    ----------
    name
        canonical name, an identifier.
    description
        one line: what it is, its range and its source.
    parameters
        what it takes.
    cutoff
        whether ``@k`` may be, must be or must not be given.
    carries
        whether placebo and excess come with it where it depends on groups and is asked for without them.
    has_gaps
        whether it is a squared distance of groups from targets, which has a systematic part.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    cutoff: ClassVar[Literal["none", "optional", "required"]] = "optional"
    carries: ClassVar[bool] = True
    has_gaps: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every unit, or the reason why there is none."""

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Whether it depends on which document belongs to which group, so that it has a placebo and an excess.

        By default every measure that takes a parameter ``group`` does. Its placebo is drawn from shuffled labels, for
        which `per_unit` is called with a `rerankers.measures.shuffles.Relabelled`; `bilinear` may spare that.

        Parameters
        ----------
        given
            names of the parameters that have a value.
        """
        return any(parameter.name == "group" for parameter in cls.parameters)

    @classmethod
    def bilinear(cls, measure: Measure, evaluation: Evaluation) -> Bilinear | None:
        """Return the measure as a form whose placebo is known without drawing, None where it is no such form."""
        return None

    @classmethod
    def gaps_under(cls, measure: Measure, evaluation: Evaluation) -> tuple[BrowsingModel, str] | None:
        """Return browsing model and attribute of a squared distance of groups from targets, None for all others.

        Such a distance has a systematic part and a decomposition (`rerankers.measures.gaps`).
        """
        return None

    @classmethod
    def parameter(cls, name: str) -> Parameter:
        """Return a parameter by its name or alias; ConfigError with the nearest one otherwise."""
        by_name = {word: parameter for parameter in cls.parameters for word in (parameter.name, *parameter.aliases)}
        if not by_name:
            raise ConfigError(f"measure {cls.name}: found the parameter {name!r}; it takes none")
        return by_name[choose(f"parameter of {cls.name}", name, by_name)]

"""Measures of the user's own: a class with options and one function, in the place of a `Definition`.

The function says what kind it is. ``of_exposure(seen)`` gives the value of a query from its expected exposure,
``of_ranking(seen)`` that of one ranking, averaged over the rankings of a policy. With ``about_groups = True`` either is
shown who belongs to which group, and has a placebo and an excess from shuffled labels.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from rerankers._base.docstrings import first_sentence
from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers.measures import over_draws
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.group_measure import GROUP, attribute_of
from rerankers.measures.own_names import RowError, check_name
from rerankers.measures.scores import REASONS, Scores
from rerankers.measures.seen import exposures, rankings

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.placebo import Bilinear

FUNCTIONS = ("of_exposure", "of_ranking")
BETTER = ("higher", "lower", "")
UNDEFINED = "undefined_for_query"
_EXPECTED = "expected a finite number, or None where there is none"


@dataclass(frozen=True, slots=True)
class Own:
    """A measure of the user's own under a name; it offers what the classes of `Definition` do.

    Attributes
    ----------
    name
        in results.
    measure
        the object that has one of `FUNCTIONS`; equal options make equal measures.
    """

    name: str
    measure: Any

    @property
    def description(self) -> str:
        """The first line of its docstring."""
        kind = type(self.measure)
        return first_sentence(kind) or f"{kind.__name__}, a measure of your own"

    @property
    def about_groups(self) -> bool:
        """Whether it depends on which document belongs to which group."""
        return bool(getattr(self.measure, "about_groups", False))

    @property
    def better(self) -> str:
        """Which way is better, one of `BETTER`."""
        return str(getattr(self.measure, "better", ""))

    @property
    def of_rankings(self) -> bool:
        """Whether it is of single rankings, not of expected exposure."""
        return hasattr(self.measure, "of_ranking")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may stand in brackets behind the name: the browsing model, the attribute. Options are fields."""
        return (*(() if self.of_rankings else PARAMETERS), *((GROUP,) if self.about_groups else ()))

    @property
    def cutoff(self) -> Literal["optional"]:
        """``@k`` cuts rankings, or browsing."""
        return "optional"

    @property
    def carries(self) -> bool:
        """Whether placebo and excess come unasked: where they cost a call a query and shuffle, not one a ranking."""
        return self.about_groups and not self.of_rankings

    @property
    def has_gaps(self) -> bool:
        """No squared distance of groups from targets."""
        return False

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name or alias."""
        return Definition.parameter.__func__(self, name)  # type: ignore[attr-defined, no-any-return]

    def depends_on_groups(self, given: Collection[str]) -> bool:
        """Whether it has a placebo and an excess."""
        return self.about_groups

    def bilinear(self, measure: Measure, evaluation: Evaluation) -> Bilinear | None:
        """No closed form is known: labels are shuffled."""
        return None

    def gaps_under(self, measure: Measure, evaluation: Evaluation) -> tuple[BrowsingModel, str] | None:
        """No squared distance of groups from targets."""
        return None

    def per_unit(self, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every query, or the reason why there is none.

        Raises
        ------
        RowError
            where the function raises, or returns what is no finite number.
        """
        return evaluation.once(("own", measure.whole), lambda: self._per_unit(measure, evaluation))

    def _per_unit(self, measure: Measure, evaluation: Evaluation) -> Scores:
        rows = len(evaluation.over)
        attribute = attribute_of(measure, evaluation) if self.about_groups else None
        if self.about_groups and attribute is None:
            return Scores.of(np.full(rows, np.nan), ("no_groups", True))
        asked = evaluation.query_judged if getattr(self.measure, "needs_judgments", True) else np.ones(rows, bool)
        value, reason = np.full(rows, np.nan), np.full(rows, REASONS.index("no_ranked_document"), np.int8)
        if self.of_rankings:
            self._rankings(measure, evaluation, attribute, asked, value, reason)
        else:
            self._exposures(measure, evaluation, attribute, asked, value, reason)
        reason[~asked] = REASONS.index("query_not_judged")
        return Scores(np.where(reason < 0, value, np.nan), reason)

    def _exposures(
        self, measure: Measure, evaluation: Evaluation, attribute: str | None, asked: Any, value: Any, reason: Any
    ) -> None:
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        for row, seen in exposures(evaluation, model, attribute):
            if asked[row]:
                value[row], reason[row] = self._value(self.measure.of_exposure, seen, row)

    def _rankings(
        self, measure: Measure, evaluation: Evaluation, attribute: str | None, asked: Any, value: Any, reason: Any
    ) -> None:
        """Fill in the weighted means over the rankings that have a value; where none has, the first reason holds."""
        found = evaluation.rankings
        each = np.full(len(found), np.nan)
        for place, row, seen in rankings(evaluation, measure.cutoff, attribute):
            if asked[row]:
                each[place], why = self._value(self.measure.of_ranking, seen, row)
                nothing_yet = reason[row] == REASONS.index("no_ranked_document")
                reason[row] = -1 if why < 0 or reason[row] == -1 else why if nothing_yet else reason[row]
        value[:] = over_draws.mean(found, each)
        reason[(reason < 0) & np.isnan(value)] = REASONS.index("no_ranked_document")  # all have the weight 0

    def _value(self, function: Callable[[Any], Any], seen: Any, row: int) -> tuple[float, int]:
        """Return a value and -1, or NaN and the place of the reason why there is none."""
        try:
            found = function(seen)
        except FairRerankersError as error:
            raise RowError(self.name, row, str(error)) from error
        except Exception as error:
            raise RowError(self.name, row, _said(error)) from error
        if found is None:
            return np.nan, REASONS.index(UNDEFINED)
        if isinstance(found, str):
            if found not in REASONS:
                expected = f"a number, None, or one of {', '.join(REASONS)}"
                raise RowError(self.name, row, f"found {found!r}; expected {expected}")
            return np.nan, REASONS.index(found)
        if np.ndim(found) != 0 or not isinstance(found, int | float | np.number | np.bool_ | np.ndarray):
            what = f"an array of shape {np.shape(found)}" if np.ndim(found) else f"a {type(found).__name__}"
            raise RowError(self.name, row, f"found {what}; expected one number, or None where there is none")
        try:
            number = float(found)
        except (TypeError, ValueError, OverflowError) as error:
            raise RowError(self.name, row, f"found a value that is no number ({error}); {_EXPECTED}") from error
        if not np.isfinite(number):
            raise RowError(self.name, row, f"found {number}; {_EXPECTED}")
        return number, -1


def _said(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}, in {last.name})"


def own_definition(name: str, measure: object) -> type[Definition]:
    """Return the definition of an object, or a subclass of `Definition`, under a name.

    Raises
    ------
    ConfigError
        for a name that is taken, an object without one of `FUNCTIONS`, one that cannot be compared or pickled, and a
        ``better`` that is none of `BETTER`.
    """
    from rerankers.measures.names import PARTS, TAKEN

    if isinstance(measure, type):
        kind = measure.__name__
        raise ConfigError(f"measures: found the class {kind}; expected an object of it: {kind}()")
    check_name(name, TAKEN, PARTS)
    where = f"measures.own.{name}"
    if isinstance(measure, Definition):
        if measure.name != name:
            raise ConfigError(f"{where}: found a measure called {measure.name}; expected measures.own.{measure.name}")
        return type(measure)
    kind = type(measure).__name__
    functions = [one for one in FUNCTIONS if callable(getattr(measure, one, None))]
    if len(functions) != 1:
        found = " and ".join(functions) or "neither"
        raise ConfigError(f"{where}: found {kind} with {found}; expected one function, of_exposure or of_ranking")
    if getattr(measure, "better", "") not in BETTER:
        raise ConfigError(f"{where}: found {kind}.better {getattr(measure, 'better', '')!r}; expected one of {BETTER}")
    try:
        hash(measure)
        pickle.dumps(measure)
    except Exception as error:
        raise ConfigError(
            f"{where}: {kind} cannot be sent to other processes ({error}); expected a class at the top of a module, "
            "with @dataclass(frozen=True) and options that are numbers and texts"
        ) from error
    return cast("type[Definition]", Own(name, measure))


def own_definitions(measures: Mapping[str, object]) -> dict[str, type[Definition]]:
    """Return the definitions of several objects by name."""
    return {name: own_definition(name, measure) for name, measure in measures.items()}


def own_name(measure: object) -> str:
    """Return the name of an object that is given in Python without one: its attribute ``name``, else its class."""
    return str(getattr(measure, "name", "") or type(measure).__name__)


def _made(kind: Any) -> str:
    measure = getattr(kind, "measure", None)  # with its options: measures of other options are other measures
    return repr(measure) if is_dataclass(measure) else type(measure).__name__ if measure is not None else kind.__name__


def told(definitions: Mapping[str, type[Definition]]) -> dict[str, dict[str, str]]:
    """Return what results say of measures of the user's own, so that others can read them without the classes."""
    return {
        name: {"description": kind.description, "better": str(getattr(kind, "better", "")), "made": _made(kind)}
        for name, kind in definitions.items()
    }

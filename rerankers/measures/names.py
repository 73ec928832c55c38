"""Measures by name: hashable, printable, parseable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from rerankers._base.errors import ConfigError, choose
from rerankers.measures._scan import quoted, scan, split
from rerankers.measures.definition import Definition, Value
from rerankers.measures.name_table import ALIASES, TABLE
from rerankers.measures.own_names import KNOWN, RowError

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.placebo import Bilinear
    from rerankers.measures.scores import Scores

_BY_LOWER = {name.lower(): name for name in TABLE} | {alias.lower(): name for alias, name in ALIASES.items()}
TAKEN = frozenset(_BY_LOWER)
"""Names and aliases in small letters, which measures of the user's own may not have."""
PARTS = ("placebo", "excess", "systematic")
"""What may follow a measure of groups, after ``_``; see `Measure.part`."""

_PART = re.compile(rf"(.*[^_\s])_({'|'.join(PARTS)})\s*", re.DOTALL)
_TREC_CUT = re.compile(r"(.+?)(?:_cut)?[_.]([0-9]+)")


@cache
def definition(name: str) -> type[Definition]:
    """Return the class behind a canonical name; ConfigError with the nearest name otherwise."""
    module, _, attribute = TABLE[choose("measure", name, [*TABLE, *KNOWN])].partition(":")
    return cast("type[Definition]", getattr(import_module(f"rerankers.measures.{module}"), attribute))


@dataclass(frozen=True, slots=True)
class Measure:
    """What to compute. ``str()`` parses back to an equal measure.

    Attributes
    ----------
    name
        canonical name, a key of `TABLE`.
    params
        (name, value) pairs, brought into canonical form: sorted, aliases replaced, values that equal a fixed
        default left out.
    cutoff
        depth k, at least 1, or None.
    part
        ``""`` for the measure itself. Of a measure of groups: ``placebo``, its expected value if the labels of each
        query were shuffled among its documents; ``excess``, the measure minus its placebo; ``systematic``, of group
        losses only: what does not cancel out over the queries, which is a number of the whole run.
    own
        the definition of a measure of the user's own (`rerankers.measures.own`), found by its name where it is known;
        None for those of the table.

    Raises
    ------
    ConfigError
        when built with an unknown name or parameter, a value out of range, a cutoff where none may be or
        without one where it must, or a part that the measure does not have.
    """

    name: str
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    part: str = ""
    own: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.own is None and self.name in KNOWN:
            object.__setattr__(self, "own", KNOWN[self.name])
        kind = self.kind
        values: dict[str, Value] = {}
        for written, value in self.params:
            parameter = kind.parameter(written)
            if parameter.name in values:
                raise ConfigError(f"measure {self.name}: found {parameter.name} more than once; expected it once")
            values[parameter.name] = parameter.convert(self.name, value)
        kept = {name: value for name, value in values.items() if value != kind.parameter(name).default}
        object.__setattr__(self, "params", tuple(sorted(kept.items())))
        if self.cutoff is None and kind.cutoff == "required":
            raise ConfigError(f"measure {self.name}: found no cutoff; expected one, for instance {self.name}@10")
        if self.cutoff is not None and (kind.cutoff == "none" or self.cutoff < 1):
            expected = "none" if kind.cutoff == "none" else "at least 1"
            raise ConfigError(f"measure {self.name}: found the cutoff {self.cutoff}; expected {expected}")
        if self.part:
            choose(f"part of {self.whole}", self.part, PARTS)
            self._check_part(kind)

    def _check_part(self, kind: type[Definition]) -> None:
        if not kind.depends_on_groups([name for name, _ in self.params]):
            example = " Ask for one of groups, such as group_EEL_placebo" if self.name.startswith("EE") else ""
            raise ConfigError(
                f"measure {self}: found {self.part} of {self.whole}, which does not depend on groups; expected a "
                f"measure of groups.{example}"
            )
        if self.part == "systematic" and not kind.has_gaps:
            raise ConfigError(f"measure {self}: found {self.name}; expected a group loss, group_EEL")

    def __str__(self) -> str:
        written = ",".join(
            f"{name}={quoted(value) if isinstance(value, str) else repr(value)}" for name, value in self.params
        )
        cutoff, part = "" if self.cutoff is None else f"@{self.cutoff}", f"_{self.part}" if self.part else ""
        return f"{self.name}{f'({written})' if written else ''}{cutoff}{part}"

    @property
    def kind(self) -> type[Definition]:
        """The definition behind it, one of the table or of the user's own."""
        return definition(self.name) if self.own is None else cast("type[Definition]", self.own)

    @property
    def whole(self) -> Measure:
        """The measure of which this is a part; itself where it is whole."""
        return replace(self, part="") if self.part else self

    @property
    def depends_on_groups(self) -> bool:
        """Whether it depends on which document belongs to which group."""
        return self.kind.depends_on_groups([name for name, _ in self.params])

    def get(self, name: str) -> Value | None:
        """Return a parameter's value: as given, else its fixed default, else None."""
        return dict(self.params).get(name, self.kind.parameter(name).default)

    def per_unit(self, evaluation: Evaluation, units: Sequence[str] | None = None) -> Scores:
        """Return the value of every unit of an evaluation, or the reason why there is none.

        Parameters
        ----------
        evaluation
            B rows.
        units
            names of the rows, which placebos that are drawn depend on.

        Raises
        ------
        ConfigError
            for a systematic part, which no unit has.
        """
        if self.part == "systematic":
            raise ConfigError(f"measure {self}: no query has it; measures.json of run and evaluate does")
        try:
            if self.part:
                from rerankers.measures.excess import part_scores

                return part_scores(self, evaluation, units)
            return self.kind.per_unit(self, evaluation)
        except RowError as fault:
            raise fault.at(units) from fault.__cause__

    def bilinear(self, evaluation: Evaluation) -> Bilinear | None:
        """Return it as a form whose placebo is known without drawing, None where it is no such form."""
        return self.kind.bilinear(self, evaluation)

    def gaps_under(self, evaluation: Evaluation) -> tuple[BrowsingModel, str] | None:
        """Return browsing model and attribute where it is a group loss, None for all others."""
        return self.kind.gaps_under(self, evaluation)


def parse(text: str) -> Measure:
    """Return the measure written as ``Name(param=value)@k``, or in trec_eval's way (``ndcg_cut_10``, ``map``).

    ``_placebo``, ``_excess`` or ``_systematic`` may follow a measure of groups.

    Raises
    ------
    ConfigError
        for text that is no measure, an unknown name or parameter, each with the nearest one known.
    """
    found = _PART.fullmatch(text)
    text, part = (found[1], found[2]) if found else (text, "")
    parts = scan(text)
    name, cutoff = parts.name, parts.cutoff
    cut = _TREC_CUT.fullmatch(name)
    if cut and cutoff is None and cut[1].lower() in _BY_LOWER:
        name, cutoff = cut[1], int(cut[2])
    return Measure(_BY_LOWER.get(name.lower(), name), parts.params, cutoff, part)


def parse_many(texts: str | Measure | Iterable[Any]) -> tuple[Measure, ...]:
    """Return measures from one text with commas or blanks between them, or from several; repeats once.

    Parameters
    ----------
    texts
        names, measures, and objects that measure (`rerankers.measures.own`), called by their attribute ``name``, else
        by their class.

    Raises
    ------
    ConfigError
        for what is none of these, an unknown name, and two objects of one name.
    """
    if isinstance(texts, str):
        texts = split(texts)
    elif isinstance(texts, Measure) or not isinstance(texts, Iterable):
        texts = [texts]
    found = tuple(dict.fromkeys(_parsed(one) for one in texts))
    named: dict[str, Any] = {}
    for measure in found:
        if named.setdefault(measure.name, measure.own) != measure.own:
            raise ConfigError(f"measures: found two called {measure.name}; give one of them a class attribute name")
    return found


def _parsed(one: Any) -> Measure:
    if isinstance(one, Measure):
        return one
    if isinstance(one, str):
        return parse(one)
    from rerankers.measures.own import own_definition, own_name

    name = own_name(one)
    return Measure(name, own=own_definition(name, one))

"""Measures by name: hashable, printable, parseable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from rerankers._base.errors import ConfigError, choose
from rerankers.measures._scan import quoted, scan, split
from rerankers.measures.definition import Definition, Value

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.scores import Scores

TABLE: dict[str, str] = {
    "EEL": "expected_exposure:EEL",
    "EED": "expected_exposure:EED",
    "EER": "expected_exposure:EER",
    "EET": "expected_exposure:EET",
    "utility": "expected_exposure:Utility",
    "group_EEL": "expected_exposure:GroupEEL",
    "group_EED": "expected_exposure:GroupEED",
    "group_EER": "expected_exposure:GroupEER",
    "group_EET": "expected_exposure:GroupEET",
    "nDCG": "classic:NDCG",
    "AP": "classic:AP",
    "RR": "classic:RR",
    "P": "classic:P",
    "R": "classic:R",
    "Judged": "classic:Judged",
}
"""Name -> module and class, imported when first used. A new measure is a class and a line here."""

ALIASES: dict[str, str] = {
    "EE-L": "EEL",
    "EE-D": "EED",
    "EE-R": "EER",
    "EE-T": "EET",
    "MAP": "AP",
    "MRR": "RR",
    "recip_rank": "RR",
    "recall": "R",
    "precision": "P",
}
_BY_LOWER = {name.lower(): name for name in TABLE} | {alias.lower(): name for alias, name in ALIASES.items()}
_TREC_CUT = re.compile(r"(.+?)(?:_cut)?[_.]([0-9]+)")


@cache
def definition(name: str) -> type[Definition]:
    """Return the class behind a canonical name; ConfigError with the nearest name otherwise."""
    module, _, attribute = TABLE[choose("measure", name, TABLE)].partition(":")
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

    Raises
    ------
    ConfigError
        when built with an unknown name or parameter, a value out of range, or a cutoff where none may be or
        without one where it must.
    """

    name: str
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def __post_init__(self) -> None:
        kind = definition(self.name)
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

    def __str__(self) -> str:
        written = ",".join(
            f"{name}={quoted(value) if isinstance(value, str) else repr(value)}" for name, value in self.params
        )
        return f"{self.name}{f'({written})' if written else ''}{'' if self.cutoff is None else f'@{self.cutoff}'}"

    def get(self, name: str) -> Value | None:
        """Return a parameter's value: as given, else its fixed default, else None."""
        return dict(self.params).get(name, definition(self.name).parameter(name).default)

    def per_unit(self, evaluation: Evaluation) -> Scores:
        """Return the value of every unit of an evaluation, or the reason why there is none."""
        return definition(self.name).per_unit(self, evaluation)


def parse(text: str) -> Measure:
    """Return the measure written as ``Name(param=value)@k``, or in trec_eval's way (``ndcg_cut_10``, ``map``).

    Raises
    ------
    ConfigError
        for text that is no measure, an unknown name or parameter, each with the nearest one known.
    """
    parts = scan(text)
    name, cutoff = parts.name, parts.cutoff
    cut = _TREC_CUT.fullmatch(name)
    if cut and cutoff is None and cut[1].lower() in _BY_LOWER:
        name, cutoff = cut[1], int(cut[2])
    return Measure(_BY_LOWER.get(name.lower(), name), parts.params, cutoff)


def parse_many(texts: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Return measures from one text with commas or blanks between them, or from several; repeats once."""
    if isinstance(texts, str):
        texts = split(texts)
    elif isinstance(texts, Measure):
        texts = [texts]
    return tuple(dict.fromkeys(text if isinstance(text, Measure) else parse(text) for text in texts))

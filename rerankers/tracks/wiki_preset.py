"""The options that the evaluation presets of the Wikipedia tracks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rerankers._base.errors import ConfigError, choose
from rerankers.measures.rank_discount import PRECISIONS

CHOICES: Mapping[str, Sequence[str]] = {
    "reader": ("sorted", "blocks"),
    "duplicates": ("error", "first", "accumulate"),
    "long_rankings": ("error", "keep"),
    "missing_query": ("error", "zero_exposure", "official_default"),
    "unjudged_query": ("error", "skip"),
    "gender_rows": ("as_given", "normalised"),
    "relevant_without_row": ("drop", "unknown", "error"),
    "no_known_relevant": ("undefined", "background"),
    "discount_dtype": PRECISIONS,
}


@dataclass(frozen=True, kw_only=True)
class WikiPreset:
    """Options of both tasks and both years.

    Attributes
    ----------
    name
        of the preset.
    year
        2021 or 2022: which page file is read.
    dimensions
        names of the dimensions that count, null for all of the year.
    depth
        pages a ranking may hold.
    eval_depth
        pages of each ranking that are judged; null for all.
    reader
        ``sorted``: a ranking is all its lines; ``blocks``: ranks begin anew in each block of lines (official).
    duplicates
        a page that comes again in a ranking: ``error``, ``first`` (taken out, those below move up), ``accumulate``.
    long_rankings
        more than ``depth`` pages: ``error`` or ``keep``, and judge as many as ``eval_depth`` says.
    missing_query
        a judged topic that the run lacks: ``error``, ``zero_exposure``, or ``official_default``, left out of the mean.
    unjudged_query
        a topic of the run without judgments: ``error`` or ``skip``, counted.
    gender_rows
        ``as_given``: a page of two genders counts twice; ``normalised``: as halves.
    relevant_without_row
        a relevant page that the page file lacks: ``drop`` it, treat all of it as ``unknown``, or ``error``.
    no_known_relevant
        no relevant page counts for the target: it is ``undefined``, or the ``background`` alone.
    background_share
        how much of the target is background.
    discount_dtype
        ``float64``, or ``float32``, the precision of the official discount.
    drop_values
        values of the gender field of 2021 that are none.
    world_population
        a file of the form of ``world-pop.csv`` for 2022; null for the track's numbers.
    """

    name: str
    year: int
    dimensions: tuple[str, ...] | None = None
    depth: int
    eval_depth: int | None = None
    reader: str = "sorted"
    duplicates: str = "error"
    long_rankings: str = "error"
    missing_query: str = "error"
    unjudged_query: str = "skip"
    gender_rows: str = "as_given"
    relevant_without_row: str = "drop"
    no_known_relevant: str = "undefined"
    background_share: float = 0.5
    discount_dtype: str = "float64"
    drop_values: tuple[str, ...] = ()
    world_population: str | None = None

    def __post_init__(self) -> None:
        for option, words in self.choices().items():
            choose(option, getattr(self, option), words)
        for option in ("dimensions", "drop_values"):
            value = getattr(self, option)
            if value is not None:
                object.__setattr__(self, option, (value,) if isinstance(value, str) else tuple(value))
        for option in self.whole_numbers():
            value = getattr(self, option)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"{option}: found {value!r}; expected a whole number of at least 1, or null")
        if self.year not in (2021, 2022):
            raise ConfigError(f"year: found {self.year!r}; expected 2021 or 2022")
        if not isinstance(self.background_share, int | float) or not 0 <= self.background_share <= 1:
            raise ConfigError(f"background_share: found {self.background_share!r}; expected a number from 0 to 1")

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        """Return option -> the words it may have."""
        return CHOICES

    @classmethod
    def whole_numbers(cls) -> tuple[str, ...]:
        """Return the options that are whole numbers of at least 1, or null."""
        return ("depth", "eval_depth")

    @property
    def judged_depth(self) -> int:
        """Pages that a full ranking has and that are judged."""
        return self.depth if self.eval_depth is None else self.eval_depth

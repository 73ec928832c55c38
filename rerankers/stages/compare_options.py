"""The options of a comparison's tables and files, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rerankers._base.errors import ConfigError, choose

FORMATS = ("md", "csv", "tex", "html")
SEEDS = ("together", "apart")
CORRECTIONS = ("max_t", "holm", "none")
COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a comparison is shown; options of ``conf/compare.yaml`` beside those of `DifferenceOptions`.

    Attributes
    ----------
    seeds
        ``together``: jobs that differ in nothing but their seed are one row; ``apart``: each is a row.
    correction
        p-value that marks differences in the main table: ``max_t``, ``holm`` or ``none`` (each comparison by itself).
    formats
        files written where there is an output: ``md``, ``csv``, ``tex``, ``html``.
    leading_zero
        whether 0.25 is written with its 0 (or .25).
    decimals
        of every number in the tables, 0 to 12; None: two digits of the intervals' half-width, column by column.
    queries
        how many queries are shown with their rankings side by side, or which; None: none.

    Raises
    ------
    ConfigError
        for values out of range.
    """

    seeds: str = "together"
    correction: str = "max_t"
    formats: Sequence[str] = field(default_factory=lambda: list(FORMATS))
    leading_zero: bool = True
    decimals: int | None = None
    queries: int | list[str] | None = 5

    def __post_init__(self) -> None:
        choose("seeds", self.seeds, SEEDS)
        choose("correction", self.correction, CORRECTIONS)
        if not self.formats:
            raise ConfigError("formats: found an empty list; expected some of md, csv, tex, html")
        for one in self.formats:
            choose("formats", one, FORMATS)
        if not isinstance(self.leading_zero, bool):
            raise ConfigError(f"leading_zero: found {self.leading_zero!r}; expected true or false")
        if self.decimals is not None and (type(self.decimals) is not int or not 0 <= self.decimals <= 12):
            raise ConfigError(f"decimals: found {self.decimals!r}; expected a whole number from 0 to 12, or null")
        if isinstance(self.queries, bool) or (isinstance(self.queries, int) and self.queries < 1):
            raise ConfigError(f"queries: found {self.queries}; expected a number of at least 1, ids, or null")


def table_options(config: Mapping[str, Any]) -> TableOptions:
    """Return the options of tables in a config.

    Raises
    ------
    ConfigError
        for values out of range.
    """
    formats, queries = config["formats"], config["queries"]
    if isinstance(queries, list):
        queries = [str(one) for one in queries]
    elif isinstance(queries, str):  # the command quotes it, since elsewhere the word names a file
        queries = int(queries) if queries.isascii() and queries.isdecimal() else [queries]
    return TableOptions(
        seeds=str(config["seeds"]),
        correction="none" if config["correction"] is None else str(config["correction"]),
        formats=[str(one) for one in formats] if isinstance(formats, list) else [str(formats)],
        leading_zero=config["leading_zero"],
        decimals=config["decimals"],
        queries=queries or None if isinstance(queries, list) else queries,
    )

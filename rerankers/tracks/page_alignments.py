"""From one record of a year's page file to the page's groups in each dimension."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rerankers._base.errors import Problems
from rerankers.collections.json_records import kind_of
from rerankers.tracks.background import (
    CONTINENTS_2021,
    GENDERS_2021,
    GENDERS_2022,
    OCEANIA_2022,
    POPULATION_2022,
    shares_of,
)
from rerankers.tracks.pages import DimensionBuilder

UNKNOWN_2021 = "unknown"
UNKNOWN_2022 = "@UNKNOWN"
_UNKNOWN_SOURCE = "UNK"  # how the files of 2022 call a source of unknown region
_TRANS_OR_CIS = re.compile(r"(?:trans|cis)gender\s+((?:fe)?male)")
CATEGORIES_2022 = {
    "alpha": "first_letter_category",
    "age": "creation_date_category",
    "pop": "relative_pageviews_category",
    "langs": "num_sitelinks_category",
}
"""Dimensions of 2022 in which a page has exactly one group: name -> field of the page file."""
_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NAMING = re.compile(rf'"({"|".join(CATEGORIES_2022.values())}|occupations)"\s*:\s*({_TEXT}|\[(?:[^"\[\]]|{_TEXT})*\])')


class Groups2021:
    """Geography and gender of 2021: every group a page belongs to counts 1, rows are not normalised.

    Parameters
    ----------
    drop_values
        values of the field ``gender`` that are none. A page whose only values are such has no group at all in that
        dimension, hence no cell.
    problems
        gets fields of the wrong kind.
    """

    year = 2021
    quality = "quality_score_disc"

    def __init__(self, drop_values: Iterable[str], problems: Problems) -> None:
        self.drop = frozenset(drop_values)
        self.problems = problems
        self.counts: Counter[str] = Counter()
        self.geography = DimensionBuilder("geography", CONTINENTS_2021, "Unknown", CONTINENTS_2021)
        self.gender = DimensionBuilder("gender", GENDERS_2021, UNKNOWN_2021, GENDERS_2021)
        self.builders = (self.geography, self.gender)

    def see(self, text: str) -> None:
        """Look at a line, of whatever page: nothing is learned, the groups are those of the scheme."""

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        """Add the groups of the page of line ``number``."""
        places = set(_texts(record, "geographic_locations", number, self.problems)) - {"Unknown"}
        known = {place for place in places if self.geography.knows(place)}
        self.counts["locations_not_in_the_scheme"] += len(places - known)
        self.geography.add(dict.fromkeys(sorted(known), 1.0))
        named = _texts(record, "gender", number, self.problems)
        kept = [value for value in named if value not in self.drop]
        self.counts["gender_values_dropped"] += len(named) - len(kept)
        if named and not kept:
            self.gender.add_nothing()
        else:
            self.gender.add(dict.fromkeys(_genders(kept, (UNKNOWN_2021, *GENDERS_2021), "third"), 1.0))


class Groups2022:
    """The eight dimensions of 2022, averaged ones first.

    Parameters
    ----------
    population
        people in each region; None takes the track's own numbers.
    problems
        gets fields of the wrong kind.
    """

    year = 2022
    quality = "qual_cat"

    def __init__(self, population: Mapping[str, int] | None, problems: Problems) -> None:
        world = shares_of(POPULATION_2022 if population is None else population)
        self.problems = problems
        self.counts: Counter[str] = Counter()
        self.page_region = DimensionBuilder("sub-geo", world, UNKNOWN_2022, world)
        self.source_region = DimensionBuilder("src-geo", world, UNKNOWN_2022, world)
        self.gender = DimensionBuilder("gender", GENDERS_2022, UNKNOWN_2022, GENDERS_2022)
        self.occupation = DimensionBuilder("occ", None, UNKNOWN_2022)
        self.categories = {name: DimensionBuilder(name, None) for name in CATEGORIES_2022}
        self.builders = (
            self.page_region,
            self.source_region,
            self.gender,
            self.occupation,
            *self.categories.values(),
        )
        self._open = {field: self.categories[name] for name, field in CATEGORIES_2022.items()}
        self._open["occupations"] = self.occupation
        self._seen: set[tuple[str, str]] = set()

    def see(self, text: str) -> None:
        """Look at a line, of whatever page, for names of groups.

        The file alone says which categories and occupations there are. Those of the pages that are kept would not do:
        a page without a record is spread over all categories, so its share would depend on what else is ranked.
        """
        for field, value in set(_NAMING.findall(text)) - self._seen:
            self._seen.add((field, value))
            try:
                names = json.loads(value)
            except ValueError:
                continue  # a page that is not kept may be damaged; one that is kept is read, and refused, by itself
            one = isinstance(names, str)
            if one != (field == "occupations"):
                self._open[field].know([names] if one else [name for name in names if isinstance(name, str)])

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        """Add the groups of the page of line ``number``."""
        named = _texts(record, "page_subcont_regions", number, self.problems)
        self.page_region.add(_shared(self._regions(dict.fromkeys(named, 1.0))))
        sources = _weights(record, "source_subcont_regions", number, self.problems)
        self.source_region.add(_shared(self._regions(sources)))
        genders = _genders(_texts(record, "gender", number, self.problems), (UNKNOWN_2022, *GENDERS_2022), "NB")
        self.gender.add(dict.fromkeys(genders, 1.0))
        occupations = _texts(record, "occupations", number, self.problems)
        self.occupation.add(_shared(dict.fromkeys(occupations, 1.0)))
        for name, field in CATEGORIES_2022.items():
            value = record.get(field)
            if value is not None and not isinstance(value, str):
                self.problems.add(number, f"{field} that is {kind_of(value)}", "text, or null")
                value = None
            self.counts[f"pages_without_{field}"] += value is None
            self.categories[name].add({} if value is None else {value: 1.0})

    def _regions(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the weights of regions of the scheme: those of Oceania are one."""
        found: dict[str, float] = {}
        for name, weight in weights.items():
            region = "Oceania" if name in OCEANIA_2022 else UNKNOWN_2022 if name == _UNKNOWN_SOURCE else name
            if self.page_region.knows(region):
                found[region] = found.get(region, 0.0) + weight
            else:
                self.counts["regions_not_in_the_scheme"] += 1
        return found


def _genders(values: Iterable[str], groups: tuple[str, ...], other: str) -> list[str]:
    """Return the groups of gender terms: trans and cis are folded, terms outside of the scheme are ``other``."""
    folded = (_TRANS_OR_CIS.sub(r"\1", value) for value in values)
    return sorted({value if value in groups else other for value in folded})


def _shared(weights: Mapping[str, float]) -> dict[str, float]:
    """Return weights divided by their sum; nothing where there is none."""
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()} if total > 0 else {}


def _texts(record: Mapping[str, Any], key: str, number: int, problems: Problems) -> list[str]:
    """Return a list of texts; empty where the field is null or not there."""
    value = record.get(key)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    problems.add(number, f"{key} that is {kind_of(value)}", "a list of texts, or null")
    return []


def _weights(record: Mapping[str, Any], key: str, number: int, problems: Problems) -> dict[str, float]:
    """Return names with finite weights of at least 0; empty where the field is null or not there."""
    value = record.get(key)
    if value is None:
        return {}
    if isinstance(value, dict) and all(
        type(one) in (int, float) and one >= 0 and math.isfinite(one) for one in value.values()
    ):
        return {name: float(weight) for name, weight in value.items()}
    problems.add(number, f"{key} that is {kind_of(value)} or holds other things than weights", "names with numbers")
    return {}

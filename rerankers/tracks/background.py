"""What the world looks like: the shares that the Wikipedia tracks of 2021 and 2022 average their targets with.

The populations of 2022 are those of ``world-pop.csv`` in fair-trec/trec2022-fair-public (MIT licence, copyright 2021
Boise State University; the figures are those of Wikipedia's list of subregions by population). The shares of 2021 and
of genders are constants of the organisers' evaluation in fair-trec/trec2021-fair-public (same licence and copyright).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rerankers._base.errors import Problems
from rerankers.collections.delimited import open_rows

CONTINENTS_2021: Mapping[str, float] = MappingProxyType(
    {
        "Africa": 0.155070563,
        "Antarctica": 1.54424e-07,
        "Asia": 0.600202585,
        "Europe": 0.103663858,
        "Latin America and the Caribbean": 0.08609797,
        "Northern America": 0.049616733,
        "Oceania": 0.005348137,
    }
)
"""Share of the world population by continent, 2021, in the order of the cells. They sum to 1 within 1e-9."""

GENDERS_2021: Mapping[str, float] = MappingProxyType({"female": 0.495, "male": 0.495, "third": 0.01})
GENDERS_2022: Mapping[str, float] = MappingProxyType({"female": 0.495, "male": 0.495, "NB": 0.01})

POPULATION_2022: Mapping[str, int] = MappingProxyType(
    {
        "Antarctica": 1106,
        "Caribbean": 42517000,
        "Central America": 167387000,
        "Central Asia": 64370000,
        "Eastern Africa": 373202000,
        "Eastern Asia": 1620807000,
        "Eastern Europe": 294162000,
        "Middle Africa": 135750000,
        "Northern Africa": 210002000,
        "Northern America": 355361000,
        "Northern Europe": 100404000,
        "Oceania": 38304000,
        "South America": 406740000,
        "South-eastern Asia": 618793000,
        "Southern Africa": 60425000,
        "Southern Asia": 1749046000,
        "Southern Europe": 155827000,
        "Western Africa": 331255000,
        "Western Asia": 245707000,
        "Western Europe": 192060000,
    }
)
"""People in each of 20 subcontinental regions, by name."""

OCEANIA_2022 = ("Australia and New Zealand", "Melanesia", "Micronesia", "Polynesia")
"""Regions of pages that are one region, Oceania, in the targets of 2022."""


def shares_of(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return each number divided by their sum, names ascending."""
    total = sum(numbers.values())
    return {name: numbers[name] / total for name in sorted(numbers)}


def read_world_population(path: Path) -> dict[str, int]:
    """Read a file of the form of ``world-pop.csv``: columns ``Name`` and ``Population``, others are ignored.

    Returns
    -------
    name -> people, names ascending.

    Raises
    ------
    InputError
        with every problem and its line: columns that are missing, a population that is no whole number of at least 0, a
        region twice, no region.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    rows = open_rows(path, problems)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    if not {"Name", "Population"} <= set(header):
        problems.add(1, f"the header {', '.join(header) or '(none)'}", "columns Name and Population")
    problems.raise_if_any()
    name_at, people_at = header.index("Name"), header.index("Population")
    found: dict[str, int] = {}
    for line, row in rows:
        if not row:
            continue
        name, people = (row[at].strip() if at < len(row) else "" for at in (name_at, people_at))
        if not people.isascii() or not people.isdecimal() or not name:
            problems.add(line, f"region {name!r} with population {people!r}", "a name and a whole number")
        elif name in found:
            problems.add(line, f"region {name!r} again", "each region once")
        else:
            found[name] = int(people)
    if not found and not problems:
        problems.add(None, "no region", "at least one row below the header")
    problems.raise_if_any()
    return dict(sorted(found.items()))

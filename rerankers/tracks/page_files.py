"""The page files of 2021 and 2022: JSON lines, one page a line, millions of them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import collect_lines
from rerankers._base.json_text import parse_json
from rerankers.collections.json_records import kind_of
from rerankers.collections.official_files import check_editions, need_official_file
from rerankers.tracks.page_alignments import CATEGORIES_2022, Groups2021, Groups2022
from rerankers.tracks.pages import NO_QUALITY, WORK_ORDER, PageTable, page_table

_PAGE = re.compile(r'"page_id"\s*:\s*"?(\d+)')
OFFICIAL = {2021: "trec_metadata_eval.json", 2022: "trec_2022_articles_discrete.json"}
FIELDS: Mapping[int, tuple[str, ...]] = {
    2021: ("geographic_locations", "quality_score", "quality_score_disc"),
    2022: ("page_subcont_regions", "source_subcont_regions", "qual_cat", "occupations", *CATEGORIES_2022.values()),
}
"""Year -> the fields that only its page file has."""
_BOTH = "gender"
_LEVEL = {name: level for level, name in enumerate(WORK_ORDER)}


def read_pages_2021(
    path: str | Path, pages: Collection[int] | None = None, drop_values: Collection[str] = ()
) -> PageTable:
    """Read the metadata of 2021 (plain, ``.gz`` or ``.zst``): geography, gender and quality of pages.

    Fields: ``page_id``, ``geographic_locations``, ``gender`` (evaluation file only), ``quality_score_disc``. Null and
    missing fields are unknown.

    Parameters
    ----------
    path
        the file.
    pages
        which pages to keep, a set; None keeps all. Lines of others are not looked at closer.
    drop_values
        see `Groups2021`.

    Returns
    -------
    PageTable
        counts, where there are any: ``pages``, ``duplicate_pages`` (the first record counts), ``pages_skipped``,
        ``pages_without_quality``, ``locations_not_in_the_scheme``, ``gender_values_dropped``, ``blank_page_lines``.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    MissingError
        when there is no such file, with where it officially lives.
    """
    need_official_file(Path(path), OFFICIAL[2021])
    problems = Problems(str(path))
    return _read(Path(path), pages, Groups2021(drop_values, problems), problems)


def read_pages_2022(
    path: str | Path, pages: Collection[int] | None = None, population: Mapping[str, int] | None = None
) -> PageTable:
    """Read the articles of 2022 (``trec_2022_articles_discrete.json.gz``): the eight dimensions and quality of pages.

    Parameters
    ----------
    path
        the file, plain, ``.gz`` or ``.zst``.
    pages
        which pages to keep, a set; None keeps all.
    population
        people in each region, `read_world_population`; None takes the track's own numbers.

    Returns
    -------
    PageTable
        counts as `read_pages_2021`, with ``regions_not_in_the_scheme`` and ``pages_without_…_category``.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    MissingError
        when there is no such file, with where it officially lives.
    """
    need_official_file(Path(path), OFFICIAL[2022])
    problems = Problems(str(path))
    return _read(Path(path), pages, Groups2022(population, problems), problems)


def page_number(value: object) -> int | None:
    """Return a page number, given as a whole number or as its digits; None for anything else."""
    if type(value) is int and 0 <= value < 2**63:
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    return None


def _read(path: Path, pages: Collection[int] | None, groups: Groups2021 | Groups2022, problems: Problems) -> PageTable:
    page, quality = array("q"), array("b")
    seen = {"pages_skipped": 0, "blank_page_lines": 0, "pages_without_quality": 0}
    fields: set[str] = set()
    for number, record in _records(path, pages, seen, problems, groups, fields):
        found = page_number(record.get("page_id", record.get("id")))
        if found is None:
            problems.add(number, f"page_id {record.get('page_id')!r}", "a whole number")
            continue
        if pages is not None and found not in pages:
            seen["pages_skipped"] += 1
            continue
        level = _LEVEL.get(str(record.get(groups.quality)), NO_QUALITY)
        seen["pages_without_quality"] += level == NO_QUALITY
        page.append(found)
        quality.append(level)
        groups.add(number, record)
    if not len(page) and not seen["pages_skipped"] and not problems:
        problems.add(None, "no page", "one JSON object a line, with a page_id")
    elif not problems:
        _check_year(groups.year, fields, problems)
    problems.raise_if_any()
    return page_table(page, quality, groups.builders, {**seen, **groups.counts, **check_editions([path])})


def _records(
    path: Path,
    pages: Collection[int] | None,
    seen: dict[str, int],
    problems: Problems,
    groups: Groups2021 | Groups2022,
    fields: set[str],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of pages to keep; note in ``fields`` those met until one is of the year alone."""
    own = FIELDS[groups.year]
    every = (_BOTH, *(field for names in FIELDS.values() for field in names))
    for number, _, text in collect_lines(path, problems):
        if fields.isdisjoint(own):
            fields.update(field for field in every if f'"{field}"' in text)
        if pages is not None:
            groups.see(text)
            match = _PAGE.search(text)
            if match is not None and int(match[1]) not in pages:
                seen["pages_skipped"] += 1
                continue
        if not text or text.isspace():
            seen["blank_page_lines"] += 1
            continue
        try:
            record = parse_json(text)
        except (ValueError, RecursionError) as error:
            problems.add(number, f"JSON that cannot be read ({error})", "one JSON object")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            problems.add(number, f"JSON that is {kind_of(record)}", "an object in curly brackets")


def _check_year(year: int, fields: set[str], problems: Problems) -> None:
    """Add a problem when a file has no field of the year; one with genders alone may be of either."""
    if not fields.isdisjoint(FIELDS[year]) or fields == {_BOTH}:
        return
    like = [other for other, names in FIELDS.items() if not fields.isdisjoint(names)]
    mend = f"It looks like the page file of {like[0]}." if like else ""
    problems.add(None, f"none of the fields of {year}", f"{', '.join(FIELDS[year])} or {_BOTH}", mend=mend)


def need_pages(found: int, path: str | Path) -> None:
    """Refuse a file that knows none of the pages asked for.

    Raises
    ------
    InputError
        when ``found`` is 0.
    """
    if not found:
        mend = "Is it the file of another year?"
        raise InputError.one(str(path), "none of the pages that are judged or ranked", "their records", mend=mend)

"""Small page tables and files of the Wikipedia tracks, invented."""

from __future__ import annotations

import json

import numpy as np

from rerankers.measures.cells import Memberships
from rerankers.tracks.pages import NO_QUALITY, Dimension, PageTable


def memberships(rows) -> Memberships:
    matrix = np.array(rows, dtype=float)
    page, group = np.nonzero(matrix)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(matrix)))]).astype(np.int64)
    return Memberships(matrix.shape[1], indptr, group.astype(np.int32), matrix[page, group])


def table_of(dimensions, quality=None) -> PageTable:
    """Build from (name, columns, {page: row}, unknown, background) of each dimension."""
    pages = np.array(sorted(int(page) for page in dimensions[0][2]))
    rows = tuple(memberships([values[str(page)] for page in pages]) for _, _, values, _, _ in dimensions)
    specs = tuple(
        Dimension(name, tuple(columns), unknown, background) for name, columns, _, unknown, background in dimensions
    )
    levels = np.full(len(pages), NO_QUALITY, np.int8) if quality is None else np.array(quality, np.int8)
    return PageTable(pages, np.arange(len(pages)), specs, rows, levels)


def write_lines(path, records):
    path.write_text("".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records))
    return path


def page_2021(page, places, genders, quality="B"):
    return {"page_id": page, "geographic_locations": places, "gender": genders, "quality_score_disc": quality}


def page_2022(page, **fields):
    record = {
        "page_id": page,
        "qual_cat": "Stub",
        "page_subcont_regions": [],
        "source_subcont_regions": {},
        "gender": [],
        "occupations": [],
        "first_letter_category": " a-d",
        "creation_date_category": "2001-2006",
        "relative_pageviews_category": "Low",
        "num_sitelinks_category": "English only",
    }
    return {**record, **fields}

"""The page of a comparison: its sections in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.report.comparison import ComparisonPage
from rerankers.report.comparison_table import Column, Line, Part, Sheet
from rerankers.stages import differences_text
from rerankers.stages.compare_across import across_sheet
from rerankers.stages.compare_names import differing, short_keys, value_words
from rerankers.stages.compare_sheets import main_sheet, measure_sheets, optimum_sheet, seed_sheet
from rerankers.stages.compare_text import legend, place_sentences

if TYPE_CHECKING:
    from rerankers.stages.compare_data import Comparison
    from rerankers.stages.compare_options import TableOptions

MOST_OPTIONS = 8
"""Columns of options in the table of rows; more are in the jobs' config.yaml."""


def page_of(comparison: Comparison, options: TableOptions) -> ComparisonPage:
    """Return what the page holds."""
    parts, several = comparison.parts, len(comparison.parts) > 1
    main = main_sheet(parts, comparison.keys, options)
    further = []
    for anchor, sheet in (
        ("collections", across_sheet(comparison.across, options)),
        ("optimum", optimum_sheet(parts, options)),
        ("seeds", seed_sheet(parts, comparison.keys, options)),
    ):
        if sheet is not None:
            further.append((anchor, sheet.title, [sheet]))
    tests = [
        differences_text.sheet(one.against, f"Differences: {title}" if title else "Differences", options.decimals)
        for title, one in comparison.titled()
    ]
    if any(sheet is not None for sheet in tests):
        further.append(("differences", "Differences", [sheet for sheet in tests if sheet is not None]))
    measures = [sheet for one in parts for sheet in measure_sheets(one, options, several)]
    further.append(("measures", "All measures", measures))
    cautions = [line for one in parts for line in differences_text.sentences(one.against)]
    told = place_sentences(comparison.found, comparison.table, comparison.placed)
    return ComparisonPage(
        title="Comparison",
        lead=_lead(comparison),
        main=main,
        legend=legend(comparison, options),
        missing=comparison.missing_in(main),
        others=comparison.missing_in(*measures),
        further=further,
        rows=rows_sheet(comparison),
        about=comparison.about,
        warnings=list(dict.fromkeys([*comparison.notes, *cautions])),
        places=[(told[0], told[1:])] if told else [],
        links=comparison.links,
    )


def rows_sheet(comparison: Comparison) -> Sheet:
    """Return every run with the options in which runs differ, its tier and its folders."""
    rows = [(one.section.title, row) for one in comparison.parts for row in one.section.runs]
    keys = differing([row.members[0].options for _, row in rows])
    keys = [key for key in keys if key not in comparison.found.left_out]
    short = short_keys(keys)
    columns = [*(short[key] for key in keys[:MOST_OPTIONS]), "tier", "folder"]
    body = []
    for title in dict.fromkeys(title for title, _ in rows):
        lines = []
        for home, row in rows:
            if home == title:
                told = row.members[0].options
                cells = [value_words(key, told[key]) if key in told else "" for key in keys[:MOST_OPTIONS]]
                folders = ", ".join(comparison.labels[member.job.folder] for member in row.members)
                lines.append(Line(row.name, [*cells, row.tier, folders]))
        body.append(Part(title if len(comparison.parts) > 1 else "", lines))
    notes = []
    if len(keys) > MOST_OPTIONS:
        notes = [f"{len(keys) - MOST_OPTIONS} more options differ: {', '.join(keys[MOST_OPTIONS:])}"]
    return Sheet("Rows and their folders", "system", [Column(name) for name in columns], body, notes, "rows")


def _lead(comparison: Comparison) -> str:
    jobs = len(comparison.labels)
    runs = len({row.name for one in comparison.parts for row in one.section.runs})
    queries = " and ".join(f"{one.section.queries:,}" for one in comparison.parts)
    return f"{runs:,} systems in {jobs:,} jobs on {queries} queries."

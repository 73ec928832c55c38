"""The files of a comparison: Markdown, LaTeX, HTML, and every number as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.files import write_text
from rerankers.report.comparison import comparison_html
from rerankers.report.comparison_markdown import plain, sheet_markdown
from rerankers.report.latex import document
from rerankers.stages import differences_text
from rerankers.stages.compare_across import across_csv, across_sheet
from rerankers.stages.compare_csv import comma_separated, distances_csv
from rerankers.stages.compare_page import page_of, rows_sheet
from rerankers.stages.compare_sheets import main_sheet, measure_sheets, optimum_sheet, seed_sheet
from rerankers.stages.compare_text import curves_markdown, legend, place_markdown
from rerankers.stages.trade_offs import gaps_csv, matched_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerankers.report import Picture
    from rerankers.report.comparison_table import Sheet
    from rerankers.stages.compare_data import Comparison
    from rerankers.stages.compare_options import TableOptions

OURS = (
    *("comparison.md", "comparison.csv", "comparison.tex", "comparison.html", "differences.csv", "optimum.csv"),
    *("collections.csv", "matched.csv", "gaps.csv"),
)
PICTURES = "trade_off_*"
"""What an earlier comparison may have left in the folder: it goes, since it would be taken for this one's."""
TEX_ROWS = 120
"""Longer tables of differences are in differences.csv, not in comparison.tex."""


def write_comparison(comparison: Comparison, output: Path, options: TableOptions) -> list[Path]:
    """Write the files of a comparison, in the formats asked for; return those that hold the table.

    Files of an earlier comparison that this one does not write go.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    texts: dict[str, str] = {}
    drawn: list[tuple[Picture, str]] = []
    _remove_pictures(output)
    for curves in comparison.curves:
        drawn += [(picture, picture.save(output / "figures")) for picture in curves.pictures]
    if "md" in options.formats:
        texts["comparison.md"] = markdown(comparison, options)
    if "csv" in options.formats:
        texts |= _numbers(comparison)
    if "tex" in options.formats:
        texts["comparison.tex"] = latex(comparison, options)
    if "html" in options.formats:
        texts["comparison.html"] = comparison_html(page_of(comparison, options), drawn, options.leading_zero)
    for name in OURS:
        if name not in texts:
            (output / name).unlink(missing_ok=True)
    for name, text in texts.items():
        write_text(output / name, text.encode("utf-8", "replace").decode("utf-8"))
    return [output / name for name in texts if name.startswith("comparison.")]


def markdown(comparison: Comparison, options: TableOptions) -> str:
    """Return comparison.md."""
    lines = ["# Comparison", "", *(f"- {plain(line)}" for line in [*comparison.about, *comparison.notes]), ""]
    main = main_sheet(comparison.parts, comparison.keys, options)
    lines += sheet_markdown(main, options.leading_zero)
    lines += [line for note in legend(comparison, options)
              for line in (plain(note), "")]  # fmt: skip
    lines += _reasons(comparison.missing_in(main))
    for sheet in _further(comparison, options):
        lines += sheet_markdown(sheet, options.leading_zero)
    for title, one in comparison.titled():
        lines += differences_text.markdown(one.against, f"Differences: {plain(title)}" if title else "Differences")
    for (title, _), curves in zip(comparison.titled(), comparison.curves, strict=True):
        lines += curves_markdown(curves, title)
    if comparison.table is not None:
        lines += place_markdown(comparison.found, comparison.table, comparison.placed)
    measures = [sheet for title, one in comparison.titled() for sheet in measure_sheets(one, options, bool(title))]
    for sheet in measures:
        lines += sheet_markdown(sheet, options.leading_zero)
    lines += _reasons(comparison.missing_in(*measures))
    lines += sheet_markdown(rows_sheet(comparison), options.leading_zero)
    lines += [f"- [{plain(title)}]({path})" for title, path in comparison.links]
    return "\n".join(lines) + "\n"


def latex(comparison: Comparison, options: TableOptions) -> str:
    """Return comparison.tex."""
    main = main_sheet(comparison.parts, comparison.keys, options)
    sheets = [main, *_further(comparison, options)]
    for place, (title, one) in enumerate(comparison.titled(), 1):
        heading = f"Differences, {title}" if title else "Differences"
        slug = f"differences-{place}" if title else "differences"
        found = differences_text.sheet(one.against, heading, options.decimals, slug)
        if found is not None and found.rows <= TEX_ROWS:
            sheets.append(found)
    notes = legend(comparison, options)
    notes += [f"{letter}: {reason}." for letter, reason in comparison.missing_in(main)]
    return document(sheets, notes, "Comparison", options.leading_zero)


def _reasons(missing: Sequence[tuple[str, str]]) -> list[str]:
    return [line for letter, reason in missing for line in (f"{letter}: {plain(reason)}", "")]


def _further(comparison: Comparison, options: TableOptions) -> list[Sheet]:
    found = [
        across_sheet(comparison.across, options),
        optimum_sheet(comparison.parts, options),
        seed_sheet(comparison.parts, comparison.keys, options),
    ]
    return [sheet for sheet in found if sheet is not None]


def _numbers(comparison: Comparison) -> dict[str, str]:
    """Return the files of numbers, by name."""
    out = {"comparison.csv": comma_separated(comparison.parts, comparison.labels)}
    tests = [(one.section.title, one.against) for one in comparison.parts]
    curves = [(one.section.title, found) for one, found in zip(comparison.parts, comparison.curves, strict=True)]
    if any(against.rows for _, against in tests):
        out["differences.csv"] = differences_text.comma_separated(tests)
    if comparison.across:
        out["collections.csv"] = across_csv(comparison.across)
    if any(one.best.distances for one in comparison.parts):
        out["optimum.csv"] = distances_csv(comparison.parts)
    if any(found.matched for _, found in curves):
        out["matched.csv"] = matched_csv(curves)
    if any(found.gaps for _, found in curves):
        out["gaps.csv"] = gaps_csv(curves)
    return out


def _remove_pictures(output: Path) -> None:
    for kind in ("png", "csv"):
        for path in (output / "figures").glob(f"{PICTURES}.{kind}"):
            path.unlink(missing_ok=True)

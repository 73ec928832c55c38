"""The page of a comparison: its tables, its pictures, what was compared. One file, readable without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rerankers.report.comparison_table import SIGNS, Column, Sheet, Value, shown

if TYPE_CHECKING:
    from rerankers.report.picture import Picture


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPage:
    """What the page holds.

    Attributes
    ----------
    title, lead
        heading, and a sentence below it.
    main
        the main table.
    legend
        how to read its numbers and marks.
    missing
        (letter, reason) of missing values of the main table.
    further
        (anchor, heading, tables) of further sections.
    rows
        rows, the options in which they differ, and their folders.
    about
        sentences on what was compared.
    warnings
        sentences that limit what may be read from it.
    others
        (letter, reason) of missing values of the tables of all measures.
    places
        (heading, sentences) of places among published runs.
    links
        (title, relative path) of pages beside it.
    """

    title: str
    lead: str
    main: Sheet
    legend: Sequence[str]
    missing: Sequence[tuple[str, str]]
    further: Sequence[tuple[str, str, Sequence[Sheet]]]
    rows: Sheet
    about: Sequence[str]
    warnings: Sequence[str] = field(default_factory=tuple)
    others: Sequence[tuple[str, str]] = field(default_factory=tuple)
    places: Sequence[tuple[str, Sequence[str]]] = field(default_factory=tuple)
    links: Sequence[tuple[str, str]] = field(default_factory=tuple)


def comparison_html(page: ComparisonPage, drawn: Sequence[tuple[Picture, str]], leading_zero: bool = True) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page
        its content; every text is escaped.
    drawn
        pictures with their SVG.
    leading_zero
        whether 0.25 is written with its 0.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rerankers.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def words(value: Value, column: Column) -> tuple[str, str]:
        return shown(value, column, leading_zero)

    environment.globals |= {"shown": words, "signs": SIGNS}
    sections = [("results", "Results"), *((anchor, title) for anchor, title, _ in page.further)]
    sections += [("pictures", "Trade-off")] if drawn else []
    sections += [("queries", "Rankings side by side")] if page.links else []
    text = environment.get_template("comparison.html.j2").render(
        page=page,
        sections=[*sections, ("what", "What was compared")],
        # drawn by our own renderer, which escapes what it is given
        pictures=[(picture, Markup(svg)) for picture, svg in drawn],  # noqa: S704
    )
    # names of files in another encoding hold lone surrogates, which UTF-8 has no bytes for
    return text.encode("utf-8", "replace").decode("utf-8")

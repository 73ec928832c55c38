"""The report as one HTML file, with its pictures and their numbers beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.files import write_text
from rerankers.report.data import ANCHOR, ReportData, short_name
from rerankers.report.groups import COLUMNS as GROUP_TABLE
from rerankers.report.groups import group_exposure
from rerankers.report.keys import ANCHOR_WORDS, TIER_WORDS, attributes, in_order
from rerankers.report.per_query import query_table
from rerankers.report.picture import Picture
from rerankers.report.planes import disparity_relevance, utility_loss
from rerankers.report.tables import result_tables
from rerankers.report.text import flatten, number, words

if TYPE_CHECKING:
    import jinja2

SYSTEMS_PER_QUERY = 8  # per-query tables in the page; measures.csv has every system
_OURS = ("disparity_relevance", "utility_loss", "group_exposure_*", "training_curves", "reliability")


def write_report(folder: Path, data: ReportData) -> Path:
    """Write ``report.html`` and ``figures/`` (PNG and CSV of each picture) into a folder.

    The page needs no other file. Every file is replaced at once; pictures of an earlier report are removed.

    Parameters
    ----------
    folder
        created where it does not exist.
    data
        the results.

    Returns
    -------
    Path
        of the page.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    figures = folder / "figures"
    remove_pictures(folder)
    pictures = [picture for picture in (disparity_relevance(data), utility_loss(data)) if picture]
    pictures += [*group_exposure(data), *data.pictures]
    drawn = [(picture, picture.save(figures)) for picture in pictures]
    path = folder / "report.html"
    text = page(data, drawn)
    # paths in another encoding hold lone surrogates, which UTF-8 has no bytes for
    write_text(path, text.encode("utf-8", "replace").decode("utf-8"))
    return path


def remove_pictures(folder: Path) -> None:
    """Remove the pictures of an earlier report in a folder; other files in ``figures/`` stay."""
    for pattern in _OURS:
        for kind in ("png", "csv"):
            for path in (folder / "figures").glob(f"{pattern}.{kind}"):
                path.unlink(missing_ok=True)


def page(data: ReportData, drawn: Sequence[tuple[Picture, str]]) -> str:
    """Return the page; ``drawn`` are pictures with their SVG."""
    from markupsafe import Markup

    tables, notes = result_tables(data)
    per_query = [query_table(data, system) for system in data.methods[:SYSTEMS_PER_QUERY]]
    return _template().render(
        data=data,
        tier=TIER_WORDS.get(data.tier, ""),
        options=flatten(data.options),
        counts=_counts(data.counts),
        tables=tables,
        notes=notes,
        explained=_explained(data.keys),
        anchors=[(short_name(name), ANCHOR_WORDS.get(short_name(name), "")) for name in data.anchors],
        methods=data.methods,
        # drawn by our own renderer, which escapes what it is given
        pictures=[(picture, Markup(svg)) for picture, svg in drawn],  # noqa: S704
        group_table=GROUP_TABLE,
        grouped=bool(attributes(in_order(data.keys))),
        per_query=[table for table in per_query if table],
        left_out=data.methods[SYSTEMS_PER_QUERY:],
    )


def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rerankers.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "words": words, "short": short_name}
    environment.globals["anchor"] = ANCHOR
    return environment.get_template("report.html.j2")


def _counts(counts: Mapping[str, Mapping[str, int] | int]) -> list[tuple[str, list[tuple[str, int]]]]:
    whole: list[tuple[str, int]] = []
    parts: list[tuple[str, list[tuple[str, int]]]] = []
    for name, value in counts.items():
        if isinstance(value, Mapping):
            parts.append((words(name), [(words(what), number) for what, number in value.items()]))
        else:
            whole.append((words(name), value))
    return [("", whole), *parts] if whole else parts


def _explained(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return (names, words) once for every measure that needs its own words."""
    named: dict[str, list[str]] = {}
    for key in in_order(texts):
        named.setdefault(key.words, []).append(key.label)
    return [(", ".join(dict.fromkeys(labels)), text) for text, labels in named.items()]

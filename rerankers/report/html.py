"""The report as one HTML file, with its pictures and their numbers beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.files import write_text
from rerankers.report.contents import FAIRNESS, limits, titles_of
from rerankers.report.data import ANCHOR, PlainTable, ReportData, short_name
from rerankers.report.extras import FRONT_WORDS
from rerankers.report.groups import group_exposure
from rerankers.report.keys import ANCHOR_WORDS, LOSSES, TIER_WORDS, Key, attributes, in_order
from rerankers.report.lorenz_picture import gini_rows, lorenz_picture
from rerankers.report.per_query import QueryTable, query_table
from rerankers.report.picture import Picture
from rerankers.report.placebo import READ, placebo_picture
from rerankers.report.planes import disparity_relevance, utility_loss
from rerankers.report.sequence import sequence_picture
from rerankers.report.sources import sources
from rerankers.report.spread import spread_picture
from rerankers.report.tables import Cell, result_tables
from rerankers.report.text import flatten, number, words

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

SYSTEMS_PER_QUERY = 8  # per-query tables in the page; measures.csv has every system
WORST = 5  # queries that are named
_OURS = (
    "disparity_relevance",
    "utility_loss",
    "group_exposure_*",
    "lorenz",
    "sequence",
    "placebo",
    "per_query",
    "training_curves",
    "reliability",
)


@dataclass(frozen=True, slots=True)
class Worst:
    """The units of a system with the largest loss ``by``: (unit, cell)."""

    system: str
    by: Key
    first: Sequence[tuple[str, Cell]]


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
    drawn = [(picture, picture.save(figures)) for picture in pictures_of(data)]
    path = folder / "report.html"
    text = page(data, drawn)
    # paths in another encoding hold lone surrogates, which UTF-8 has no bytes for
    write_text(path, text.encode("utf-8", "replace").decode("utf-8"))
    return path


def pictures_of(data: ReportData) -> list[Picture]:
    """Return the pictures of a report in the order of the page."""
    trace = data.extras.trace
    found = [
        disparity_relevance(data),
        utility_loss(data),
        *group_exposure(data),
        lorenz_picture(data),
        None if trace is None else sequence_picture(trace),
        placebo_picture(data),
        spread_picture(data),
        *data.pictures,
    ]
    return [picture for picture in found if picture is not None]


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
    per_query = [table for system in data.methods[:SYSTEMS_PER_QUERY] if (table := query_table(data, system))]
    keys = in_order(data.keys)
    # drawn by our own renderer, which escapes what it is given
    shown: dict[str, tuple[Picture, Markup]] = {picture.name: (picture, Markup(svg)) for picture, svg in drawn}  # noqa: S704
    own = {picture.name for picture in data.pictures}
    exposure = [one for name, one in shown.items() if name.startswith("group_exposure_") and name not in own]
    return _template().render(
        data=data,
        titles=titles_of(data, set(shown), bool(exposure)),
        tier=TIER_WORDS.get(data.tier, ""),
        summary=[(name, text) for name, text in data.summary.items() if name != FAIRNESS],
        fairness=data.summary.get(FAIRNESS, ""),
        options=flatten(data.options),
        counts=_counts(data.counts),
        tables=tables,
        notes=notes,
        explained=_explained(data.keys),
        anchors=[(short_name(name), ANCHOR_WORDS.get(short_name(name), "")) for name in data.anchors],
        methods=data.methods,
        fronts=[(name, FRONT_WORDS.get(name, "")) for name in dict.fromkeys(one.name for one in data.extras.fronts)],
        planes=[shown[name] for name in ("disparity_relevance", "utility_loss") if name in shown],
        exposure=exposure,
        lorenz=shown.get("lorenz"),
        ginis=_ginis(data),
        sequence=shown.get("sequence"),
        placebo=shown.get("placebo"),
        read_placebo=READ,
        spread=shown.get("per_query"),
        worst=_worst(per_query),
        more=[shown[name] for name in shown if name in own],
        grouped=bool(attributes(keys)),
        many_attributes=len(attributes(keys)) > 1,
        per_query=per_query,
        left_out=data.methods[SYSTEMS_PER_QUERY:],
        limits=limits(data),
        sources=sources(keys, data.extras.method, data.summary.get("browsing model", "")),
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


def _worst(tables: Sequence[QueryTable]) -> Worst | None:
    """Return the units with the largest loss of the first system; None for fewer than two, and without a loss."""
    first = tables[0] if tables else None
    if first is None or first.total < 2 or first.by.base not in LOSSES:
        return None
    place = list(first.columns).index(first.by)
    return Worst(first.system, first.by, [(unit, cells[place]) for unit, cells in first.rows[:WORST]])


def _ginis(data: ReportData) -> PlainTable:
    rows = [(short_name(name), *values) for name, *values in gini_rows(data)]
    columns = ("system", "of exposure over documents", "relative to what relevant documents are due")
    return PlainTable("Gini coefficients: 0 for equal shares, nearly 1 where one document has all", "", columns, rows)


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

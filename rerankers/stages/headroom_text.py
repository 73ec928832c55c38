"""The headroom of a first stage in tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.text import cells as width_of
from rerankers.report.text import clean, interval, number

if TYPE_CHECKING:
    from rerankers.report import Picture

Table = tuple[str, list[list[str]]]
"""What a table says, and its rows, the header first."""

COMPLETE = (
    "The least losses are over all policies that rank the whole of the first documents of each list, with relevance "
    "known; documents that were not retrieved keep the exposure they are due."
)


def terminal(found: Mapping[str, Any]) -> list[str]:
    """Return the tables as lines of aligned columns."""
    lines = [_about(found)]
    for title, rows in tables(found):
        widths = [max(width_of(row[place]) for row in rows) for place in range(len(rows[0]))]
        lines += ["", title]
        for row in rows:
            lines.append("  ".join(_padded(row[place], width, place) for place, width in enumerate(widths)).rstrip())
    return [*lines, "", *_notes(found)]


def markdown(found: Mapping[str, Any], pictures: Sequence[tuple[Picture, str]] = ()) -> str:
    """Return the tables, pictures (with their folder) and notes as Markdown."""
    lines = [f"# First-stage headroom: {clean(str(found['collection']))}", "", _about(found), ""]
    for title, (header, *rows) in tables(found):
        lines += [f"## {title}", "", _line(header), _line(["---"] * len(header)), *map(_line, rows), ""]
    for picture, folder in pictures:
        lines += [f"![{picture.title}]({folder}/{picture.name}.png)", "", clean(picture.caption), ""]
    return "\n".join([*lines, *(f"- {note}" for note in _notes(found)), ""])


def tables(found: Mapping[str, Any]) -> list[Table]:
    """Return recall, depths needed, least losses and divided losses."""
    depths, share = found["depths"], found["options"]["depth_for"]
    recall = [["group", "queries", "relevant", *(f"@{depth}" for depth in depths), f"depth for {share:g}"]]
    counted = [["group", *(f"@{depth}" for depth in depths), f"depth for {share:g}"]]
    for row in found["recall"]:
        name = clean(f"{row['attribute']}: {row['group']}" if row["attribute"] else row["group"])
        recall.append(
            [
                name,
                f"{row['queries']:,}",
                f"{row['relevant']:,.10g}",
                *map(number, row["recall_due"]),
                _depth(row["depth"]),
            ]
        )
        counted.append([name, *map(number, row["recall_relevant"]), _depth(row["depth_relevant"])])
    best = [["measure", *(f"@{depth}" for depth in depths), "as it stands"]]
    for key, loss in found["loss"].items():
        best.append([clean(key), *map(number, loss["best"]), number(loss["first_stage"])])
        best.append(["", *map(_interval, loss["interval"]), _interval(loss["first_stage_interval"])])
    runs = [["run", "measure", "queries", "loss", "first stage", "ranking", "first stage's share"]]
    parts = ("loss", "first_stage", "ranking", "first_stage_share")
    for one in found["runs"]:
        divided = [number(one[part]) for part in parts]
        runs.append([clean(one["run"]), clean(one["measure"]), f"{one['queries']:,}", *divided])
    return [
        ("Recall of the exposure that relevant documents are due", recall),
        ("Recall of relevant documents", counted),
        ("Least attainable mean loss from the first documents of the lists", best),
        ("Whose part the losses are: the first stage's, and the ranking's of its whole lists", runs),
    ]


def _about(found: Mapping[str, Any]) -> str:
    missing = found["counts"]["headroom"]
    return (
        f"{clean(str(found['collection']))}: {found['queries']:,} judged queries, "
        f"{missing['relevant_documents_not_retrieved']:,} of {missing['relevant_documents']:,} relevant documents not "
        f"retrieved, {found['options']['browsing']}"
    )


def _notes(found: Mapping[str, Any]) -> list[str]:
    most, notes = found["options"]["depth_for_loss"], [COMPLETE]
    for key, loss in found["loss"].items():
        if most is not None:
            reached = "no depth" if loss["depth"] is None else f"depth {loss['depth']:,}"
            notes.append(f"{clean(key)} of {most:g} or less: {reached} of those listed")
        if loss["gap"] > 1e-6:
            notes.append(f"{clean(key)}: the least loss of a query may be lower by up to {loss['gap']:.2e}")
    counts = found["counts"]["headroom"]
    told = ("queries_not_judged", "judged_queries_without_candidates", "depths_beyond_the_lists")
    notes += [f"{name.replace('_', ' ')}: {counts[name]:,}" for name in told if counts[name]]
    return notes


def _depth(depth: int | None) -> str:
    return "never" if depth is None else f"{depth:,}"


def _interval(pair: Sequence[float] | None) -> str:
    return "" if pair is None else interval((pair[0], pair[1]))


def _padded(cell: str, width: int, place: int) -> str:
    blanks = " " * (width - width_of(cell))
    return blanks + cell if place else cell + blanks


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

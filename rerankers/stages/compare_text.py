"""What ``compare`` says: comparison.md, comparison.csv and the sentences on the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.report.tables import result_tables
from rerankers.report.text import clean
from rerankers.stages.sweeps import configurations
from rerankers.stages.trade_offs import DIFFERENCE, GAP_HEADER, HEADER, TradeOffs, share_words
from rerankers.tracks.placing import Standing, merged

if TYPE_CHECKING:
    from rerankers.report import ReportData
    from rerankers.stages.gathered import Gathered, JobResults
    from rerankers.tracks.leaderboards import Leaderboard

MAIN_SHARE = 0.9


def markdown(
    report: ReportData,
    found: Gathered,
    about: Sequence[str] = (),
    table: Leaderboard | None = None,
    placed: Sequence[Standing] = (),
) -> str:
    """Return tables of means with intervals, and of the published runs with the placed ones among them.

    ``about`` are sentences that hold for the whole comparison.
    """
    lines = ["# Comparison", "", *_about(found), *(f"- {line}" for line in about), ""]
    tables, notes = result_tables(report)
    for part in tables:
        rows = [
            [system, *(f"{cell.value} {cell.interval}".strip() + _mark(cell.marks) for cell in cells)]
            for system, cells in part.rows
        ]
        lines += [f"## {part.title}", "", *_grid(["system", *(key.label for key in part.columns)], rows), ""]
    lines += [f"{note.mark}: {note.reason} ({'; '.join(note.places)})" for note in notes]
    lines += ["", f"In brackets the {report.percent} bootstrap interval of the mean.", ""]
    if table is not None:
        rows = [
            [place, run if published else f"**{run}**", f"{value:.{table.decimals}f}"]
            for place, run, value, published in merged(table, placed)
        ]
        told = [line for line in place_sentences(found, table, placed) if not line.startswith("note: ")]
        lines += [f"## {table.title}", "", *(f"- {line}" for line in told), ""]
        lines += [*_grid(["place", "run", f"{table.column} ({table.better} is better)"], rows), ""]
        lines += [f"Source: {table.source}.", "", *(f"- {caveat}" for caveat in table.caveats), ""]
    return "\n".join(lines)


def comma_separated(found: Gathered, keys: Sequence[str]) -> str:
    """Return one row a run and measure: run, folder, preset, tier, measure, mean, low, high (empty: no value)."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["run", "folder", "preset", "tier", "measure", "mean", "low", "high"])
    for shown, (job, _) in found.home.items():
        means, intervals = found.means(shown), found.intervals(shown)
        for key in keys:
            if key in means:
                low, high = intervals.get(key) or (None, None)
                out.writerow([shown, job.folder.name, job.preset, found.tier(shown), key, means[key], low, high])
    return text.getvalue()


def tier_sentence(found: Gathered) -> str:
    """Return which runs used which information, in one line; anchors without their prefix, each once."""
    by_tier: dict[tuple[bool, str], dict[str, None]] = {}
    for shown, (_, name) in found.home.items():
        is_anchor = name.startswith(ANCHOR)
        by_tier.setdefault((is_anchor, found.tier(shown)), {})[name.removeprefix(ANCHOR) if is_anchor else shown] = None
    alone = sum(not is_anchor for is_anchor, _ in by_tier) == 1  # all runs of one tier need not be named
    parts = [
        f"{'anchors ' if is_anchor else ''}{'all runs' if alone and not is_anchor else ', '.join(names)}: {tier}"
        for (is_anchor, tier), names in sorted(by_tier.items(), key=lambda part: part[0][0])
    ]
    return f"tiers: {'; '.join(parts)}"


def configuration_sentences(jobs: Sequence[JobResults]) -> list[str]:
    """Return how many configurations were held against the same judgments, a line for each set of queries."""
    counted = configurations(jobs)
    if sum(counted) < 2:
        return []
    several = f" on each of {len(counted)} sets of queries" if len(counted) > 1 else ""
    numbers = ", ".join(f"{count:,}" for count in counted)
    return [
        f"{numbers} configurations compared{several}; no correction beyond max-T within this table. "
        "If one of them was chosen by its numbers on these queries, say so"
    ]


def place_sentences(found: Gathered, table: Leaderboard | None, placed: Sequence[Standing]) -> list[str]:
    """Say where runs stand among the published ones, and what to know about that."""
    if table is None:
        return []
    kind = "" if table.status == "official" else " (for orientation, not verified)"
    lines = [f"{table.title}{kind}: {table.column}, {table.better} is better"]
    for one in placed:
        job, name = found.home[one.run]
        would = "would be at" if name.startswith(ANCHOR) else "is at"
        parts = [f"{one.run} ({one.value:.{table.decimals}f}) {would} place {one.rank} beside {one.of} published runs"]
        parts += [f"behind {', '.join(one.ahead)}"] if one.ahead else []
        parts += [f"level with {', '.join(one.level)}"] if one.level else []
        parts += [f"ahead of {', '.join(one.behind)}"] if one.behind else []
        lines.append("; ".join(parts))
        missing = job.counts.get(f"run {name}", {}).get("queries_missing_from_run", 0)
        if missing:
            lines.append(f"warning: {one.run} lacks {missing:,} queries, to which the official code gives defaults")
    return [*lines, *(f"note: {caveat}" for caveat in table.caveats)]


def matched_sentences(curves: TradeOffs) -> list[str]:
    """Say the losses at 90 % of the static ranking's utility."""
    return [
        f"{loss} at {row.share:.0%} of the static utility ({row.utility:.4f}): {row.curve} "
        + ("does not reach it" if row.loss is None else f"{row.loss:.4f} [{row.low:.4f}, {row.high:.4f}]")
        for loss, rows in curves.matched.items()
        for row in rows
        if row.share == MAIN_SHARE
    ]


def gap_sentences(curves: TradeOffs) -> list[str]:
    """Say the mean distance from the fronts over the range of utilities, and how much of the first's is closed."""
    return [
        f"{loss}, {share_words(row.share)} of the static utility: {row.curve} is "
        f"{row.gap:.4f} [{row.low:.4f}, {row.high:.4f}] above the {row.front}"
        + (
            ""
            if row.closed is None
            else f"; {row.closed:.0%} [{row.closed_low:.0%}, {row.closed_high:.0%}] of the first curve's gap closed"
        )
        for loss, rows in curves.gaps.items()
        for row in rows
        if row.share is None and row.gap is not None
    ]


def curves_markdown(curves: TradeOffs) -> str:
    """Return the section of the curves, nothing without them."""
    if not curves.pictures:
        return ""
    lines = ["", "## Trade-off", ""]
    for picture in curves.pictures:
        lines += [f"![{picture.title}](figures/{picture.name}.png)", "", clean(picture.caption), ""]
    if curves.matched:
        lines += ["### Loss at matched utility", "", *_grid([*HEADER, *DIFFERENCE], curves.lines()), ""]
        lines += ["Differences are paired: both curves on the same resampled queries.", ""]
    if curves.gaps:
        lines += ["### Distance from the fronts", "", *_grid(GAP_HEADER, curves.gap_lines()), ""]
    return "\n".join(lines)


def _about(found: Gathered) -> list[str]:
    jobs: dict[Path, JobResults] = {job.folder: job for job, _ in found.home.values()}
    return [
        f"- {job.folder.name}: {job.preset or 'no preset'}, {len(job.units):,} queries, tier {job.tier}"
        for job in jobs.values()
    ]


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---"] * len(header)), *(line(row) for row in rows)]


def _mark(marks: str) -> str:
    return f" ({marks})" if marks else ""

"""What ``compare`` says in words: comparison.md, and the sentences on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.report.comparison_markdown import grid, plain
from rerankers.report.comparison_table import SIGNS
from rerankers.stages.sweeps import configurations
from rerankers.stages.trade_offs import DIFFERENCE, GAP_HEADER, HEADER, TradeOffs, share_words
from rerankers.tracks.placing import Standing, merged

if TYPE_CHECKING:
    from rerankers.stages.compare_data import Comparison
    from rerankers.stages.compare_optimum import Optimum
    from rerankers.stages.compare_options import TableOptions
    from rerankers.stages.compare_sections import Compared
    from rerankers.stages.gathered import JobResults
    from rerankers.tracks.leaderboards import Leaderboard

MAIN_SHARE = 0.9
CORRECTIONS = {
    "max_t": "max-T adjusted for all comparisons of the table",
    "holm": "Holm adjusted for all comparisons of the table",
    "none": "not corrected for the number of comparisons",
}
NAMED = 12
"""Runs of a tier named in a sentence."""


def legend(comparison: Comparison, options: TableOptions) -> list[str]:
    """Say how to read numbers and marks of the main table."""
    found, tested = comparison.found, [one.against for one in comparison.parts]
    percent = f"{100 * found.level:g} %"
    out = [f"In brackets the {percent} bootstrap interval of the mean over queries."]
    if any(len(section.runs) > 1 for section in found.sections):
        out.append("Bold: the best run of a column, those that read the same too.")
    against = next((one for one in tested if one.rows and one.baseline), None)
    if against is not None:
        what = "queries" if against.options.clusters is None else "clusters of queries"
        within = "; within each collection" if len(found.sections) > 1 else ""
        out.append(
            f"{SIGNS['better']} better, {SIGNS['worse']} worse than {against.baseline} ({SIGNS['other']} other than "
            f"it, where no direction is better): paired sign-flip test over {what}, p ≤ {against.options.alpha:g}, "
            f"{CORRECTIONS[options.correction]}{within}."
        )
    if any(one.best.points for one in comparison.parts):
        out.append(
            "A front has the least loss with so much utility, by what is known: the judgments (oracle), the truth "
            "behind a generated world (true), what methods believe (plug-in)."
        )
    return out


def section_sentences(found: Compared) -> list[str]:
    """Say what each table is made of, a line a collection."""
    out = []
    for section in found.sections:
        presets = dict.fromkeys(job.preset or "no preset" for job in section.jobs)
        jobs = f"{len(section.jobs):,} {'job' if len(section.jobs) == 1 else 'jobs'}"
        runs = f"{len(section.runs):,} {'system' if len(section.runs) == 1 else 'systems'}"
        out.append(
            f"{section.title or 'collection not named by the jobs'}: {jobs}, {runs}, "
            f"{', '.join(presets)}, {section.queries:,} queries"
        )
    return out


def tier_sentence(found: Compared) -> str:
    """Return which runs used which information, in one line; anchors without their prefix, each once."""
    by_tier: dict[tuple[bool, str], dict[str, None]] = {}
    for row in (row for section in found.sections for row in section.rows):
        name = row.system.removeprefix(ANCHOR) if row.is_anchor else row.name
        by_tier.setdefault((row.is_anchor, row.tier), {})[name] = None
    alone = sum(not is_anchor for is_anchor, _ in by_tier) == 1  # all runs of one tier need not be named
    parts = []
    for (is_anchor, tier), names in sorted(by_tier.items(), key=lambda part: part[0][0]):
        told = ", ".join(list(names)[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
        parts.append(f"{'anchors ' if is_anchor else ''}{'all runs' if alone and not is_anchor else told}: {tier}")
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


def place_sentences(found: Compared, table: Leaderboard | None, placed: Sequence[Standing]) -> list[str]:
    """Say where runs stand among the published ones, and what to know about that."""
    if table is None:
        return []
    kind = "" if table.status == "official" else " (for orientation, not verified)"
    lines = [f"{table.title}{kind}: {table.column}, {table.better} is better"]
    rows = {row.name: row for section in found.sections for row in section.rows}
    for one in placed:
        row = rows[one.run]
        would = "would be at" if row.is_anchor else "is at"
        parts = [f"{one.run} ({one.value:.{table.decimals}f}) {would} place {one.rank} beside {one.of} published runs"]
        parts += [f"behind {', '.join(one.ahead)}"] if one.ahead else []
        parts += [f"level with {', '.join(one.level)}"] if one.level else []
        parts += [f"ahead of {', '.join(one.behind)}"] if one.behind else []
        lines.append("; ".join(parts))
        counts = row.members[0].job.counts
        missing = counts.get(f"run {row.system}", {}).get("queries_missing_from_run", 0)
        if missing:
            lines.append(f"warning: {one.run} lacks {missing:,} queries, to which the official code gives defaults")
    return [*lines, *(f"note: {caveat}" for caveat in table.caveats)]


def place_markdown(found: Compared, table: Leaderboard, placed: Sequence[Standing]) -> list[str]:
    """Return the published runs of a track with the placed ones among them."""
    rows = [
        [place, plain(run) if published else f"**{plain(run)}**", f"{value:.{table.decimals}f}"]
        for place, run, value, published in merged(table, placed)
    ]
    told = [line for line in place_sentences(found, table, placed) if not line.startswith("note: ")]
    lines = [f"## {table.title}", "", *(f"- {plain(line)}" for line in told), ""]
    lines += [*grid(["place", "run", f"{table.column} ({table.better} is better)"], rows), ""]
    return [*lines, f"Source: {table.source}.", "", *(f"- {caveat}" for caveat in table.caveats), ""]


def matched_sentences(curves: TradeOffs) -> list[str]:
    """Say the losses at 90 % of the static ranking's utility."""
    return [
        f"{loss} at {row.share:.0%} of the static utility ({row.utility:.4f}): {row.curve} "
        + ("does not reach it" if row.loss is None else _with_interval(row.loss, row.low, row.high))
        for loss, rows in curves.matched.items()
        for row in rows
        if row.share == MAIN_SHARE
    ]


def front_sentences(best: Optimum) -> list[str]:
    """Say the fronts' losses at 90 % of the static ranking's utility, where no curve stands beside them."""
    return [
        f"{found.loss} at {MAIN_SHARE:.0%} of the static utility ({point.utility:.4f}): {found.name} "
        + ("does not reach it" if point.loss is None else _with_interval(point.loss, point.low, point.high))
        for found in best.points
        for point in (found.point,)
    ]


def gap_sentences(curves: TradeOffs) -> list[str]:
    """Say the mean distance from the fronts over the range of utilities, and how much of the first's is closed."""
    return [
        f"{loss}, {share_words(row.share)} of the static utility: {row.curve} is "
        f"{_with_interval(row.gap, row.low, row.high)} above the {row.front}"
        + (
            ""
            if row.closed is None
            else f"; {_with_interval(row.closed, row.closed_low, row.closed_high, '.0%')} "
            "of the first curve's gap closed"
        )
        for loss, rows in curves.gaps.items()
        for row in rows
        if row.share is None and row.gap is not None
    ]


def _with_interval(value: float, low: float | None, high: float | None, form: str = ".4f") -> str:
    span = "" if low is None or high is None else f" [{low:{form}}, {high:{form}}]"
    return f"{value:{form}}{span}"


def curves_markdown(curves: TradeOffs, title: str = "") -> list[str]:
    """Return the section of the curves, nothing without them."""
    if not curves.pictures:
        return []
    lines = ["", f"## Trade-off{f': {plain(title)}' if title else ''}", ""]
    for picture in curves.pictures:
        lines += [f"![{picture.title}](figures/{picture.name}.png)", "", plain(picture.caption), ""]
    if curves.matched:
        lines += ["### Loss at matched utility", "", *grid([*HEADER, *DIFFERENCE], curves.lines()), ""]
        lines += ["Differences are paired: both curves on the same resampled queries.", ""]
    if curves.gaps:
        lines += ["### Distance from the fronts", "", *grid(GAP_HEADER, curves.gap_lines()), ""]
    return lines

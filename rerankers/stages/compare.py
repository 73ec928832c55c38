"""Put the results of jobs into one table, and place runs among the published ones of a track."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.group_exposure import SCHEMA as GROUP_SCHEMA
from rerankers.report import ReportData, terminal_table
from rerankers.report.tables import result_tables
from rerankers.report.text import clean
from rerankers.stages.gathered import ASPECTS, Gathered, gather, read_results
from rerankers.stages.sweeps import expanded
from rerankers.stages.trade_offs import DIFFERENCE, HEADER, TradeOffs, trade_offs
from rerankers.stages.validate import known_keys, one_path
from rerankers.stats.bootstrap import RESAMPLES
from rerankers.tracks.leaderboards import Leaderboard, leaderboard
from rerankers.tracks.placing import Standing, check_comparable, merged, standing

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

MAIN_SHARE = 0.9
KEYS = ("results", "leaderboard", "mix", "output")


def compare_from_config(config: Mapping[str, Any]) -> None:
    """Compare the results of a config of ``conf/compare.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    folders, mix = _texts(config["results"]), _texts(config["mix"] or [])
    for aspect in mix:
        choose("mix", aspect, ASPECTS)
    if not folders:
        raise ConfigError("results: found an empty list; expected folders. Type: fair-rerank compare DIR DIR")
    table = None if config["leaderboard"] is None else leaderboard(str(config["leaderboard"]))
    output = one_path(config, "output")
    if output is not None and output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    jobs = [read_results(folder) for folder in expanded(Path(folder) for folder in folders)]
    found = gather(jobs, mix)
    placed = [] if table is None else place(found, table)
    report = report_of(found)
    curves = trade_offs(jobs, report.confidence, int(jobs[0].options.get("resamples", RESAMPLES)))
    terminal_table(report)
    for line in [*_sentences(found, table, placed), *_matched_sentences(curves)]:
        print(line)
    if output is not None:
        write_text(output / "comparison.md", markdown(report, found, table, placed) + _curves_markdown(curves))
        write_text(output / "comparison.csv", comma_separated(found, report.keys))
        if curves.pictures:
            write_text(output / "matched.csv", curves.csv())
            for picture in curves.pictures:
                picture.save(output / "figures")
        print(f"comparison: {output / 'comparison.md'}, {output / 'comparison.csv'}")


def place(found: Gathered, table: Leaderboard) -> list[Standing]:
    """Return where every run and anchor stands, those of the jobs first; an anchor without a number is left out.

    Raises
    ------
    ConfigError
        when a number may not stand there (`check_comparable`).
    """
    names = sorted(found.home, key=lambda shown: found.home[shown][1].startswith(ANCHOR))
    placed = []
    for shown in names:
        job, name = found.home[shown]
        means = found.means(shown)
        is_anchor = name.startswith(ANCHOR)
        value = means.get(table.key)
        if is_anchor and not isinstance(value, int | float):
            continue
        check_comparable(table, str(job.folder), job.preset, job.options, means, len(job.units))
        if not isinstance(value, int | float):
            raise ConfigError(f"{job.folder}: {name} has no {table.key}, by which {table.name} places runs")
        placed.append(standing(table, shown, float(value)))
    return placed


def report_of(found: Gathered) -> ReportData:
    """Return the results in the form that tables are made of."""
    jobs: dict[Path, JobResults] = {job.folder: job for job, _ in found.home.values()}
    first = next(iter(jobs.values()))
    return ReportData(
        title="Comparison",
        summary={},
        options={},
        tier=", ".join(dict.fromkeys(job.tier for job in jobs.values())),
        counts={},
        warnings=(),
        measures=found.table,
        means={shown: _numbers(found.means(shown)) for shown in found.home},
        intervals={shown: found.intervals(shown) for shown in found.home},
        group_exposure=pa.Table.from_pylist([], schema=GROUP_SCHEMA),
        confidence=float(first.options.get("confidence", 0.95)),
    )


def markdown(
    report: ReportData, found: Gathered, table: Leaderboard | None = None, placed: Sequence[Standing] = ()
) -> str:
    """Return tables of means with intervals, and of the published runs with the placed ones among them."""
    lines = ["# Comparison", "", *_about(found), ""]
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
        told = [line for line in _sentences(found, table, placed) if not line.startswith("note: ")]
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
                out.writerow([shown, job.folder.name, job.preset, job.tier, key, means[key], low, high])
    return text.getvalue()


def _sentences(found: Gathered, table: Leaderboard | None, placed: Sequence[Standing]) -> list[str]:
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


def _matched_sentences(curves: TradeOffs) -> list[str]:
    """Say the losses at 90 % of the static ranking's utility."""
    return [
        f"{loss} at {row.share:.0%} of the static utility ({row.utility:.4f}): {row.curve} "
        + ("does not reach it" if row.loss is None else f"{row.loss:.4f} [{row.low:.4f}, {row.high:.4f}]")
        for loss, rows in curves.matched.items()
        for row in rows
        if row.share == MAIN_SHARE
    ]


def _curves_markdown(curves: TradeOffs) -> str:
    if not curves.pictures:
        return ""
    lines = ["", "## Trade-off", ""]
    for picture in curves.pictures:
        lines += [f"![{picture.title}](figures/{picture.name}.png)", "", clean(picture.caption), ""]
    if curves.matched:
        lines += ["### Loss at matched utility", "", *_grid([*HEADER, *DIFFERENCE], curves.lines()), ""]
        lines += ["Differences are paired: both curves on the same resampled queries.", ""]
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


def _numbers(means: Mapping[str, float | str | None]) -> dict[str, float | None]:
    return {key: float(mean) if isinstance(mean, int | float) else None for key, mean in means.items()}


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]

"""Put the results of jobs into one table, and place runs among the published ones of a track."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.group_exposure import SCHEMA as GROUP_SCHEMA
from rerankers.report import ReportData, terminal_table
from rerankers.stages import differences_text
from rerankers.stages.compare_text import (
    comma_separated,
    configuration_sentences,
    curves_markdown,
    gap_sentences,
    markdown,
    matched_sentences,
    place_sentences,
    tier_sentence,
)
from rerankers.stages.difference_options import DifferenceOptions, inner
from rerankers.stages.differences import differences
from rerankers.stages.gathered import ASPECTS, Gathered, gather, read_results
from rerankers.stages.sweeps import expanded
from rerankers.stages.trade_offs import trade_offs
from rerankers.stages.validate import known_keys, one_path
from rerankers.stats.bootstrap import RESAMPLES
from rerankers.tracks.leaderboards import Leaderboard, leaderboard
from rerankers.tracks.placing import Standing, check_comparable, standing

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

KEYS = ("results", "leaderboard", "mix", "output")
OPTIONS = {field.name: field.default for field in dataclasses.fields(DifferenceOptions)}


def compare_from_config(config: Mapping[str, Any]) -> None:
    """Compare the results of a config of ``conf/compare.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    config = OPTIONS | dict(config)
    known_keys(config, (*KEYS, *OPTIONS))
    options = difference_options(config)
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
    resamples = int(jobs[0].options.get("resamples", RESAMPLES))
    against = differences(found, options, report.confidence, resamples)
    curves = trade_offs(jobs, report.confidence, resamples)
    about = [tier_sentence(found), *configuration_sentences(jobs)]
    terminal_table(report)
    told = [*place_sentences(found, table, placed), *differences_text.lines(against)]
    for line in [*told, *matched_sentences(curves), *gap_sentences(curves), *about]:
        print(line)
    if output is not None:
        text = markdown(report, found, about, table, placed) + "\n".join(differences_text.markdown(against))
        write_text(output / "comparison.md", text + curves_markdown(curves))
        write_text(output / "comparison.csv", comma_separated(found, report.keys))
        if against.rows:
            write_text(output / "differences.csv", differences_text.comma_separated(against))
        if curves.pictures:
            write_text(output / "matched.csv", curves.csv())
            for picture in curves.pictures:
                picture.save(output / "figures")
        if curves.gaps:
            write_text(output / "gaps.csv", curves.gaps_csv())
        print(f"comparison: {output / 'comparison.md'}, {output / 'comparison.csv'}")


def difference_options(config: Mapping[str, Any]) -> DifferenceOptions:
    """Return the options of differences in a config.

    Raises
    ------
    ConfigError
        for values out of range.
    """
    own = {name: config[name] for name in OPTIONS}
    own["measures"] = inner(config, "measures", "names")
    own["clusters"] = inner(config, "clusters", "path")
    if own["measures"] is not None:
        own["measures"] = _texts(own["measures"])
    for name in ("baseline", "clusters"):
        own[name] = None if own[name] is None else str(own[name])
    return DifferenceOptions(**{**own, "pairs": str(own["pairs"])})


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


def _numbers(means: Mapping[str, float | str | None]) -> dict[str, float | None]:
    return {key: float(mean) if isinstance(mean, int | float) else None for key, mean in means.items()}


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]

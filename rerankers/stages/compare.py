"""Put the results of jobs into the tables of a paper, and place runs among the published ones of a track."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers.report import terminal_table
from rerankers.stages import differences_text
from rerankers.stages.compare_across import across_sentences
from rerankers.stages.compare_alike import ASPECTS
from rerankers.stages.compare_data import Comparison
from rerankers.stages.compare_files import write_comparison
from rerankers.stages.compare_folders import check_output, compared_folders
from rerankers.stages.compare_names import folder_labels
from rerankers.stages.compare_optimum import missing_sentences, optimum
from rerankers.stages.compare_options import TableOptions, table_options
from rerankers.stages.compare_report import letters_of, report_of
from rerankers.stages.compare_sections import Compared, Section, compared
from rerankers.stages.compare_sheets import Shown, marks_of
from rerankers.stages.compare_text import (
    configuration_sentences,
    front_sentences,
    gap_sentences,
    matched_sentences,
    place_sentences,
    section_sentences,
    tier_sentence,
)
from rerankers.stages.difference_options import DifferenceOptions, inner
from rerankers.stages.differences import differences
from rerankers.stages.gathered import read_results
from rerankers.stages.side_by_side_pages import write_pages
from rerankers.stages.trade_offs import trade_offs
from rerankers.stages.validate import known_keys, one_path
from rerankers.stats.bootstrap import RESAMPLES
from rerankers.tracks.leaderboards import Leaderboard, leaderboard
from rerankers.tracks.placing import Standing, check_comparable, standing

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

KEYS = ("results", "leaderboard", "mix", "output")
OF_DIFFERENCES = {field.name: field.default for field in dataclasses.fields(DifferenceOptions)}
OF_TABLES = {field.name: getattr(TableOptions(), field.name) for field in dataclasses.fields(TableOptions)}
OPTIONS: dict[str, Any] = OF_DIFFERENCES | OF_TABLES


def compare_from_config(config: Mapping[str, Any]) -> None:
    """Compare the results of a config of ``conf/compare.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    config = OPTIONS | dict(config)
    known_keys(config, (*KEYS, *OPTIONS))
    tests, tables = difference_options(config), table_options(config)
    given, mix = _texts(config["results"]), _texts(config["mix"] or [])
    for aspect in mix:
        choose("mix", aspect, ASPECTS)
    if not given:
        raise ConfigError("results: found an empty list; expected folders. Type: fair-rerank compare DIR DIR")
    table = None if config["leaderboard"] is None else leaderboard(str(config["leaderboard"]))
    output = one_path(config, "output")
    folders = compared_folders([Path(folder) for folder in given])
    check_output(output, folders.done)
    jobs = [read_results(folder) for folder in folders.done]
    # the jobs of one sweep were set side by side by whoever typed it: the table tells their tiers
    found = compared(jobs, [*mix, "tier"] if folders.one_sweep else mix, tables.seeds)
    comparison = comparison_of(found, jobs, tests, tables)
    comparison = replace(
        comparison,
        placed=[] if table is None else place(found, table),
        table=table,
        notes=[*folders.sentences(), *comparison.notes],
    )
    if output is not None:
        pages = write_pages(found.sections, tables.queries, output)
        comparison = replace(comparison, links=pages.links, notes=[*comparison.notes, *pages.notes])
    _tell(comparison)
    if output is not None:
        written = write_comparison(comparison, output, tables)
        print(f"comparison: {', '.join(str(path) for path in written)}")


def comparison_of(
    found: Compared, jobs: Sequence[JobResults], tests: DifferenceOptions, tables: TableOptions
) -> Comparison:
    """Return everything that a comparison shows.

    Parameters
    ----------
    found
        jobs as tables.
    jobs
        the same jobs in their given order.
    tests, tables
        options.

    Raises
    ------
    ConfigError, InputError, MissingError
        as `differences` and `optimum`.
    """
    resamples = int(jobs[0].options.get("resamples", RESAMPLES))
    tests = _with_baseline(found, tests)
    parts, curves, notes = [], [], [*found.notes]
    for section in found.sections:
        own, left_out = _own_baseline(found, section, tests)
        notes += left_out
        values = {row.name: row.grid for row in section.rows}
        runs = [row.name for row in section.runs]
        against = differences(values, runs if own else [], own or replace(tests, baseline=None), found.level, resamples)
        best = optimum(section, found.level, resamples)
        notes += best.notes
        report = report_of(section, found.level)
        parts.append(Shown(section, report, against, best, marks=marks_of(against, tables.correction)))
        slug = "" if len(found.sections) == 1 else str(len(parts))
        curves.append(trade_offs(section.jobs, found.level, resamples, rows=section.runs, slug=slug))
    notes += missing_sentences([one.section.title for one in parts if one.best.missing], len(parts))
    missing, letters = letters_of([one.report for one in parts], [one.section.title for one in parts])
    parts = [replace(one, letters=own) for one, own in zip(parts, letters, strict=True)]
    about = [*section_sentences(found), tier_sentence(found), *configuration_sentences(jobs)]
    labels = dict(zip([job.folder for job in jobs], folder_labels([job.folder for job in jobs]), strict=True))
    return Comparison(
        found, parts, curves, tests, tables.correction, about, list(dict.fromkeys(notes)), missing, labels
    )


def _with_baseline(found: Compared, tests: DifferenceOptions) -> DifferenceOptions:
    """Return the options with the baseline as rows are called; a job's folder names its row too.

    Raises
    ------
    ConfigError
        for a baseline that no collection has.
    """
    names = list(dict.fromkeys(row.name for section in found.sections for row in section.rows))
    if tests.baseline is None:
        return tests
    rows = [row for section in found.sections for row in section.runs]
    labels = folder_labels([member.job.folder for row in rows for member in row.members])
    told = iter(labels)
    aliases: dict[str, set[str]] = {}
    for row in rows:
        for member in row.members:
            label = next(told)
            for alias in (label, f"{label}/{row.system}", str(member.job.folder), row.system):
                aliases.setdefault(alias, set()).add(row.name)
    if tests.baseline not in names and len(aliases.get(tests.baseline, ())) == 1:
        (name,) = aliases[tests.baseline]
        return replace(tests, baseline=name)
    choose("baseline", tests.baseline, names)
    return tests


def _own_baseline(
    found: Compared, section: Section, tests: DifferenceOptions
) -> tuple[DifferenceOptions | None, list[str]]:
    """Return the options for one collection: the first collection's first run is the baseline of all that have it."""
    name = tests.baseline
    if name is None:
        first = found.sections[0].runs
        name = first[0].name if first else None
    if name is None or name in {row.name for row in section.rows}:
        return replace(tests, baseline=name), []
    if tests.baseline is None:
        return tests, [f"{section.title}: has no {name}; its own first run is the baseline there"]
    return None, [f"{section.title}: has no {name}, so no differences are shown there"]


def _tell(comparison: Comparison) -> None:
    """Print the tables, and what is to be known of them."""
    several = len(comparison.parts) > 1
    for one in comparison.parts:
        if several:
            print(f"\n{differences_text.clean_line(one.section.title)} ({one.section.queries:,} queries)")
        terminal_table(one.report)
    for line in place_sentences(comparison.found, comparison.table, comparison.placed):
        print(line)
    for one, curves in zip(comparison.parts, comparison.curves, strict=True):
        lines = differences_text.lines(one.against)
        told = [*lines, *(matched_sentences(curves) or front_sentences(one.best)), *gap_sentences(curves)]
        if several and told:
            print(f"\n{differences_text.clean_line(one.section.title)}:", end="")
        for line in told:
            print(line)
    main = [key.text for key in comparison.keys]
    for line in [*across_sentences(comparison.across, main), *comparison.notes, *comparison.about]:
        print(differences_text.clean_line(line))


def difference_options(config: Mapping[str, Any]) -> DifferenceOptions:
    """Return the options of differences in a config.

    Raises
    ------
    ConfigError
        for values out of range.
    """
    own = {name: config[name] for name in OF_DIFFERENCES}
    own["measures"] = inner(config, "measures", "names")
    own["clusters"] = inner(config, "clusters", "path")
    if own["measures"] is not None:
        own["measures"] = _texts(own["measures"])
    for name in ("baseline", "clusters"):
        own[name] = None if own[name] is None else str(own[name])
    return DifferenceOptions(**{**own, "pairs": str(own["pairs"])})


def place(found: Compared, table: Leaderboard) -> list[Standing]:
    """Return where every run and anchor stands, those of the jobs first; an anchor without a number is left out.

    Raises
    ------
    ConfigError
        when a number may not stand there (`check_comparable`).
    """
    placed = []
    rows = {row.name: row for section in found.sections for row in section.rows}
    for row in sorted(rows.values(), key=lambda row: row.is_anchor):
        job = row.members[0].job
        value = row.means.get(table.key)
        if row.is_anchor and value is None:
            continue
        check_comparable(table, str(job.folder), job.preset, job.options, row.means, len(job.units))
        if value is None:
            raise ConfigError(f"{job.folder}: {row.system} has no {table.key}, by which {table.name} places runs")
        placed.append(standing(table, row.name, float(value)))
    return placed


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]

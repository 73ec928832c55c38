"""The report of a job: what it says about itself, put together with its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rerankers.report import ReportData
from rerankers.report.extras import Extras
from rerankers.report.loss_parts import loss_parts
from rerankers.stages.report_fronts import front_lines, optima
from rerankers.stages.report_shares import DOCUMENTS, RELEVANT
from rerankers.stages.report_story import record_of
from rerankers.stages.sweep_value import tuning_warnings
from rerankers.stages.warnings import warnings_of

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.measures.evaluation import Options
    from rerankers.report import Picture, PlainTable
    from rerankers.stages.fronts import Fronts
    from rerankers.stages.metadata import Stopwatch
    from rerankers.stages.results import MeasureOptions, Results


@dataclass(frozen=True, slots=True)
class Told:
    """What a report tells of a job besides its measures.

    Attributes
    ----------
    coverage
        how large groups are, and how far judgments cover them.
    extras
        what was run, in words; `report_of` fills in what the results say.
    inputs
        label -> fingerprints of the input, for the record.
    fronts
        as of `rerankers.stages.fronts`.
    """

    coverage: Sequence[PlainTable] = ()
    extras: Extras = field(default_factory=Extras)
    inputs: Mapping[str, str] = field(default_factory=dict)
    fronts: Fronts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Account:
    """What a job says about itself, in the report and in the metadata.

    Attributes
    ----------
    title, summary
        for the report.
    tier
        the information tier of the judged systems.
    counts
        part of the job -> what it counted.
    config, command, data
        the resolved config, what repeats the job, and the section "data" of the metadata.
    warnings, single
        sentences about the input; the systems that show one ranking a query.
    tables, pictures
        that the report shows besides those of every report.
    told
        what else the report tells.
    """

    title: str
    summary: Mapping[str, str]
    tier: str
    counts: Mapping[str, Mapping[str, int]]
    config: Mapping[str, Any]
    command: str
    data: Mapping[str, Any]
    warnings: Sequence[str] = ()
    single: Sequence[str] = ()
    tables: Sequence[PlainTable] = ()
    pictures: Sequence[Picture] = ()
    told: Told = field(default_factory=Told)


def report_of(
    results: Results,
    account: Account,
    measures: MeasureOptions,
    options: Options,
    watch: Stopwatch,
    table: pa.Table,
    summary: Mapping[str, Any],
) -> ReportData:
    """Return what the report of a job shows; ``table`` and ``summary`` are its results."""
    runs = summary["runs"]
    return ReportData(
        title=account.title,
        summary={**account.summary, "exposure": _exposure_words(results.estimated, options)},
        options=account.config,
        tier=account.tier,
        counts=summary["counts"],
        warnings=[*account.warnings, *tuning_warnings(account.config), *warnings_of(table, summary, account.single)],
        measures=table,
        means={name: one["mean"] for name, one in runs.items()},
        intervals={name: one["interval"] for name, one in runs.items()},
        group_exposure=results.group_exposure,
        confidence=measures.confidence,
        tables=[*loss_parts(runs), *account.tables],
        pictures=account.pictures,
        coverage=account.told.coverage,
        extras=_extras(results, account, measures, options, watch, table, next(iter(runs), "")),
    )


def _extras(
    results: Results,
    account: Account,
    measures: MeasureOptions,
    options: Options,
    watch: Stopwatch,
    table: pa.Table,
    method: str,
) -> Extras:
    """Fill in fronts, shares of exposure and the record; optima are told at the utility of the first system."""
    curves = results.share_curves
    found = optima(
        account.told.fronts, table, method, seed=options.seed, resamples=measures.resamples, level=measures.confidence
    )
    return replace(
        account.told.extras,
        fronts=front_lines(account.told.fronts),
        optima=found,
        documents=curves[DOCUMENTS],
        relevant=curves[RELEVANT],
        record=record_of(account.command, options.seed, watch.seconds, account.told.inputs),
    )


def _exposure_words(estimated: set[str], options: Options) -> str:
    if not estimated:
        return "exact (closed form) for every system"
    return f"estimated from {options.samples} draws for {', '.join(sorted(estimated))}; exact for the others"

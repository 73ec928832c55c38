"""Judge run files by a track's own evaluation: files in, the same results out as without a preset."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers.collections.official_files import check_editions
from rerankers.measures.group_exposure import SCHEMA as GROUP_SCHEMA
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import concat
from rerankers.report import ReportData, write_report
from rerankers.report.loss_parts import loss_parts
from rerankers.stages.evaluate import check_output
from rerankers.stages.metadata import Stopwatch, versions, write_metadata
from rerankers.stages.output import claimed
from rerankers.stages.warnings import warnings_of

if TYPE_CHECKING:
    from rerankers.stages.results import MeasureOptions
    from rerankers.tracks.preset import Inputs, Outcome, Preset

TIER = "unknown: the runs do not say what they used"


@dataclass(frozen=True, slots=True)
class PresetJob:
    """The parts of an ``evaluate`` with a preset; see ``conf/evaluate.yaml`` for what each is."""

    preset: Preset
    inputs: Inputs
    measures: MeasureOptions
    config: Mapping[str, Any]
    command: str

    def __post_init__(self) -> None:
        for option, usual in (("names", None), ("cutoff", None), ("exposure", "auto")):
            found = getattr(self.measures, option)
            if found != usual:
                raise ConfigError(
                    f"measures.{option}: found {found}; expected {usual or 'null'}, since {self.preset.name} brings "
                    "its own measures. Leave it out, or evaluate without a preset"
                )


def evaluate_preset(job: PresetJob, folder: Path) -> tuple[ReportData, tuple[str, ...]]:
    """Judge the runs of a job and leave the results in ``folder``.

    Returns
    -------
    report, differences
        what the report shows, and how the numbers differ from those of the corrected rules.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    watch = Stopwatch()
    check_output(job.inputs.runs, folder)
    with claimed(folder) as staging:
        outcome = job.preset.evaluate(job.inputs)
        editions = check_editions(path for path in _named_files(job.inputs).values())
        outcome = replace(outcome, counts={**outcome.counts, **({"official files": editions} if editions else {})})
        watch.lap("read and measure")
        table = concat(outcome.tables.values())
        summary = _summary(job, outcome, table)
        write_results(staging, table, summary)
        watch.lap("summary")
        report = _report(job, outcome, table, summary)
        write_report(staging, report)
        watch.lap("report")
        write_text(staging / "config.yaml", yaml.safe_dump(dict(job.config), sort_keys=False, allow_unicode=True))
        write_metadata(
            staging,
            command=job.command,
            method={"name": report.title, "tier": TIER, "options": summary["options"]},
            data=_files(job.inputs),
            goal={"evaluation": {"preset": job.preset.name, "reported measures": list(report.keys)}},
            seconds=watch.seconds,
        )
        return report, outcome.differences


def _named_files(inputs: Inputs) -> dict[str, Path]:
    words = ("qrels", "groups", "sequence", "targets")
    return {word: path for word in words if (path := getattr(inputs, word)) is not None}


def _files(inputs: Inputs) -> dict[str, Any]:
    return {**{word: path.name for word, path in _named_files(inputs).items()}, "runs": list(inputs.systems)}


def _summary(job: PresetJob, outcome: Outcome, table: pa.Table) -> dict[str, Any]:
    options = {
        **outcome.options,
        "seed": job.inputs.seed,
        "confidence": job.measures.confidence,
        "resamples": job.measures.resamples,
        "permutations": job.inputs.permutations,
        "differences_from_the_corrected_form": list(outcome.differences),
    }
    value = table["value"].to_numpy(zero_copy_only=False)
    wild = pa.array(~np.isfinite(value)) if len(value) else pa.array([], pa.bool_())
    finite = table.set_column(
        table.schema.get_field_index("value"),
        table.schema.field("value"),
        pc.if_else(wild, pa.scalar(None, pa.float64()), table["value"]),
    )
    summary = summarise(
        finite,
        options=options,
        tier=TIER,
        counts=outcome.counts,
        preset=job.preset.name,
        seed=job.inputs.seed,
        resamples=job.measures.resamples,
        level=job.measures.confidence,
        evidence=outcome.evidence,
    )
    _put_back(summary["runs"], table.filter(pc.and_(wild, pc.is_valid(table["value"]))))
    return summary


def _put_back(runs: dict[str, Any], wild: pa.Table) -> None:
    """Write infinite and undefined values as ``inf``, ``-inf`` and ``nan``, and the means they lead to.

    JSON has no numbers for them; they are what the official code says, not values that are missing.
    """
    for system, unit, key, value in zip(
        *(wild[name].to_pylist() for name in ("system", "unit", "measure", "value")), strict=True
    ):
        run = runs[system]
        before = run["mean"][key]
        run["mean"][key] = str(value if before is None else float(before) + value)
        run["interval"][key] = None
        if unit in run["per_query"]:
            run["per_query"][unit][key] = str(value)


def _report(job: PresetJob, outcome: Outcome, table: pa.Table, summary: Mapping[str, Any]) -> ReportData:
    means = {name: _numbers(one["mean"]) for name, one in summary["runs"].items()}
    readable = {**summary, "runs": {name: {**one, "mean": means[name]} for name, one in summary["runs"].items()}}
    warnings = [*outcome.warnings]
    if outcome.unit == "query":
        warnings += warnings_of(table, readable)
    differences = {"differences from the corrected form": "; ".join(outcome.differences) or "none"}
    numbers = ", ".join(f"{name} {number}" for name, number in versions().items())
    empty = pa.Table.from_pylist([], schema=GROUP_SCHEMA)
    return ReportData(
        title=f"{', '.join(job.inputs.systems)} judged by {job.preset.name}",
        summary={**outcome.summary, **differences, "versions": numbers},
        options={**job.config, "preset": dict(summary["options"])},
        tier=TIER,
        counts=summary["counts"],
        warnings=warnings,
        measures=table,
        means=means,
        intervals={name: one["interval"] for name, one in summary["runs"].items()},
        group_exposure=empty if outcome.group_exposure is None else outcome.group_exposure,
        unit=outcome.unit,
        confidence=job.measures.confidence,
        tables=loss_parts(summary["runs"]),
    )


def _numbers(means: Mapping[str, float | str | None]) -> dict[str, float | None]:
    """Return means as numbers, those that are not finite as None."""
    found = {key: None if mean is None else float(mean) for key, mean in means.items()}
    return {key: mean if mean is not None and math.isfinite(mean) else None for key, mean in found.items()}

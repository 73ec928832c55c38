"""The four studies of labels: numbers of each run, and what they say about pairs of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures import unknown_labels as ul
from rerankers.stages.label_files import read_confusion, read_probabilities
from rerankers.stats.means import exact_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.label_inputs import LabelledRuns
    from rerankers.stages.label_options import BoundsOptions, ConfusionOptions, DesignOptions, FlipOptions
    from rerankers.values import GroupAlignment

MANY_RUNS = 8
"""Runs of which all pairs are compared; of more, those that are neighbours by their reported values."""
MANY_QUERIES = 20_000
"""Queries whose numbers are listed, at most."""
NORMAL = 1.959963984540054
"""The .975 quantile of the normal distribution."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Runs under the labels of one attribute.

    Attributes
    ----------
    source
        what was read.
    alignment
        not resolved.
    measure
        one of `rerankers.measures.unknown_labels.MEASURES`.
    """

    source: LabelledRuns
    alignment: GroupAlignment
    measure: str

    @cached_property
    def forms(self) -> dict[str, ul.GroupForm]:
        """Run -> what is measured."""
        return {name: run.form(self.measure) for name, run in self.source.runs.items()}

    @cached_property
    def reported(self) -> dict[str, NDArray[np.float64]]:
        """Run -> its value by query, float64 (Q,), as ``evaluate`` reports it."""
        resolved = self.alignment.resolve(self.source.unknown)
        return {name: form.value(resolved) for name, form in self.forms.items()}

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Runs that are compared, the lower reported mean first."""
        means = {name: mean(value) for name, value in self.reported.items()}
        ranked = sorted(means, key=lambda name: means[name])
        return list(combinations(ranked, 2)) if len(ranked) <= MANY_RUNS else list(pairwise(ranked))


def mean(values: NDArray[np.float64]) -> float:
    """Return the mean over queries, of which there is at least one."""
    return exact_mean(values) or 0.0


def bounds_study(subject: Subject, options: BoundsOptions) -> dict[str, Any]:
    """Return what each run's measure, and each difference, can be over all completions of the unknown labels."""
    forms, reported, source = subject.forms, subject.reported, subject.source
    runs = {}
    for name, form in forms.items():
        found = ul.completion_bounds(form, subject.alignment, options.none, options.exact)
        queries = {unit: found.of(place) for place, unit in enumerate(source.units)}
        runs[name] = {
            "reported": mean(reported[name]),
            **_bounds(found.mean),
            "unknown_documents_in_several_queries": found.shared,
            "queries_with_sharp_bounds": sum(one.sharp for one in queries.values()),
            "exposure": _shares(subject, name, "exposure"),
            "target": _shares(subject, name, "target"),
            "per_query": {
                unit: {"reported": float(reported[name][place]), "unknown": int(found.unknown[place]), **_bounds(one)}
                for place, (unit, one) in enumerate(queries.items())
                if place < MANY_QUERIES
            },
        }
    orders = []
    if subject.measure in ("group_EEL", "group_EED"):
        for first, second in subject.pairs:
            order = ul.order_of(forms[first], forms[second], subject.alignment, options.none, options.exact)
            orders.append({"first": first, "second": second, "verdict": order.verdict, **_bounds(order.difference)})
    return {"runs": runs, "orders": orders}


def flips_study(subject: Subject, options: FlipOptions, seed: int) -> dict[str, Any]:
    """Return expected and drawn measures by error rate, and the rates at which runs swap."""
    groups = subject.alignment.groups
    label = ul.hard_labels(subject.alignment)
    used = label[subject.source.population]
    counts = np.bincount(used[used >= 0], minlength=len(groups)).astype(np.float64)
    path = (
        ul.FlipPath.uniform(len(groups))
        if options.path is None
        else ul.FlipPath.along(read_confusion(Path(options.path), groups), counts)
    )
    forms = subject.forms
    moments = {name: ul.Moments.of(form, subject.alignment, subject.source.unknown) for name, form in forms.items()}
    sweep = ul.flip_sweep(moments, path, options.rates)
    drawn = ul.drawn_sweep(
        forms, moments, subject.alignment, path, options.rates, subject.source.streams, options.repetitions, seed
    )
    runs = {
        name: {
            "expected": sweep.expected[name].tolist(),
            "drawn_mean": drawn[name].mean(axis=1).tolist(),
            "drawn_sd": drawn[name].std(axis=1, ddof=1).tolist(),
        }
        for name in forms
    }
    swaps = []
    for first, second in subject.pairs:
        rate = sweep.swaps[(first, second) if (first, second) in sweep.swaps else (second, first)]
        swapped = np.mean(drawn[first] > drawn[second], axis=1)
        swaps.append({"first": first, "second": second, "rate": rate, "share_swapped": swapped.tolist()})
    return {
        "rates": list(options.rates),
        "highest_rate": path.highest,
        "first_swap": sweep.first_swap,
        "runs": runs,
        "orders": swaps,
    }


def design_study(subject: Subject, options: DesignOptions) -> tuple[dict[str, Any], dict[str, int]]:
    """Return estimates of what the measures would be if every document were labelled, and what was counted."""
    source, label = subject.source, ul.hard_labels(subject.alignment)
    population = source.population
    drawn, counts = population & (label >= 0), dict[str, int]()
    if options.path is None:
        design = ul.simple_design(drawn, population)
    else:
        probability, counts = read_probabilities(Path(options.path), source.names, population)
        design = ul.independent_design(probability, drawn, population)
    forms = subject.forms
    runs = {
        name: {
            "reported": mean(subject.reported[name]),
            **_estimate(ul.mean_measure(form, label, design)),
            **{part: _sums(subject, name, part, label, design) for part in ("exposure", "target")},
        }
        for name, form in forms.items()
    }
    orders = []
    if subject.measure in ("group_EEL", "group_EED"):
        for first, second in subject.pairs:
            found = ul.mean_measure(ul.difference_form(forms[first], forms[second]), label, design)
            orders.append({"first": first, "second": second, **_estimate(found)})
    of_all = {"documents": int(population.sum()), "labelled": design.size, "kind": options.kind}
    return {**of_all, "runs": runs, "orders": orders}, counts


def confusion_study(subject: Subject, options: ConfusionOptions) -> dict[str, Any]:
    """Return the measures corrected for wrong labels by a confusion matrix."""
    groups, source = subject.alignment.groups, subject.source
    matrix = read_confusion(Path(str(options.path)), groups)
    runs: dict[str, dict[str, Any]] = {}
    for name, form in subject.forms.items():
        value = ul.corrected_measure(ul.Moments.of(form, subject.alignment, source.unknown), matrix)
        runs[name] = {
            "reported": mean(subject.reported[name]),
            "corrected": mean(value),
            **{part: _corrected(subject, name, part, matrix) for part in ("exposure", "target")},
            "per_query": dict(list(zip(source.units, value.tolist(), strict=True))[:MANY_QUERIES]),
        }
    orders = [
        {"first": one, "second": two, "corrected": runs[one]["corrected"] - runs[two]["corrected"]}
        for one, two in subject.pairs
    ]
    condition = ul.condition_number(matrix)
    return {"matrix": matrix.tolist(), "condition_number": condition, "runs": runs, "orders": orders}


def _bounds(bounds: ul.Bounds) -> dict[str, Any]:
    return {**asdict(bounds), "gap": bounds.gap, "sharp": bounds.sharp}


def _shares(subject: Subject, name: str, part: str) -> dict[str, dict[str, float | None]]:
    """Return the bounds of each group's mean sum and share."""
    run = subject.source.runs[name]
    found = ul.share_bounds(run.doc, getattr(run, part), len(subject.source.units), subject.alignment)
    columns = ("lower", "upper", "share_lower", "share_upper")
    values = [[_finite(value) for value in getattr(found, column).tolist()] for column in columns]
    return {
        group: dict(zip(columns, row, strict=True))
        for group, row in zip(found.groups, zip(*values, strict=True), strict=True)
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _estimate(found: ul.Estimate) -> dict[str, float | None]:
    error = found.standard_error
    low, high = (None, None) if error is None else (found.value - NORMAL * error, found.value + NORMAL * error)
    parts = {"value": found.value, "variance": found.variance, "standard_error": error}
    return {**parts, "low": low, "high": high}


def _sums(
    subject: Subject, name: str, part: str, label: NDArray[np.int64], design: ul.Design
) -> Mapping[str, dict[str, float | None]]:
    """Return the estimate of each group's mean sum."""
    run = subject.source.runs[name]
    value = np.bincount(run.doc, weights=getattr(run, part), minlength=len(label)) / len(subject.source.units)
    groups = subject.alignment.groups
    return {group: _estimate(ul.group_sum(value, label == place, design)) for place, group in enumerate(groups)}


def _corrected(subject: Subject, name: str, part: str, matrix: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Return each group's mean sum over labelled documents, as labelled and corrected."""
    run, groups = subject.source.runs[name], subject.alignment.groups
    zeros = np.zeros(len(run.doc), dtype=np.int64)
    observed = subject.alignment.totals(zeros, run.doc, getattr(run, part), 1)[0] / len(subject.source.units)
    true = ul.corrected_sums(observed, matrix)
    return {
        group: {"as_labelled": float(one), "corrected": float(two)}
        for group, one, two in zip(groups, observed, true, strict=True)
    }

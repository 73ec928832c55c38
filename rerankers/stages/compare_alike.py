"""Whether the results of jobs may stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

ESTIMATION = ("seed", "samples", "confidence", "resamples", "exposure", "exposure_from_draws")
BESIDE = frozenset({*ESTIMATION, "name", "differences_from_the_corrected_form"})
"""Options that may differ: how numbers were estimated, or words that say nothing about what is measured."""
OF_GROUPS = ("unknown", "mixed")

ASPECTS: Mapping[str, Callable[[JobResults], Any]] = {
    "preset": lambda job: job.preset or "no preset",
    "tier": lambda job: job.tier,
    "options": lambda job: _measured(job.options),
    "queries": lambda job: (job.units, job.collection),
}
"""What results must have in common, unless ``mix`` names it."""


def check_alike(jobs: Sequence[JobResults], mix: Sequence[str] = ()) -> None:
    """Raise `ConfigError` for jobs that differ from the first in an aspect that ``mix`` does not name."""
    for aspect, of in ASPECTS.items():
        if aspect in mix:
            continue
        first = of(jobs[0])
        for job in jobs[1:]:
            if (difference := _difference(aspect, first, of(job))) is not None:
                raise ConfigError(_not_comparable(jobs[0], job, aspect, difference))


def queries_differ(first: JobResults, job: JobResults) -> str:
    """Return what is said of two jobs whose queries, or test collections, are not the same."""
    of = ASPECTS["queries"]
    return _not_comparable(first, job, "queries", _difference("queries", of(first), of(job)) or "other queries")


def _not_comparable(first: JobResults, job: JobResults, aspect: str, difference: str) -> str:
    return (
        f"{job.folder} and {first.folder}: {difference}: their numbers are not comparable. To show them in one table "
        f"all the same: mix=[{aspect}]"
    )


def _measured(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that decide what a number means."""
    groups = options.get("groups")
    of_groups = groups if isinstance(groups, Mapping) else {}
    found = {key: value for key, value in options.items() if key not in BESIDE and key != "groups"}
    return found | {f"groups.{key}": of_groups[key] for key in OF_GROUPS if key in of_groups}


def _difference(aspect: str, one: Any, two: Any) -> str | None:
    """Say in what two jobs differ, None where they do not; options that only one of them has do not count."""
    if aspect == "options":
        for key in one:
            if key in two and one[key] != two[key]:
                return f"option {key} is {two[key]} and {one[key]}"
        return None
    if aspect == "queries":
        (units, collection), (others, other) = one, two
        if units != others:
            return f"{len(others):,} and {len(units):,} other queries"
        return "other test collections" if collection and other and collection != other else None
    return None if one == two else f"{aspect} is {two} and {one}"

"""Which measures are computed by default, and under which keys measures appear in results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rerankers._base.errors import choose
from rerankers.measures.group_measure import is_of_groups
from rerankers.measures.names import Measure, parse_many

GROUP = "group_"
INDIVIDUAL_DEFAULTS = "EEL EED EER EET utility"
GROUP_DEFAULTS = "group_EEL group_EEL_placebo group_EEL_excess group_EED group_EER group_EET"
CLASSIC_DEFAULTS = "nDCG@10 P@10 AP RR"
PLACEBOS = ("all", "closed_form", "none")


def default_measures(attributes: Sequence[str]) -> tuple[Measure, ...]:
    """Return what is computed when nothing is asked for: group measures only where there are groups."""
    groups = GROUP_DEFAULTS if attributes else ""
    return parse_many(f"{INDIVIDUAL_DEFAULTS} {groups} {CLASSIC_DEFAULTS}")


def chosen_measures(names: Sequence[str] | None, attributes: Sequence[str], which: str = "all") -> tuple[Measure, ...]:
    """Return the measures of a job: those named, or the usual ones; placebos as `with_placebos` says."""
    if names is not None:
        return with_placebos(parse_many(names), which if attributes else "none")
    return tuple(measure for measure in default_measures(attributes) if not measure.part or which != "none")


def with_placebos(measures: Iterable[Measure], which: str = "all") -> tuple[Measure, ...]:
    """Return measures with placebo and excess behind each measure of groups that is asked for without them.

    Disparity, relevance and target of groups come without, unless they are asked for: their excesses make up that of
    the loss.

    Parameters
    ----------
    which
        ``all``; ``closed_form``: where they cost nothing to speak of; ``none``.

    Raises
    ------
    ConfigError
        for another word.
    """
    choose("measures.placebo", which, PLACEBOS)
    out: dict[Measure, None] = {}
    for measure in measures:
        out[measure] = None
        kind = measure.kind
        if measure.part or not measure.depends_on_groups or not kind.carries or which == "none":
            continue
        if which == "all" or kind.has_gaps:
            out |= {replace(measure, part=part): None for part in ("placebo", "excess")}
    return tuple(out)


def plan(measures: Iterable[Measure], attributes: Sequence[str]) -> dict[str, Measure]:
    """Return key -> measure in the order asked for.

    ``group_EEL`` keeps its name where one attribute is chosen, becomes ``EEL(group='A')`` for each of several, and
    stays, to be null, where there is none; so do ``group_EEL_placebo`` and the like, and ``NDKL`` and other measures
    of groups that name no attribute. Systematic parts are left out:
    no query has them.

    Raises
    ------
    ConfigError
        for a measure of an attribute that is not there, while others are.
    """
    planned: dict[str, Measure] = {}
    for measure in measures:
        if measure.part == "systematic":
            continue
        if len(attributes) > 1 and _of_each(measure):
            named = measure.name.removeprefix(GROUP)
            for attribute in attributes:
                single = Measure(
                    named, (*measure.params, ("group", attribute)), measure.cutoff, measure.part, measure.own
                )
                planned[str(single)] = single
        else:
            _check_attribute(measure, attributes)
            planned[str(measure)] = measure
    return planned


def _of_each(measure: Measure) -> bool:
    """Whether a measure stands for one of every attribute: ``group_…``, and measures of groups that name none."""
    if measure.name.startswith(GROUP):
        return True
    return is_of_groups(measure.kind) and "group" not in dict(measure.params)


def _check_attribute(measure: Measure, attributes: Sequence[str]) -> None:
    asked = dict(measure.params).get("group")
    if asked is not None and attributes:
        choose(f"measure {measure}, group", str(asked), attributes)

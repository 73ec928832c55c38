"""Which measures are computed by default, and under which keys measures appear in results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rerankers._base.errors import choose
from rerankers.measures.names import Measure, parse_many

GROUP = "group_"
INDIVIDUAL_DEFAULTS = "EEL EED EER EET utility"
GROUP_DEFAULTS = "group_EEL group_EED group_EER group_EET"
CLASSIC_DEFAULTS = "nDCG@10 P@10 AP RR"


def default_measures(attributes: Sequence[str]) -> tuple[Measure, ...]:
    """Return what is computed when nothing is asked for: group measures only where there are groups."""
    groups = GROUP_DEFAULTS if attributes else ""
    return parse_many(f"{INDIVIDUAL_DEFAULTS} {groups} {CLASSIC_DEFAULTS}")


def plan(measures: Iterable[Measure], attributes: Sequence[str]) -> dict[str, Measure]:
    """Return key -> measure in the order asked for.

    ``group_EEL`` keeps its name where one attribute is chosen, becomes ``EEL(group='A')`` for each of several, and
    stays, to be null, where there is none.

    Raises
    ------
    ConfigError
        for a measure of an attribute that is not there, while others are.
    """
    planned: dict[str, Measure] = {}
    for measure in measures:
        named = measure.name.removeprefix(GROUP)
        if named != measure.name and len(attributes) > 1:
            for attribute in attributes:
                single = Measure(named, (*measure.params, ("group", attribute)), measure.cutoff)
                planned[str(single)] = single
        else:
            _check_attribute(measure, attributes)
            planned[str(measure)] = measure
    return planned


def _check_attribute(measure: Measure, attributes: Sequence[str]) -> None:
    asked = dict(measure.params).get("group")
    if asked is not None and attributes:
        choose(f"measure {measure}, group", str(asked), attributes)

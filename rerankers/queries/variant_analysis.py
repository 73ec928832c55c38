"""Sets of query variants against the human one: texts, pools, rankings, effectiveness, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rerankers._base.errors import InputError, Problem, choose
from rerankers.queries.pools import width_of
from rerankers.queries.ranked import Ranked, check_rankings
from rerankers.queries.sets import VariantSet
from rerankers.queries.variant_comparisons import comparisons, completion_spread
from rerankers.queries.variant_growth import equal_number_rows, growth_curves
from rerankers.queries.variant_lists import overlap_rows, precision_rows
from rerankers.queries.variant_options import AnalysisOptions
from rerankers.queries.variant_pools import Pooled, pool_rows
from rerankers.queries.variant_rows import REASONS, Row, tell
from rerankers.queries.variant_strings import string_rows

__all__ = ["AnalysisOptions", "Ranked", "analyse"]

Rankings = Mapping[str, Sequence[Ranked]]


def analyse(
    sets: Sequence[VariantSet],
    reference: str,
    ranked: Mapping[str, Rankings] | None = None,
    judgments: Mapping[str, Mapping[int, float]] | None = None,
    options: AnalysisOptions | None = None,
) -> dict[str, Any]:
    """Compare sets of query variants with the human one and with each other.

    Parameters
    ----------
    sets
        the human set and at least one other, of different names.
    reference
        name of the human set.
    ranked
        name of a set -> topic -> one `Ranked` for each distinct variant (`VariantSet.distinct`, in its order; empty
        where a variant retrieves nothing). Sets and topics may be missing. None: only texts are compared.
    judgments
        topic -> document code -> grade; above 0 is relevant, below 0 is judged and not relevant, what is not held is
        unjudged. None: nothing is said of relevance.
    options
        depths, stages, persistences, numbers of resamples and the seed; the defaults of `AnalysisOptions` if None.

    Returns
    -------
    dict, ready for JSON, without NaN
        ``reference``, ``options``, ``topics`` (ids, sorted), ``sets`` (name -> ``topics``, ``variants``,
        ``distinct``, ``distinct_per_topic``, ``counts``), ``measures`` (see `rerankers.queries.variant_rows.tell`),
        ``comparisons`` and ``spread`` (`rerankers.queries.variant_comparisons`), ``growth``
        (`rerankers.queries.variant_growth.growth_curves`), ``skipped`` (what was not measured -> why) and ``reasons``
        (what the reasons of missing values mean).

    Raises
    ------
    InputError
        for a reference that is no set, no other set, sets of one name, no common topic, rankings of unknown sets or
        not one a distinct variant, grades that are no numbers, and completions of unknown sets.
    """
    options = options or AnalysisOptions()
    by_name = _checked_sets(sets, reference, options)
    human, others = by_name[reference], [one for one in sets if one.name != reference]
    topics = sorted(set().union(*(one.texts.keys() for one in sets)))
    rows: list[Row] = list(string_rows(human, others, topics, options))
    skipped: dict[str, str] = {}
    growth: list[dict[str, Any]] = []
    found = _checked_rankings(by_name, ranked or {}, skipped)
    grades = None if judgments is None else _checked_judgments(judgments)
    if grades is None:
        skipped["relevance"] = "no judgments were given"
    if reference in found:
        pooled = Pooled.of(topics, found, grades, width_of(*found.values()))
        names = [one.name for one in others if one.name in found]
        rows += pool_rows(pooled, reference, names, options.depths, options.seed)
        rows += equal_number_rows(pooled, reference, names, options.depths)
        rows += overlap_rows(found, reference, topics, options)
        growth = growth_curves(pooled, list(found), options.depths)
    if found and grades is not None:
        rows += precision_rows(found, grades, topics, options)
    return {
        "reference": reference,
        "options": {**asdict(options), "depths": list(options.depths), "stages": list(options.stages)},
        "topics": topics,
        "sets": {one.name: _described(one) for one in sets},
        "measures": tell(rows, topics, options),
        "comparisons": comparisons(rows, options),
        "spread": completion_spread(rows, options.completions),
        "growth": growth,
        "skipped": skipped,
        "reasons": REASONS,
    }


def _described(one: VariantSet) -> dict[str, Any]:
    distinct = [len(one.distinct(topic)) for topic in one.texts]
    return {
        "topics": len(one.texts),
        "variants": sum(map(len, one.texts.values())),
        "distinct": sum(distinct),
        "distinct_per_topic": sum(distinct) / len(distinct) if distinct else None,
        "counts": dict(one.counts),
    }


def _checked_sets(sets: Sequence[VariantSet], reference: str, options: AnalysisOptions) -> dict[str, VariantSet]:
    """Return the sets by name, once there is something to compare."""
    by_name = {one.name: one for one in sets}
    if len(by_name) < len(sets):
        raise InputError.one("sets", f"the names {[one.name for one in sets]}", "each name once")
    choose("reference", reference, by_name)
    if len(by_name) < 2:
        raise InputError.one("sets", "only the reference", "at least one set to compare with it")
    human = by_name[reference].texts.keys()
    apart = [one.name for one in sets if not human & one.texts.keys()]
    if apart:
        problems = []
        for name in apart:
            ids = [next(iter(sorted(keys)), "none") for keys in (by_name[name].texts, human)]
            text = f"no topic of the set {reference!r} (such as {ids[0]!r} against {ids[1]!r})"
            problems.append(Problem(name, text, "at least one common topic id"))
        raise InputError(problems)
    unknown = sorted(options.completions.keys() - by_name.keys())
    if unknown:
        raise InputError.one("completions", f"the sets {unknown}", f"sets among {sorted(by_name)}")
    return by_name


def _checked_rankings(
    by_name: Mapping[str, VariantSet], ranked: Mapping[str, Rankings], skipped: dict[str, str]
) -> dict[str, Rankings]:
    """Return the rankings of the sets that have any, in the order of the sets."""
    unknown = sorted(ranked.keys() - by_name.keys())
    if unknown:
        raise InputError.one("ranked", f"rankings of {unknown}", f"of sets among {sorted(by_name)}")
    out = {}
    for name, one in by_name.items():
        if not ranked.get(name):
            skipped[f"pools and rankings of {name}"] = "no rankings were given"
            continue
        for topic, found in ranked[name].items():
            check_rankings(f"ranked[{name!r}][{topic!r}]", found, len(one.distinct(topic)))
        out[name] = ranked[name]
    return out


def _checked_judgments(judgments: Mapping[str, Mapping[int, float]]) -> Mapping[str, Mapping[int, float]]:
    for topic, grades in judgments.items():
        values = np.fromiter(grades.values(), dtype=np.float64, count=len(grades))
        if not np.all(np.isfinite(values)):
            raise InputError.one(f"judgments[{topic!r}]", "a grade that is not finite", "finite numbers")
    return judgments

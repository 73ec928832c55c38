"""The tables over topics in a recommendation's report: on the whole, generators, held-out values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rerankers.report.data import PlainTable
from rerankers.report.recommendation_tables import DRAWN
from rerankers.report.text import NOTHING, number, words

_LESS = "recommendation - "


def summary_table(summary: Mapping[str, Any] | None) -> PlainTable | None:
    """Return means over all queries, None without an axis."""
    axes = (summary or {}).get("axes") or {}
    if not axes:
        return None
    rows: list[list[str | float | None]] = [
        [
            name,
            one["queries"],
            one["original"],
            one["recommended"],
            one["relevance_of_recommended"],
            one["reranked"],
            one["relevance_of_reranked"],
            (one.get("as_close") or {}).get("relevance"),
        ]
        for name, one in axes.items()
    ]
    return PlainTable(
        "On the whole",
        "Mean closeness to the target of the original query, of the recommendation that is closest (after a click) and "
        "of the reranking that is closest (without one), with their relevance to the original query; last, the "
        "relevance of the most relevant reranking that is at least as close as the recommendation.",
        [
            "axis",
            "queries",
            "original",
            "recommendation",
            "its relevance",
            "reranking",
            "its relevance ",
            "relevance at equal closeness",
        ],
        rows,
    )


def comparison_tables(comparison: Mapping[str, Any] | None) -> list[PlainTable]:
    """Return generators two by two at equal numbers, and all of them on one front."""
    if not comparison:
        return []
    rows: list[list[str | float | None]] = []
    for pair in comparison["pairs"]:
        for measure, one in pair["equal"].items():
            row = [f"{words(pair['a'])} against {words(pair['b'])}", words(measure), pair["topics"]]
            row += [one["a"]["mean"], one["b"]["mean"], _interval(one["difference"]), one["p_holm"]]
            rows.append(row)
        raw = pair["raw_count"]
        against = ", ".join(map(words, raw["contradicted_by"]))
        note = f"contradicted by {against}" if against else NOTHING
        rows.append(
            [
                f"{words(pair['a'])} against {words(pair['b'])}",
                "raw count, all candidates (as published)",
                pair["topics"],
                str(raw["a_over_b"]),
                str(raw["b_over_a"]),
                note,
                None,
            ]
        )
    tables = [
        PlainTable(
            "Generators two by two, at equal numbers of candidates",
            "Means over topics where both found candidates; the larger set is cut down to the size of the smaller one "
            "in all ways or in drawn ones. Coverage: the share of the other's candidates that are dominated. Front "
            "share: the share of the own candidates on the joint front. Front origin: the share of that front. The raw "
            "count of dominations grows with the number of candidates and is listed for comparison with published "
            "numbers only.",
            ["generators", "measure", "topics", "first", "second", "difference with interval", "p (Holm)"],
            rows,
        )
    ]
    joint = comparison["joint"]["generators"]
    if len(joint) > 2 and comparison["joint"]["topics"]:
        measures = list(next(iter(joint.values())))
        tables.append(
            PlainTable(
                "All generators on one front",
                f"At equal numbers, over {comparison['joint']['topics']} topics where every generator found something.",
                ["generator", *map(words, measures)],
                [[words(name), *(_interval(of[measure]) for measure in measures)] for name, of in joint.items()],
            )
        )
    return tables


def evaluation_tables(evaluation: Mapping[str, Any] | None) -> list[PlainTable]:
    """Return a table an axis: what was selected on it, by what it was not selected on."""
    if not evaluation or "axes" not in evaluation:
        return []
    setting = evaluation["evaluation"]
    tables = []
    for axis, measures in evaluation["axes"].items():
        first: Mapping[str, Any] = next(iter(measures.values()), {"means": {}})
        others = [name for name in first if name.startswith(_LESS)]
        rows: list[list[str | float | None]] = []
        for measure, one in measures.items():
            row: list[str | float | None] = [words(measure), one["topics"], *one["means"].values()]
            for other in others:
                row += [_interval(one[other]), one[other]["p_holm"]]
            rows.append(row)
        target = "the target that it was selected on: circular" if axis in evaluation["circular"] else "another target"
        tables.append(
            PlainTable(
                f"Held-out values of what was selected on {axis}",
                f"Judged with {setting['retriever']}, {setting['weights']} and {target}.",
                ["measure", "topics", *first["means"], *(text for other in others for text in (other, "p (Holm)"))],
                rows,
            )
        )
    return tables


def _interval(one: Mapping[str, Any]) -> str:
    if one["mean"] is None:
        return NOTHING
    if one["low"] is None:
        return number(one["mean"])
    return f"{one['mean']:.{DRAWN}f} [{one['low']:.{DRAWN}f}, {one['high']:.{DRAWN}f}]"

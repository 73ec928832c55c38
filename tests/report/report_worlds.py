"""A small report to test with: one method, three anchors, three queries, two groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rerankers.report import ReportData
from rerankers.report.extras import Extras, FrontLine, Optimum, ShareCurve, Trace

SYSTEMS = ("plackett_luce", "anchor:ideal", "anchor:random", "anchor:plackett_luce")
QUERIES = ("q1", "q2", "q3")
KEYS = ("utility", "EEL", "EED", "EER", "EET", "group_EEL", "group_EEL_excess", "group_EED", "group_EER")


def _value(system: int, key: str, query: int) -> float:
    # any numbers that differ everywhere, except the targets, which belong to the queries; EEL keeps its identity
    if key.endswith("EET"):
        return 1.0 + 0.125 * query
    if key.endswith("EEL"):
        level = key.removesuffix("EEL")
        eed, eer = _value(system, f"{level}EED", query), _value(system, f"{level}EER", query)
        return eed - 2 * eer + _value(system, "EET", query)
    return 0.25 + 0.5 * system + 0.0625 * query + 0.03125 * KEYS.index(key)


def measure_table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    names = ("system", "seed", "unit", "measure", "value", "reason")
    types = (pa.string(), pa.int64(), pa.string(), pa.string(), pa.float64(), pa.string())
    return pa.table({name: pa.array([row[i] for row in rows], types[i]) for i, name in enumerate(names)})


def group_table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    names = ("system", "attribute", "group", "exposure", "target")
    types = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64())
    return pa.table({name: pa.array([row[i] for row in rows], types[i]) for i, name in enumerate(names)})


def build_report(
    systems: Sequence[str] = SYSTEMS,
    queries: Sequence[str] = QUERIES,
    keys: Sequence[str] = KEYS,
    groups: Mapping[str, Sequence[str]] | None = None,
    missing: Mapping[tuple[str, str, str], str] | None = None,
    **parts: Any,
) -> ReportData:
    """``missing`` maps (system, key, query) to the reason of a null."""
    lost = missing or {}
    rows, means, intervals = [], {}, {}
    for s, system in enumerate(systems):
        means[system], intervals[system] = {}, {}
        for key in keys:
            values = []
            for q, query in enumerate(queries):
                reason = lost.get((system, key, query))
                value = None if reason else _value(s, key, q) if key in KEYS else 0.5
                rows.append((system, 0, query, key, value, reason))
                values += [] if value is None else [value]
            means[system][key] = sum(values) / len(values) if values else None
            intervals[system][key] = [min(values), max(values)] if len(values) > 1 else None
    attributes = {"economy": ("Advanced", "Developing")} if groups is None else groups
    shares = [
        (system, attribute, group, 0.5 + 0.1 * s, 0.6 + 0.05 * g)
        for s, system in enumerate(systems)
        for attribute, names in attributes.items()
        for g, group in enumerate(names)
    ]
    given: dict[str, Any] = {
        "title": "A report",
        "summary": {"Collection": "generated, 3 queries", "Seed": "0"},
        "options": {"method": {"name": "plackett_luce", "temperature": 1.0}, "preset": None, "groups": ["economy"]},
        "tier": "blind",
        "counts": {"collection": {"documents_without_text": 1234}, "queries_without_judgments": 2},
        "warnings": ["Fewer than 30 queries."],
        "measures": measure_table(rows),
        "means": means,
        "intervals": intervals,
        "group_exposure": group_table(shares),
    }
    return ReportData(**{**given, **parts})


def full_extras(systems: Sequence[str] = SYSTEMS, evil: str = "odd") -> Extras:
    """Return everything that a report may have besides measures; ``evil`` stands wherever names and texts do."""
    bent = [(place / 40) ** 2 for place in range(41)]
    curves = [ShareCurve(system, bent, 0.3, 3) for system in systems]
    groups = {evil: {evil: [1.0, 2.0, 4.0], "unknown": [0.5, 0.5, 1.0]}}
    return Extras(
        about=f"What was run. {evil}",
        record={"command": f"fair-rerank run {evil}", evil: evil},
        method="plackett_luce",
        queries={query: f"text of {query} {evil}" for query in (*QUERIES, evil)},
        fronts=[
            FrontLine(name, of_groups, [0.2, 0.4], [0.1, 0.3], [0.2, 0.5], [0.3, 0.4])
            for name in ("oracle front", "plug-in front", "true front")
            for of_groups in (False, True)
        ],
        optima=[
            Optimum("oracle front", False, f"the utility of {evil}", 0.25, 0.125, (0.1, 0.2)),
            Optimum("plug-in front", True, "90% of the static utility", 0.45, None, None),
        ],
        fronts_words=f"Computed somehow. {evil}",
        documents=[*curves, ShareCurve("target", bent, 0.3, 3)],
        relevant=curves,
        trace=Trace([1, 2, 3], groups, groups, {f"loss {evil}": [None, 0.5, 0.25]}, 4),
    )

"""The tables of differences between sets of query variants, and of the spread over completions of one setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rerankers.report.data import PlainTable
from rerankers.report.text import NOTHING, clean, interval, number

Cells = list[str | float | None]
MEASURES = (
    *("string_jaccard", "string_coverage_of_human", "pool_jaccard_all", "pool_jaccard_rel", "pool_cov_h_by_g_rel"),
    *("rbo_within", "rbo_across", "rbp"),
)
"""What is shown of several measures: of texts at the last stage, of pools at the deepest depth."""


def contrast_tables(found: Mapping[str, Any]) -> list[PlainTable]:
    """Return the tables of paired differences and spreads, those that have a row."""
    return [table for table in (_sets(found), _fairness(found), _spread(found)) if table.rows]


def _main(found: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a part of the analysis that are about the main measures, at one stage and depth."""
    analysis = found["analysis"] or {}
    options = analysis.get("options") or {}
    for row in analysis.get(key, ()):
        stage = row["stage"] in (None, *list(options["stages"])[-1:])
        if (
            row["measure"] in MEASURES
            and row["role"] == "value"
            and stage
            and row["depth"] in (None, options["depths"][-1])
        ):
            yield row


def _name(row: Mapping[str, Any]) -> str:
    where = row["stage"] or (None if row["depth"] is None else f"depth {row['depth']}")
    what = row["measure"].replace("_", " ")
    return f"{what} ({where})" if where else what


def _sets(found: Mapping[str, Any]) -> PlainTable:
    rows: list[Cells] = []
    for row in _main(found, "comparisons"):
        ends = None if row["low"] is None else (row["low"], row["high"])
        label = f"{_name(row)}: {clean(row['set'])} minus {clean(row['minus'])}"
        difference = f"{number(row['difference'])} {interval(ends)}".strip()
        rows.append([label, difference, f"{row['topics']:,}", *(_p(row[key]) for key in ("p", "p_holm", "p_max_t"))])
    note = (
        "Paired over topics, with bootstrap intervals. p is of sign flips; those of Holm and max-t hold over all "
        "differences of the job, in variants.json."
    )
    columns = ["measure: sets", "difference", "topics", "p", "p, Holm", "p, max-t"]
    return PlainTable("Differences between sets", note, columns, rows)


def _fairness(found: Mapping[str, Any]) -> PlainTable:
    rows: list[Cells] = []
    for row in (found["fairness"] or {}).get("differences", ()):
        loss = row["loss"]
        ends = None if loss["interval"] is None else (loss["interval"][0], loss["interval"][1])
        mine, other = (row["set"], row["other"]) if row["against"] == "set" else (row["system"], row["other"])
        at = row["system"] if row["against"] == "set" else row["set"]
        label = f"{clean(row['attribute'])}, {clean(at)}: {clean(mine)} minus {clean(other)}"
        rows.append([label, f"{number(loss['mean'])} {interval(ends)}".strip(), f"{loss['topics']:,}"])
    note = "Of the loss of the exposure expected over variants; paired over topics, with bootstrap intervals."
    columns = ["attribute, system or set: difference", "difference of the loss", "topics"]
    return PlainTable("Differences in fairness", note, columns, rows)


def _spread(found: Mapping[str, Any]) -> PlainTable:
    rows: list[Cells] = [
        [
            f"{clean(row['setting'])}: {_name(row)}",
            f"{len(row['sets'])}",
            number(row["mean"]),
            number(row["sd"]),
            f"{number(row['least'])} to {number(row['most'])}",
            number(row["topic_sd"]),
        ]
        for row in _main(found, "spread")
    ]
    note = "How far the sets that one setting gives differ: one of them is no estimate of the setting."
    columns = ["setting: measure", "sets", "mean", "deviation", "range", "deviation of a topic"]
    return PlainTable("Spread over completions of one setting", note, columns, rows)


def _p(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"

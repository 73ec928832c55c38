"""The tables of sets of query variants: what they are, share, find, and show of the groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rerankers.report.data import PlainTable
from rerankers.report.text import NOTHING, clean, interval, number
from rerankers.report.variants_contrasts import contrast_tables

Row = Mapping[str, Any]
Cells = list[str | float | None]
VALUE, FLOOR, CEILING, BETWEEN = "value", "floor", "ceiling", "between"
EQUAL, SMALLER = "equal_number", "smaller_number"


def variant_tables(found: Mapping[str, Any]) -> list[PlainTable]:
    """Return the tables of what ``variants.json`` holds, those that have a row."""
    tables = [_sets(found), *_texts(found), *_pools(found), *_rankings(found), *_fairness(found)]
    return [*(table for table in tables if table.rows), *contrast_tables(found)]


def chosen(found: Mapping[str, Any], measure: str, **wanted: Any) -> Iterator[Row]:
    """Yield the rows of a measure of the analysis whose keys have the values ``wanted``."""
    for row in (found["analysis"] or {}).get("measures", ()):
        if row["measure"] == measure and all(row[key] == value for key, value in wanted.items()):
            yield row


def others(found: Mapping[str, Any]) -> list[str]:
    """Return the names of the sets that are held against the reference."""
    return [name for name in (found["analysis"] or {}).get("sets", ()) if name != found["reference"]]


def mean_of(rows: Iterator[Row]) -> str:
    """Return the mean of the first row with its interval, ``–`` where there is none."""
    row = next(rows, None)
    if row is None or row["mean"] is None:
        return NOTHING
    ends = None if row["low"] is None else (row["low"], row["high"])
    return f"{number(row['mean'])} {interval(ends)}".strip()


def _sets(found: Mapping[str, Any]) -> PlainTable:
    rows: list[Cells] = []
    for name, one in found["sets"].items():
        counts = one["counts"]
        per_topic = one["distinct_per_topic"]
        cells: Cells = [
            f"{clean(name)}{' (reference)' if name == found['reference'] else ''}",
            f"{one['topics']:,}",
            f"{one['variants']:,}",
            f"{one['distinct']:,}",
            NOTHING if per_topic is None else f"{per_topic:.1f} ({one['least']:,} to {one['most']:,})",
        ]
        rows.append([*cells, *(f"{counts.get(key, 0):,}" for key in ("repeated", "empty", "topics_unknown"))])
    note = (
        "Variants as they came, and how many of them differ. Repeated ones are kept in the numbers as they came only."
    )
    columns = ["set", "topics", "variants", "distinct", "distinct a topic", "repeated", "empty", "unknown topics"]
    return PlainTable("Sets", note, columns, rows)


def _texts(found: Mapping[str, Any]) -> Iterator[PlainTable]:
    stages = dict.fromkeys(row["stage"] for row in chosen(found, "string_jaccard", role=VALUE))
    rows: list[Cells] = []
    for name in others(found):
        for stage in stages:
            at = {"set": name, "stage": stage}
            cells: Cells = [f"{clean(name)}, {stage}"]
            for measure in ("string_jaccard", "string_coverage_of_human", "string_coverage_of_generated"):
                cells.append(mean_of(chosen(found, measure, role=VALUE, **at)))
            cells.append(mean_of(chosen(found, "string_jaccard_of_expectations", role=EQUAL, **at)))
            floors = [
                row["mean"] for row in chosen(found, "string_jaccard", role=FLOOR, **at) if row["mean"] is not None
            ]
            rows.append([*cells, number(max(floors)) if floors else NOTHING])
    note = (
        "Means over topics with their bootstrap intervals. Each stage of normalisation is on top of those before it. "
        "Coverage is the part of one set's variants that the other set has too. At equal numbers both sides have as "
        "many variants as half of the human ones; the floor is the higher one of another topic's variants and random "
        "words of the topic."
    )
    columns = ["set, stage", "Jaccard", "coverage of reference", "coverage of set", "Jaccard at equal numbers", "floor"]
    yield PlainTable("Texts in common with the reference", note, columns, rows)
    between: list[Cells] = [
        [f"{clean(row['against'])} and {clean(row['set'])}, {row['stage']}", mean_of(iter([row]))]
        for row in chosen(found, "string_jaccard", role=BETWEEN)
    ]
    yield PlainTable("Texts that two other sets have in common", "Jaccard.", ["sets, stage", "Jaccard"], between)


def _pools(found: Mapping[str, Any]) -> Iterator[PlainTable]:
    rows: list[Cells] = [
        [
            f"{clean(row['set'])}, {row['depth']}",
            *(
                NOTHING if row[key] is None else f"{row[key]:,}"
                for key in ("documents", "relevant", "relevant_new", "relevant_missed")
            ),
        ]
        for row in found.get("pools") or ()
    ]
    note = "The first documents of all variants of a set, over all topics; new and missed are against the reference."
    columns = ["set, depth", "documents", "judged relevant", "of them new", "missed"]
    yield PlainTable("Pools", note, columns, rows)
    rows = []
    for name in others(found):
        for row in chosen(found, "pool_jaccard_all", role=VALUE, set=name):
            at = {"set": name, "depth": row["depth"], "role": VALUE}
            relevant = next(chosen(found, "pool_jaccard_rel", **at), None)
            bounds = None if relevant is None or relevant["bounds"] is None else relevant["bounds"]
            rows.append(
                [
                    f"{clean(name)}, {row['depth']}",
                    mean_of(iter([row])),
                    mean_of(chosen(found, "pool_jaccard_rel", **at)),
                    NOTHING if bounds is None or None in bounds else interval((bounds[0], bounds[1])),
                    mean_of(chosen(found, "pool_cov_h_by_g_rel", **at)),
                    mean_of(chosen(found, "pool_cov_g_by_h_rel", **at)),
                    _plain(chosen(found, "pool_unjudged_share_h", **at)),
                    _plain(chosen(found, "pool_unjudged_share_g", **at)),
                    _plain(chosen(found, "pool_judgments_needed", **at)),
                ]
            )
    note = (
        "Jaccard of pools, of all documents and of those judged relevant; the bounds hold whatever the unjudged ones "
        "are, the part found is of the relevant documents of one pool that the other one holds too. The last column "
        "is the mean number of judgments a topic that would settle it (pool.csv lists them, the most telling first)."
    )
    columns = ["set, depth", "Jaccard, all", "Jaccard, relevant", "bounds", "reference's found", "set's found"]
    columns += ["unjudged, reference", "unjudged, set", "judgments needed"]
    yield PlainTable("What pools have in common with the reference's", note, columns, rows)
    rows = [
        [f"{clean(row['set'])}, {row['depth']}", row["detail"] or NOTHING, *_equal(found, row)]
        for role in (SMALLER, EQUAL, CEILING)
        for row in chosen(found, "pool_jaccard_of_expectations_all", role=role)
    ]
    note = (
        "Exact expectations over all choices of as many variants on both sides: as many as the smaller set has, or as "
        "half of the human ones. The row of the reference is its two halves: no set can be expected to come nearer "
        "than these do at half of the human ones."
    )
    columns = ["set, depth", "variants", "Jaccard, all", "Jaccard, relevant", "reference's relevant found"]
    yield PlainTable("Pools at equal numbers of variants", note, columns, rows)


def _equal(found: Mapping[str, Any], row: Row) -> list[str]:
    at = {key: row[key] for key in ("set", "depth", "role")}
    names = ("pool_jaccard_of_expectations_all", "pool_jaccard_of_expectations_rel", "pool_coverage_of_human_rel")
    return [mean_of(chosen(found, name, **at)) for name in names]


def _rankings(found: Mapping[str, Any]) -> Iterator[PlainTable]:
    rows: list[Cells] = [
        [
            clean(name),
            mean_of(chosen(found, "rbo_within", set=name)),
            mean_of(chosen(found, "rbo_across", set=name, role=VALUE)),
        ]
        for name in (found["sets"] if found.get("pools") and found["analysis"] else ())
    ]
    note = "Rank-biased overlap of the rankings of two variants: of one set, and one of each set."
    yield PlainTable("Rankings", note, ["set", "within the set", "across, with the reference"], rows)
    rows = []
    for name, measures in (found.get("effectiveness") or {}).items():
        cells: Cells = [clean(name)]
        for one in measures.values():
            cells += [_told(one), number(one["best_variant"]["mean"])]
        row = next(chosen(found, "rbp", set=name), None)
        lower = NOTHING if row is None else number(row["mean"])
        residual = (
            None if row is None or row["mean"] is None else sum(row["parts"][part] for part in ("unjudged", "tail"))
        )
        rows.append([*cells, f"{lower} + {number(residual)}" if residual is not None else lower])
    note = (
        "Mean over the variants of a topic, then over topics. The best variant is picked by the judgments: an oracle, "
        "no system. Rank-biased precision has the residual behind it that unjudged documents and the unread rest leave."
    )
    columns = ["set", "AP", "best variant", "nDCG@10", "best variant", "RBP + residual"]
    yield PlainTable("Effectiveness", note, columns, rows)


def _fairness(found: Mapping[str, Any]) -> Iterator[PlainTable]:
    told = found["fairness"]
    if told is None:
        return
    rows: list[Cells] = []
    groups: list[Cells] = []
    for system, of_set in told["systems"].items():
        for name, of_attribute in of_set.items():
            for attribute, one in of_attribute.items():
                label = f"{clean(system)}, {clean(name)}, {clean(attribute)}"
                parts = ("loss", "mean_loss", "worst_loss", "between", "within")
                share = one["between_share"]
                rows.append([label, *(_told(one[part]) for part in parts), number(share)])
                for group, values in one["by_group"].items():
                    exposure, target, spread = (_told(values[key]) for key in ("exposure", "target", "between_sd"))
                    groups.append([f"{label}: {clean(group)}", exposure, target, spread])
    note = (
        "The variants of a topic are asked by people who have one need: what its groups receive is the mean over the "
        "variants. Its loss is the squared distance to the target; the mean loss of single variants is larger by the "
        "variance between them, and within is the variance over the draws of one variant's policy. Means are over "
        "the topics with a relevant document, or all where nothing is judged."
    )
    columns = ["system, set, attribute", "loss", "mean loss of variants", "worst variant", "variance between", "within"]
    yield PlainTable("Fairness under query variability", note, [*columns, "between's share"], rows)
    columns = ["system, set, attribute: group", "exposure", "target", "deviation between variants"]
    note = "Mean over topics of the expected exposure over the variants, and of its standard deviation between them."
    yield PlainTable("Exposure of groups over variants", note, columns, groups)


def _told(one: Mapping[str, Any]) -> str:
    ends: Sequence[float] | None = one["interval"]
    return f"{number(one['mean'])} {interval(None if ends is None else (ends[0], ends[1]))}".strip()


def _plain(rows: Iterator[Row]) -> str:
    row = next(rows, None)
    return NOTHING if row is None else number(row["mean"])

"""What a reviewer would object to, said before he does: each sentence has its number, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from rerankers.measures.grid import grids
from rerankers.report.keys import parse as parse_key
from rerankers.stats.paired import paired_intervals

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.measures.grid import Grid

FEW_QUERIES = 30
MANY_UNKNOWN = 1 / 3  # of the documents, whose groups are not known
MUCH_UTILITY = 0.1  # of the static ranking's, given up
FEW_JUDGED = 0.5  # of the first documents
NEXT_TO_NOTHING = 1e-9  # an excess of nobody
FIRST = 10  # documents, where judged ones are counted
LOSSES = ("EEL", "group_EEL")
OF_RELEVANCE = ("utility", "nDCG", "P", "R", "AP", "RR", "worst_nDCG")
RANDOM, WORST_FIRST, STATIC = "anchor:random", "anchor:worst_first", "anchor:deterministic"


def warnings_of(table: pa.Table, summary: Mapping[str, Any], single: Collection[str] = ()) -> list[str]:
    """Return sentences about what limits the results.

    Parameters
    ----------
    table
        the result table.
    summary
        the content of ``measures.json``.
    single
        the systems that show one ranking a query.
    """
    runs: Mapping[str, Any] = summary["runs"]
    mine = {name: run for name, run in runs.items() if not name.startswith("anchor:")}
    return [
        *_few_queries(table, summary),
        *_single_rankings(mine, single),
        *_no_more_than_shuffled_labels(mine),
        *_excess_of_anybody(table, mine, int((summary.get("options") or {}).get("seed") or 0)),
        *_beaten_by_careless_anchors(mine, runs),
        *_utility_given_up(mine, runs.get(STATIC, {})),
        *_no_better_than_random(mine, runs.get(RANDOM, {})),
        *([] if summary.get("preset") else _losses_alone(mine)),
        *_few_judged(mine),
    ]


def few_topics(topics: int, queries: int) -> list[str]:
    """Say so where many queries are variants of few topics, which results of queries do not show."""
    if topics >= FEW_QUERIES or queries < FEW_QUERIES:
        return []  # few queries are told apart by `warnings_of`
    return [
        f"{queries:,} queries are variants of {topics:,} topics only, but intervals take them as independent: "
        "resample topics (fair-rerank compare clusters=…), or add topics"
    ]


def unknown_groups(name: str, number: int, documents: int) -> list[str]:
    """Say so where the groups of an attribute are not known of many documents."""
    if number <= MANY_UNKNOWN * documents:
        return []
    return [
        f"{name} is not known of {number:,} of {documents:,} documents, more than a third: measures of its groups may "
        "be about who has a label. fair-rerank labels bounds what unknown labels can change"
    ]


def few_judged_candidates(share: float | None) -> list[str]:
    """Say so where few of the first candidates of judged queries are judged; None where there is no such query."""
    if share is None or share >= FEW_JUDGED:
        return []
    return [
        f"only {share:.0%} of the first {FIRST} candidates of judged queries are judged: the others count as not "
        "relevant, which fair rankers move up. Set universe=judged beside, or report Judged@10"
    ]


def judged_target(target: object) -> list[str]:
    """Say so where a target is made of judgments of the ranked queries."""
    if not getattr(target, "judged", False):
        return []
    return [
        "the target is made of judgments of the ranked queries, which also evaluate (tier judged): what is reached is "
        "a bound on systems, so name it as one, or take shares of training judgments (target.path=null)"
    ]


def _few_queries(table: pa.Table, summary: Mapping[str, Any]) -> list[str]:
    system = next(iter(summary["runs"]), None)
    if system is None:
        return ["there is no query: nothing was measured"]
    rows = table.filter(pc.and_(pc.equal(table["system"], system), pc.is_valid(table["value"])))
    queries = len(pc.unique(rows["unit"]))
    if queries == 0:
        mine = table.filter(pc.equal(table["system"], system))
        why = sorted(filter(None, set(mine["reason"].to_pylist()))) if "reason" in mine.schema.names else []
        if why in ([], ["query_not_judged"]):
            return ["no query has a judgment: no measure has a value"]
        return [f"no measure has a value for any query: {', '.join(why)}"]
    if queries < FEW_QUERIES:
        return [
            f"only {queries} queries were measured: intervals are wide, and differences between systems uncertain; "
            "fair-rerank power says what can be found"
        ]
    return []


def _single_rankings(mine: Mapping[str, Any], single: Collection[str]) -> list[str]:
    out = []
    for name, run in mine.items():
        loss = run["mean"].get("EEL")
        if name in single and loss is not None and loss > 0:
            out.append(
                f"{name} shows one ranking a query, which cannot share attention among equally relevant documents: its "
                f"EEL of {loss:.3f} is of that first. Compare it with other single rankings (AWRF, NDKL), or randomise"
            )
    return out


def _no_more_than_shuffled_labels(mine: Mapping[str, Any]) -> list[str]:
    out = []
    for name, run in mine.items():
        found = []
        for key, interval in run.get("interval", {}).items():
            loss = run["mean"].get(key.removesuffix("_excess"))
            told = interval and interval[1] - interval[0] > NEXT_TO_NOTHING  # one label for all leaves only rounding
            if key.endswith("_excess") and told and loss and interval[0] <= 0 <= interval[1]:
                found.append(f"{key} {run['mean'][key]:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]")
        if found:
            out.append(
                f"{name}: {', '.join(found)}: 0 is in the interval, so that on other queries shuffled labels may do "
                "as much (a small p is about these queries alone). Claim nothing about groups beyond documents, or "
                "measure more queries (fair-rerank power)"
            )
    return out


def _excess_of_anybody(table: pa.Table, mine: Mapping[str, Any], seed: int) -> list[str]:
    """Say so where a random order, which sees no groups, has as much of an excess: it comes with the judgments."""
    out = []
    for key in dict.fromkeys(key for run in mine.values() for key in run["mean"] if key.endswith("_excess")):
        values = grids(table.filter(pc.equal(table["measure"], key)))
        if RANDOM not in values:
            continue
        for name in mine:
            if name not in values:
                continue
            units = sorted(set(values[name].units) & set(values[RANDOM].units))
            own, chance = (_of_units(values[one], units) for one in (name, RANDOM))
            if not np.any(np.isfinite(chance)) or abs(float(np.nanmean(chance))) < NEXT_TO_NOTHING:
                continue
            found = paired_intervals((own - chance)[:, None], seed=seed)[0]
            if found.low is not None and found.high is not None and found.low <= 0 <= found.high:
                out.append(
                    f"{name}: {key} {np.nanmean(own):.3f} is no other than that of {RANDOM}, which sees no groups "
                    f"({np.nanmean(chance):.3f}; difference {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]): "
                    "it may come with the judgments, not with the ranker"
                )
    return out


def _of_units(grid: Grid, units: Sequence[str]) -> NDArray[np.float64]:
    place = {unit: row for row, unit in enumerate(grid.units)}
    return grid.value[[place[unit] for unit in units], 0]


def _beaten_by_careless_anchors(mine: Mapping[str, Any], runs: Mapping[str, Any]) -> list[str]:
    """Losses fall with randomness alone: say so where a careless anchor is better than a system."""
    out = []
    for name, run in mine.items():
        for loss in LOSSES:
            value = run["mean"].get(loss)
            beaten = [
                anchor
                for anchor in (RANDOM, WORST_FIRST)
                if value is not None and (other := runs.get(anchor, {}).get("mean", {}).get(loss)) is not None
                if other < value
            ]
            if beaten:
                out.append(
                    f"{name} has a higher {loss} than {' and '.join(beaten)}: a low loss alone is no merit, "
                    "read it beside utility"
                )
    return out


def _utility_given_up(mine: Mapping[str, Any], static: Mapping[str, Any]) -> list[str]:
    """Losses are bought with utility: say what was paid where it is much."""
    before = static.get("mean", {}).get("utility")
    out = []
    for name, run in mine.items():
        now = run["mean"].get("utility")
        if before and now is not None and now < (1 - MUCH_UTILITY) * before:
            out.append(
                f"{name} has {1 - now / before:.0%} less utility than {STATIC} ({now:.3f}, {before:.3f}): show both "
                "beside every loss, or compare at equal utility (fair-rerank compare of a sweep)"
            )
    return out


def _no_better_than_random(mine: Mapping[str, Any], random: Mapping[str, Any]) -> list[str]:
    chance = random.get("mean", {}).get("utility")
    out = []
    for name, run in mine.items():
        interval = run.get("interval", {}).get("utility")
        if chance is not None and interval and interval[1] < chance:
            out.append(
                f"{name} has less utility than a random order ({run['mean']['utility']:.3f}, {chance:.3f}): are scores "
                "turned round, or judgments of other documents?"
            )
    return out


def _losses_alone(mine: Mapping[str, Any]) -> list[str]:
    means = [item for run in mine.values() for item in run["mean"].items()]
    measured = {parse_key(key).base.partition("(")[0] for key, _ in means}
    lost = any(parse_key(key).base.startswith("EEL") and value is not None for key, value in means)
    if not lost or measured & set(OF_RELEVANCE):
        return []
    return [
        f"a loss is reported without any measure of relevance ({', '.join(OF_RELEVANCE[:3])}, …): a random order has a "
        "low one too. Add utility to measures.names"
    ]


def _few_judged(mine: Mapping[str, Any]) -> list[str]:
    out = []
    for name, run in mine.items():
        for key, value in run["mean"].items():
            kind = parse_key(key)
            shallow = kind.base == "Judged" and 0 < int(kind.cutoff.removeprefix("@") or 0) <= FIRST
            if shallow and value is not None and value < FEW_JUDGED:
                out.append(
                    f"{name}: {key} is {value:.2f}, so most of what it shows first counts as not relevant unseen: set "
                    "universe=judged beside, or judge more"
                )
    return out

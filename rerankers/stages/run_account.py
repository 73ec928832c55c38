"""What a ``run`` says about itself: what it was made of, what is strange about its input, its tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.anchors import by_score
from rerankers.measures.universe import Universe
from rerankers.methods.targets import EqualExposure
from rerankers.stages.aim import aims_at_target
from rerankers.stages.definitions import Definition, definition_of
from rerankers.stages.estimates import Estimates, higher_tier
from rerankers.stages.relevance_quality import Judged, Quality, relevance_quality
from rerankers.stages.warnings import FIRST, few_judged_candidates, few_topics, judged_target, unknown_groups
from rerankers.values import Block

if TYPE_CHECKING:
    from rerankers.methods.targets import Target
    from rerankers.stages.pool import Pool
    from rerankers.stages.run import RunJob
    from rerankers.stages.sequence import Asked
    from rerankers.stages.serve import Outcome
    from rerankers.values import Collection, Counts

_SHOWN = 5
_MISSED = {
    "targets_projected": "targets out of the candidates' reach, whose shares are the nearest attainable ones",
    "targets_not_settled": "targets not reached after the most rounds, whose shares may not be the nearest",
    "targets_on_absent_groups": "targets for groups without a candidate, whose part goes to the others in proportion",
    "rows_without_target": "queries without a candidate of a group with a target, left as they are",
    "rows_below_minimum": "queries in which a group falls short of its minimum",
    "rows_with_used_up_group": "queries in which a group has fewer documents than its share of the ranks",
    "rows_short_of_protected": "queries with too few protected documents for the minima",
    "rows_infeasible": "queries without a fair policy, ranked under parity",
}
"""What methods count in `counted` of constraints that were not met -> words, before the number."""


def warnings_about_target(job: RunJob, target: Target | None) -> list[str]:
    """Say so where a target has been chosen that the method does not look at, or one of the judgments that evaluate."""
    if target is not None:
        return judged_target(target)
    if aims_at_target(job.method) or isinstance(job.target, EqualExposure):
        return []
    return [f"target={type(job.target).__name__} has no effect: {job.name} aims at none"]


def warnings_about_targets_missed(name: str, counts: Counts) -> list[str]:
    """Say so where candidates do not allow what a method aims at, from what the method counted."""
    return [f"{name}: {words}: {counts[key]:,}" for key, words in _MISSED.items() if counts.get(key, 0)]


def warnings_about(collection: Collection, pool: Pool, counts: Counts, groups: Counts) -> list[str]:
    """Return what is strange about the input, before any measure."""
    found = []
    if not pool.judgments.nnz:
        found.append(f"{collection.name} has no judgments (a jsonl folder has them in qrels.txt)")
    strangers = counts.get("run_documents_unknown_to_the_collection", 0)
    if strangers:
        found.append(f"{strangers:,} documents of the run are not in {collection.name}: is it the run's collection?")
    if flat(pool):
        found.append(
            "what is believed is the same for all candidates of a query, so that every order is as good: give "
            "a model (method.model=DIR), or scores (retriever)"
        )
    empty = int(np.sum(pool.candidates.lengths == 0))
    if empty:
        found.append(f"{empty:,} of {len(pool.topics):,} queries have no candidates: they count with zero exposure")
    documents = len(collection.docs) + strangers
    unknown = {name: groups.get(f"{name}_documents_without_group", 0) for name in pool.groups}
    shares = ", ".join(f"{name} {number / documents:.0%}" for name, number in unknown.items() if number)
    if shares:
        found.append(f"documents whose group is not known: {shares}; groups.unknown says how they count")
    for name, number in unknown.items():
        found += unknown_groups(name, number, documents)
    return [*found, *_few_judged(pool)]


def _few_judged(pool: Pool) -> list[str]:
    """Return sentences about judged queries: how many topics they are of, how much of what comes first is judged."""
    topics: set[int] = set()
    queries = seen = among = 0
    for part in pool.parts():
        found = by_score(part.candidates)
        universe = Universe(found, part.judgments, "union")
        judged = np.flatnonzero(universe.query_judged)
        queries += len(judged)
        topics.update(pool.topics.topic[found.query[judged]].tolist())
        rank = np.arange(found.nnz) - found.indptr[found.row_index]
        first = (rank < FIRST) & universe.query_judged[found.row_index]
        among += int(np.count_nonzero(first))
        seen += int(np.count_nonzero(universe.candidate_judged[first]))
    if not queries:
        return []
    return [*few_topics(len(topics), queries), *few_judged_candidates(seen / among if among else None)]


def flat(pool: Pool) -> bool:
    """Return whether no query has two candidates of different belief, while some query has two."""
    if not pool.candidates.nnz:
        return False
    several = False
    for part in pool.parts():
        rows = part.candidates
        if not rows.nnz:
            continue
        value = Block(rows, part.stream, estimates=part.estimates).relevance.value
        first = np.repeat(value[np.minimum(rows.indptr[:-1], max(len(value) - 1, 0))], rows.lengths)
        if np.any(value != first):
            return False
        several = several or bool(np.any(rows.lengths > 1))
    return several


def warnings_about_serving(outcome: Outcome | None, pool: Pool) -> list[str]:
    """Return what a reader should know about a sequence; ``pool`` still has the queries that were never asked."""
    if outcome is None:
        return []
    found = []
    before, all_of_them = outcome.counts.get("impressions_served_before", 0), outcome.counts["impressions"]
    if before:
        found.append(
            f"{before:,} of {all_of_them:,} impressions were in the ledger already: their rankings are those of then, "
            "whatever is believed about relevance now"
        )
    never = np.setdiff1d(np.arange(len(pool.candidates)), outcome.served.impressions.row)
    if len(never):
        names = pool.topics.ids.take(pool.candidates.query[never[:_SHOWN]])
        more = ", …" if len(never) > _SHOWN else ""
        found.append(
            f"{len(never):,} of {len(pool.candidates):,} queries are never asked ({', '.join(names)}{more}): "
            "they have no ranking and do not count"
        )
    return found


def tier_of(job: RunJob, target: Target | None, estimates: Estimates | None) -> str:
    """Return the tier of a job: the highest of what its method, its target and its model take.

    Where predicted labels stand in for the true ones, method and target are given no more than those.
    """
    tier = job.method.tier if target is None else higher_tier(job.method.tier, target.tier)
    if job.predicted is not None and tier == "given_groups":
        tier = "predicted_groups"
    return tier if estimates is None else higher_tier(tier, estimates.tier)


def quality_of(job: RunJob, pool: Pool) -> Quality | None:
    """Judge the estimates of a model on the judged queries; None without a model, or without such queries."""
    if pool.estimates is None:
        return None
    universe = Universe(pool.candidates, pool.judgments, "union")
    rows = np.nonzero(universe.query_judged & (pool.candidates.lengths > 0))[0]
    if not len(rows):
        return None
    place = pool.candidates.with_columns(place=np.arange(pool.candidates.nnz)).take(rows)
    pick = place.columns["place"]
    pairs = Judged(
        place,
        pool.topics.ids.take(place.query),
        pool.topics.topic[place.query],
        pool.estimates.at(pick),
        universe.candidate_grade[pick] > 0,
    )
    measures = job.measures
    return relevance_quality(pairs, pool.groups, seed=job.seed, resamples=measures.resamples, level=measures.confidence)


def summary_of(
    job: RunJob,
    collection: Collection,
    pool: Pool,
    estimates: Estimates | None,
    asked: Asked | None,
    outcome: Outcome | None,
) -> dict[str, str]:
    """Return what a job was made of, in words."""
    groups = ", ".join(f"{name} ({', '.join(a.groups)})" for name, a in pool.groups.items())
    return {
        "collection": f"{collection.name}: {len(collection.docs):,} documents, {len(collection.topics):,} queries, "
        f"{collection.judgments.nnz:,} judgments",
        "first stage": f"{job.retriever}",
        "method": f"{job.name}: {job.method}",
        "fairness": str(_definition(job, pool, estimates)),
        **({} if estimates is None else {"estimates": estimates.words}),
        **_rankings(job, asked, outcome),
        **({"target": str(job.target)} if aims_at_target(job.method) else {}),
        "browsing model": str(job.browsing),
        "universe": f"{job.universe}: "
        + ("candidates and judged documents" if job.universe == "union" else "judged documents only"),
        "groups": groups or "none",
        **({} if job.predicted is None else {"groups that the method sees": f"predicted, of {job.predicted}"}),
    }


def _definition(job: RunJob, pool: Pool, estimates: Estimates | None) -> Definition:
    """Say which definition of fairness the job stands for."""
    beliefs = None if estimates is None else f"the estimates of {job.model}"
    target = job.target if aims_at_target(job.method) else None
    return definition_of(job.method, target, job.fit, list(pool.groups), job.browsing, beliefs)


def _rankings(job: RunJob, asked: Asked | None, outcome: Outcome | None) -> dict[str, str]:
    if asked is None or outcome is None:
        return {"rankings drawn": f"{job.samples} per query, seed {job.seed}"}
    counts = outcome.counts
    return {
        "rankings served": f"{counts['impressions']:,} impressions of {len(asked.qids):,} queries in "
        f"{counts['sequences']:,} sequences ({asked.words}), seed {job.seed}; published in the order of service, and "
        "judged as the equally weighted mixture of what each query was served",
        "ledger": f"{job.ledger}: {counts['accounts']:,} accounts, mean squared distance of served and due an "
        f"impression {outcome.loss:.6g}",
        "anchors": f"{job.samples} rankings drawn per query where there is no closed form",
    }

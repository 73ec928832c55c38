"""From files to scores under a preset of 2020."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError, Problem
from rerankers._base.streams import query_streams
from rerankers.measures.anchors import anchors
from rerankers.measures.group_exposure import group_table
from rerankers.measures.scores import Scores
from rerankers.measures.table import result_table
from rerankers.tracks.explained2020 import explain
from rerankers.tracks.groups2020 import groups_of_column, groups_of_file, groups_of_mapping
from rerankers.tracks.judged2020 import Judged, read_judged
from rerankers.tracks.lists import Lists, read_lists
from rerankers.tracks.preset import Outcome, options_of
from rerankers.tracks.scoring2020 import Scene, Scored, exposure_of_lists, score
from rerankers.values import Candidates, Exposure, Ids, Judgments, Ragged, outer_join

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.tracks.groups2020 import PairGroups
    from rerankers.tracks.preset import Inputs
    from rerankers.tracks.scoring2020 import Values
    from rerankers.tracks.trec2020 import Trec2020
    from rerankers.values import Rankings


def evaluate(preset: Trec2020, inputs: Inputs) -> Outcome:
    """Do what `Trec2020.evaluate` says."""
    inputs.refuse(preset.name, "sequence", "targets")
    judged = read_judged(inputs.need("qrels"), preset.pair_rules)
    runs = {name: read_lists(path, preset.duplicates, preset.empty_ranking) for name, path in inputs.systems.items()}
    return judge(preset, judged, runs, inputs.groups, inputs.seed, inputs.permutations)


def judge(
    preset: Trec2020,
    judged: Judged,
    runs: Mapping[str, Lists],
    groups: Path | Mapping[Any, Any] | None,
    seed: int = 0,
    permutations: int = 200,
) -> Outcome:
    """Score runs that were read already.

    Parameters
    ----------
    groups
        a file, a mapping (`groups_of_mapping`), or None for the groups in the judgments' own column.
    seed, permutations
        of the shuffled labels behind p-values, and behind placebos that have no closed form.

    Raises
    ------
    InputError
        with every problem of the group file, and every missing query under ``missing_query=error``.
    """
    docs = Ids.union(judged.docno, *(run.docs for run in runs.values()))
    judgments, pair = judged.judgments(docs)
    of_pairs: PairGroups | None
    if groups is None:
        of_pairs = groups_of_column(judged, judgments, pair, preset.group_rules)
    elif isinstance(groups, Mapping):
        of_pairs = groups_of_mapping(groups, docs, judgments)
    else:
        of_pairs = groups_of_file(groups, docs, judgments, preset.group_rules)
    alignment, member = (None, pair) if of_pairs is None else (of_pairs.alignment, of_pairs.member)
    scene = Scene(judgments, member, alignment, preset.rules)
    counts: dict[str, Mapping[str, int]] = {"qrels": judged.counts}
    units = judged.queries.names.to_pylist()
    scored: dict[str, Scored] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    ranked: list[Rankings] = []
    for name, run in runs.items():
        rankings = _of_judged_queries(run, judged.queries, docs)
        answered, full = _answered(rankings, len(judgments))
        if preset.missing_query == "error":
            _check_answered(name, judged.queries, answered)
        counts[f"run {name}"] = _counts(run, rankings, judgments, answered)
        missing[name] = ~answered
        scored[name] = score(exposure_of_lists(rankings, scene), scene, ~full, missing[name])
        ranked.append(rankings)
    nothing = np.zeros(len(judgments), dtype=bool)
    for name, exposure in _anchors(scene, [one.over for one in ranked], judged.queries).items():
        missing[name] = nothing
        scored[name] = score(exposure, scene, nothing, nothing)
    if of_pairs is not None:
        counts["groups"] = of_pairs.counts
    beyond = explain(scored, missing, scene, units, seed, permutations)
    attribute = "" if alignment is None else alignment.attribute
    shown = {name: {attribute: one.groups} for name, one in scored.items() if one.groups is not None}
    return Outcome(
        tables={name: _table(name, seed, units, beyond.values(name, one)) for name, one in scored.items()},
        counts=counts,
        options=options_of(preset),
        differences=preset.differences,
        warnings=tuple(_warnings(preset, counts, groups is not None and judged.groups is not None)),
        summary=_summary(preset, judged, of_pairs),
        group_exposure=group_table([shown]) if shown else None,
        evidence=beyond.evidence,
    )


def _of_judged_queries(run: Lists, queries: Ids, docs: Ids) -> Rankings:
    """Return a run's rankings of the judged queries under the common codes."""
    code = queries.codes(run.qids)
    rankings = run.rankings.take(np.flatnonzero(code >= 0))
    over = rankings.over
    doc = run.docs.recoder(docs)[over.doc]
    return replace(rankings, over=Ragged(code[code >= 0], over.indptr, doc))


def _answered(rankings: Rankings, queries: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which queries have a ranking, and which have a ranked document."""
    answered, full = np.zeros(queries, dtype=bool), np.zeros(queries, dtype=bool)
    answered[rankings.over.query[rankings.counts > 0]] = True
    full[rankings.over.query[rankings.over.lengths > 0]] = True
    return answered, full


def _check_answered(name: str, queries: Ids, answered: NDArray[np.bool_]) -> None:
    missing = queries.take(np.flatnonzero(~answered))
    if missing:
        mend = "Give the run a ranking of the query, or choose preset.missing_query=zero_exposure."
        raise InputError(
            Problem(name, f"no ranking of the judged query {qid!r}", "one or more", mend=mend) for qid in missing
        )


def _counts(run: Lists, rankings: Rankings, judgments: Judgments, answered: NDArray[np.bool_]) -> dict[str, int]:
    join = outer_join(judgments, rankings.over)
    found = {
        **run.counts,
        "queries_missing_from_run": int(np.sum(~answered)),
        "queries_not_judged": len(run.qids) - len(rankings.over),
        "ranked_pairs_that_do_not_count": join.over.nnz - judgments.nnz,
        "judged_pairs_not_ranked": join.over.nnz - rankings.over.nnz,
    }
    return {name: count for name, count in found.items() if count} | {"rankings": len(run.rankings)}


def _anchors(scene: Scene, ranked: Sequence[Ragged], queries: Ids) -> dict[str, Exposure]:
    """Return the exposure of the anchors, in closed form.

    They order the judged documents, all of which are candidates; or, where judgments are incomplete, whatever any run
    ranks, but for the ideal one, which ranks the relevant documents.
    """
    judgments = scene.judgments
    over = Ragged(judgments.query, judgments.indptr, judgments.doc)
    if not scene.rules.complete:
        over = Ragged(judgments.query, np.zeros(len(judgments) + 1, np.int64), np.empty(0, np.int32))
        for rows in ranked:
            over = outer_join(over, rows).over
    candidates = Candidates(over.query, over.indptr, over.doc)
    policies = anchors(candidates, judgments, query_streams(queries.names.to_pylist()), "judged")
    exact = {name: policy.exposure(scene.bind(policy.over)) for name, policy in policies.items()}
    return {name: exposure for name, exposure in exact.items() if exposure is not None}


def _table(name: str, seed: int, units: Sequence[str], values: Values) -> pa.Table:
    scores = [Scores.of(value, ("no_ranked_document", np.isnan(value))) for value in values.values()]
    return result_table(name, seed, units, list(values), scores)


def _warnings(preset: Trec2020, counts: Mapping[str, Mapping[str, int]], unused_column: bool) -> list[str]:
    found = ["the groups in the judgments' own column are not used, since others were given"] if unused_column else []
    for part, numbers in counts.items():
        missing = numbers.get("queries_missing_from_run", 0)
        if missing:
            effect = (
                "the official default gives them the best possible group loss"
                if preset.missing_query == "official_default"
                else "they count with zero exposure"
            )
            found.append(f"{part}: {missing:,} judged queries have no ranking; {effect}")
    reach = counts.get("groups", {})
    if reach and reach["pairs_with_group"] < reach["pairs"]:
        found.append(
            f"a group is known for {reach['documents_with_group']:,} of {reach['documents']:,} documents and "
            f"{reach['pairs_with_group']:,} of {reach['pairs']:,} pairs; unannotated_policy={preset.unannotated_policy}"
        )
    return found


def _summary(preset: Trec2020, judged: Judged, groups: PairGroups | None) -> dict[str, str]:
    counted = "all judged documents" if preset.complete else "judged documents of a grade above 0"
    return {
        "preset": preset.name,
        "judgments": f"{len(judged.docno):,} pairs of {len(judged.queries):,} queries: {counted}",
        "browsing model": str(preset.model),
        "groups": "none" if groups is None else f"{groups.alignment.attribute} ({', '.join(groups.alignment.groups)})",
    }

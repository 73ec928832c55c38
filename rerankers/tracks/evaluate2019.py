"""From files to scores under a preset of 2019."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problem, Problems
from rerankers._base.files import read_lines
from rerankers._base.streams import query_streams
from rerankers.collections.group_files import AUTHOR_COLUMN, DOCUMENT_COLUMNS, read_groups
from rerankers.collections.ragged_labels import read_ragged_labels
from rerankers.collections.trec_samples import UNJUDGED, is_sample, read_sample
from rerankers.exposure.browsing import Browsing
from rerankers.measures.anchors import IDEAL, RANDOM, WORST_FIRST
from rerankers.measures.scores import REASONS, Scores
from rerankers.measures.table import result_table
from rerankers.policies import GradeShuffle
from rerankers.tracks.amortised2019 import Totals, add_impressions
from rerankers.tracks.impressions2019 import Candidates, SequenceRun, read_sequence_run
from rerankers.tracks.official2019 import seen_and_satisfying
from rerankers.tracks.preset import Outcome, options_of
from rerankers.tracks.sequences import Sequence, read_sequence
from rerankers.values import Candidates as Ranked
from rerankers.values import GroupAlignment, Ids, QrelsTable, read_qrels

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.tracks.preset import Inputs
    from rerankers.tracks.trec2019 import Trec2019
    from rerankers.values import Counts


def evaluate(preset: Trec2019, inputs: Inputs) -> Outcome:
    """Do what `Trec2019.evaluate` says."""
    inputs.refuse(preset.name, "targets")
    entries = read_sequence(inputs.need("sequence"))
    path = inputs.need("qrels")
    candidates, found = _candidates(path, entries, binary=preset.undefined == "missing")
    counts: dict[str, Counts] = {
        "sequence": {"entries": len(entries), "sequences": len(entries.names), "queries": len(entries.qids)},
        "qrels": found,
    }
    groups, warnings = None, list[str]()
    if inputs.groups is not None:
        groups, counts["groups"] = _groups(inputs.groups, candidates.docs, preset)
        warnings = _warnings(counts["groups"], preset)
    stop = preset.stop * candidates.grade
    tables: dict[str, pa.Table] = {}
    for name, run in inputs.systems.items():
        rankings = read_sequence_run(
            run,
            entries,
            candidates,
            check_qid=preset.run_qid == "checked",
            once=preset.duplicates == "error",
        )
        counts[f"run {name}"] = rankings.counts
        totals = _totals(rankings, stop, groups, preset)
        tables[name] = _table(name, inputs.seed, entries, totals, groups, preset)
    if np.all((stop >= 0) & (stop <= 1)):
        for name, totals in _anchors(candidates, entries, stop, groups, preset).items():
            tables[name] = _table(name, inputs.seed, entries, totals, groups, replace(preset, undefined="missing"))
    return Outcome(
        tables=tables,
        counts=counts,
        options=options_of(preset),
        differences=preset.differences,
        warnings=tuple(warnings),
        summary={
            "preset": preset.name,
            "sequences": f"{len(entries.names)} of {len(entries):,} entries in all, {len(entries.qids):,} queries",
            "judgments": f"{path.name}: {len(candidates.doc):,} candidates",
            "groups": "none" if groups is None else ", ".join(groups.groups),
        },
        unit="sequence",
    )


def _candidates(path: Path, entries: Sequence, binary: bool) -> tuple[Candidates, Counts]:
    """Return the candidates of the queries of the sequence."""
    table: QrelsTable
    if is_sample(path):
        sample = read_sample(path)
        unjudged = int(np.sum(sample.grade == UNJUDGED))
        if unjudged:
            mend = "The file for participants has none; give the one with relevance."
            raise InputError.one(str(path), f"{unjudged} candidates whose relevance is null", "judgments", mend=mend)
        table = sample.qrels()
    else:
        table = read_qrels(path)
    docs, queries = Ids.union(table.docno), Ids.of(entries.qids, "query id")
    judgments, found = table.bind(queries, docs)
    problems = Problems(str(path))
    for code in np.setdiff1d(np.arange(len(queries)), judgments.query).tolist():
        problems.add(None, f"no candidate of query {entries.qids[code]!r}, which is in the sequence", "one or more")
    odd = np.flatnonzero((judgments.grade < 0) | (judgments.grade > 1))
    for pair in odd.tolist() if binary else ():
        problems.add(None, f"relevance {judgments.grade[pair]} of {docs.name(judgments.doc[pair])!r}", "0 or 1")
    problems.raise_if_any()
    lengths = np.zeros(len(queries), dtype=np.int64)
    lengths[judgments.query] = judgments.lengths
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    grade = judgments.grade.astype(np.float64)
    return Candidates(entries.qids, docs, indptr, judgments.doc, grade), {**table.counts, **found}


def _groups(path: Path, docs: Ids, preset: Trec2019) -> tuple[GroupAlignment, Counts]:
    """Return documents by labels, the weight of a label being how often a document has it."""
    first = next((text for _, text in read_lines(path) if text.strip()), "")
    header = {name.strip(' "\r') for name in first.split(",")}
    if "group" in header and header & {*DOCUMENT_COLUMNS, AUTHOR_COLUMN}:
        table = read_groups(path)
        (labels, *more), counts = (parts := table.labels(docs, None, str(path)))[0].values(), parts[1]
        if more:
            raise InputError.one(str(path), f"{1 + len(more)} attributes", "one")
        names, doc, label = labels.groups, labels.doc, labels.label
    else:
        ragged = read_ragged_labels(path)
        names, code = ragged.groups, docs.codes(ragged.docno)
        doc, label = np.repeat(code, np.diff(ragged.indptr)).astype(np.int64), ragged.label
        counts = {**ragged.counts, "documents_not_labelled": len(docs) - int(np.sum(code >= 0))}
    keep = (doc >= 0) & (label >= 0)
    if preset.empty_label == "drop" and "" in names:
        keep &= label != names.index("")
    pairs, times = np.unique(doc[keep] * max(len(names), 1) + label[keep], return_counts=True)
    weight = times.astype(np.float64) if preset.label_multiplicity == "per_author" else np.ones(len(pairs))
    width = max(len(names), 1)
    shown = tuple(name for name in names if name or preset.empty_label == "count")
    place = np.array([shown.index(name) if name in shown else 0 for name in names] or [0])
    alignment = GroupAlignment.of_entries(
        "label", shown, pairs // width, place[pairs % width], weight, len(docs), "value"
    )
    return replace(alignment, unknown=np.zeros(len(docs)), resolved=True), counts


def _warnings(counts: Counts, preset: Trec2019) -> list[str]:
    found = []
    empty = counts.get("documents_with_empty_label", 0)
    if empty:
        effect = "is dropped" if preset.empty_label == "drop" else "counts as a group"
        found.append(f"{empty:,} documents have an empty label, which {effect}; empty_label={preset.empty_label}")
    without = counts.get("documents_not_labelled", 0)
    if without:
        found.append(f"{without:,} candidate documents have no label: they belong to no group")
    return found


def _totals(run: SequenceRun, stop: NDArray[np.float64], groups: GroupAlignment | None, preset: Trec2019) -> Totals:
    totals = Totals.zero(len(run.entries.names), 0 if groups is None else len(groups.groups))
    for block in run.blocks():
        doc = run.candidates.doc[block.pair]
        add_impressions(totals, block.sequence, doc, stop[block.pair], block.indptr, groups, preset.rules)
    return totals


def _anchors(
    candidates: Candidates,
    entries: Sequence,
    stop: NDArray[np.float64],
    groups: GroupAlignment | None,
    preset: Trec2019,
) -> Mapping[str, Totals]:
    """Return the expected totals of shuffles, and of those that put relevant documents last and first."""
    over = Ranked(np.arange(len(candidates.qids), dtype=np.int32), candidates.indptr, candidates.doc)
    stream = query_streams(candidates.qids)
    labelled = np.zeros(len(stop), dtype=bool) if groups is None else np.diff(groups.indptr)[candidates.doc] > 0
    skipped = np.where(labelled, 1.0 - stop, 1.0) if preset.rules.skips else 1.0 - stop
    size = (len(entries.names), len(candidates.qids))
    asked = np.bincount(entries.sequence * size[1] + entries.query, minlength=size[0] * size[1]).reshape(size)
    found = {}
    for name, level in ((RANDOM, 0 * stop), (WORST_FIRST, -candidates.grade), (IDEAL, candidates.grade)):
        policy = GradeShuffle(over, level, stream)
        looks = [policy.exposure(Browsing(None, preset.gamma * on, stop)) for on in (1.0 - stop, skipped)]
        if any(look is None for look in looks):
            continue
        of_users, of_groups = (look.value for look in looks if look is not None)
        totals = Totals.zero(size[0], 0 if groups is None else len(groups.groups))
        totals.impressions += asked.sum(axis=1)
        totals.utility += asked @ np.bincount(candidates.query, weights=of_users * stop, minlength=size[1])
        if groups is not None:
            shown = seen_and_satisfying(of_groups, stop) if preset.rules.times_satisfaction else of_groups
            totals.exposure += asked @ groups.totals(candidates.query, candidates.doc, shown, size[1])
            totals.relevance += asked @ groups.totals(candidates.query, candidates.doc, stop, size[1])
        found[name] = totals
    return found


def _table(
    name: str, seed: int, entries: Sequence, totals: Totals, groups: GroupAlignment | None, preset: Trec2019
) -> pa.Table:
    none = np.full(len(entries.names), -1, dtype=np.int8)
    unfairness = totals.unfairness()
    reason = none.copy()
    if groups is None or (preset.undefined == "missing" and not groups.groups):
        reason[:] = REASONS.index("no_groups")
    elif np.isnan(unfairness).any():
        lost = np.flatnonzero(np.isnan(unfairness))
        if preset.undefined == "error":
            raise InputError(
                Problem(name, f"no relevant document with a label in sequence {entries.names[place]!r}", "one or more")
                for place in lost.tolist()
            )
        reason[lost] = REASONS.index("no_relevant_document")
    scores = [Scores(totals.utility / totals.impressions, none), Scores(unfairness, reason)]
    return result_table(name, seed, entries.names, ["utility", "unfairness"], scores)

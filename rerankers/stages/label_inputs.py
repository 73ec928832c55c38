"""What a study of labels looks at: exposure and target of every run's documents, and their labels, unknown ones too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.streams import query_streams
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.unknown_labels import GroupForm, group_form, with_unknown
from rerankers.stages.evaluate import EvaluateJob, bind_runs, read_runs
from rerankers.stages.results import check_max_grade
from rerankers.tracks.groups2020 import groups_of_column, groups_of_file
from rerankers.tracks.judged2020 import read_judged
from rerankers.tracks.lists import read_lists
from rerankers.tracks.scoring2020 import Scene, exposure_of_lists
from rerankers.values import GroupAlignment, Ids, Ragged, outer_join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.tracks.preset import Inputs
    from rerankers.tracks.trec2020 import Trec2020


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """What one run gives to the documents of Q queries.

    Attributes
    ----------
    indptr, doc
        the rows: int64 (Q + 1,), and document codes of the alignments (nnz,).
    exposure, target
        float64 (nnz,).
    """

    indptr: NDArray[np.int64]
    doc: NDArray[np.int64]
    exposure: NDArray[np.float64]
    target: NDArray[np.float64]

    def form(self, measure: str) -> GroupForm:
        """Return a measure as a form."""
        return group_form(measure, self.indptr, self.doc, self.exposure, self.target)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRuns:
    """Runs over the same judged queries, and the labels of their documents.

    Attributes
    ----------
    units
        the Q query ids.
    runs
        name -> `Ranked`.
    names
        the document of each code; where groups stand in the judgments, query and document.
    alignments
        attribute -> alignment, not resolved.
    unknown
        what the reported value does with unknown documents: ``count``, ``drop`` or ``spread``.
    counts
        part -> what was met.
    """

    units: list[str]
    runs: Mapping[str, Ranked]
    names: list[str]
    alignments: Mapping[str, GroupAlignment]
    unknown: str
    counts: Mapping[str, Mapping[str, int]]

    @property
    def streams(self) -> NDArray[np.uint64]:
        """uint64 (D, 2), digests of the documents."""
        return query_streams(self.names)

    @property
    def population(self) -> NDArray[np.bool_]:
        """Boolean (D,), the documents that any run's measure looks at."""
        used = np.zeros(len(self.names), dtype=bool)
        for run in self.runs.values():
            used[run.doc] = True
        return used


def runs_of_job(job: EvaluateJob, unknown: str) -> LabelledRuns:
    """Read the files of an evaluation without a preset.

    Parameters
    ----------
    job
        its groups must count unknown documents as a group, which is taken apart again here.
    unknown
        what the reported value does with unknown documents.

    Raises
    ------
    ConfigError
        without groups, or where judged queries that a run lacks are to be skipped: runs would not be comparable.
    FairRerankersError
        for anything wrong with the files.
    """
    if job.groups is None:
        raise ConfigError("groups.path: no value; expected a group file. Type: groups.path=FILE")
    if job.missing_query == "skip":
        raise ConfigError("missing_query: found skip; expected error or zero_exposure, so that all runs have one mean")
    judged, counts = bind_runs(job, read_runs(job.runs))
    check_max_grade(job.browsing, judged.judgments)
    highest = max(1, int(judged.judgments.grade.max(initial=0)))
    options = Options(browsing=job.browsing, universe=job.universe, seed=job.seed, max_grade=highest)
    runs: dict[str, Ranked] = {}
    units: list[str] = []
    for name, rankings in judged.runs.items():
        evaluation = Evaluation(rankings, judged.judgments, {}, options)
        keep = np.flatnonzero(evaluation.query_judged)
        values = {"exposure": evaluation.exposure(options.model), "target": evaluation.target(options.model)}
        rows = Ragged(evaluation.over.query, evaluation.over.indptr, evaluation.over.doc, values).take(keep)
        runs[name] = Ranked(rows.indptr, rows.doc.astype(np.int64), rows.columns["exposure"], rows.columns["target"])
        units = judged.queries.take(rows.query)
    alignments = {name: with_unknown(counted) for name, counted in judged.groups.items()}
    return LabelledRuns(units, runs, judged.docs.names.to_pylist(), alignments, unknown, counts)


def runs_of_preset(preset: Trec2020, inputs: Inputs) -> LabelledRuns:
    """Read the files of an evaluation by the rules of TREC Fair Ranking 2020.

    Raises
    ------
    ConfigError
        for a loss that is no sum of squares, and where queries that a run lacks have values that no label enters.
    FairRerankersError
        for anything wrong with the files.
    """
    if preset.loss != "squared" or preset.normalise != "none":
        raise ConfigError("preset.loss, preset.normalise: expected squared and none, to which studies of labels apply")
    judged = read_judged(inputs.need("qrels"), preset.pair_rules)
    lists = {name: read_lists(path, preset.duplicates, preset.empty_ranking) for name, path in inputs.systems.items()}
    docs = Ids.union(judged.docno, *(run.docs for run in lists.values()))
    judgments, pair = judged.judgments(docs)
    rules = replace(preset.group_rules, unannotated="count")
    found = (
        groups_of_column(judged, judgments, pair, rules)
        if inputs.groups is None
        else groups_of_file(inputs.groups, docs, judgments, rules)
    )
    if found is None:
        raise ConfigError("groups.path: no value; expected a group file, since the judgments have no column of groups")
    units = judged.queries.names.to_pylist()
    scene = Scene(judgments, found.member, found.alignment, preset.rules)
    runs: dict[str, Ranked] = {}
    for name, run in lists.items():
        code = judged.queries.codes(run.qids)
        rankings = run.rankings.take(np.flatnonzero(code >= 0))
        over = Ragged(code[code >= 0], rankings.over.indptr, run.docs.recoder(docs)[rankings.over.doc])
        rankings = replace(rankings, over=over)
        _check_answered(preset, name, len(units) - len(np.unique(over.query[rankings.counts > 0])))
        given = exposure_of_lists(rankings, scene)
        join = outer_join(judgments, given.over)
        exposure = join.from_right(given.value)[join.left]
        runs[name] = Ranked(judgments.indptr, found.member, exposure, scene.target)
    names = docs.names.to_pylist()
    if inputs.groups is None:
        names = [f"{units[query]}\t{doc}" for query, doc in zip(judged.query.tolist(), judged.docno, strict=True)]
    alignment = with_unknown(found.alignment)
    counts = {"qrels": judged.counts, "groups": found.counts}
    counts |= {f"run {name}": run.counts for name, run in lists.items()}
    return LabelledRuns(units, runs, names, {alignment.attribute: alignment}, preset.unannotated_policy, counts)


def _check_answered(preset: Trec2020, name: str, missing: int) -> None:
    if missing and preset.missing_query != "zero_exposure":
        raise ConfigError(
            f"preset.missing_query: found {preset.missing_query}, but run {name} lacks {missing:,} judged queries; "
            "expected zero_exposure, under which labels decide what they lose"
        )

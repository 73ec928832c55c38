"""From candidates, judgments and features to the rows that learners fit on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.learning.rows import LearningRows
from rerankers.measures.universe import Universe
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.features.base import FeatureTable
    from rerankers.values import Candidates, Counts, GroupAlignment, Judgments, Topics


def learning_rows(
    topics: Topics,
    candidates: Candidates,
    judgments: Judgments,
    features: FeatureTable,
    groups: GroupAlignment | None = None,
) -> tuple[LearningRows, Counts]:
    """Return the queries that can be learnt from, and what was left out or treated.

    Queries without candidates or without any judgment are left out, the others stay in the collection's order. A
    candidate that nobody judged has grade 0.

    Parameters
    ----------
    topics, candidates, judgments
        of a collection, coded alike.
    features
        of exactly these candidates.
    groups
        the resolved alignment that an objective or a monitor looks at.

    Raises
    ------
    InputError
        when no query is left.
    """
    universe = Universe(candidates, judgments, "union")
    filled = candidates.lengths > 0
    judged = universe.query_judged
    kept = np.nonzero(filled & judged)[0]
    if not len(kept):
        raise InputError.one(
            "training queries",
            f"{len(candidates)} queries, {int(filled.sum())} with candidates, {int(judged.sum())} with judgments",
            "at least one with both",
            mend="Look at the qrels and at retriever.k",
        )
    grade = universe.candidate_grade
    over = candidates.with_columns(place=np.arange(candidates.nnz)).take(kept)
    place = over.columns["place"]
    names = topics.ids.names.to_pylist()
    rows = LearningRows(
        over=type(over)(over.query, over.indptr, over.doc),
        qids=tuple(names[code] for code in over.query),
        features=features.values[place],
        names=features.names,
        grade=grade[place],
        topic=topics.topic[over.query].astype(np.int64),
        stream=topics.stream[over.query],
        groups=groups,
    )
    return rows, _counts(rows, candidates, judgments, filled, judged)


def _counts(
    rows: LearningRows, candidates: Candidates, judgments: Judgments, filled: np.ndarray, judged: np.ndarray
) -> Counts:
    relevant = np.bincount(rows.over.row_index, weights=rows.grade > 0, minlength=len(rows))
    in_training = np.isin(judgments.query, rows.over.query)
    wanted = int(np.sum(np.repeat(in_training, judgments.lengths) & (judgments.grade > 0)))
    return met(
        queries=len(rows),
        pairs=rows.over.nnz,
        relevant_pairs=int(relevant.sum()),
        queries_without_candidates=int(np.sum(~filled)),
        queries_without_judgments=int(np.sum(filled & ~judged)),
        queries_without_relevant_candidates=int(np.sum(relevant == 0)),
        relevant_documents_that_are_no_candidates=wanted - int(relevant.sum()),
        feature_values_missing=int(np.isnan(rows.features).sum()),
    )

"""A first stage that another system has run: candidates from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.retrieval.base import Retrieved
from rerankers.values import Candidates, Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Collection


@dataclass(frozen=True, slots=True)
class RunFile:
    """Read candidates from a run with one ranking a query, in any form that `rerankers.runs.read_run` reads.

    Attributes
    ----------
    run
        path of the file.
    k
        candidates kept a query.

    Notes
    -----
    The ranks are trusted. Scores become the candidates' scores; where a ranking has none, or where they
    contradict its ranks (both are counted), the score is 1 / rank. Documents that the collection does not have
    are kept, without text and without groups, and counted.
    """

    run: str
    k: int = 1000

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"retriever.k: found {self.k}; expected at least 1")

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        """Return the run's candidates for the collection's topics.

        Raises
        ------
        InputError
            when the file is wrong, or has several rankings of a query.
        """
        from rerankers.runs import read_run

        run = replace(read_run(Path(self.run)), name=self.run)  # messages name the file
        docs = Ids.union(collection.docs, run.docs)
        listed = run.candidates().recode(run.docs.recoder(docs))
        score, replaced = _trusted_scores(listed)
        source = collection.topics.ids.recoder(Ids.of(run.qids, "query id"))
        counts = {
            **run.counts,
            "run_documents_unknown_to_the_collection": len(docs) - len(collection.docs),
            "run_queries_unknown_to_the_collection": len(run.qids) - int(np.sum(source >= 0)),
            "queries_whose_scores_are_1_over_rank": replaced,
            "queries_without_candidates": int(np.sum(source < 0)),
        }
        candidates = _one_row_a_topic(_cut(listed.with_columns(score=score), self.k), source)
        return Retrieved(docs, candidates, counts)


def _trusted_scores(rows: Candidates) -> tuple[NDArray[np.float64], int]:
    """Return scores that never rise down a row, and the number of rows where they are 1 / rank instead."""
    row = rows.row_index
    by_rank = np.reciprocal(np.arange(rows.nnz) - rows.indptr[row] + 1.0, dtype=np.float64)
    if "score" not in rows.columns:
        return by_rank, len(rows)
    score = rows.score.copy()
    rises = np.flatnonzero((np.diff(score) > 0) & (np.diff(row) == 0))
    wrong = np.isin(row, row[rises])
    score[wrong] = by_rank[wrong]
    return score, len(np.unique(row[rises]))


def _cut(rows: Candidates, k: int) -> Candidates:
    keep = np.arange(rows.nnz) - rows.indptr[rows.row_index] < k
    indptr = np.concatenate([[0], np.cumsum(np.minimum(rows.lengths, k))])
    return Candidates(rows.query, indptr, rows.doc[keep], {name: column[keep] for name, column in rows.columns.items()})


def _one_row_a_topic(rows: Candidates, source: NDArray[np.int32]) -> Candidates:
    """Return one row a topic: row source[i] of ``rows``, or an empty one where source[i] is -1."""
    found = source >= 0
    lengths = np.zeros(len(source), dtype=np.int64)
    lengths[found] = rows.lengths[source[found]]
    picked = rows.take(source[found])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Candidates(np.arange(len(source), dtype=np.int32), indptr, picked.doc, picked.columns)

"""Single rankings of another system's run, as rows of candidates for the topics of a collection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.values import Candidates, Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.runs import Run
    from rerankers.values import Topics

FILE, RECIPROCAL, LINEAR = SCORES = ("file", "reciprocal", "linear")


def read_listed(path: str) -> tuple[Run, Candidates, int]:
    """Read a run with one ranking a query.

    A submission of a track may repeat one ranking for every time that its query is asked: that is one ranking.

    Returns
    -------
    run, candidates, repeated
        the candidates are coded by ``run.docs``, one row a query of ``run.qids``, best first, with the column
        ``score`` where the file has one; ``repeated`` is the number of queries whose ranking the file repeats.

    Raises
    ------
    MissingError
        when the file is not there.
    InputError
        when it is wrong, or has rankings of a query that differ.
    """
    from rerankers.runs import read_run

    run = replace(read_run(Path(path).expanduser()), name=path)  # messages name the file
    candidates, repeated = listed(run)
    return run, candidates, repeated


def listed(run: Run) -> tuple[Candidates, int]:
    """Return the only ranking of each query of a run, and how many queries have it several times; see `read_listed`."""
    counts = run.rankings.counts
    if np.all(counts == 1) or not _repeated(run):
        return run.candidates(), 0
    rankings = run.rankings
    first = rankings.query_ptr[:-1]
    own = np.isin(rankings.ranking_of_item, first)
    indptr = np.concatenate([[0], np.cumsum(np.diff(rankings.item_ptr)[first])])
    candidates = Candidates(rankings.over.query, indptr, rankings.over.doc[rankings.flat[own]])
    return candidates, int(np.sum(counts > 1))


def _repeated(run: Run) -> bool:
    """Say whether every query has at least one ranking, and all rankings of a query are equal."""
    rankings = run.rankings
    if np.any(rankings.counts == 0):
        return False
    first = rankings.query_ptr[:-1][rankings.row_of_ranking]
    lengths = np.diff(rankings.item_ptr)
    if np.any(lengths != lengths[first]):
        return False
    same = rankings.item == rankings.item[rankings.item_ptr[first][rankings.ranking_of_item] + rankings.rank]
    return bool(np.all(same))


def trusted_scores(rows: Candidates, how: str = FILE) -> tuple[NDArray[np.float64], int]:
    """Return scores that never rise down a row, float64 (nnz,), and the number of rows where a file's were not used.

    Parameters
    ----------
    rows
        best first.
    how
        ``file``: the column ``score``; 1 / rank in rows where it is missing or contradicts the ranks; ``reciprocal``:
        1 / rank; ``linear``: n for the first of n documents down to 1 for the last.
    """
    row = rows.row_index
    rank = np.arange(rows.nnz) - rows.indptr[row] + 1.0
    if how == LINEAR:
        return rows.lengths[row] + 1.0 - rank, 0
    by_rank = np.reciprocal(rank)
    if how == RECIPROCAL:
        return by_rank, 0
    if "score" not in rows.columns:
        return by_rank, len(rows)
    score = rows.score.copy()
    rises = np.flatnonzero((np.diff(score) > 0) & (np.diff(row) == 0))
    wrong = np.isin(row, row[rises])
    score[wrong] = by_rank[wrong]
    return score, len(np.unique(row[rises]))


def rows_of_topics(rows: Candidates, run: Run, topics: Topics) -> tuple[Candidates, NDArray[np.int32]]:
    """Return one row a topic, empty where the run has none; and the row of the run of each, int32, -1 for none."""
    source = topics.ids.recoder(Ids.of(run.qids, "query id"))
    found = source >= 0
    lengths = np.zeros(len(source), dtype=np.int64)
    lengths[found] = rows.lengths[source[found]]
    picked = rows.take(source[found])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Candidates(np.arange(len(source), dtype=np.int32), indptr, picked.doc, picked.columns), source

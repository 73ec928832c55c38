"""Further runs beside a first stage: their scores become columns ``run:NAME`` of its candidates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.listed import read_listed, rows_of_topics, trusted_scores
from rerankers.retrieval.score_files import Scores, read_scores
from rerankers.values import Candidates, Ids, Ragged, outer_join
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Collection, Counts

RUN, OWN = "run:", "first_stage"
FIRST, UNION = POOLS = ("first", "union")
_SPEC = re.compile(r"([A-Za-z_][\w.-]*):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where one run is: a file, and the column of it that has scores where the file is a table of pairs."""

    name: str
    file: str
    table: bool
    column: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Further:
    """One run as rows of candidates with scores, coded by ``docs``; and what was met."""

    name: str
    docs: Ids
    rows: Candidates
    counts: Counts


def check_runs(runs: Sequence[str] | None, pool: str = FIRST) -> None:
    """Raise `ConfigError` unless ``runs`` lists ``NAME:FILE`` with different names, and ``pool`` is a known word."""
    choose("retriever.pool", pool, POOLS)
    names = [_source(spec).name for spec in runs or ()]
    for name in names:
        if name == OWN or names.count(name) > 1:
            raise ConfigError(f"retriever.runs: found the name {name!r} again; expected others than {OWN}, each once")
    if pool == UNION and not names:
        raise ConfigError("retriever.pool: found union without retriever.runs; expected runs=[NAME:FILE,…], or first")


def with_runs(retrieved: Retrieved, collection: Collection, runs: Sequence[str] | None, pool: str = FIRST) -> Retrieved:
    """Add the scores of further runs to candidates.

    Parameters
    ----------
    retrieved
        of the first stage, one row a topic of the collection.
    collection
        whose topics are ranked.
    runs
        ``NAME:FILE`` of each run, a run with one ranking a query in any form; or ``NAME:FILE#COLUMN``, a column of a
        table of pairs (CSV or TSV with ``qid`` and ``doc_id``). None: none.
    pool
        ``first``: the first stage says which documents are ranked, and others of the runs are left out (counted);
        ``union``: the documents of all runs are ranked.

    Returns
    -------
    The candidates with a float64 column ``run:NAME`` for each run: its score, or 1 / rank where it has none or where
    scores contradict ranks; NaN for documents that it does not have. With ``union`` the first stage is such a column
    too, ``run:first_stage``, and documents that it did not find stand behind those that it found, by docno, with a
    ``score`` just below the least of their query (0 where it found none).

    Raises
    ------
    MissingError
        when a file is not there.
    InputError
        when a file is wrong, or has rankings of a query that differ.
    """
    if not runs:
        return retrieved
    found = [_read(_source(spec), collection) for spec in runs]
    docs = Ids.union(retrieved.docs, *[one.docs for one in found])
    first = retrieved.candidates.recode(retrieved.docs.recoder(docs))
    further = [one.rows.recode(one.docs.recoder(docs)) for one in found]
    counts = dict(retrieved.counts)
    for one in found:
        counts |= {f"run_{one.name}_{name}": count for name, count in one.counts.items()}
    over = first if pool == FIRST else _union(first, further)
    columns = {f"{RUN}{one.name}": _along(over, rows) for one, rows in zip(found, further, strict=True)}
    for one, rows, column in zip(found, further, columns.values(), strict=True):
        there = int(np.sum(~np.isnan(column)))
        beyond = met(candidates_missing=over.nnz - there, pairs_that_are_no_candidates=rows.nnz - there)
        counts |= {f"run_{one.name}_{name}": count for name, count in beyond.items()}
    if pool == FIRST:  # coded as they were
        return replace(retrieved, candidates=retrieved.candidates.with_columns(**columns), counts=counts)
    counts |= met(
        candidates_added_by_runs=over.nnz - first.nnz,
        run_documents_unknown_to_the_collection=len(docs) - len(retrieved.docs),
    )
    counts["queries_without_candidates"] = int(np.sum(over.lengths == 0))
    return replace(retrieved, docs=docs, candidates=over.with_columns(**columns), counts=counts)


def _source(spec: str) -> _Source:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise ConfigError(f"retriever.runs: found {spec!r}; expected NAME:FILE, or NAME:FILE#COLUMN of a table")
    name, file = match.groups()
    table = "#" in file and not Path(file).expanduser().exists()
    file, _, column = file.rpartition("#") if table else (file, "", "")
    return _Source(name, file, table, column or None)


def _read(source: _Source, collection: Collection) -> _Further:
    if source.table:
        scores = read_scores(source.file, source.column, blanks=True)
        docs, rows = _rows_of_pairs(scores, collection)
        elsewhere = len(scores.qids) - rows.nnz
        counts = met(pairs_without_a_number=scores.blank, pairs_of_queries_unknown_to_the_collection=elsewhere)
        return _Further(source.name, docs, rows, counts)
    run, listed, repeated = read_listed(source.file)
    score, replaced = trusted_scores(listed)
    rows, topic = rows_of_topics(listed.with_columns(score=score), run, collection.topics)
    counts = met(
        **run.counts,
        queries_whose_one_ranking_is_repeated=repeated,
        queries_unknown_to_the_collection=len(run.qids) - int(np.sum(topic >= 0)),
        queries_without_candidates=int(np.sum(topic < 0)),
        queries_whose_scores_are_1_over_rank=replaced,
    )
    return _Further(source.name, run.docs, rows, counts)


def _rows_of_pairs(scores: Scores, collection: Collection) -> tuple[Ids, Candidates]:
    docs, doc = Ids.coded(scores.docnos)
    topic = collection.topics.ids.codes(scores.qids)
    order = np.argsort(topic, kind="stable")
    order = order[topic[order] >= 0]
    indptr = np.searchsorted(topic[order], np.arange(len(collection.topics) + 1))
    rows = np.arange(len(collection.topics), dtype=np.int32)
    return docs, Candidates(rows, indptr, doc[order], {"score": scores.value[order]})


def _along(over: Ragged, rows: Candidates) -> NDArray[np.float64]:
    """Return the scores of ``rows`` for the pairs of ``over``, NaN for those that they do not have."""
    join = outer_join(over, rows)
    return join.from_right(rows.score, fill=np.nan)[join.left]


def _union(first: Candidates, further: Sequence[Candidates]) -> Candidates:
    """Return the documents of all runs: those of the first stage as they stand, then the others by docno."""
    over: Ragged = first
    for rows in further:
        over = outer_join(over, rows).over
    join = outer_join(over, first)
    place = join.from_right(np.arange(first.nnz, dtype=np.int64), fill=-1)[join.left]
    new = place < 0
    order = np.lexsort((over.doc, place, new, over.row_index))
    score = np.append(first.score, np.nan)[place[order]]
    below = [np.nextafter(one.min(), -np.inf) if len(one) else 0.0 for one in _split(first)]
    least = np.maximum(np.array(below), np.finfo(np.float64).min)
    filled = np.where(np.isnan(score), least[over.row_index], score)
    return Candidates(over.query, over.indptr, over.doc[order], {"score": filled, f"{RUN}{OWN}": score})


def _split(rows: Candidates) -> list[NDArray[np.float64]]:
    return np.split(rows.score, rows.indptr[1:-1]) if len(rows) else []

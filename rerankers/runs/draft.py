"""Rankings as they were read, on their way to a run: documents are looked at here, once for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.arrays import read_only
from rerankers._base.errors import InputError, Problems
from rerankers.runs.columns import ids_of
from rerankers.runs.run import Run, met
from rerankers.values import Ids, Ragged, Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Rankings that are well formed one by one, but for documents that occur twice.

    Attributes
    ----------
    qids
        the Q query ids by code.
    docnos
        the names of the document codes, in any order; some may repeat or never occur.
    ranked
        one row a ranking: ``query`` its query's code, ``doc`` its documents, best first; column ``score`` float64
        where the source has scores, column ``line`` int64 where it has line or row numbers.
    label
        int32 (R,), sample numbers, unique within a query.
    q_num
        (R,) or empty, see `Run`.
    numbered
        whether the source has rows that are numbered from 1 in the order of the rankings' documents.
    """

    qids: Sequence[str]
    docnos: pa.LargeStringArray
    ranked: Ragged
    label: NDArray[np.int32]
    q_num: Sequence[str] = ()
    numbered: bool = False


def build(draft: Draft, name: str, problems: Problems, counts: dict[str, int]) -> Run:
    """Make the run, or raise everything that is wrong with the source.

    Raises
    ------
    InputError
        with the problems so far and the documents that occur twice in a ranking.
    """
    draft = _sorted(draft)
    over, item, docs = _locate(draft, problems)
    raise_if_any(problems)
    ranked = draft.ranked
    samples = np.bincount(ranked.query, minlength=len(over))
    if "score" in ranked.columns and np.all(samples == 1):
        score = np.empty(over.nnz)
        score[over.indptr[ranked.query][ranked.row_index] + item] = ranked.columns["score"]
        over = over.with_columns(score=score)
    rankings = Rankings(
        over,
        np.concatenate([[0], np.cumsum(samples)]).astype(np.int64),
        ranked.indptr,
        item,
        np.repeat(1.0 / np.maximum(samples, 1), samples),
        draft.label,
    )
    counts["empty_rankings"] = int((ranked.lengths == 0).sum())
    counts["queries_with_fewer_rankings"] = int((samples < samples.max(initial=0)).sum())
    return Run(name, tuple(draft.qids), docs, rankings, met(counts), tuple(draft.q_num))


def raise_if_any(problems: Problems) -> None:
    """Raise the problems there are, by line."""
    problems.kept.sort(key=lambda problem: (problem.line is None, problem.line or 0))
    problems.raise_if_any()


def _sorted(draft: Draft) -> Draft:
    """Return the rankings by query, then by label."""
    place = draft.ranked.query.astype(np.int64) << 32 | draft.label.astype(np.int64)
    if np.all(place[1:] > place[:-1]):
        return draft
    order = np.argsort(place)
    q_num = [draft.q_num[index] for index in order] if draft.q_num else ()
    ranked = draft.ranked
    if draft.numbered:
        ranked = ranked.with_columns(line=np.arange(1, ranked.nnz + 1))
    return replace(draft, ranked=ranked.take(order), label=draft.label[order], q_num=q_num)


def _locate(draft: Draft, problems: Problems) -> tuple[Ragged, NDArray[np.int32], Ids]:
    """Return the rows of distinct documents a query, the position of each ranked one within its row, and the ids."""
    from rerankers.runs.rows_loops import find_documents, place_documents

    ranked, queries = draft.ranked, len(draft.qids)
    seen = np.full(len(draft.docnos), -1, dtype=np.int64)
    found = np.empty(ranked.nnz, dtype=np.int32)
    found_ptr = np.zeros(queries + 1, dtype=np.int64)
    query, indptr, doc = read_only(ranked.query), read_only(ranked.indptr), read_only(ranked.doc)
    known, once = find_documents(query, indptr, doc, seen, found, found_ptr)
    if not known:
        problems.add(None, f"rows without a place in their dictionary of {len(seen)} names", "a name for each")
        raise InputError(problems.kept)
    used = seen >= 0
    docs, code = ids_of(draft.docnos, used)
    if len(docs) < np.count_nonzero(used):  # names that repeat, in a foreign dictionary
        merged = Ragged(ranked.query, ranked.indptr, code[ranked.doc], ranked.columns)
        return _locate(replace(draft, docnos=docs.names, ranked=merged), problems)
    if not once:
        _note_repeated(draft, problems)
    found = found[: found_ptr[-1]]
    row = np.repeat(np.arange(queries, dtype=np.int64), np.diff(found_ptr))
    key = row * max(len(docs), 1) + code[found]
    order = np.argsort(key)
    found, item = found[order], np.empty(ranked.nnz, dtype=np.int32)
    place_documents(query, indptr, doc, found, found_ptr, np.empty_like(code), item)
    return Ragged(np.arange(queries, dtype=np.int32), found_ptr, code[found]), item, docs


def _note_repeated(draft: Draft, problems: Problems) -> None:
    """Note documents that occur twice in a ranking."""
    ranked = draft.ranked
    ranking = ranked.row_index
    key = ranking * max(len(draft.docnos), 1) + ranked.doc
    order = np.argsort(key, kind="stable")
    second = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    line = np.arange(1, ranked.nnz + 1) if draft.numbered else ranked.columns.get("line")
    second = second[np.argsort(order[second])]
    told = max(0, problems.limit - len(problems.kept))
    problems.beyond += len(second[told:])
    for index in second[:told].tolist():
        before, again = int(order[index - 1]), int(order[index])
        row = int(ranking[again])
        docno = draft.docnos[int(ranked.doc[again])].as_py()
        query, label = draft.qids[ranked.query[row]], draft.label[row]
        first = "" if line is None else f", first on line {line[before]}"
        problems.add(
            None if line is None else int(line[again]),
            f"document {docno!r} again in query {query!r}, sample {label}{first}",
            "each document once in a ranking",
            "Delete one of the two.",
        )

"""Rankings as they were read, on their way to a run: documents are looked at here, once for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import Problems
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
    docs
        sorted document ids.
    ranked
        one row a ranking: ``query`` its query's code, ``doc`` its documents, best first; column ``score`` float64
        where the source has scores, column ``line`` int64 where it has line or row numbers.
    label
        int32 (R,), sample numbers, unique within a query.
    q_num
        (R,) or empty, see `Run`.
    """

    qids: Sequence[str]
    docs: Ids
    ranked: Ragged
    label: NDArray[np.int32]
    q_num: Sequence[str] = ()


def build(draft: Draft, name: str, problems: Problems, counts: dict[str, int]) -> Run:
    """Make the run, or raise everything that is wrong with the source.

    Raises
    ------
    InputError
        with the problems so far and the documents that occur twice in a ranking.
    """
    draft = _sorted(draft)
    over, item = _locate(draft, problems)
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
    return Run(name, tuple(draft.qids), draft.docs, rankings, met(counts), tuple(draft.q_num))


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
    return Draft(draft.qids, draft.docs, draft.ranked.take(order), draft.label[order], q_num)


def _locate(draft: Draft, problems: Problems) -> tuple[Ragged, NDArray[np.int32]]:
    """Return the rows of distinct documents a query, and the position of each ranked one within its row."""
    ranked, width = draft.ranked, max(len(draft.docs), 1)
    key = ranked.query.astype(np.int64)[ranked.row_index] * width + ranked.doc
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    new = np.ones(len(key), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    _note_repeated(draft, order, new, problems)
    pairs = ordered[new]
    rows = np.arange(len(draft.qids), dtype=np.int64)
    indptr = np.searchsorted(pairs, np.append(rows, len(rows)) * width)
    item = np.empty(len(key), dtype=np.int32)
    item[order] = np.cumsum(new) - 1 - indptr[ordered // width]
    return Ragged(rows.astype(np.int32), indptr, (pairs % width).astype(np.int32)), item


def _note_repeated(draft: Draft, order: NDArray[np.int64], new: NDArray[np.bool_], problems: Problems) -> None:
    """Note documents that occur twice in a ranking; ``order`` puts equal documents of a query side by side."""
    if new.all():
        return
    ranked = draft.ranked
    ranking = ranked.row_index[order]
    second = np.flatnonzero(~new[1:] & (ranking[1:] == ranking[:-1])) + 1
    line = ranked.columns.get("line")
    for index in second[np.argsort(order[second])].tolist():
        before, again = int(order[index - 1]), int(order[index])
        row = int(ranking[index])
        query, label = draft.qids[ranked.query[row]], draft.label[row]
        first = "" if line is None else f", first on line {line[before]}"
        problems.add(
            None if line is None else int(line[again]),
            f"document {draft.docs.name(ranked.doc[again])!r} again in query {query!r}, sample {label}{first}",
            "each document once in a ranking",
            "Delete one of the two.",
        )

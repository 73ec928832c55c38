"""The rankings of a 2019 run, entry by entry of the sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import Problems
from rerankers._base.files import read_lines
from rerankers.runs.jsonl import FORM, read_jsonl
from rerankers.values import Counts, Ids
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.runs.draft import Draft
    from rerankers.tracks.sequences import Sequence

ENTRIES_A_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidates of the Q queries of a sequence with their relevance.

    Attributes
    ----------
    qids
        (Q,), those of the sequence.
    docs
        sorted ids of the candidates.
    indptr, doc, grade
        int64 (Q + 1,), int32 and float64 (pairs,): documents ascend by code in a query.
    """

    qids: tuple[str, ...]
    docs: Ids
    indptr: NDArray[np.int64]
    doc: NDArray[np.int32]
    grade: NDArray[np.float64]

    @property
    def query(self) -> NDArray[np.int64]:
        """int64 (pairs,)."""
        return np.repeat(np.arange(len(self.qids), dtype=np.int64), np.diff(self.indptr))

    def pair(self, query: NDArray[np.integer], doc: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the pair of a query and a document (items,), -1 where the document is no candidate."""
        width = len(self.docs)
        own = self.query * width + self.doc
        wanted = query.astype(np.int64) * width + doc
        place = np.minimum(np.searchsorted(own, wanted), max(len(own) - 1, 0))
        known = (doc >= 0) & (own[place] == wanted) if len(own) else np.zeros(len(wanted), dtype=bool)
        return np.where(known, place, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Impressions:
    """Some entries with their rankings.

    Attributes
    ----------
    sequence
        int32 (R,), the sequence of each entry.
    indptr, pair
        int64 (R + 1,), int64 (items,): the ranked candidates as pairs, best first.
    """

    sequence: NDArray[np.int32]
    indptr: NDArray[np.int64]
    pair: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SequenceRun:
    """A run whose rankings were checked against sequence and candidates.

    Attributes
    ----------
    counts
        what was met.
    """

    draft: Draft
    order: NDArray[np.int64]
    candidates: Candidates
    entries: Sequence
    counts: Counts

    def blocks(self) -> Iterator[Impressions]:
        """Yield the rankings in the order of the sequence, some thousands at a time."""
        code = self.candidates.docs.codes(self.draft.docnos)
        for start in range(0, len(self.order), ENTRIES_A_BLOCK):
            stop = min(start + ENTRIES_A_BLOCK, len(self.order))
            ranked, query = self.draft.ranked.take(self.order[start:stop]), self.entries.query[start:stop]
            pair = self.candidates.pair(query[ranked.row_index], code[ranked.doc])
            yield Impressions(self.entries.sequence[start:stop], ranked.indptr, pair)


def read_sequence_run(
    path: Path, entries: Sequence, candidates: Candidates, *, check_qid: bool, once: bool
) -> SequenceRun:
    """Read a run of JSON lines and hold it against the sequence.

    Parameters
    ----------
    path
        the file, plain, ``.gz`` or ``.zst``.
    entries, candidates
        coded by the same queries.
    check_qid
        whether a line's query must be that of its entry, and each line be an entry of the sequence.
    once
        whether a document may come once only in a ranking.

    Raises
    ------
    InputError
        with every entry without a ranking, every document that is no candidate, and what the two switches ask for.
    """
    problems, counts = Problems(str(path)), dict[str, int]()
    first = next((text for _, text in read_lines(path) if text.strip()), "")
    if not first.lstrip().startswith("{"):
        problems.add(None, "a file that is no JSON lines", f"a submission to 2019, lines of the form {FORM}")
        problems.raise_if_any()
    draft = read_jsonl(path, problems, counts)
    place = {q_num: row for row, q_num in enumerate(draft.q_num) if q_num}
    order = np.array([place.get(q_num, -1) for q_num in entries.q_num], dtype=np.int64)
    for entry in np.flatnonzero(order < 0).tolist():
        problems.add(None, f"no ranking of entry {entries.q_num[entry]!r}", "one for each entry of the sequence")
    strangers = [q_num for q_num in place if q_num not in entries.place]
    if check_qid:
        _check_queries(draft, order, entries, strangers, problems)
    problems.raise_if_any()
    counts |= met(rankings_beyond_the_sequence=len(strangers), empty_rankings=int(np.sum(draft.ranked.lengths == 0)))
    found = SequenceRun(draft, order, candidates, entries, counts)
    again = _check_documents(found, once, problems)
    problems.raise_if_any()
    counts |= met(documents_again_in_a_ranking=again)
    return SequenceRun(draft, order, candidates, entries, {"rankings": len(order), **counts})


def _check_queries(
    draft: Draft, order: NDArray[np.int64], entries: Sequence, strangers: list[str], problems: Problems
) -> None:
    for q_num in strangers:
        problems.add(None, f"a ranking of {q_num!r}", "entries of the sequence only")
    named = np.array([*draft.qids, ""], dtype=object)
    said = named[np.where(order >= 0, draft.ranked.query[order] if len(draft.ranked) else -1, -1)]
    wanted = np.array(entries.qids, dtype=object)[entries.query]
    for entry in np.flatnonzero((order >= 0) & (said != wanted)).tolist():
        problems.add(None, f"query {said[entry]!r} in entry {entries.q_num[entry]!r}", f"query {wanted[entry]!r}")


def _check_documents(run: SequenceRun, once: bool, problems: Problems) -> int:
    """Note documents that are no candidates, and repeats where they may not be; return the number of repeats."""
    again, start = 0, 0
    for block in run.blocks():
        ranking = np.repeat(np.arange(len(block.sequence)), np.diff(block.indptr))
        docs = run.draft.ranked.take(run.order[start : start + len(block.sequence)]).doc
        for item in np.flatnonzero(block.pair < 0).tolist():
            problems.add(None, _item(run, docs[item], start + int(ranking[item])), "candidates of the query only")
        key = ranking * (len(run.candidates.doc) + 1) + block.pair
        order = np.argsort(key, kind="stable")
        repeats = order[1:][(key[order][1:] == key[order][:-1]) & (block.pair[order][1:] >= 0)]
        again += len(repeats)
        for item in repeats.tolist() if once else ():
            problems.add(None, _item(run, docs[item], start + int(ranking[item])), "each document once in a ranking")
        start += len(block.sequence)
    return again


def _item(run: SequenceRun, doc: int, entry: int) -> str:
    qid = run.entries.qids[run.entries.query[entry]]
    return f"document {run.draft.docnos[int(doc)].as_py()!r} in entry {run.entries.q_num[entry]!r}, query {qid!r}"

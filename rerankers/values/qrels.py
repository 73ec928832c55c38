"""Relevance judgments in a file: `qid iter docno grade`, read whole, with every problem of the file at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems
from rerankers.values._qrels_lines import QrelsLines, plain_lines, read_lines
from rerankers.values.ragged import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.collection import Counts
    from rerankers.values.ids import Ids


@dataclass(frozen=True, slots=True, eq=False)
class QrelsTable:
    """Judged pairs by name, in the order of their file, each pair once.

    Attributes
    ----------
    qid
        Arrow dictionary of large_string, or large_string (rows,).
    docno
        Arrow large_string (rows,).
    grade
        int16 (rows,), as judged: -1 and -100 stay what they are.
    counts
        ``judgments``; and, where there are any, ``negative_grades``, ``duplicate_judgments`` (equal lines beyond the
        first), ``blank_qrels_lines``.
    """

    qid: pa.DictionaryArray | pa.LargeStringArray
    docno: pa.LargeStringArray
    grade: NDArray[np.int16]
    counts: Counts

    def bind(self, topics: Ids, docs: Ids) -> tuple[Judgments, Counts]:
        """Code the pairs: one row per topic that has any, topics in their order, documents by code.

        Returns
        -------
        judgments, counts
            counts, where there are any: ``judgments_of_unknown_queries``, ``judged_queries_unknown`` (how many
            queries those are) and ``judgments_of_unknown_documents``, all left out; ``queries_without_judgments``
            and ``queries_without_relevant`` (judged, but nothing has a grade above 0), both kept.
        """
        return self.bind_coded(len(topics), topics.codes(self.qids), docs.codes(self.docno))

    @property
    def qids(self) -> pa.LargeStringArray:
        """The query ids, each once, in the order of their file."""
        return pc.dictionary_encode(self.qid).dictionary.cast(pa.large_string())

    def bind_coded(self, topics: int, topic: NDArray[np.int32], doc: NDArray[np.int32]) -> tuple[Judgments, Counts]:
        """Do as `bind`, with codes for names.

        Parameters
        ----------
        topics
            how many there are.
        topic
            the code of each of `qids`, -1 for one that is not known.
        doc
            (rows,), the code of each pair's document, likewise.
        """
        name = pc.dictionary_encode(self.qid).indices.to_numpy()
        query = topic[name]
        stranger = query < 0
        known = ~stranger & (doc >= 0)
        order = np.arange(len(doc)) if known.all() else np.flatnonzero(known)
        key = query[order].astype(np.int64) << 32 | doc[order]
        if np.any(key[1:] < key[:-1]):
            order = order[np.argsort(key)]
        ordered = query[order]
        start = np.flatnonzero(np.append(-1, ordered[:-1]) != ordered)
        grade = self.grade[order]
        judgments = Judgments(ordered[start], np.append(start, len(order)), doc[order], {"grade": grade})
        relevant = np.count_nonzero(np.maximum.reduceat(grade, start) > 0) if len(start) else 0
        return judgments, met(
            judgments_of_unknown_queries=int(np.count_nonzero(stranger)),
            judged_queries_unknown=len(np.unique(name[stranger])),
            judgments_of_unknown_documents=int(np.count_nonzero(~stranger & (doc < 0))),
            queries_without_judgments=topics - len(start),
            queries_without_relevant=len(start) - int(relevant),
        )


def met(**counts: int) -> Counts:
    """Return the counts that are not zero, in their order."""
    return {name: count for name, count in counts.items() if count}


def read_qrels(path: str | Path) -> QrelsTable:
    """Read a qrels file (plain, ``.gz`` or ``.zst``).

    A line has four fields, ``qid iter docno grade`` with any ``iter``, or three, ``qid docno grade``, separated by
    white space. A grade is a whole number from -32768 to 32767; ``1.0`` is one, ``0.5`` is not.

    Raises
    ------
    InputError
        with every problem and its line: a wrong number of fields, a grade that is no whole number, two different
        grades for one pair (both lines are named), no judgment at all.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    lines = plain_lines(Path(path)) or read_lines(Path(path), problems)
    if not len(lines.grade) and not problems:
        problems.add(None, "no judgment", "at least one line: qid iter docno grade")
    table = _table(lines, problems)
    problems.raise_if_any()
    return table


def _table(lines: QrelsLines, problems: Problems) -> QrelsTable:
    """Return each pair once; pairs judged differently are problems."""
    qids, docnos, grade = lines.qids, lines.docnos, lines.grade
    query, doc = lines.query, lines.doc
    keep = _first_of_each(lines, problems)
    if keep is not None:
        query, doc, grade = query[keep], doc[keep], grade[keep]
    counts = met(
        judgments=len(grade),
        negative_grades=int(np.count_nonzero(grade < 0)),
        duplicate_judgments=len(lines.grade) - len(grade),
        blank_qrels_lines=lines.blank,
    )
    qid = pa.DictionaryArray.from_arrays(pa.array(query), qids)
    return QrelsTable(qid, docnos.take(pa.array(doc)), grade, counts)


def _first_of_each(lines: QrelsLines, problems: Problems) -> NDArray[np.int64] | None:
    """Return the first line of each pair, ascending, or None where all are; note pairs that are judged differently."""
    key = lines.query.astype(np.int64) << 32 | lines.doc
    ordered = np.sort(key)
    if np.all(ordered[1:] != ordered[:-1]):
        return None
    grade, number = lines.grade, lines.number
    _, first, pair = np.unique(key, return_index=True, return_inverse=True)
    for row in np.flatnonzero(grade != grade[first[pair]]).tolist():
        before = int(first[pair[row]])
        qid, docno = lines.qids[int(lines.query[row])].as_py(), lines.docnos[int(lines.doc[row])].as_py()
        problems.add(
            int(number[row]),
            f"grade {grade[row]} for query {qid!r}, document {docno!r}",
            f"grade {grade[before]} as in line {number[before]}",
            mend="Keep one of the two lines.",
        )
    return np.sort(first)

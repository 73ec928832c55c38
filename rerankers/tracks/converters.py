"""Between the JSON lines of 2020 and the text files of that year's evaluator.

Judgments are `qid<TAB>groups<TAB>docno<TAB>grade`, groups joined with ``|`` and empty where a document has none. Runs
are `qid<TAB>Qk<TAB>docno<TAB>rank<TAB>score<TAB>tag`: the k-th line of a query, from 0, is its sample Qk; the score is
1 / rank.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import atomic_path
from rerankers.collections.delimited import open_rows
from rerankers.runs.compress import open_for_text
from rerankers.runs.jsonl import read_jsonl
from rerankers.tracks.candidates import read_queries
from rerankers.tracks.findings import listed

if TYPE_CHECKING:
    from rerankers.runs import Run
    from rerankers.tracks.sequences import Sequence

__all__ = ["json_lines", "qrels_lines", "read_group_rows", "run_lines", "write_lines"]


def read_group_rows(path: str | Path) -> dict[str, str]:
    """Read rows `docno,group[,group…]` (2020): document -> its groups joined with ``|``.

    The last row of a document counts. A header makes a document of that name, which no query has.
    """
    problems = Problems(str(path))
    groups = {row[0]: "|".join(row[1:]) for _, row in open_rows(Path(path), problems) if row}
    problems.raise_if_any()
    return groups


def qrels_lines(queries: str | Path, groups: Mapping[str, str], complete: bool = True) -> Iterator[str]:
    """Yield the judgments of a query file with relevance, as text without line ends.

    Parameters
    ----------
    groups
        document -> groups joined with ``|``; others have none.
    complete
        whether all judged documents are wanted (reranking), or those with a grade above 0 (retrieval).

    Raises
    ------
    InputError
        for documents without relevance, as the files for participants have them.
    """
    problems = Problems(str(queries))
    found = read_queries(queries).queries
    for qid, query in found.items():
        without = sorted(query.documents - query.grade.keys())
        if without:
            text = f"query {qid} with documents of no relevance: {listed(without, len(without))}"
            problems.add(None, text, "a grade for every document", "Take the file with relevance.")
    problems.raise_if_any()
    for qid, query in found.items():
        for docno, grade in query.grade.items():
            if complete or grade > 0:
                yield f"{qid}\t{groups.get(docno, '')}\t{docno}\t{grade}"


def run_lines(run: str | Path, tag: str) -> Iterator[str]:
    """Yield a run of JSON lines as text without line ends.

    An empty ranking takes a sample number and leaves no line.

    Raises
    ------
    InputError
        with everything that is wrong with the run.
    """
    draft = read_jsonl(Path(run), Problems(str(run)), {})
    ranked = draft.ranked
    names = draft.docnos.to_pylist()
    for row, (query, sample) in enumerate(zip(ranked.query.tolist(), draft.label.tolist(), strict=True)):
        for rank, doc in enumerate(ranked.doc[ranked.row(row)].tolist(), 1):
            yield f"{draft.qids[query]}\tQ{sample}\t{names[doc]}\t{rank}\t{1.0 / rank:.6f}\t{tag}"


def json_lines(run: Run, sequence: Sequence) -> Iterator[str]:
    """Yield a run as JSON lines in the order of a sequence, without line ends: a query's k-th entry has its sample k.

    Raises
    ------
    InputError
        for queries whose rankings are not as many as their entries; for one that the run lacks, these are 0.
    """
    rankings = run.rankings
    row_of = {run.qids[code]: row for row, code in enumerate(rankings.over.query.tolist())}
    have = {qid: int(rankings.counts[row]) for qid, row in row_of.items()}
    counts = zip(sequence.qids, sequence.counts.tolist(), strict=True)
    wrong = [f"{qid} ({have.get(qid, 0)} for {count})" for qid, count in counts if have.get(qid, 0) != count]
    if wrong:
        found = f"other numbers of rankings than the sequence asks for: {listed(wrong, len(wrong))}"
        raise InputError.one(run.name, found, "a ranking for each entry")
    used = dict.fromkeys(row_of, 0)
    for q_num, query in zip(sequence.q_num, sequence.query.tolist(), strict=True):
        qid = sequence.qids[query]
        row = row_of[qid]
        which = int(rankings.query_ptr[row]) + used[qid]
        used[qid] += 1
        item = rankings.item[rankings.item_ptr[which] : rankings.item_ptr[which + 1]]
        names = run.docs.take(rankings.over.doc[rankings.over.row(row)][item])
        yield json.dumps({"q_num": q_num, "qid": int(qid), "ranking": names}, ensure_ascii=False)


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines atomically, compressed where the name ends in ``.gz``."""
    with atomic_path(Path(path)) as temporary, open_for_text(temporary) as stream:
        for line in lines:
            stream.write(f"{line}\n".encode())

"""Plain forms of runs, and readers of a few lines to compare with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from rerankers._base.errors import InputError, Problem
from rerankers.runs import Run, read_run

Plain = dict[str, dict[int, list[str]]]
"""Query id -> sample number -> document ids, best first."""

ID = st.text(alphabet="ab7é,\"#|'", min_size=1, max_size=3)
DOCNOS = st.lists(ID, unique=True, min_size=1, max_size=5)
PLAIN: st.SearchStrategy[Plain] = st.dictionaries(
    ID, st.dictionaries(st.integers(0, 12), DOCNOS, min_size=1, max_size=3), min_size=1, max_size=4
)


def plain_of(run: Run) -> Plain:
    """Return the plain form of a run."""
    rankings, over = run.rankings, run.rankings.over
    plain: Plain = {qid: {} for qid in run.qids}
    assert over.query.tolist() == list(range(len(run.qids)))
    for row, qid in enumerate(run.qids):
        for at in range(rankings.query_ptr[row], rankings.query_ptr[row + 1]):
            items = rankings.item[rankings.item_ptr[at] : rankings.item_ptr[at + 1]] + over.indptr[row]
            plain[qid][int(rankings.label[at])] = run.docs.take(over.doc[items])
    return plain


def check(run: Run) -> None:
    """Check what holds for every run."""
    plain, over = plain_of(run), run.rankings.over
    assert run.docs.names.to_pylist() == sorted({d for row in plain.values() for docs in row.values() for d in docs})
    for row, samples in enumerate(plain.values()):
        assert list(samples) == sorted(samples)
        ranked = {docno for docs in samples.values() for docno in docs}
        assert run.docs.take(over.doc[over.row(row)]) == sorted(ranked)
        low, high = run.rankings.query_ptr[row : row + 2]
        assert run.rankings.weight[low:high].tolist() == [1 / len(samples)] * len(samples)
    assert all(count > 0 for count in run.counts.values())


def trec_lines(plain: Plain, first_rank: int = 1) -> list[str]:
    """Return the lines of a text run."""
    return [
        f"{qid} {label} {docno} {rank} {1 / (rank + 1)!r} tag"
        for qid, samples in plain.items()
        for label, docs in samples.items()
        for rank, docno in enumerate(docs, first_rank)
    ]


def in_label_order(plain: Plain) -> Plain:
    """Return the samples of each query by number."""
    return {qid: dict(sorted(samples.items())) for qid, samples in plain.items()}


def problems_of(read: Callable[[], object]) -> tuple[Problem, ...]:
    """Return the problems that reading ends with."""
    with pytest.raises(InputError) as caught:
        read()
    return caught.value.problems


def problems_in(path: Path, text: str | bytes) -> list[tuple[int | None, str]]:
    """Write a file and return (line, what was found) of each of its problems."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return [(problem.line, problem.found) for problem in problems_of(lambda: read_run(path))]

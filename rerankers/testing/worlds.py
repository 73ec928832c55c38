"""Small blocks of queries: with ties, with one document, with none, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR
from rerankers.methods.targets import as_target
from rerankers.values import Block, Candidates, GroupAlignment

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel

ROWS: tuple[tuple[float, ...], ...] = (
    (3.0, 1.0, 2.5, 0.0),
    (1.0,),
    (),
    (2.0, 2.0, 1.0),
    (5.0, 4.0, 3.0, 2.0, 1.0, 0.0),
    (0.0, 0.0, 0.0),
)
"""First-stage scores by query: plain, one document, none, ties, more documents, nothing but ties."""
LABELS = ("A", "B", None, "B")
"""Groups of the documents in turn; None is not known."""


def method_block(
    rows: Sequence[Sequence[float]] = ROWS,
    labels: Sequence[str | None] = LABELS,
    *,
    browsing: BrowsingModel | None = None,
    target: object = "equal_exposure",
    seed: int = 0,
    order: Sequence[int] | None = None,
) -> Block:
    """Return a block as methods are given it.

    Parameters
    ----------
    rows
        first-stage scores of each query's documents.
    labels
        groups of the documents of all rows in turn, over and over; the attribute is called ``group``.
    browsing
        None: ``GERR(0.5, 0.5)``.
    target
        as in `rerankers.methods.rerank_one`.
    seed
        of the policy.
    order
        which rows, in which order; each keeps its documents, groups and query id. None: all as they are.

    Returns
    -------
    Block
        of queries ``q0``, ``q1``, …; every row has documents of its own, and scores as they are given.
    """
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    total = int(ends[-1])
    score = np.array([value for row in rows for value in row], dtype=np.float64)
    docs = np.arange(total, dtype=np.int32)
    whole = Candidates(np.arange(len(rows), dtype=np.int32), ends, docs, {"score": score})
    stream = query_streams([f"q{number}" for number in range(len(rows))])
    kept = np.arange(len(rows)) if order is None else np.asarray(order, dtype=np.int64)
    names = tuple(sorted({label for label in labels if label is not None}))
    groups: Mapping[str, Any] = {"group": _alignment(labels, names, total)}
    aim = as_target(target, names)
    return Block(
        whole.take(kept),
        stream[kept],
        groups,
        browsing=GERR() if browsing is None else browsing,
        target=aim,
        seed=seed,
    )


def alone(block: Block, row: int) -> Block:
    """Return one row of a block as a block, with all that belongs to it."""
    estimates = None if block.estimates is None else block.estimates.at(block.candidates.row(row))
    return replace(
        block,
        candidates=block.candidates.rows(row, row + 1),
        stream=block.stream[row : row + 1],
        estimates=estimates,
    )


def _alignment(labels: Sequence[str | None], names: tuple[str, ...], n: int) -> GroupAlignment:
    own = [labels[at % len(labels)] if labels else None for at in range(n)]
    known = [(doc, names.index(label)) for doc, label in enumerate(own) if label is not None]
    doc = np.array([doc for doc, _ in known], dtype=np.int64)
    code = np.array([code for _, code in known], dtype=np.int64)
    return GroupAlignment.of_entries("group", names, doc, code, np.ones(len(doc)), n).resolve("count")

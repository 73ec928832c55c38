"""The anchors: policies that stand beside every result, so that nobody reads a number without its scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.universe import Universe
from rerankers.policies import GradeShuffle, PlackettLuce, static, zscore
from rerankers.values import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Policy
    from rerankers.values import Judgments

PREFIX = "anchor:"
RANDOM = "anchor:random"
WORST_FIRST = "anchor:worst_first"
DETERMINISTIC = "anchor:deterministic"
PLACKETT_LUCE = "anchor:plackett_luce"
IDEAL = "anchor:ideal"
ANCHORS = (RANDOM, WORST_FIRST, DETERMINISTIC, PLACKETT_LUCE, IDEAL)


def anchors(
    candidates: Candidates,
    judgments: Judgments,
    stream: NDArray[np.uint64],
    universe: str = "union",
    logits: NDArray[np.float64] | None = None,
) -> dict[str, Policy]:
    """Return name -> policy of the anchors over a block.

    ``random``: every order of the candidates equally likely. ``worst_first``: the lowest grade first, shuffled
    within grades; it shows which measures reward being useless. ``deterministic``: by score, ties by docno.
    ``plackett_luce``: temperature 1, the logits being ``logits``, or the scores z-scored within the query (equal
    scores: a uniform shuffle).
    ``ideal``: the highest grade first, shuffled within grades, over all documents of the universe; its EEL is 0.
    The two in the middle need scores and are left out without them.

    Parameters
    ----------
    candidates
        the block, B rows, with or without the column ``score``.
    judgments
        coded alike. Only ``worst_first`` and ``ideal`` look at them.
    stream
        uint64 (B, 2), the queries' digests.
    universe
        the documents that count, ``union`` or ``judged``.
    logits
        float64 (nnz,), Plackett-Luce logits of what a method believes, where that is not the score.
    """
    documents = Universe(candidates, judgments, universe)
    found: dict[str, Policy] = {
        RANDOM: GradeShuffle(candidates, np.zeros(candidates.nnz), stream),
        WORST_FIRST: GradeShuffle(candidates, -documents.candidate_grade, stream),
    }
    if "score" in candidates.columns:
        ordered = by_score(candidates)
        found[DETERMINISTIC] = static(ordered, ordered.score, stream)
        plain = zscore(candidates.indptr, candidates.score) if logits is None else logits
        found[PLACKETT_LUCE] = PlackettLuce(candidates, plain, stream)
    found[IDEAL] = GradeShuffle(documents.over, documents.grade, stream)
    return found


def by_score(candidates: Candidates) -> Candidates:
    """Return the candidates in retrieval order: score descending, then docno (that is, code) ascending."""
    order = np.lexsort((candidates.doc, -candidates.score, candidates.row_index))
    columns = {name: column[order] for name, column in candidates.columns.items()}
    return Candidates(candidates.query, candidates.indptr, candidates.doc[order], columns)

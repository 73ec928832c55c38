"""Weights in groups of each document, and the ideal shares of groups, for the InfoSeeking rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.methods.targets.base import aligned, all_but_unknown, shares, totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.tilting.problem import Aim
    from rerankers.values import Block, Candidates, GroupAlignment


@dataclass(frozen=True, slots=True, eq=False)
class Ideals:
    """Known groups of all attributes side by side.

    Attributes
    ----------
    candidates
        the rows.
    alignments
        one an attribute.
    share
        float64 (B, K), the ideal of each row.
    part
        int64 (K,), the attribute of each group.
    """

    candidates: Candidates
    alignments: Sequence[GroupAlignment]
    share: NDArray[np.float64]
    part: NDArray[np.int64]

    def counts(self, row: int) -> NDArray[np.float64]:
        """Return the weights of the documents of a row: float64 (n, K)."""
        doc = self.candidates.doc[self.candidates.row(row)]
        blocks = []
        for alignment in self.alignments:
            item, group, weight = alignment.entries(doc)
            dense = np.zeros((len(doc), len(alignment.groups)))
            np.add.at(dense, (item, group), weight)
            blocks.append(dense[:, all_but_unknown(alignment.groups)])
        return np.concatenate(blocks, axis=1)


def ideals_of(
    block: Block, attributes: Sequence[str], corpus: bool, whole: bool, aims: Sequence[Aim] | None = None
) -> Ideals:
    """Find the ideal of each row.

    Parameters
    ----------
    block
        with the groups.
    attributes
        of the block.
    corpus
        the groups of all documents of the alignment in place of those of a row's candidates.
    whole
        divide by the weight of all groups, "unknown" too, as published; else by that of the known ones.
    aims
        targets in place of both.
    """
    alignments = [aligned(block, attribute) for attribute in attributes]
    parts = []
    for number, alignment in enumerate(alignments):
        known = all_but_unknown(alignment.groups)
        if aims is not None:
            weight = aims[number].target
        elif corpus:
            every = np.arange(alignment.n_docs)
            one = alignment.totals(np.zeros(len(every), np.int64), every, np.ones(len(every)), 1)
            weight = np.repeat(one, len(block.candidates), axis=0)
        else:
            weight = totals(block, alignment, np.ones(block.candidates.nnz))
        share = shares(weight) if whole else shares(weight * known)
        parts.append(share[:, known])
    part = np.repeat(np.arange(len(parts), dtype=np.int64), [share.shape[1] for share in parts])
    return Ideals(block.candidates, alignments, np.ascontiguousarray(np.concatenate(parts, axis=1)), part)

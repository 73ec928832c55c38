"""What one query variant retrieved, as codes of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """The ranking of one variant.

    Attributes
    ----------
    docs
        integers (n,), codes of the documents, best first, each once and at least 0; empty where nothing was retrieved.
    scores
        float64 (n,), never rising; equal scores are ties. None: the order is strict.

    Raises
    ------
    InputError
        for another shape, a negative code, a document twice, scores that rise or are no numbers.
    """

    docs: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        docs = np.asarray(self.docs)
        if docs.ndim != 1 or (docs.size and docs.dtype.kind not in "iu"):
            raise InputError.one("docs", f"{docs.dtype} of shape {docs.shape}", "whole numbers of shape (n,)")
        docs = docs.astype(np.int64, copy=False)
        if docs.size and int(docs.min()) < 0:
            raise InputError.one("docs", f"the code {int(docs.min())}", "codes of at least 0")
        if len(np.unique(docs)) < len(docs):
            raise InputError.one("docs", "a document more than once", "each document once")
        object.__setattr__(self, "docs", docs)
        if self.scores is not None:
            object.__setattr__(self, "scores", _falling(np.asarray(self.scores, dtype=np.float64), len(docs)))

    def __len__(self) -> int:
        return len(self.docs)

    def tie_sizes(self, depth: int | None = None) -> NDArray[np.int64] | None:
        """Return the sizes of the groups of equal scores among the first ``depth``, None where no score is shared.

        A group that the depth cuts counts only the documents that are inside: the others are not seen.
        """
        if self.scores is None:
            return None
        seen = self.scores[:depth]
        falls = np.flatnonzero(seen[1:] < seen[:-1]) + 1
        if len(falls) >= len(seen) - 1:
            return None
        return np.diff(falls, prepend=0, append=len(seen)).astype(np.int64)


def _falling(scores: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the scores once they are known to be numbers that never rise, one a document."""
    if scores.shape != (size,):
        raise InputError.one("scores", f"shape {scores.shape}", f"one a document, ({size},)")
    if np.any(np.isnan(scores)):
        raise InputError.one("scores", "NaN", "numbers")
    rises = np.flatnonzero(scores[1:] > scores[:-1])
    if len(rises):
        found = f"{scores[rises[0]]:g} before {scores[rises[0] + 1]:g} at rank {int(rises[0]) + 1}"
        raise InputError.one("scores", found, "scores that never rise, best first")
    return scores


def check_rankings(name: str, rankings: Sequence[Ranked], variants: int) -> None:
    """Raise `InputError` unless there is one ranking for each distinct variant."""
    if len(rankings) != variants:
        raise InputError.one(
            name,
            f"{len(rankings)} rankings",
            f"one for each of the {variants} distinct variants, in their order",
            mend="A variant that retrieves nothing has an empty ranking.",
        )

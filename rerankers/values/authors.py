"""Who wrote which document, and what is known about the authors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers.values.labels import moved_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.ids import Ids


@dataclass(frozen=True, slots=True, eq=False)
class Authors:
    """The author lists of documents, and numeric facts about authors. Ids only: names are personal data.

    Attributes
    ----------
    ids
        author ids, ascending.
    indptr
        int64 (D + 1,), the authors of document d are entries indptr[d]:indptr[d + 1], in the order of its author list.
    author
        int32 (entries,), author codes; -1 for an author without an id.
    fields
        name -> float64 (A,), for instance ``h_index``; NaN where it is not known.
    """

    ids: Ids
    indptr: NDArray[np.int64]
    author: NDArray[np.int32]
    fields: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def doc(self) -> NDArray[np.int64]:
        """int64 (entries,), the document of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int64), np.diff(self.indptr))

    @property
    def papers(self) -> NDArray[np.int64]:
        """int64 (A,), documents of each author in this collection; one that lists an author twice counts once."""
        slots = np.unique(np.stack([self.doc, self.author.astype(np.int64)]), axis=1)[1]
        return np.bincount(slots[slots >= 0], minlength=len(self.ids)).astype(np.int64)

    def over(self, code: NDArray[np.int32], n_docs: int) -> Authors:
        """Return the author lists over ``n_docs`` documents; old document d is now code[d], new ones have none."""
        return replace(self, indptr=moved_rows(self.indptr, code, n_docs))

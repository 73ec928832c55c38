"""Group labels as they were given, before it is decided what a document with several of them belongs to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Level = Literal["document", "author"]
NO_LABEL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The raw labels of one attribute: any number an entry list a document, one entry a label or an author.

    Attributes
    ----------
    attribute
        what the groups are about, for instance ``"economy"``.
    groups
        the G names; readers of files sort them.
    level
        ``document``: an entry is a label of the document; ``author``: an entry is a label of one of its authors.
    indptr
        int64 (D + 1,), document d has entries indptr[d]:indptr[d + 1].
    label
        int32 (entries,), code of the group, `NO_LABEL` (-1) where it is not known.
    weight
        float64 (entries,), how much of the document an entry stands for (relative, at least 0), or None where the
        source gave no weights.
    """

    attribute: str
    groups: tuple[str, ...]
    level: Level
    indptr: NDArray[np.int64]
    label: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    @property
    def doc(self) -> NDArray[np.int64]:
        """int64 (entries,), the document of each entry."""
        return np.repeat(np.arange(self.n_docs, dtype=np.int64), np.diff(self.indptr))

    def over(self, code: NDArray[np.int32], n_docs: int) -> Labels:
        """Return the labels over ``n_docs`` documents; document d is now code[d], ascending, new ones have none."""
        return replace(self, indptr=moved_rows(self.indptr, code, n_docs))


def moved_rows(indptr: NDArray[np.int64], code: NDArray[np.int32], rows: int) -> NDArray[np.int64]:
    """Return int64 (rows + 1,): row d is now row code[d], ascending, so that entries stay in place."""
    lengths = np.zeros(rows, dtype=np.int64)
    lengths[code] = np.diff(indptr)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

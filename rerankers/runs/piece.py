"""What the writers of run files take: some rankings by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some rankings.

    Attributes
    ----------
    qid, label, length
        query id, sample number and number of documents of each ranking.
    docno
        large_string, the documents of the rankings one after the other, best first.
    """

    qid: Sequence[str]
    label: NDArray[np.int32]
    length: NDArray[np.int64]
    docno: pa.LargeStringArray

    @property
    def ranking(self) -> NDArray[np.int64]:
        """int64, the ranking of each document."""
        return np.repeat(np.arange(len(self.length), dtype=np.int64), self.length)

    @property
    def place(self) -> NDArray[np.int64]:
        """int64, the 0-based rank of each document."""
        return np.arange(len(self.docno), dtype=np.int64) - np.repeat(np.cumsum(self.length) - self.length, self.length)


class Sink(Protocol):
    """An open run file of one format."""

    def check(self, where: str, qids: Sequence[str], docnos: pa.LargeStringArray) -> None:
        """Refuse names that the format cannot hold; ``where`` names the file."""
        ...

    def write(self, piece: Piece) -> None:
        """Add rankings."""
        ...

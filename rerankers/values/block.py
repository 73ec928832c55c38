"""What a method receives: a block of queries without their judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.values.groups import GroupAlignment
    from rerankers.values.ragged import Candidates


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The unit of work. It holds no judgments of the queries it ranks, so no method can leak them.

    Attributes
    ----------
    candidates
        the documents to rank, B rows.
    stream
        uint64 (B, 2), the queries' digests.
    groups
        attribute -> resolved alignment, for methods of the tiers that may see groups; empty otherwise.
    """

    candidates: Candidates
    stream: NDArray[np.uint64]
    groups: Mapping[str, GroupAlignment] = field(default_factory=dict)

"""What a target is: a small spec from the config that gives the shares of exposure its groups should have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.values import Block, GroupAlignment


class Target(Protocol):
    """Shares of exposure that a method aims at; dataclass fields are the options of ``conf/target/<name>.yaml``."""

    @property
    def tier(self) -> str:
        """The information that the target takes, one of `rerankers.methods.TIERS`."""
        ...

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Say which groups have a share, bool (G,): all, but for "unknown" where the target does not speak of it.

        Documents of the others are outside of the target: a method leaves them where they are.
        """
        ...

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return the shares for a block: float64 (B, G), in the order of the alignment's groups.

        They are at least 0 and sum to 1 in each row; a row is 0 where the target says nothing, for instance one
        without candidates. Groups that no candidate of a row belongs to may have a share: methods give it to the
        other groups in proportion, and count the row.

        Raises
        ------
        ConfigError
            for an attribute that the block has no groups of.
        """
        ...


def aligned(block: Block, attribute: str) -> GroupAlignment:
    """Return a block's alignment of an attribute.

    Raises
    ------
    ConfigError
        where the block has none, or one whose unknown groups are not resolved.
    """
    if attribute not in block.groups:
        found = ", ".join(block.groups) or "none"
        raise ConfigError(
            f"target: found no groups {attribute!r}; expected one of the attributes of groups=… ({found})"
        )
    alignment = block.groups[attribute]
    if not alignment.resolved:
        raise ConfigError(f"target: found groups {attribute!r} that are not resolved; expected resolve('count') first")
    return alignment


def all_but_unknown(groups: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the groups but "unknown": bool (G,)."""
    return np.array([group != UNKNOWN for group in groups], dtype=np.bool_)


def totals(block: Block, alignment: GroupAlignment, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up a value of candidates (nnz,) by row and group: float64 (B, G)."""
    candidates = block.candidates
    return alignment.totals(candidates.row_index, candidates.doc, value, len(candidates))


def shares(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide values (B, G) of at least 0 by their sum over each row; rows of zeros stay."""
    total = value.sum(axis=1, keepdims=True)
    # what is too small to be divided is nothing: products of many continuations underflow
    usable = total > np.finfo(np.float64).tiny
    divided: NDArray[np.float64] = np.where(usable, value, 0.0) / np.where(usable, total, 1.0)
    return divided

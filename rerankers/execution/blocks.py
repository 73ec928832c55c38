"""Where one block of queries ends and the next begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ITEMS_PER_BLOCK = 1 << 22  # drawn items; about 300 MB at the peak of drawing and measuring


def check_block(block: int | None) -> None:
    """Raise `ConfigError` unless ``block`` is None or at least 1."""
    if block is not None and block < 1:
        raise ConfigError(f"execution.block: found {block}; expected at least 1, or null to choose by the work")


def check_pool(workers: int, block: int | None) -> None:
    """Raise `ConfigError` unless an engine may have so many workers (-1: all there are) and queries a block."""
    check_block(block)
    if workers == 0 or workers < -1:
        raise ConfigError(f"execution.workers: found {workers}; expected at least 1, or -1 for all there are")


def block_bounds(lengths: NDArray[np.int64], draws: int, block: int | None = None) -> list[tuple[int, int]]:
    """Cut rows into blocks.

    Parameters
    ----------
    lengths
        int64 (B,), documents a row.
    draws
        rankings drawn a row.
    block
        rows a block; None cuts so that a block holds about four million drawn items (at least one row).

    Returns
    -------
    list of (start, stop)
        covering 0..B in order, without empty blocks.
    """
    rows = len(lengths)
    if block is not None:
        return [(start, min(start + block, rows)) for start in range(0, rows, block)]
    work = np.cumsum(np.maximum(lengths, 1) * max(draws, 1))
    bounds: list[tuple[int, int]] = []
    start = 0
    while start < rows:
        done = int(work[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(work, done + ITEMS_PER_BLOCK, side="right")))
        bounds.append((start, stop))
        start = stop
    return bounds

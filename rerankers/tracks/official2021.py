"""What the official evaluation of 2021 does and no rule of the track asks for (fair-trec/trec2021-fair-public, MIT)."""

from __future__ import annotations

import math

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.cells import Cells
from rerankers.measures.mixing import Mixed
from rerankers.measures.rank_fairness import js_divergence

DROPPED_GENDERS = ("Taira no Kiyomori",)
"""Values of the gender field in the page file of 2021 that are no genders; the official code drops these rows."""
_MOST_CELLS = 1 << 20


def divergence_of_even_shares(target: Mixed, without: int | None = None) -> float:
    """Return the divergence in nats between equal shares of all cells and the target.

    The official code puts ones in every cell where the ranking has no group at all, so that a ranking of unknown pages
    only is judged as if it served all cells alike.

    Parameters
    ----------
    target
        over few cells: the track of 2021 has 32.
    without
        a cell that does not count.

    Raises
    ------
    InputError
        for more than a million cells.
    """
    cells = math.prod(target.sizes)
    if cells > _MOST_CELLS:
        raise InputError.one("empty_alignment", f"ones in {cells} cells", "zero or undefined with so many cells")
    cell = np.arange(cells)
    cell = cell[cell != without] if without is not None else cell
    return js_divergence(np.ones(len(cell)), target.at(cell))


def refuse_gain_above_one(ndcg: float, topic: str, where: str) -> None:
    """Stop where the official code stops: an nDCG above 1, which only repeated pages can cause.

    Raises
    ------
    InputError
        for a value above 1.
    """
    if ndcg > 1:
        found = f"nDCG {ndcg:.6f} of topic {topic!r}"
        mend = "A ranking repeats pages: duplicates=first counts each once."
        raise InputError.one(where, found, "at most 1", mend=mend)


def cells_that_count(cells: Cells, drop_unknown: bool) -> Cells:
    """Return the cells that task 1 of 2021 judges: all but the one in which nothing is known, its first."""
    return cells.without(0) if drop_unknown else cells

"""The targets of the Wikipedia tracks: the groups of relevant pages, averaged with the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.cells import weighted_cells
from rerankers.measures.mixing import Mixed, background_alone, mix_background
from rerankers.measures.work_needed import work_needed_exposure
from rerankers.tracks.official2021 import cells_that_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.tracks.pages import PageTable


def page_target(
    table: PageTable, rows: NDArray[np.int64], precision: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of relevant pages with a quality class, and the exposure each deserves (`work_needed_exposure`).

    Parameters
    ----------
    table
        the pages.
    rows
        int64 (n,), rows of relevant pages, -1 for those left out.
    precision
        of the discount.
    """
    rows = rows[rows >= 0]
    graded = rows[table.quality[rows] >= 0]
    return graded, work_needed_exposure(table.quality[graded], precision)


def group_target(
    table: PageTable,
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    share: float,
    *,
    drop_unknown: bool = False,
    by_cells: bool = False,
    else_background: bool = False,
) -> tuple[Mixed | None, bool]:
    """Return the target over cells: weighted mean of the pages' cells, mixed with the background.

    Parameters
    ----------
    table
        the pages.
    rows, weight
        int64 (n,), float64 (n,): rows of pages, -1 for those left out, and how much each counts.
    share
        of the background.
    drop_unknown
        whether the cell in which nothing is known is left out.
    by_cells
        whether to divide by the sum over cells (2021), or by that of the weights (2022): the same where the memberships
        of every page sum to 1.
    else_background
        what to do when no page has a cell: take the background alone, or None.

    Returns
    -------
    target, alone
        None where it is not defined; whether it is the background alone.
    """
    kept = rows >= 0
    cells = cells_that_count(weighted_cells(table.memberships, rows[kept], weight[kept]), drop_unknown)
    if cells.total > 0:
        total = cells.total if by_cells else float(weight[kept].sum())
        return mix_background(cells.scaled(1 / total), table.backgrounds, share), False
    if else_background and table.backgrounds:
        return background_alone([rows.size for rows in table.memberships], table.backgrounds), True
    return None, False

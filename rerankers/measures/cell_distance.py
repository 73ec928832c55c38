"""How far the exposure of cells is from a target over them, without ever listing all cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.rank_fairness import js_of_shares, shares

if TYPE_CHECKING:
    from rerankers.measures.cells import Cells
    from rerankers.measures.mixing import Mixed


class CellExposure(NamedTuple):
    """The parts of the squared distance between exposure s and target t of cells: EEL = EED - 2 EER + EET."""

    EED: float
    EER: float
    EET: float
    EEL: float


def cell_exposure(exposure: Cells, target: Mixed) -> CellExposure:
    """Return s·s, s·t, t·t and |s - t|² (Diaz et al. 2020), over all cells, at the cost of those that are filled.

    The loss is a sum of squares, never the difference of the other parts, which would cancel.

    Raises
    ------
    InputError
        when exposure and target have different dimensions.
    """
    _same(exposure, target)
    aim = target.at(exposure.cell)
    rest = target.beyond(exposure.cell, 2)
    return CellExposure(
        float(np.sum(exposure.value**2)),
        float(np.sum(exposure.value * aim)),
        float(np.sum(aim**2)) + rest,
        float(np.sum((exposure.value - aim) ** 2)) + rest,
    )


def cell_divergence(exposure: Cells, target: Mixed) -> float:
    """Return the Jensen-Shannon divergence in nats of the shares of exposure and the target, each divided by its sum.

    Where there is no exposure, all that counts is how much of the target lies there.

    Raises
    ------
    InputError
        for different dimensions, or when exposure or target is 0 in all cells.
    """
    _same(exposure, target)
    total = target.total
    if not total > 0:
        raise InputError.one("target", "zeros only", "a positive sum")
    aim = target.at(exposure.cell) / total
    return js_of_shares(shares("exposure", exposure.value), aim, 0.0, target.beyond(exposure.cell) / total)


def _same(exposure: Cells, target: Mixed) -> None:
    if exposure.sizes != target.sizes:
        raise InputError.one(
            "exposure", f"dimensions of sizes {exposure.sizes}", f"those of the target, {target.sizes}"
        )

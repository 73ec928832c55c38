"""What the official evaluation of 2022 offers and calls unusable (fair-trec/trec2022-fair-public@6fd105f2, MIT)."""

from __future__ import annotations

from rerankers.measures.cell_distance import CellExposure


def normalised_exposure(parts: CellExposure, cells: int, mass: float) -> CellExposure:
    """Return the official normalised values, which its authors mark as broken; they are here for comparison only.

    EED runs from mass² / cells (0 after normalising) to mass² (1), EER from 0 to t·t, EEL from 0 to t·t + mass². EET
    stays as it is.

    Parameters
    ----------
    parts
        values as they are.
    cells
        number of cells.
    mass
        the sum of the discounts of a ranking.
    """
    low, high = mass**2 / cells, mass**2
    return CellExposure(
        (parts.EED - low) / (high - low),
        parts.EER / parts.EET,
        parts.EET,
        parts.EEL / (parts.EET + high),
    )

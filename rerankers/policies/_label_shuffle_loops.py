"""The compiled integral of `LabelShuffle`, and the mean of what depends on how many documents have the label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def label_exposure(
    chance: NDArray[np.float64],
    continuation: NDArray[np.float64],
    weight: NDArray[np.float64],
    flat: bool,
    node: NDArray[np.float64],
    measure: NDArray[np.float64],
    known: bool,
    exposure: NDArray[np.float64],
) -> None:
    """Add the exposure of the documents of a row, before it is divided by the chance that one has the label.

    Documents with the label arrive at a time in (0, 1), the others in (1, 2), independently of each other. A state
    holds the products over the documents before one, by how many of them have arrived: those of all labels, or, where
    labels without any are left out, what all labels have more than no label, beside that of no label. Whatever is
    behind is a linear function of the state, so that time is of order n k a node; all numbers are non-negative.

    Parameters
    ----------
    chance, continuation
        float64 (n,), the chances of the label, and of going on past a document.
    weight
        float64 (k,), of the first k ranks, the others have none; if ``flat``, (1,) and that of all ranks.
    node, measure
        float64 (Q,), a quadrature on (0, 1).
    known
        leave out what happens where no document has the label.
    exposure
        float64 (n,), added to.
    """
    n, k = len(chance), len(weight)
    shift = 0 if flat else 1
    some, none = np.empty((n + 1, k)), np.empty((n + 1, k))
    for turn in range(2 * len(node)):
        labelled, t, share = turn % 2 == 0, node[turn // 2], measure[turn // 2]
        excluded = known and not labelled
        some[0, :] = 0.0
        none[0, :] = 0.0
        if excluded:
            none[0, 0] = 1.0
        else:
            some[0, 0] = 1.0
        for d in range(n):
            there, here, only, more = _chances(chance[d], continuation[d], t, labelled)
            for r in range(k):
                value, lone = here * some[d, r], here * none[d, r]
                if r >= shift:
                    value += there * some[d, r - shift] + more * none[d, r - shift]
                    lone += only * none[d, r - shift]
                some[d + 1, r], none[d + 1, r] = value, lone
        after, alone = weight.copy(), np.zeros(k)
        for d in range(n - 1, -1, -1):
            total = 0.0
            for r in range(k):
                total += after[r] * some[d, r] + alone[r] * none[d, r]
            exposure[d] += share * total * (chance[d] if labelled else 1.0 - chance[d])
            there, here, only, more = _chances(chance[d], continuation[d], t, labelled)
            for r in range(k):
                value, lone = here * after[r], here * alone[r]
                if r + shift < k:
                    value += there * after[r + shift]
                    lone += only * alone[r + shift] + more * after[r + shift]
                after[r], alone[r] = value, lone


@compiled
def _chances(chance: float, continuation: float, t: float, labelled: bool) -> tuple[float, float, float, float]:
    """Return the chances of a document to be passed, not to have come, to be passed without and with the label."""
    if labelled:
        return continuation * chance * t, 1.0 - chance * t, 0.0, continuation * chance * t
    only, more = continuation * (1.0 - chance) * t, continuation * chance
    return only + more, (1.0 - chance) * (1.0 - t), only, more


@compiled
def numbers_of_labels(chance: NDArray[np.float64], mass: NDArray[np.float64]) -> None:
    """Write the chances (n + 1,) of each number of labels among n documents."""
    mass[:] = 0.0
    mass[0] = 1.0
    for d in range(len(chance)):
        for count in range(d + 1, 0, -1):
            mass[count] = mass[count] * (1.0 - chance[d]) + mass[count - 1] * chance[d]
        mass[0] *= 1.0 - chance[d]

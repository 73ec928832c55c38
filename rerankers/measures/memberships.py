"""Groups as users write them, as weights of documents in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import check_bounded
from rerankers.measures.scaling import near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def memberships(groups: Any, target: Any = None, name: str = "groups") -> tuple[Floats, list[Any]]:
    """Return weights (n, G) of ranked documents in groups, and the names of the groups.

    Parameters
    ----------
    groups
        a label a document (None: of no group), or weights (n, G), at least 0.
    target
        a mapping whose labels count too; anything else is ignored.
    name
        of the argument, for errors.

    Returns
    -------
    float64 (n, G) and the labels in sorted order (by text where they cannot be compared), or 0 … G - 1.

    Raises
    ------
    InputError
        for an empty ranking, other shapes, labels that are NaN or lists, and weights that are negative, not finite or
        beyond 1e150.
    """
    table = np.asarray(groups, dtype=object) if isinstance(groups, Sequence) else np.asarray(groups)
    if table.ndim == 0 or not len(table):
        raise InputError.one(name, "no document", "a label for every ranked document, or weights (n, G)")
    if table.ndim == 2:
        return _weights(table, name), list(range(table.shape[1]))
    if table.ndim != 1:
        raise InputError.one(name, f"shape {table.shape}", "a label for every ranked document, or weights (n, G)")
    labels = [label.item() if isinstance(label, np.generic) else label for label in table]
    if any(label != label for label in labels):
        raise InputError.one(name, "the label NaN", "None for documents of no group")
    if any(isinstance(label, list | set | dict) for label in labels):
        raise InputError.one(name, "several labels for a document", "a label for each, or weights (n, G)")
    found = {label for label in labels if label is not None} | (set(target) if isinstance(target, Mapping) else set())
    try:
        names = sorted(found)
    except TypeError:
        names = sorted(found, key=str)
    code = {label: place for place, label in enumerate(names)}
    weight = np.zeros((len(labels), len(names)))
    for place, label in enumerate(labels):
        if label is not None:
            weight[place, code[label]] = 1.0
    return weight, names


def target_vector(target: Any, names: Sequence[Any], name: str = "target") -> Floats:
    """Return the shares of a target, float64 (G,), divided by their sum; a label that a mapping lacks gets 0.

    Raises
    ------
    InputError
        for another length, values that are negative or not finite, or a sum of 0.
    """
    values = [target.get(label, 0.0) for label in names] if isinstance(target, Mapping) else target
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError.one(name, repr(target)[:60], "numbers, a share for every group") from error
    if vector.shape != (len(names),):
        raise InputError.one(name, f"shape {vector.shape}", f"({len(names)},), a share for every group")
    if not np.all(np.isfinite(vector)) or np.any(vector < 0) or not np.any(vector > 0):
        raise InputError.one(name, f"{vector.tolist()}", "finite shares of at least 0 with a positive sum")
    vector = near_one(vector)
    divided: Floats = vector / vector.sum()
    return divided


def _weights(table: NDArray[Any], name: str) -> Floats:
    try:
        weight = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError.one(name, "weights that are no numbers", "numbers of at least 0") from error
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise InputError.one(name, "weights that are negative or not finite", "finite numbers of at least 0")
    check_bounded(name, weight)
    return weight

"""The account of documents added up by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.side_by_side_numbers import Numbers


def memberships(found: Numbers) -> list[dict[str, list[str]]]:
    """Return attribute -> the groups of each document, (U,); weights other than 1 are told with the name."""
    out: list[dict[str, list[str]]] = [{} for _ in found.doc]
    for attribute, alignment in found.side.groups.items():
        item, group, weight = alignment.entries(found.doc)
        for at, code, part in zip(item.tolist(), group.tolist(), weight.tolist(), strict=True):
            if part > 0:
                name = alignment.groups[code]
                out[at].setdefault(attribute, []).append(name if part == 1 else f"{name} ({part:.3g})")
    return out


def group_rows(found: Sequence[Numbers], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row an attribute and group: for every system exposure, target, share, and the steps of the chain.

    A document counts for a group with its weight there, so that the sums are those which measures of groups take.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, one in zip(names, found, strict=True):
        steps = one.steps()
        for attribute, alignment in one.side.groups.items():
            columns = {"exposure": one.exposure, "stopping": one.exposure - one.unsatisfied, **steps}
            totals = {key: _totals(one, attribute, value) for key, value in columns.items()}
            target = _totals(one, attribute, np.nan_to_num(one.target)) if one.judged else None
            documents = _totals(one, attribute, (one.place >= 0).astype(np.float64))
            whole = float(totals["exposure"].sum())
            for code, group in enumerate(alignment.groups):
                row = rows.setdefault((attribute, group), {"attribute": attribute, "group": group, "systems": {}})
                value = float(totals["exposure"][code])
                row["systems"][name] = {
                    "candidates": float(documents[code]),
                    "exposure": value,
                    "share": value / whole if whole > 0 else None,
                    "target": None if target is None else float(target[code]),
                    "stopping": float(totals["stopping"][code]),
                    "steps": {step: float(totals[step][code]) for step in steps},
                }
    return list(rows.values())


def _totals(found: Numbers, attribute: str, value: NDArray[np.float64]) -> NDArray[np.float64]:
    row = np.zeros(len(found.doc), dtype=np.int64)
    totals: NDArray[np.float64] = found.side.groups[attribute].totals(row, found.doc, value, 1)[0]
    return totals

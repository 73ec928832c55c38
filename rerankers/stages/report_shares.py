"""Lorenz curves of a block's systems: exposure over documents, and relative to what relevance earns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rerankers.report.extras import ShareCurve
from rerankers.report.lorenz import ShareSums, share_sums

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Evaluation

DOCUMENTS, RELEVANT, TARGET = "documents", "relevant", "target"

Shares = Mapping[str, Mapping[str, ShareSums]]
"""`DOCUMENTS` or `RELEVANT` -> system, or `TARGET` -> sums over judged queries."""


def shares_of(evaluations: Mapping[str, Evaluation]) -> Shares:
    """Return the sums of the judged queries of a block, for every system and for the target."""
    found: dict[str, dict[str, ShareSums]] = {DOCUMENTS: {}, RELEVANT: {}}
    for name, one in evaluations.items():
        model = one.options.model
        exposure, target = np.maximum(one.exposure(model), 0.0), one.target(model)
        rows, indptr = np.flatnonzero(one.query_judged).tolist(), one.over.indptr
        if not found[DOCUMENTS]:
            found[DOCUMENTS][TARGET] = share_sums(target, None, indptr, rows)
        # what is due to documents of grade 0 is what others leave over: only relevance earns
        due = np.where(one.grade > 0, target, 0.0)
        found[DOCUMENTS][name] = share_sums(exposure, None, indptr, rows)
        found[RELEVANT][name] = share_sums(exposure, due, indptr, rows)
    return found


def added_up(total: Shares, block: Shares) -> Shares:
    """Return the sums over more blocks."""
    out: dict[str, dict[str, ShareSums]] = {kind: dict(systems) for kind, systems in total.items()}
    for kind, systems in block.items():
        mine = out.setdefault(kind, {})
        for name, sums in systems.items():
            mine[name] = mine[name] + sums if name in mine else sums
    return out


def share_curves(total: Shares) -> dict[str, list[ShareCurve]]:
    """Return the mean curves by kind; systems without a query that has exposure are left out."""
    return {
        kind: [
            ShareCurve(name, *mean, sums.queries)
            for name, sums in total.get(kind, {}).items()
            if (mean := sums.mean()) is not None
        ]
        for kind in (DOCUMENTS, RELEVANT)
    }

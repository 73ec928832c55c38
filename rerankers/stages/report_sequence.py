"""Exposure along the sequence that was served: what groups were given and due, and what the losses were on the way."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rankings import item_exposure
from rerankers.exposure.targets import equal_exposure
from rerankers.measures.universe import Universe
from rerankers.report.extras import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger import Served
    from rerankers.measures.evaluation import Options
    from rerankers.stages.pool import Pool
    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]

POINTS = 120
"""Impressions at which the sums are noted."""
OVERALL = "all queries together"


def trace_of(served: Served, pool: Pool, options: Options) -> Trace | None:
    """Return the trace of a sequence under the judgments; None where no judged query was asked.

    Parameters
    ----------
    served
        all impressions, in the order of service.
    pool
        the candidates that they are over, with judgments and groups.
    options
        how exposure is judged.

    Notes
    -----
    Two losses are traced. That of a query is the squared distance of its mean exposure so far from its target (Diaz
    et al. 2020), over documents and over groups, mean over the queries that were asked. That of all queries together
    is the squared distance of the groups' exposure from what they were due, both per impression: queries may make up
    for one another, as amortised fairness has it (Biega, Gummadi & Weikum 2018).
    """
    universe = Universe(pool.candidates, pool.judgments, options.universe)
    counts = universe.query_judged[served.impressions.row]
    if not counts.any():
        return None
    walk = _Walk(served, universe, options)
    steps = np.unique(np.linspace(1, int(counts.sum()), POINTS).round().astype(np.int64))
    return walk.trace(np.flatnonzero(counts), steps, pool.groups, int(np.sum(~counts)))


class _Walk:
    """The exposures of all impressions, and sums of them."""

    def __init__(self, served: Served, universe: Universe, options: Options) -> None:
        self.universe, self.row = universe, served.impressions.row
        over, rankings = universe.over, served.rankings()
        model, grade = options.model, universe.grade
        self.target = equal_exposure(over.indptr, grade, model.bind(grade, over.indptr))
        # every impression is a ranking of its own; those of a row stand together
        self.exposure = item_exposure(rankings, model.bind(universe.candidate_grade, served.over.indptr))
        self.flat, pairs = rankings.flat, served.over.nnz
        self.given = np.zeros(pairs)
        order = np.argsort(self.row, kind="stable")
        self.start, self.size = np.empty((2, len(self.row)), dtype=np.int64)
        self.start[order], self.size[order] = rankings.item_ptr[:-1], np.diff(rankings.item_ptr)

    def add(self, impressions: NDArray[np.int64]) -> None:
        """Take in what some impressions gave."""
        pick = _segments(self.start[impressions], self.size[impressions])
        self.given += np.bincount(self.flat[pick], weights=self.exposure[pick], minlength=len(self.given))

    def trace(
        self, number: NDArray[np.int64], steps: NDArray[np.int64], groups: Mapping[str, GroupAlignment], left_out: int
    ) -> Trace:
        """Return the trace of the impressions ``number``, which count, at the steps: how many of them were served."""
        over = self.universe.over
        asked = np.zeros(len(over), dtype=np.int64)
        sums: dict[str, list[Floats]] = {name: [] for name in groups}
        loss: dict[str, list[float | None]] = {}
        for before, step in pairwise([0, *steps.tolist()]):
            self.add(number[before:step])
            asked += np.bincount(self.row[number[before:step]], minlength=len(over))
            times = asked[over.row_index]
            given, there = self.universe.spread(self.given), np.flatnonzero(asked)
            rest = np.where(times > 0, given / np.maximum(times, 1) - self.target, 0.0)
            each = np.bincount(over.row_index, weights=rest * rest, minlength=len(over))[there]
            loss.setdefault("documents, by query", []).append(float(each.mean()))
            for name, one in groups.items():
                by_query = np.square(one.totals(over.row_index, over.doc, rest, len(over))[there]).sum(axis=1)
                whole = [_total(one, over.doc, value) for value in (given, times * self.target)]
                sums[name].append(np.array(whole))
                loss.setdefault(f"{name}, by query", []).append(float(by_query.mean()))
                away = float(np.square((whole[0] - whole[1]) / step).sum())
                loss.setdefault(f"{name}, {OVERALL}", []).append(away)
        sides = [
            {
                name: dict(zip(one.groups, np.array(sums[name])[:, side].T.tolist(), strict=True))
                for name, one in groups.items()
            }
            for side in (0, 1)
        ]
        return Trace((number[steps - 1] + 1).tolist(), sides[0], sides[1], loss, left_out)


def _total(groups: GroupAlignment, docs: NDArray[np.integer], value: Floats) -> Floats:
    whole: Floats = groups.totals(np.zeros(len(docs), dtype=np.int64), docs, value, 1)[0]
    return whole


def _segments(start: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of segments one after another."""
    first = np.cumsum(size) - size
    places: NDArray[np.int64] = np.repeat(start - first, size) + np.arange(int(size.sum()))
    return places

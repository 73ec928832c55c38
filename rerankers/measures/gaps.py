r"""Where a group loss lies: in what does not cancel out over queries, in the total mass, in which groups.

With d_qg the exposure of group g in query q minus its target, the loss is the mean over Q queries of \sum_g d_qg^2:

- systematic \sum_g (mean_q d_qg)^2, and the rest, the mean squared deviation of queries from that mean;
- total mass mean_q (\sum_g d_qg)^2 / G, which no way of sharing exposure among groups changes, and the rest;
- the part of each group, mean_q d_qg^2.

Noise alone makes the systematic part about loss / Q; the mean of d_q · d_r over pairs of different queries is free of
that and may be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.decomposition import mean_squares_of_groups
from rerankers.measures.nulls import names_of
from rerankers.stats.clusters import ratio_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """How far the groups' exposure is from their targets, by judged query; blocks add up by joining.

    Attributes
    ----------
    groups
        the G names.
    units
        names of the Q queries.
    difference
        float64 (Q, G), exposure minus target.
    noise
        float64 (Q, G + 1), estimated variances of the exposure of each group and, last, of their sum, where exposure
        is a mean of draws; 0 where it is exact.
    """

    groups: tuple[str, ...]
    units: tuple[str, ...]
    difference: NDArray[np.float64]
    noise: NDArray[np.float64]

    def __add__(self, other: Gaps) -> Gaps:
        return Gaps(
            self.groups,
            (*self.units, *other.units),
            np.concatenate([self.difference, other.difference]),
            np.concatenate([self.noise, other.noise]),
        )

    def summary(self, *, seed: int, resamples: int, level: float, method: str) -> Decomposition | None:
        """Return the parts of the mean loss, None without a query.

        Intervals resample queries in the order of their names and compute each part anew (`ratio_intervals`).
        """
        order = np.argsort(np.array(self.units, dtype=np.str_), kind="stable")
        d, noise = self.difference[order], self.noise[order]
        queries, width = d.shape
        if not queries:
            return None
        loss = np.sum(d * d, axis=1) - noise[:, :-1].sum(axis=1)
        cells = np.column_stack([np.ones(queries), loss, noise[:, :-1].sum(axis=1), d])
        systematic, share = ratio_intervals(
            cells, _systematic, seed=seed, resamples=resamples, level=level, method=method
        )
        mean, mean_loss = d.mean(axis=0), float(loss.mean())
        whole = (d.sum(axis=1) ** 2 - noise[:, -1]) / max(width, 1)
        of_group = np.mean(d * d - noise[:, :-1], axis=0)
        apart = queries * queries * float(mean @ mean) - float(np.sum(d * d))
        found = float(systematic.mean or 0.0)
        return Decomposition(
            queries=queries,
            loss=mean_loss,
            systematic=found,
            systematic_interval=_pair(systematic.low, systematic.high),
            systematic_share=share.mean,
            systematic_share_interval=_pair(share.low, share.high),
            systematic_unbiased=apart / (queries * (queries - 1)) if queries > 1 else None,
            per_query=mean_loss - found,
            total_mass=float(whole.mean()),
            allocation=mean_loss - float(whole.mean()),
            groups={
                name: {
                    "loss": float(of_group[g]),
                    "share": float(of_group[g]) / mean_loss if mean_loss > 0 else None,
                    "difference": float(mean[g]),
                }
                for g, name in enumerate(self.groups)
            },
        )


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The parts of one mean group loss.

    Attributes
    ----------
    queries
        how many it is a mean over.
    loss
        the mean loss, the sum of ``systematic`` and ``per_query``, of ``total_mass`` and ``allocation``, and of the
        losses of the groups.
    systematic, systematic_share, systematic_interval, systematic_share_interval
        what does not cancel out over queries, its share of the loss (None where that is not positive), and intervals.
    systematic_unbiased
        the same free of the noise of few queries; None for one query.
    groups
        name -> ``loss``, its ``share`` of the whole, and ``difference``, mean exposure minus mean target.
    """

    queries: int
    loss: float
    systematic: float
    systematic_interval: list[float] | None
    systematic_share: float | None
    systematic_share_interval: list[float] | None
    systematic_unbiased: float | None
    per_query: float
    total_mass: float
    allocation: float
    groups: dict[str, dict[str, float | None]]

    @property
    def json(self) -> dict[str, Any]:
        """The fields by name, for ``measures.json``."""
        return {name: getattr(self, name) for name in self.__slots__}


def _systematic(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return systematic part and share, (rows, 2), of rows of sums: queries, loss, noise, differences."""
    count = cells[:, 0]
    part = np.sum((cells[:, 3:] / count[:, None]) ** 2, axis=1) - cells[:, 2] / count**2
    mean = cells[:, 1] / count
    share = np.full(len(cells), np.nan)
    np.divide(part, mean, out=share, where=mean > 0)
    return np.column_stack([part, share])


def _pair(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def gaps_of(evaluation: Evaluation, model: BrowsingModel, attribute: str, units: Sequence[str]) -> Gaps:
    """Return the gaps of the groups of an attribute under a browsing model, of the judged queries of a block."""
    judged = evaluation.query_judged
    exposure = evaluation.by_group(attribute, evaluation.exposure(model))
    difference = exposure - evaluation.by_group(attribute, evaluation.target(model))
    noise = np.zeros((len(exposure), exposure.shape[1] + 1))
    draws = evaluation.options.samples
    if evaluation.estimated(model) and not evaluation.options.force_draws and draws > 1:
        square = np.column_stack([exposure, exposure.sum(axis=1)]) ** 2
        noise = (mean_squares_of_groups(evaluation, model, attribute) - square) / (draws - 1)
    names = evaluation.groups[attribute].groups
    return Gaps(names, tuple(names_of(units, judged)), difference[judged], noise[judged])

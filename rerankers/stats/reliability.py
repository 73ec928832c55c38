"""Reliability of probabilities: whether a share p of the pairs of probability p is relevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import RESAMPLES, Interval
from rerankers.stats.clusters import check_bootstrap, cluster_index, ratio_intervals
from rerankers.stats.reliability_curve import Curve, reliability_curve
from rerankers.stats.scoring import LEAST, Decomposition, decompositions, losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """How far probabilities of some pairs can be believed. None stands where there is no pair.

    Attributes
    ----------
    pairs, clusters, weight
        pairs with any weight, their clusters (queries, unless said otherwise), and the sum of weights.
    mean_probability, rate
        weighted means of the probabilities and of the labels.
    bias
        ``mean_probability`` - ``rate``: above 0, relevance is over-estimated.
    brier, log_loss
        mean scores (log-loss in nats).
    parts
        ``brier`` and ``log_loss`` in three parts; see `rerankers.stats.scoring`.
    calibration_error
        Σ_b |Σ_{i in b} w_i (p_i - y_i)| / Σ_i w_i over bins b of equal mass: the expected calibration error, plug-in
        estimate (Naeini, Cooper and Hauskrecht 2015). It is above 0 for perfect probabilities too.
    chance_error
        about what it would be for perfect probabilities, labels independent given them:
        Σ_b sqrt(2/π Σ_{i in b} w_i² p_i (1 - p_i)) / Σ_i w_i, the mean of |X| for normal X. Only what goes beyond it is
        evidence of bad calibration.
    curve
        the bins.
    counts
        ``pairs_certain_and_wrong``: probability 0 (within 1e-12) of relevant pairs, or 1 of others.
    """

    pairs: int
    clusters: int
    weight: float
    mean_probability: float | None
    rate: float | None
    bias: Interval
    brier: Interval
    log_loss: Interval
    parts: Mapping[str, Decomposition]
    calibration_error: Interval
    chance_error: float | None
    curve: Curve
    counts: Mapping[str, int] = field(default_factory=dict)


def reliability(
    probability: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    indptr: NDArray[np.int64],
    *,
    weight: NDArray[np.float64] | None = None,
    cluster: NDArray[np.integer] | None = None,
    bins: int = BINS,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: str = "bca",
) -> Reliability:
    """Judge probabilities by labels.

    Parameters
    ----------
    probability
        float64 (nnz,), 0 to 1, from a model and a calibration that have not seen the labels.
    relevant
        bool (nnz,).
    indptr
        int64 (B + 1,), the queries; they are resampled whole. Sort them by query id.
    weight
        float64 (nnz,), at least 0, for instance the part of each document that belongs to a group; None: 1 each.
    cluster
        int (B,), queries of one code are resampled together, for instance variants of a topic; None: each by itself.
    bins
        at most this many, of about equal mass; the bins stay as they are in resamples.
    seed, resamples, level, method
        as of `mean_intervals`.

    Raises
    ------
    InputError
        for shapes that do not fit, labels that are not bool, numbers out of range, and options out of range.
    ConfigError
        for an unknown method.
    """
    check_bootstrap(resamples, level, method)
    p, y, w = _checked(probability, relevant, indptr, weight, bins)
    row_cluster, _ = cluster_index(len(indptr) - 1, cluster)
    used = w > 0
    pair_cluster = np.repeat(row_cluster, np.diff(indptr))[used]
    p, y, w = p[used], y[used], w[used]
    codes, group = np.unique(pair_cluster, return_inverse=True)
    curve, member = reliability_curve(p, y, w, group, bins, level)
    cells = _cells(p, y, w, group, member, len(codes), len(curve))
    options = {"seed": seed, "resamples": resamples, "level": level}
    bias, brier, log_loss, error = ratio_intervals(cells, _statistics, method=method, **options)  # type: ignore[arg-type]
    total = float(w.sum())
    spread = np.bincount(member, weights=w**2 * p * (1 - p), minlength=len(curve))
    wrong = int(np.sum(np.where(y, p, 1 - p) < LEAST))
    return Reliability(
        pairs=len(p),
        clusters=len(codes),
        weight=total,
        mean_probability=float(np.sum(w * p)) / total if len(p) else None,
        rate=float(np.sum(w * y)) / total if len(p) else None,
        bias=bias,
        brier=brier,
        log_loss=log_loss,
        parts=decompositions(p, y, w) if len(p) else {},
        calibration_error=error,
        chance_error=float(np.sum(np.sqrt(2 / np.pi * spread)) / total) if len(p) else None,
        curve=curve,
        counts={"pairs_certain_and_wrong": wrong} if wrong else {},
    )


def _cells(
    p: NDArray[np.float64],
    y: NDArray[np.bool_],
    w: NDArray[np.float64],
    group: NDArray[np.int64],
    member: NDArray[np.int64],
    clusters: int,
    bins: int,
) -> NDArray[np.float64]:
    """Return float64 (C, 3 + bins): sums of weights, of both losses, and of probability less label in each bin."""
    loss = losses(p, y)
    columns = [np.bincount(group, weights=w * column, minlength=clusters) for column in (np.ones(len(p)), *loss.T)]
    gaps = np.bincount(group * bins + member, weights=w * (p - y), minlength=clusters * bins)
    return np.column_stack([*columns, gaps.reshape(clusters, bins)])


def _statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return bias, Brier score, log-loss and calibration error, float64 (R, 4)."""
    weight, gaps = sums[:, :1], sums[:, 3:]
    top = np.column_stack([gaps.sum(axis=1), sums[:, 1:3], np.abs(gaps).sum(axis=1)])
    out: NDArray[np.float64] = np.full(top.shape, np.nan)
    np.divide(top, weight, out=out, where=weight > 0)
    return out


def _checked(
    probability: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    indptr: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    bins: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(relevant)
    w = np.ones(p.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if p.ndim != 1 or y.shape != p.shape or w.shape != p.shape:
        raise InputError.one(
            "probability, relevant, weight", f"shapes {p.shape}, {y.shape}, {w.shape}", "equal, (nnz,)"
        )
    if y.dtype != np.bool_:
        raise InputError.one("relevant", str(y.dtype), "bool", mend="Compare grades with a threshold first.")
    if not np.all((p >= 0) & (p <= 1)):
        raise InputError.one("probability", f"{np.sum(~((p >= 0) & (p <= 1)))} out of range", "numbers from 0 to 1")
    if not np.isfinite(w.sum()) or w.min(initial=0.0) < 0:
        raise InputError.one("weight", "weights that are negative or not finite", "numbers from 0, of finite sum")
    if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(p) or np.any(np.diff(indptr) < 0):
        raise InputError.one("indptr", "rows that do not cut the pairs", f"bounds from 0 up to {len(p)}")
    if bins < 1:
        raise InputError.one("bins", str(bins), "at least 1")
    return p, y, w

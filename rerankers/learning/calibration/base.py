"""What every calibration is: a spec that fits a monotone map from scores to probabilities of relevance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.policies.logits import zscore
from rerankers.stats.scoring import LEAST  # policies and losses take logarithms of p and 1 - p

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Calibrator(Protocol):
    """A fitted map: never falling with the score, and strictly between 0 and 1."""

    kind: ClassVar[str]

    @property
    def counts(self) -> Mapping[str, int]:
        """What the fit met, for instance ``relevant_pairs``; empty in a calibrator that was read back."""
        ...

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of relevance of each pair, float64 (nnz,), from `LEAST` to 1 - `LEAST`.

        Parameters
        ----------
        scores
            float64 (nnz,), finite.
        indptr
            int64 (B + 1,), the rows; needed by a calibrator that was fitted per query, otherwise not looked at.
        """
        ...

    def to_plain(self) -> dict[str, Any]:
        """Return text, numbers and lists of numbers, for YAML or JSON; `calibrator_from_plain` reads them back."""
        ...


class Calibration(Protocol):
    """A spec; its dataclass fields are the options of ``conf/calibration/<name>.yaml``."""

    def fit(
        self,
        scores: NDArray[np.float64],
        relevant: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
        *,
        indptr: NDArray[np.int64] | None = None,
    ) -> Calibrator | None:
        """Fit a calibrator; None where the spec says that scores are not calibrated.

        The scores must come from a model that has not seen these pairs (`rerankers.learning.cross_fit`): on its own
        training pairs every model looks surer than it is.

        Parameters
        ----------
        scores
            float64 (nnz,), finite.
        relevant
            bool (nnz,).
        weight
            float64 (nnz,), at least 0; None: 1 each. Pairs of weight 0 take part in nothing but the standardisation
            within queries: give it to candidates that nobody judged.
        indptr
            int64 (B + 1,), the rows; needed by ``per_query``.

        Raises
        ------
        InputError
            for shapes that do not fit, labels that are not bool, numbers that are not finite, and no pair at all.
        ConfigError
            for ``per_query`` without rows.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """What calibrations look at: the distinct scores. Hence no fit depends on the order of pairs.

    Attributes
    ----------
    score
        float64 (m,), ascending, m at least 1.
    total, positive
        float64 (m,), the weight of all pairs (positive) and of relevant pairs at each score.
    counts
        what was met.
    """

    score: NDArray[np.float64]
    total: NDArray[np.float64]
    positive: NDArray[np.float64]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class PerQuery:
    """A calibrator of scores that are standardised within each query first."""

    inner: Calibrator
    kind: ClassVar[str] = "per_query"

    @property
    def counts(self) -> Mapping[str, int]:
        """Of the calibrator within."""
        return self.inner.counts

    def probabilities(
        self, scores: NDArray[np.float64], indptr: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return probabilities; see `Calibrator.probabilities`."""
        values = finite_scores(scores)
        return self.inner.probabilities(zscore(_rows(indptr, len(values)), values))

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters; see `Calibrator.to_plain`."""
        return {"kind": self.kind, "inner": self.inner.to_plain()}


Fit = Callable[[Pooled], Calibrator]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Checked pairs of positive weight."""

    score: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    weight: NDArray[np.float64]
    counts: dict[str, int] = field(default_factory=dict)


def fitted(
    fit: Fit,
    per_query: bool,
    scores: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    indptr: NDArray[np.int64] | None,
) -> Calibrator:
    """Check the pairs, standardise their scores where asked to, pool equal ones and fit."""
    values = finite_scores(scores)
    if per_query:
        values = zscore(_rows(indptr, len(values)), values)
    calibrator = fit(_pooled(_checked(values, relevant, weight)))
    return PerQuery(calibrator) if per_query else calibrator


def finite_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores as float64 (nnz,).

    Raises
    ------
    InputError
        for another shape and numbers that are not finite.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise InputError.one("scores", f"shape {values.shape}", "one number a pair, shape (nnz,)")
    if not np.all(np.isfinite(values)):
        raise InputError.one("scores", f"{np.sum(~np.isfinite(values))} that are not finite", "finite numbers")
    return values


def within(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that are neither 0 nor 1."""
    return np.clip(probability, LEAST, 1.0 - LEAST)


def _rows(indptr: NDArray[np.int64] | None, pairs: int) -> NDArray[np.int64]:
    if indptr is None:
        raise ConfigError("calibration.per_query: found true, without rows; expected indptr, the bounds of queries")
    if indptr[0] != 0 or indptr[-1] != pairs or np.any(np.diff(indptr) < 0):
        raise InputError.one("indptr", f"rows over {indptr[-1]} pairs", f"rows that cut {pairs} pairs, from 0 up")
    return indptr


def _checked(values: NDArray[np.float64], relevant: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> _Pairs:
    labels = np.asarray(relevant)
    if labels.dtype != np.bool_:
        raise InputError.one("relevant", str(labels.dtype), "bool", mend="Compare grades with a threshold first.")
    weights = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    for name, found in (("relevant", labels.shape), ("weight", weights.shape)):
        if found != values.shape:
            raise InputError.one(name, f"shape {found}", f"shape {values.shape}, as the scores")
    if not np.isfinite(weights.sum()) or weights.min(initial=0.0) < 0:
        raise InputError.one("weight", "weights that are negative or not finite", "numbers from 0, of finite sum")
    used = weights > 0
    counts = {"pairs": int(used.sum()), "relevant_pairs": int(labels[used].sum())}
    if not counts["pairs"]:
        mend = "Judge some pairs, or take calibration=none."
        raise InputError.one("calibration", "no pair to calibrate on", "at least one", mend=mend)
    if used.sum() < len(used):
        counts["pairs_of_weight_zero"] = int(len(used) - used.sum())
    if counts["relevant_pairs"] in (0, counts["pairs"]):
        counts["labels_all_equal"] = 1
    return _Pairs(values[used], labels[used], weights[used], counts)


def _pooled(pairs: _Pairs) -> Pooled:
    order = np.lexsort((pairs.weight, pairs.relevant, pairs.score))  # equal sums for every order of the pairs
    ranked, weight = pairs.score[order] + 0.0, pairs.weight[order]  # -0.0 is 0.0
    starts = np.concatenate([[0], np.nonzero(ranked[1:] != ranked[:-1])[0] + 1])
    positive = np.add.reduceat(weight * pairs.relevant[order], starts)
    counts = pairs.counts | ({"scores_all_equal": 1} if len(starts) == 1 else {})
    return Pooled(ranked[starts], np.add.reduceat(weight, starts), positive, counts)

r"""The terms of an additive model: of each feature, its z-score within the query and hinges.

Of a feature x that differs within some training query, the line is the z-score within the query, cut at ``clip``, and
0 where x is missing; a hinge is max(x - knot, 0), the training mean of that where x is missing, less its mean over the
documents of the query. So every term compares the documents of one query, and a curve that means the same in all of
them is added: the z-score says how x stands among the others, the hinges what x is. A feature that is equal for all
documents of every training query (the number of candidates, say) cannot order documents, but tells queries apart: its
z-score is that among the training pairs, and its hinges are not centred.

At last every term is standardised by the training pairs, so that one penalty fits all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError, Problem
from rerankers.exposure.rows import row_sums
from rerankers.features.relative import within_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST: Final = 8
"""Distinct values that a feature with hinges has at least: few values need no curve."""
_LARGEST: Final = 1e100  # of a feature: what is beyond cannot be squared and added up
_FLAT: Final = 1e-12  # a term whose deviation is below this share of its size is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What is known of one feature.

    Attributes
    ----------
    level
        whether it was equal for all documents of every training query.
    mean, deviation
        of its known values in training; the deviation is 0 where they are all equal or there is none.
    knots, fill
        float64 (H,): where the hinges begin, ascending, and their training means, which stand for a missing value.
    centre, inverse
        float64 (1 + H,): of the line and each hinge, the training mean and 1 / standard deviation, 0 for a term that
        did not vary.
    """

    level: bool
    mean: float
    deviation: float
    knots: NDArray[np.float64]
    fill: NDArray[np.float64]
    centre: NDArray[np.float64]
    inverse: NDArray[np.float64]

    @property
    def terms(self) -> int:
        """1 + H."""
        return 1 + len(self.knots)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The curves of F features, and where z-scores are cut."""

    curves: tuple[Curve, ...]
    clip: float

    @classmethod
    def learn(
        cls,
        features: NDArray[np.float64],
        indptr: NDArray[np.int64],
        names: Sequence[str],
        quantiles: NDArray[np.float64],
        clip: float,
    ) -> Terms:
        """Learn the curves' places from training pairs; no grade enters.

        Parameters
        ----------
        features
            (nnz, F), NaN where a value is missing.
        indptr
            int64 (B + 1,), the rows.
        names
            F names, for messages.
        quantiles
            float64 (H,), of the knots.
        clip
            where z-scores are cut.

        Raises
        ------
        InputError
            naming every feature that is too large.
        """
        largest = np.max(np.abs(features), axis=0, initial=0.0, where=~np.isnan(features))
        wrong = np.flatnonzero(largest > _LARGEST)
        if len(wrong):
            raise InputError(
                Problem(
                    f"feature {names[at]}", f"{largest[at]:g}", f"at most {_LARGEST:g}", mend="Rescale the feature."
                )
                for at in wrong.tolist()
            )
        return cls(tuple(_learn(column, indptr, quantiles, clip) for column in features.T), clip)

    @property
    def size(self) -> int:
        """The number of all terms."""
        return sum(curve.terms for curve in self.curves)

    def __call__(self, features: NDArray[np.float64], indptr: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        """Yield the standardised terms, float64 (nnz,) each, feature by feature; bits of a row depend on it alone.

        Raises
        ------
        InputError
            for another shape, infinite values and values beyond all bounds.
        """
        if features.shape != (indptr[-1], len(self.curves)):
            raise InputError.one("features", f"shape {features.shape}", f"({indptr[-1]}, {len(self.curves)})")
        if np.any(np.abs(features) > _LARGEST):
            raise InputError.one("features", f"values beyond {_LARGEST:g}", "numbers as in training, or NaN")
        for curve, column in zip(self.curves, features.T, strict=True):
            raw = _raw(column, indptr, curve, self.clip)
            for term, centre, inverse in zip(raw, curve.centre, curve.inverse, strict=True):
                yield (term - centre) * inverse


def _learn(
    column: NDArray[np.float64], indptr: NDArray[np.int64], quantiles: NDArray[np.float64], clip: float
) -> Curve:
    known = np.sort(column[~np.isnan(column)])
    mean = float(known.mean()) if len(known) else 0.0
    deviation = float(known.std()) if len(known) and known[-1] > known[0] else 0.0
    knots = np.empty(0)
    if np.sum(known[1:] > known[:-1]) + 1 >= FEWEST and len(quantiles):
        knots = np.unique(np.quantile(known, quantiles))
    fill = np.array([np.maximum(known - knot, 0.0).mean() for knot in knots])
    size = 1 + len(knots)
    level = _equal_within(column, indptr)
    curve = Curve(level, mean, deviation, knots, fill, np.zeros(size), np.ones(size))
    centre, inverse = np.zeros(size), np.zeros(size)
    for place, term in enumerate(_raw(column, indptr, curve, clip)):
        centre[place] = term.mean()
        spread = term.std()
        if spread > _FLAT * max(abs(centre[place]), float(np.abs(term).max()), 1e-100):
            inverse[place] = 1.0 / spread
    return Curve(level, mean, deviation, knots, fill, centre, inverse)


def _equal_within(column: NDArray[np.float64], indptr: NDArray[np.int64]) -> bool:
    held = np.where(np.isnan(column), np.inf, column)
    starts = indptr[:-1][np.diff(indptr) > 0]
    return bool(np.all(np.maximum.reduceat(held, starts) == np.minimum.reduceat(held, starts)))


def _raw(
    column: NDArray[np.float64], indptr: NDArray[np.int64], curve: Curve, clip: float
) -> Iterator[NDArray[np.float64]]:
    """Yield the line and the hinges of one feature before they are standardised."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    missing = np.isnan(column)
    if curve.level:
        scale = curve.deviation if curve.deviation > 0 else 1.0
        line = (column - curve.mean) / scale
    else:
        line = within_query(column, row, len(lengths), ["zscore"])["zscore"]
    yield np.clip(np.where(missing, 0.0, line), -clip, clip)
    for knot, fill in zip(curve.knots, curve.fill, strict=True):
        hinge = np.where(missing, fill, np.maximum(column - knot, 0.0))
        yield hinge if curve.level else hinge - (row_sums(hinge, indptr) / np.maximum(lengths, 1))[row]

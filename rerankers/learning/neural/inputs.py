"""What a network sees of features: standardised by the training rows, missing values marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """A map from F features to the inputs of a network: standardised features, then indicators of missing ones.

    A value becomes (value - mean) / deviation. A missing value becomes 0, the mean of training, whether or not the
    feature was ever missing there; and each feature that was missing in some training pairs and known in others has an
    indicator, 1 where it is missing. A feature without two different values in training is 0 everywhere.

    Attributes
    ----------
    mean
        float64 (F,), over the known values of training; 0 where there was none.
    inverse
        float64 (F,), 1 / standard deviation (of the population); 0 for a feature that was constant or never known.
    marked
        int64 (M,), the features that have an indicator, ascending.
    """

    mean: NDArray[np.float64]
    inverse: NDArray[np.float64]
    marked: NDArray[np.int64]

    @classmethod
    def learn(cls, features: NDArray[np.float64], names: Sequence[str]) -> Inputs:
        """Learn the map from training pairs (nnz, F), NaN where a value is missing.

        Raises
        ------
        InputError
            naming every feature whose values are too large or too close for its deviation to be a number.
        """
        known = ~np.isnan(features)
        count = known.sum(axis=0)
        held = np.where(known, features, 0.0)
        low = np.where(known, features, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, features, -np.inf).max(axis=0, initial=-np.inf)
        varied = high > low
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            mean = np.where(count > 0, held.sum(axis=0) / np.maximum(count, 1), 0.0)
            square = np.where(known, features - mean, 0.0) ** 2
            inverse = np.where(varied, 1.0 / np.sqrt(square.sum(axis=0) / np.maximum(count, 1)), 0.0)
        wrong = np.flatnonzero(~np.isfinite(mean) | ~np.isfinite(inverse) | (varied & (inverse == 0.0)))
        if len(wrong):
            raise InputError(
                Problem(
                    f"feature {names[int(column)]}",
                    f"values from {low[column]:g} to {high[column]:g}",
                    "values whose standard deviation is a number between 1e-150 and 1e150",
                    mend="Rescale the feature.",
                )
                for column in wrong
            )
        return cls(mean, inverse, np.flatnonzero((count > 0) & (count < len(features))))

    @property
    def features(self) -> int:
        """F, the features that go in."""
        return len(self.mean)

    @property
    def width(self) -> int:
        """F + M, the columns that come out."""
        return len(self.mean) + len(self.marked)

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inputs of pairs (n, F): float64 (n, F + M), finite.

        Raises
        ------
        InputError
            for another number of features, infinite values, and values so far from training's that the standardised
            ones are no numbers.
        """
        if features.ndim != 2 or features.shape[1] != self.features:
            raise InputError.one("features", f"shape {features.shape}", f"(pairs, {self.features}), as in training")
        missing = np.isnan(features)
        out = np.empty((len(features), self.width))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            # A feature that was constant is 0 whatever it is now: its values do not enter.
            held = np.where(missing | (self.inverse == 0.0), 0.0, (features - self.mean) * self.inverse)
        if not np.all(np.isfinite(held)) or np.isinf(features).any():
            raise InputError.one("features", "values that are infinite or beyond all of training", "finite numbers")
        out[:, : self.features] = held
        out[:, self.features :] = missing[:, self.marked]
        return out

    def newly_missing(self, features: NDArray[np.float64]) -> int:
        """Count missing values of features that were never missing in training: nothing tells the network of them."""
        silent = np.ones(self.features, dtype=bool)
        silent[self.marked] = False
        return int(np.isnan(features[:, silent & (self.inverse > 0)]).sum())

    def counts(self, features: NDArray[np.float64]) -> dict[str, int]:
        """Return what was odd in the training pairs that this map was learnt from."""
        never = int(np.isnan(features).all(axis=0).sum()) if len(features) else 0
        return {
            "features_constant": int((self.inverse == 0.0).sum()) - never,
            "features_always_missing": never,
            "features_with_missing_values": len(self.marked),
            "missing_values": int(np.isnan(features).sum()),
        }

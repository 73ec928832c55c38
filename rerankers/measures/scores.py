"""The values of one measure for every unit, each with the reason why it is missing if it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

REASONS = (
    "query_not_judged",
    "no_relevant_document",
    "no_ranked_document",
    "no_groups",
    "too_few_draws",
    "no_value_under_shuffled_labels",
    "no_labels",
    "unlabelled_document",
    "mixed_labels",
    "fewer_than_two_groups",
    "one_value_in_pool",
    "no_neutral_background",
    "no_group_words",
    "undefined_for_query",
    "fewer_ranks_than_step",
)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Values with reasons.

    Attributes
    ----------
    value
        float64 (B,), NaN where there is none.
    reason
        int8 (B,), index into `REASONS` where there is no value, else -1.
    """

    value: NDArray[np.float64]
    reason: NDArray[np.int8]

    @classmethod
    def of(cls, value: NDArray[np.float64], *missing: tuple[str, NDArray[np.bool_] | bool]) -> Scores:
        """Take values away where a (reason, mask) pair says so; the first reason that holds is kept.

        Parameters
        ----------
        value
            float64 (B,); anything, even NaN, where a mask holds.
        *missing
            a word of `REASONS` and a mask (B,), or one bool for all units.
        """
        return cls(value, np.full(len(value), -1, dtype=np.int8)).where(*missing)

    def where(self, *missing: tuple[str, NDArray[np.bool_] | bool]) -> Scores:
        """Take more values away, as `of` does; reasons that are there stay."""
        reason = self.reason.copy()
        for name, mask in missing:
            reason[(reason < 0) & mask] = REASONS.index(name)
        return Scores(np.where(reason < 0, self.value, np.nan), reason)

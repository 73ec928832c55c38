"""One query with documents of unknown group: what every completion has in common, and what each choice adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """The known part of one query, and its documents of unknown group.

    Attributes
    ----------
    base_left, base_right
        float64 (G,), group sums of the known part.
    left, right
        float64 (n,), what each unknown document adds to the group that it is given.
    none
        whether a document may also belong to none of the groups (choice G).
    """

    base_left: NDArray[np.float64]
    base_right: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    none: bool

    @property
    def squares(self) -> bool:
        """Whether left and right are the same throughout."""
        return self.left is self.right and self.base_left is self.base_right

    @property
    def groups(self) -> int:
        """Number of groups G."""
        return len(self.base_left)

    @property
    def choices(self) -> int:
        """Number of choices that each unknown document has."""
        return self.groups + self.none

    def sums(self, choice: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the group sums of a completion, float64 (G,) each."""
        width = self.groups + 1
        left = np.bincount(choice, weights=self.left, minlength=width)[: self.groups]
        right = np.bincount(choice, weights=self.right, minlength=width)[: self.groups]
        return self.base_left + left, self.base_right + right

    def value(self, choice: NDArray[np.integer]) -> float:
        """Return the measure under a completion, int (n,) of choices."""
        left, right = self.sums(choice)
        return float(left @ right)


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """The least or the greatest value over all completions of a query, as far as it is known.

    Attributes
    ----------
    bound
        no completion is beyond it (up to rounding, about 1e-12 of the scale).
    found
        the value of a completion; equal to ``bound`` where the extreme is known exactly.
    choice
        int64 (n,), that completion.
    """

    bound: float
    found: float
    choice: NDArray[np.int64]

    @classmethod
    def exactly(cls, problem: Incomplete, choice: NDArray[np.integer]) -> Extreme:
        """Return a completion that is known to be extreme."""
        value = problem.value(choice)
        return cls(value, value, np.asarray(choice, dtype=np.int64))

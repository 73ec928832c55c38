"""What a fit has done so far, as a value: an iteration is there as a whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rerankers.learning.learner import Point


@dataclass(frozen=True, slots=True)
class History:
    """Iterations of a fit.

    Attributes
    ----------
    split
        of every iteration: whether each member found a split.
    curve
        what was measured.
    """

    split: tuple[tuple[bool, ...], ...] = ()
    curve: tuple[Point, ...] = ()

    @property
    def iterations(self) -> int:
        """How many are done."""
        return len(self.split)

    @property
    def idle(self) -> int:
        """In how many some member found no split."""
        return sum(not all(found) for found in self.split)

    def plus(self, split: tuple[bool, ...], point: Point | None) -> History:
        """Return the history with one more iteration."""
        return History((*self.split, split), self.curve if point is None else (*self.curve, point))

    def first(self, iterations: int) -> History:
        """Return the first so many iterations."""
        curve = tuple(point for point in self.curve if point.iteration <= iterations)
        return replace(self, split=self.split[:iterations], curve=curve)

    def trees(self, member: int, iterations: int) -> int:
        """Return how many trees a member has after so many iterations.

        LightGBM drops a tree without a split, but for the first of all.
        """
        found = [flags[member] for flags in self.split[:iterations]]
        return sum(found) + int(bool(found) and not found[0])

    @property
    def best(self) -> int:
        """The iteration with the least monitor, the first of several; the last where there is no monitor."""
        looked = [(point.values["monitor"], point.iteration) for point in self.curve if "monitor" in point.values]
        return min(looked)[1] if looked else self.iterations

    def stale(self, patience: int | None) -> bool:
        """Say whether there was no new best for so many iterations."""
        return patience is not None and self.iterations - self.best >= patience

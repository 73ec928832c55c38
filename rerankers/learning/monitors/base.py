"""What a monitor may tell besides the number that is minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rerankers.learning.learner import Monitor


@dataclass(frozen=True, slots=True)
class Reading:
    """What a monitor sees at some scores.

    Attributes
    ----------
    value
        what early stopping minimises.
    parts
        more numbers for the curve, by name.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Recording(Protocol):
    """A monitor that sees several numbers. Any function of scores is a monitor; this one fills the curve as well.

    ``key`` names the monitor by content, so that checkpoints know whether it is the same.
    """

    @property
    def key(self) -> str:
        """Equal for equal monitors."""
        ...

    def __call__(self, scores: NDArray[np.float64]) -> float:
        """Return the number to be minimised."""
        ...

    def read(self, scores: NDArray[np.float64]) -> Reading:
        """Return that number and the others."""
        ...


def reading(monitor: Monitor, scores: NDArray[np.float64]) -> Reading:
    """Return what any monitor sees at scores, float64 (nnz,)."""
    if isinstance(monitor, Recording):
        return monitor.read(scores)
    return Reading(float(monitor(scores)))

"""A browsing model as arrays over a block, and what every model's spec offers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import gain_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Browsing:
    """A browsing model bound to the documents of a block.

    The document at 0-based rank r of ranking y is seen with probability
    ``position[r] * continuation[y[0]] * ... * continuation[y[r - 1]]``.

    Attributes
    ----------
    position
        float64 (K,), not increasing, K the length of the longest row; None where every rank has weight 1.
    continuation
        float64 (nnz,) in [0, 1], the probability of going on past a document, patience included.
    satisfaction
        float64 (nnz,), what a look at a document is worth: utility is the sum of exposure times satisfaction.
        Not a number where the model was bound without grades.
    """

    position: NDArray[np.float64] | None
    continuation: NDArray[np.float64]
    satisfaction: NDArray[np.float64]


class BrowsingModel(Protocol):
    """What every spec offers. Specs are frozen and hashable; ``str()`` is their form in reports and metadata."""

    @property
    def needs_grades(self) -> bool:
        """Whether browsing depends on the grades of documents."""
        ...

    def completed(self, grades: ArrayLike) -> Self:
        """Return the spec with what it takes from the grades of a whole collection filled in."""
        ...

    def bind(self, grades: ArrayLike | None, indptr: NDArray[np.int64]) -> Browsing:
        """Return the arrays for a block: grades (nnz,), negative ones counting as 0, and indptr (B + 1,)."""
        ...


class Model:
    """What the specs share: binding, from the continuation of documents and the weight of ranks."""

    __slots__ = ()
    word: ClassVar[str]

    @property
    def needs_grades(self) -> bool:
        """Whether browsing depends on the grades of documents."""
        return False

    def completed(self, grades: ArrayLike) -> Self:
        """Return the spec with what it takes from the grades of a whole collection filled in."""
        return self

    def bind(self, grades: ArrayLike | None, indptr: NDArray[np.int64]) -> Browsing:
        """Return the arrays for a block.

        Parameters
        ----------
        grades
            (nnz,), negative ones count as 0; None where there are none.
        indptr
            int64 (B + 1,), the rows.

        Raises
        ------
        ValueError
            when the model needs grades and there are none, when there are not nnz of them, or one is not a number.
        """
        size = int(indptr[-1])
        if grades is None and self.needs_grades:
            raise InputError.one("grades", "none", f"one a document, which {self} needs")
        gain = None if grades is None else gain_array(grades, size)
        continuation = self._continuation(size, gain)
        satisfaction = np.full(size, np.nan) if gain is None else self._satisfaction(gain)
        return Browsing(self._position(int(np.diff(indptr).max(initial=0))), continuation, satisfaction)

    def _continuation(self, size: int, gain: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.ones(size)

    def _satisfaction(self, gain: NDArray[np.float64]) -> NDArray[np.float64]:
        return (gain > 0).astype(np.float64)

    def _position(self, longest: int) -> NDArray[np.float64] | None:
        cutoff: int | None = getattr(self, "cutoff", None)
        return None if cutoff is None else (np.arange(longest) < cutoff).astype(np.float64)

    def __str__(self) -> str:
        spec: Any = self
        named = [(item.name, getattr(self, item.name)) for item in fields(spec)]
        return f"{self.word}({', '.join(f'{name}={value}' for name, value in named if value is not None)})"

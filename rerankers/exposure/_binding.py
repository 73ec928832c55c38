"""A browsing model as arrays over a block, and what every model's spec offers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import gain_array, row_grades, shown

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


def check_model(browsing: BrowsingModel) -> None:
    """Raise `InputError` unless ``browsing`` is a spec: no word, no class, no arrays."""
    if isinstance(browsing, type) or not callable(getattr(browsing, "bind", None)):
        found = f"the class {browsing.__name__}" if isinstance(browsing, type) else shown(browsing)
        raise InputError.one("browsing", found, "a browsing model such as RBP(0.8)")


def bound_to_row(browsing: BrowsingModel, size: int, grades: ArrayLike | None) -> Browsing:
    """Return a model bound to a single row of ``size`` documents, completed by its grades where there are some.

    Raises
    ------
    ValueError
        for anything but a browsing model, and as `Model.bind`.
    """
    check_model(browsing)
    indptr = np.array([0, size], dtype=np.int64)
    if grades is None:
        return browsing.bind(None, indptr)
    known = row_grades(grades)
    return browsing.completed(known).bind(known, indptr)


def check_bound(browsing: Browsing, size: int) -> None:
    """Raise `InputError` unless a model is bound to ``size`` documents."""
    if browsing.continuation.shape != (size,):
        found = f"a model bound to {len(browsing.continuation)} documents"
        raise InputError.one("browsing", found, f"one bound to the {size} documents of the rows")


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

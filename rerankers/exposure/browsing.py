"""How users look at a ranking: small hashable specs, bound to a block of queries as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure._binding import Browsing, BrowsingModel, Model
from rerankers.exposure.checks import (
    check_probability,
    check_rank,
    continuation_array,
    float_array,
    position_array,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DCG",
    "ERR",
    "GERR",
    "MODELS",
    "RBP",
    "Browsing",
    "BrowsingModel",
    "Cascade",
    "Positions",
    "TopKSet",
    "TrecDiscount",
]


_HIGHEST = int(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class RBP(Model):
    """Rank-biased precision (Moffat & Zobel 2008): users go on with probability ``patience`` in [0, 1]."""

    patience: float = 0.5
    cutoff: int | None = None
    word: ClassVar[str] = "rbp"

    def __post_init__(self) -> None:
        check_probability("patience", self.patience)
        check_rank("cutoff", self.cutoff)

    def _continuation(self, size: int, gain: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.full(size, float(self.patience))


@dataclass(frozen=True, slots=True)
class GERR(Model):
    """Cascade browsing with a binary stop (Diaz et al. 2020): a relevant document may end the search.

    Continuation is p (1 - u) after a document of grade > 0 and p after others, p the patience, u the satisfaction.
    """

    patience: float = 0.5
    satisfaction: float = 0.5
    cutoff: int | None = None
    word: ClassVar[str] = "gerr"

    def __post_init__(self) -> None:
        check_probability("patience", self.patience)
        check_probability("satisfaction", self.satisfaction)
        check_rank("cutoff", self.cutoff)

    @property
    def needs_grades(self) -> bool:
        """Whether browsing depends on the grades of documents."""
        return True

    def _continuation(self, size: int, gain: NDArray[np.float64] | None) -> NDArray[np.float64]:
        stop = np.zeros(size) if gain is None else self._satisfaction(gain)
        return self.patience * (1.0 - stop)

    def _satisfaction(self, gain: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(gain > 0, float(self.satisfaction), 0.0)


@dataclass(frozen=True, slots=True)
class ERR(Model):
    """Expected reciprocal rank (Chapelle et al. 2009): a document of grade g satisfies with R = (2^g - 1) / 2^max.

    Continuation is patience (1 - R). ``max_grade`` is the highest grade of the scale; `completed` takes it from
    the grades of the whole collection where it is None.
    """

    patience: float = 1.0
    max_grade: int | None = None
    cutoff: int | None = None
    word: ClassVar[str] = "err"

    def __post_init__(self) -> None:
        check_probability("patience", self.patience)
        check_rank("max_grade", self.max_grade)
        if self.max_grade is not None and self.max_grade > _HIGHEST:
            raise ConfigError("max_grade: found a number beyond 1.8e308; expected one that float64 holds")
        check_rank("cutoff", self.cutoff)

    @property
    def needs_grades(self) -> bool:
        """Whether browsing depends on the grades of documents."""
        return True

    def completed(self, grades: ArrayLike) -> ERR:
        """Return the spec with ``max_grade``, if None, set to the highest of these grades (at least 1)."""
        if self.max_grade is not None:
            return self
        highest = np.max(float_array("grades", grades), initial=0.0)
        if not np.isfinite(highest):
            raise InputError.one("grades", f"a grade that is {highest}", "finite grades")
        return replace(self, max_grade=max(1, int(np.ceil(highest))))

    def _continuation(self, size: int, gain: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return self.patience * (1.0 - self._satisfaction(np.zeros(size) if gain is None else gain))

    def _satisfaction(self, gain: NDArray[np.float64]) -> NDArray[np.float64]:
        # The maximum of a block would make results depend on which queries share it.
        if self.max_grade is None:
            raise InputError.one(
                "max_grade",
                "none",
                "the highest grade of the scale",
                mend="Set it, or call completed() with all grades.",
            )
        if np.any(gain > self.max_grade):
            raise InputError.one("grades", f"grade {gain.max():g}", f"at most max_grade={self.max_grade}")
        stop: NDArray[np.float64] = np.exp2(gain - self.max_grade) - np.exp2(-float(self.max_grade))
        return stop


@dataclass(frozen=True, slots=True)
class DCG(Model):
    """Attention 1 / log2(r + 2) at 0-based rank r (Järvelin & Kekäläinen 2002)."""

    cutoff: int | None = None
    word: ClassVar[str] = "dcg"

    def __post_init__(self) -> None:
        check_rank("cutoff", self.cutoff)

    def _position(self, longest: int) -> NDArray[np.float64]:
        rank = np.arange(longest)
        weight = 1.0 / np.log2(rank + 2.0)
        return weight if self.cutoff is None else np.where(rank < self.cutoff, weight, 0.0)


@dataclass(frozen=True, slots=True)
class TrecDiscount(Model):
    """Attention 1 / log2(max(rank, 2)), the same at ranks 1 and 2: the TREC Fair Ranking tracks of 2021 and 2022."""

    cutoff: int | None = None
    word: ClassVar[str] = "wptrec"

    def __post_init__(self) -> None:
        check_rank("cutoff", self.cutoff)

    def _position(self, longest: int) -> NDArray[np.float64]:
        rank = np.arange(longest)
        weight = 1.0 / np.log2(np.maximum(rank + 1.0, 2.0))
        return weight if self.cutoff is None else np.where(rank < self.cutoff, weight, 0.0)


@dataclass(frozen=True, slots=True)
class Positions(Model):
    """Given attention by rank, not increasing, at least 0 and below 1e150; 0 beyond the last weight."""

    weights: tuple[float, ...]
    word: ClassVar[str] = "positions"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(position_array("weights", self.weights).tolist()))

    def _position(self, longest: int) -> NDArray[np.float64]:
        return _fit(np.array(self.weights), longest)


@dataclass(frozen=True, slots=True)
class TopKSet(Model):
    """The first ``k`` documents are taken as a set: each is seen, no other is."""

    k: int
    word: ClassVar[str] = "topk_set"

    def __post_init__(self) -> None:
        check_rank("k", self.k, optional=False)

    def _position(self, longest: int) -> NDArray[np.float64]:
        return (np.arange(longest) < self.k).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Cascade(Model):
    """Given continuation of every document (patience included) and, if any, weights of ranks. Equal by identity.

    ``continuation`` is an array (nnz,) in [0, 1] aligned with the block that is bound; ``position`` as in `Positions`.
    """

    continuation: NDArray[np.float64]
    position: NDArray[np.float64] | None = None
    cutoff: int | None = None
    word: ClassVar[str] = "cascade"

    def __post_init__(self) -> None:
        object.__setattr__(self, "continuation", continuation_array(self.continuation))
        if self.position is not None:
            object.__setattr__(self, "position", position_array("position", self.position))
        check_rank("cutoff", self.cutoff)

    def _continuation(self, size: int, gain: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if len(self.continuation) != size:
            raise InputError.one("continuation", f"{len(self.continuation)} values", f"{size}, one a document")
        return self.continuation

    def _position(self, longest: int) -> NDArray[np.float64] | None:
        if self.position is None:
            return Model._position(self, longest)
        weight = _fit(self.position, longest)
        return weight if self.cutoff is None else np.where(np.arange(longest) < self.cutoff, weight, 0.0)

    def __str__(self) -> str:
        cut = "" if self.cutoff is None else f", cutoff={self.cutoff}"
        return f"cascade({len(self.continuation)} documents{cut})"


MODELS: dict[str, type[Model]] = {model.word: model for model in (GERR, RBP, ERR, DCG, Positions, TopKSet)}
"""The words configs use."""


def _fit(weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    out = np.zeros(size)
    out[: len(weights)] = weights[:size]
    return out

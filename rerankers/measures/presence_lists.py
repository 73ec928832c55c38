"""Label lists taken apart: which group each document is of, and the weights of its ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import check_bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEUTRAL: Final = "neutral"
GENDERS: Final = ("male", "female")
SHORT: Final = {"N": NEUTRAL, "M": "male", "F": "female"}
LIST_FIELDS: Final = ("cwex", "neutral", "unknown", "gap", "spread", "lo", "hi", "present", "rescaled", "reason")
_NO_LABEL: Final = -1


def log_weights(n: int) -> Floats:
    """Return 1 / log2(1 + i) for the ranks i = 1..n, float64 (n,) (Järvelin & Kekäläinen 2002)."""
    weights: Floats = 1.0 / np.log2(np.arange(2, n + 2, dtype=np.float64))
    return weights


def arab_weights(n: int) -> Floats:
    """Return (1/n) Σ_{x=i..n} 1/x for the ranks i = 1..n, which sum to 1: float64 (n,).

    The mean over t = 1..n of the means of the first t values is their sum under these weights (Rekabsaz & Schedl 2020).
    """
    harmonic = 1.0 / np.arange(1, n + 1, dtype=np.float64)
    weights: Floats = np.cumsum(harmonic[::-1])[::-1] / max(n, 1)
    return weights


def depth(k: int | None, length: int, name: str = "k") -> int:
    """Return how many documents count: min(k, length); all of them for None.

    Raises
    ------
    InputError
        for a k that is no whole number of at least 1.
    """
    if k is None:
        return length
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError.one(name, repr(k), "a whole number of at least 1, or None for the whole list")
    return min(int(k), length)


def check_share(name: str, value: float) -> float:
    """Return a number from 0 to 1; InputError for another."""
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise InputError.one(name, repr(value), "a number from 0 to 1")
    return number


@dataclass(frozen=True, slots=True)
class Groups:
    """The names that labels may have.

    Attributes
    ----------
    names
        the G groups but the neutral one.
    codes
        label as written -> 0 for neutral, 1 + place for a group.
    """

    names: tuple[str, ...]
    codes: Mapping[str, int]

    @classmethod
    def of(cls, groups: Sequence[str] | None) -> Groups:
        """Build from names, or the two genders for None. N is short for neutral; M and F for male and female.

        Raises
        ------
        InputError
            for fewer than two groups, repeated names, and names that results use for other things.
        """
        names = GENDERS if groups is None else tuple(groups)
        if isinstance(groups, str) or len(set(names)) < 2 or len(set(names)) < len(names):
            raise InputError.one("groups", repr(groups), "two different names or more, without the neutral group")
        for name in names:
            if not isinstance(name, str) or name in LIST_FIELDS:
                raise InputError.one("groups", repr(name), f"names other than {', '.join(LIST_FIELDS)}")
        codes = {NEUTRAL: 0, **{name: place for place, name in enumerate(names, start=1)}}
        short = {letter: codes[name] for letter, name in SHORT.items() if name in codes and letter not in codes}
        return cls(names, codes | short)

    def code(self, labels: Iterable[str | None], name: str = "labels") -> NDArray[np.int64]:
        """Return 0 for neutral, 1 + place for a group, -1 for None: int64 (n,).

        Raises
        ------
        InputError
            for labels that are none of these, all of them at once.
        """
        if isinstance(labels, str):
            raise InputError.one(name, f"the text {labels!r}", "a list of labels")
        found = list(labels)
        wrong = [one for one in found if one is not None and (not isinstance(one, str) or one not in self.codes)]
        if wrong:
            shown = ", ".join(repr(one) for one in list(dict.fromkeys(map(_hashable, wrong)))[:5])
            raise InputError.one(name, shown, f"one of {', '.join(self.codes)}, or None where the label is not known")
        return np.array([_NO_LABEL if one is None else self.codes[one] for one in found], dtype=np.int64)


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float) else str(value)


def masses(codes: NDArray[np.int64], weights: Floats, groups: int) -> Floats:
    """Return the weight of unlabelled, neutral and each group's documents, float64 (2 + groups,)."""
    return np.bincount(codes + 1, weights=weights, minlength=groups + 2).astype(np.float64, copy=False)


def signed_gap(shares: Mapping[str, float]) -> float:
    """Return male minus female where these are the groups, else the largest minus the smallest share."""
    if set(shares) == set(GENDERS):
        return shares["male"] - shares["female"]
    return max(shares.values()) - min(shares.values())


def finite(name: str, values: Iterable[float]) -> Floats:
    """Return finite numbers as float64 (n,); InputError for others, and for those beyond 1e150 in size."""
    vector = np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)
    check_bounded(name, vector)
    return vector

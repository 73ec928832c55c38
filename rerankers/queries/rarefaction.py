r"""How pools grow with the number of variants, exactly: the expectation over all orders of the variants.

A document that c of n variants retrieve is in the pool of m variants drawn at random without replacement with
probability 1 - C(n - c, m) / C(n, m) (Hurlbert 1971, rarefaction). Summed over documents this is the expected size
of the pool; two sets are drawn from independently, so that the probabilities of a document multiply to that of its
being in both pools. Two disjoint halves of one set hold a document together with probability
1 - q(m) - q(m') + q(m + m'), q the probability that none of so many variants retrieves it.

Nothing is sampled, and no factorial is formed: with q_m the probability that none of the first m variants retrieves
a document, q_m = q_{m-1} (n - c - m + 1) / (n - m + 1), and what is found by m is the sum over the steps of
q_{m-1} c / (n - m + 1), positive terms only.

The expected intersection divided by the expected union is reported as ``jaccard_of_expectations``: it is no expected
Jaccard coefficient.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_CELLS = 1 << 21  # probabilities held at once: 16 MB


@dataclass(frozen=True, slots=True)
class ExpectedOverlap:
    """Expected sizes of two pools made of equally many variants each.

    Attributes
    ----------
    variants
        how many each.
    human, generated, both
        expected numbers of documents in either pool and in both.
    """

    variants: int
    human: float
    generated: float
    both: float

    @property
    def jaccard_of_expectations(self) -> float | None:
        """Expected intersection by expected union; None where both pools are empty."""
        return _quotient(self.both, self.human + self.generated - self.both)

    @property
    def coverage_of_human(self) -> float | None:
        """Expected intersection by the expected human pool; None where it is empty."""
        return _quotient(self.both, self.human)

    @property
    def coverage_of_generated(self) -> float | None:
        """Expected intersection by the expected generated pool; None where it is empty."""
        return _quotient(self.both, self.generated)


def pool_growth(counts: Iterable[int] | Ints, n: int) -> Floats:
    """Return the expected size of the pool of m of n variants.

    Parameters
    ----------
    counts
        whole numbers (D,), how many of the variants retrieve each document, from 0 to n.
    n
        number of variants, at least 0.

    Returns
    -------
    float64 (n,), for m = 1, …, n; the last is the number of documents that any variant retrieves.

    Raises
    ------
    InputError
        for counts that are no whole numbers from 0 to n, or another n.
    """
    found = _checked("counts", counts, n)
    times = np.bincount(found, minlength=n + 1)[1:]
    present = np.flatnonzero(times) + 1
    total, rows = np.zeros(n), max(1, _CELLS // max(n, 1))
    for start in range(0, len(present), rows):
        some = present[start : start + rows]
        # einsum adds in one fixed order whatever the number of threads
        total += np.einsum("c,cm->m", times[some - 1].astype(np.float64), inclusion(some, n)[:, 1:])
    return total


def inclusion(counts: Ints, n: int) -> Floats:
    """Return the probability that a document is in the pool of m of n variants, float64 (counts, n + 1), m from 0.

    Parameters
    ----------
    counts
        int64 (C,), how many of the n variants retrieve it, from 0 to n.
    """
    left = n - np.arange(n, dtype=np.float64)  # variants that are still to be drawn
    share = counts[:, None] / left if n else np.zeros((len(counts), 0))
    missed = np.cumprod(np.maximum(1.0 - share, 0.0), axis=1)
    before = np.column_stack([np.ones(len(counts)), missed[:, :-1]]) if n else missed
    found = np.cumsum(before * share, axis=1)
    found[missed == 0.0] = 1.0
    return np.column_stack([np.zeros(len(counts)), np.minimum(found, 1.0)])


def equal_number_overlap(
    human: Iterable[int] | Ints, n: int, generated: Iterable[int] | Ints, n_generated: int, m: int
) -> ExpectedOverlap:
    """Return the expected overlap of the pools of m human and m generated variants.

    Parameters
    ----------
    human, generated
        whole numbers (D,), of the same documents: how many variants of either set retrieve each.
    n, n_generated
        numbers of variants.
    m
        variants drawn of each, from 0 to the smaller number.

    Raises
    ------
    InputError
        for counts out of range or of different lengths, and an m out of range.
    """
    one, two = _checked("human", human, n), _checked("generated", generated, n_generated)
    if len(one) != len(two):
        raise InputError.one("generated", f"{len(two)} counts", f"one a document, as in human ({len(one)})")
    _check_number(m, min(n, n_generated))
    p, r = _included(one, n, m), _included(two, n_generated, m)
    return ExpectedOverlap(m, float(p.sum()), float(r.sum()), float(np.sum(p * r)))


def split_half_overlap(counts: Iterable[int] | Ints, n: int, m: int) -> ExpectedOverlap:
    """Return the expected overlap of the pools of two disjoint halves of one set, m variants each.

    It is what a generated set could reach against m human variants if it were as human as they are.

    Parameters
    ----------
    counts
        whole numbers (D,), how many of the n variants retrieve each document.
    m
        variants of each half, from 0 to n // 2.

    Raises
    ------
    InputError
        as `equal_number_overlap`.
    """
    found = _checked("counts", counts, n)
    _check_number(m, n // 2)
    one, both = _included(found, n, m), _included(found, n, 2 * m)
    size = float(one.sum())
    return ExpectedOverlap(m, size, size, float(np.sum(np.maximum(2.0 * one - both, 0.0))))


def _included(counts: Ints, n: int, m: int) -> Floats:
    """Return the probabilities of `inclusion` at one m, float64 (counts,)."""
    levels, place = np.unique(counts, return_inverse=True)
    rows = max(1, _CELLS // (n + 1))
    found = [inclusion(levels[start : start + rows], n)[:, m] for start in range(0, len(levels), rows)]
    probability: Floats = np.concatenate([*found, np.zeros(0)])[place]
    return probability


def _quotient(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _check_number(m: int, most: int) -> None:
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 0 <= m <= most:
        raise InputError.one("m", repr(m), f"a whole number from 0 to {most}")


def _checked(name: str, counts: Iterable[int] | Ints, n: int) -> Ints:
    """Return counts as int64 once they are whole numbers from 0 to n."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError.one("n", repr(n), "a whole number of at least 0")
    found = np.asarray(counts if isinstance(counts, np.ndarray) else list(counts))
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise InputError.one(name, f"{found.dtype} of shape {found.shape}", "whole numbers of shape (documents,)")
    if found.size and (int(found.min()) < 0 or int(found.max()) > n):
        raise InputError.one(name, f"numbers from {found.min()} to {found.max()}", f"at least 0, at most n = {n}")
    return found.astype(np.int64)

"""Amounts of exposure as whole numbers of 2^-40: their sums are exact, so no order and no sharding changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS: Final = 40
ONE: Final = float(1 << BITS)
LIMIT: Final = 1 << 62
"""Largest balance either way: about 4.2 million units of exposure, and no sum of two of them leaves 64 bits."""


def to_fixed(amount: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round amounts to the nearest 2^-40, halves to even: int64, the same shape.

    Raises
    ------
    InputError
        for an amount that is not finite or beyond `LIMIT`.
    """
    scaled = np.rint(amount * ONE)
    if not np.all(np.abs(scaled) <= LIMIT):
        raise InputError.one("exposure", "an amount that is not finite or above 4 million", "amounts a ledger can hold")
    return scaled.astype(np.int64)


def to_float(amount: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return fixed-point amounts as numbers: exact up to 2^53 units of 2^-40, that is an exposure of 8192."""
    return amount / ONE


def overflow(where: str) -> InputError:
    """Return the error for a balance that has grown too large."""
    return InputError.one(
        where,
        "a balance above 4 million units of exposure",
        "balances that 64 bits hold",
        mend="Keep a ledger a sequence (scope=sequence), or let old impressions decay.",
    )

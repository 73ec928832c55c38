"""The balances that a stretch of impressions touches, as arrays that loops can work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rerankers._base.errors import choose
from rerankers._base.streams import stream_key, uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.impressions import Impressions
    from rerankers.ledger.rows import Rows

SCOPES: Final = ("query", "sequence", "corpus")
GOLDEN: Final = 0.6180339887498949
"""By how much the priorities of ties are shifted, modulo 1, from one impression of an account to the next.

A uniform number shifted by a constant is uniform again, so each impression orders its ties uniformly at random, while
successive ones share the first ranks more evenly than independent draws do (Cranley & Patterson 1976).
"""


class Book(NamedTuple):
    """Accounts of the queries asked in them: a *case* is a query in an account, a *slot* an entity in an account.

    Attributes
    ----------
    row, account
        int64 (C,), the query and the account of each case.
    pair_ptr
        int64 (C + 1,), where the documents of a case begin in ``priority`` and ``order``.
    slot_ptr, slot
        int64 (C + 1,) and (entries,): the slots of a case's entries, in the order of its row's entries.
    priority
        float64 (pairs,), random numbers that order ties, shifted at every impression; see `GOLDEN`.
    order
        int32 (pairs,), the latest ranking of each case: where sorting starts, never what it ends with.
    served, due, touched
        int64 (slots,): balances in units of 2^-40, and the impressions their account had when they were last changed.
    times
        int64 (accounts,), impressions served.
    """

    row: NDArray[np.int64]
    account: NDArray[np.int64]
    pair_ptr: NDArray[np.int64]
    slot_ptr: NDArray[np.int64]
    slot: NDArray[np.int64]
    priority: NDArray[np.float64]
    order: NDArray[np.int32]
    served: NDArray[np.int64]
    due: NDArray[np.int64]
    touched: NDArray[np.int64]
    times: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A book with nothing in it yet, and what its parts are.

    Attributes
    ----------
    book
        its arrays.
    case
        int64 (N,), the case of each impression.
    accounts
        names of the accounts.
    slot_account, slot_entity
        int64 (slots,), the account and the entity code of each slot.
    """

    book: Book
    case: NDArray[np.int64]
    accounts: tuple[str, ...]
    slot_account: NDArray[np.int64]
    slot_entity: NDArray[np.int64]

    def names(self, entities: Entities) -> list[tuple[str, str]]:
        """Return (account, entity) of every slot."""
        accounts = [self.accounts[code] for code in self.slot_account.tolist()]
        return list(zip(accounts, entities.names(self.slot_entity), strict=True))


def account_codes(scope: str, impressions: Impressions) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the account of each impression, int64 (N,), and the names of accounts.

    Parameters
    ----------
    scope
        ``query``: one account a query, whichever sequence asks it; ``sequence``; ``corpus``: one for everything.
    """
    choose("scope", scope, SCOPES)
    if scope == "query":
        return impressions.row, impressions.queries
    if scope == "sequence":
        return impressions.sequence.astype(np.int64), impressions.sequences
    return np.zeros(len(impressions), dtype=np.int64), ("corpus",)


def open_book(scope: str, impressions: Impressions, rows: Rows, stream: NDArray[np.uint64], seed: int) -> Opened:
    """Find the cases and slots of some impressions.

    Parameters
    ----------
    scope
        one of `SCOPES`.
    rows
        the block's.
    stream
        uint64 (B, 2), digests of its queries.
    seed
        of the order of ties.
    """
    account, names = account_codes(scope, impressions)
    queries = len(rows.indptr) - 1
    key, case = np.unique(account * max(queries, 1) + impressions.row, return_inverse=True)
    of_account, row = np.divmod(key, max(queries, 1))
    pair_ptr, pair = spans(rows.indptr, row)
    slot_ptr, entry = spans(rows.entry_ptr[rows.indptr], row)
    width = 1 + int(rows.entity.max(initial=0))
    owner = np.repeat(of_account, np.diff(slot_ptr)) * width + rows.entity[entry]
    slots, slot = np.unique(owner, return_inverse=True)
    slot_account, slot_entity = np.divmod(slots, width)
    begin = pair - np.repeat(rows.indptr[row], np.diff(pair_ptr))
    book = Book(
        row,
        of_account,
        pair_ptr,
        slot_ptr,
        slot.astype(np.int64).ravel(),
        _priorities(scope, names, of_account, row, pair_ptr, stream, seed),
        begin.astype(np.int32),
        np.zeros(len(slots), dtype=np.int64),
        np.zeros(len(slots), dtype=np.int64),
        np.zeros(len(slots), dtype=np.int64),
        np.zeros(len(names), dtype=np.int64),
    )
    return Opened(book, case.astype(np.int64).ravel(), names, slot_account, slot_entity)


def _priorities(
    scope: str,
    names: Sequence[str],
    account: NDArray[np.int64],
    row: NDArray[np.int64],
    pair_ptr: NDArray[np.int64],
    stream: NDArray[np.uint64],
    seed: int,
) -> NDArray[np.float64]:
    """Return uniform numbers of each case, a function of the seed, the query and (but per query) the account."""
    out = np.empty(int(pair_ptr[-1]))
    sizes = np.diff(pair_ptr).tolist()
    starts = pair_ptr.tolist()
    for case, (code, query) in enumerate(zip(account.tolist(), row.tolist(), strict=True)):
        purpose = "ledger ties" if scope == "query" else f"ledger ties of {names[code]}"
        numbers = uniforms(stream_key(seed, stream[query], purpose), 0, 1, sizes[case])
        out[starts[case] : starts[case + 1]] = numbers[0]
    return out


def spans(ptr: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bounds of the spans of some rows one after another, and the entries in them."""
    lengths = ptr[rows + 1] - ptr[rows]
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return bounds, np.repeat(ptr[rows] - bounds[:-1], lengths) + np.arange(bounds[-1], dtype=np.int64)

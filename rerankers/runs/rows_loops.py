"""Compiled loops over ranked documents: where rankings begin, and which documents a query ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def find_rankings(
    query: NDArray[np.int32],
    sample: NDArray[np.int32],
    rank: NDArray[np.signedinteger],
    score: NDArray[np.float64],
    start: NDArray[np.int64],
) -> tuple[int, bool, int, bool]:
    """Cut rows where the query or the sample changes.

    Parameters
    ----------
    query, sample
        (n,), codes.
    rank, score
        (n,), or empty where there are none.
    start
        (n,), written: the first row of each ranking.

    Returns
    -------
    rankings
        how many there are.
    fits
        whether the ranks of each run 1, 2, 3, … or 0, 1, 2, …; True without ranks.
    rising
        rankings in which a score is higher than the one before it.
    finite
        whether all scores are.
    """
    found, rising, fits, risen, finite = 0, 0, True, False, True
    ranked, scored = len(rank) > 0, len(score) > 0
    for row in range(len(query)):
        if row == 0 or query[row] != query[row - 1] or sample[row] != sample[row - 1]:
            start[found] = row
            found += 1
            risen = False
            fits &= not ranked or 0 <= rank[row] <= 1
        else:
            fits &= not ranked or rank[row] == rank[row - 1] + 1
            if scored and not risen and score[row] > score[row - 1]:
                risen = True
                rising += 1
        if scored:
            finite &= score[row] - score[row] == 0.0
    return found, fits, rising, finite


@compiled
def find_documents(
    query: NDArray[np.int32],
    indptr: NDArray[np.int64],
    doc: NDArray[np.int32],
    seen: NDArray[np.int64],
    found: NDArray[np.int32],
    found_ptr: NDArray[np.int64],
) -> tuple[bool, bool]:
    """List the documents of each query, each once, in the order in which they are met.

    Parameters
    ----------
    query
        (R,), the query of each ranking, ascending.
    indptr, doc
        (R + 1,), (n,), the documents of each ranking.
    seen
        (D,), -1, written: the last ranking that holds a document.
    found, found_ptr
        (n,), (Q + 1,), written: the documents of query q are found[found_ptr[q]:found_ptr[q + 1]].

    Returns
    -------
    known, once
        whether all documents are from 0 to D - 1 (else it stops), and each ranking holds each at most once.
    """
    total, row, first, twice, size = 0, 0, 0, 0, np.uint32(len(seen))
    for ranking in range(len(query)):
        while row < query[ranking]:
            row += 1
            found_ptr[row] = total
            first = ranking
        docs, largest = doc[indptr[ranking] : indptr[ranking + 1]], np.uint32(0)
        for k in range(len(docs)):
            largest = max(largest, np.uint32(docs[k]))  # a negative one becomes a large one
        if len(docs) > 0 and largest >= size:
            return False, True
        for k in range(len(docs)):
            code = np.uint32(docs[k])
            before = seen[code]
            if before < first:
                found[total] = code
                total += 1
            twice |= before == ranking
            seen[code] = ranking
    found_ptr[row + 1 :] = total
    return True, twice == 0


@compiled
def place_documents(
    query: NDArray[np.int32],
    indptr: NDArray[np.int64],
    doc: NDArray[np.int32],
    found: NDArray[np.int32],
    found_ptr: NDArray[np.int64],
    place: NDArray[np.int32],
    item: NDArray[np.int32],
) -> None:
    """Write where in its query each ranked document stands (n,); ``place`` (D,) is room to work in."""
    row = -1
    for ranking in range(len(query)):
        if row != query[ranking]:
            row = query[ranking]
            for at in range(found_ptr[row], found_ptr[row + 1]):
                place[found[at]] = at - found_ptr[row]
        docs, items = doc[indptr[ranking] : indptr[ranking + 1]], item[indptr[ranking] : indptr[ranking + 1]]
        for k in range(len(docs)):
            items[k] = place[np.uint32(docs[k])]


@compiled
def check_items(
    query_ptr: NDArray[np.int64],
    item_ptr: NDArray[np.int64],
    item: NDArray[np.int32],
    indptr: NDArray[np.int64],
    wrong: NDArray[np.bool_],
    idle: NDArray[np.int64],
) -> bool:
    """Say whether all rankings are in order.

    Parameters
    ----------
    query_ptr, item_ptr, item, indptr
        of R rankings over B rows, see `Rankings` and `Ragged`.
    wrong
        (R,), False, written: whether a ranking holds a position twice or one that its row does not have.
    idle
        (B,), written: documents that no ranking holds.
    """
    right, longest = True, 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    seen = np.empty(longest, dtype=np.int32)
    for row in range(len(indptr) - 1):
        size, first = indptr[row + 1] - indptr[row], query_ptr[row]
        seen[:size] = -1
        for ranking in range(first, query_ptr[row + 1]):
            items, number = item[item_ptr[ranking] : item_ptr[ranking + 1]], np.int32(ranking - first)
            largest, clash = np.uint32(0), 0
            for k in range(len(items)):
                largest = max(largest, np.uint32(items[k]))  # a negative one becomes a large one
            if len(items) == 0 or largest < size:
                for k in range(len(items)):
                    place = np.uint32(items[k])
                    clash |= seen[place] == number
                    seen[place] = number
            else:
                clash = 1
            wrong[ranking] = clash != 0
            right &= clash == 0
        idle[row] = np.count_nonzero(seen[:size] < 0)
        right &= idle[row] == 0
    return right

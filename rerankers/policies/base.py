"""What every policy offers, and what the samplers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers._base.errors import InputError
from rerankers.execution import thread_count, thread_map
from rerankers.exposure.checks import float_array, whole_number
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure import Browsing
    from rerankers.values.exposure import Exposure
    from rerankers.values.ragged import Ragged

    Sampler = Callable[[int, int, int], NDArray[np.integer]]

WORTH_THREADS = 1 << 20  # noise numbers of a block from which on its rows are shared among threads
LABELS = 2**31 - 1  # draws are labelled by int32
TILE = 1 << 16  # noise numbers drawn together, so that they are sorted in the cache


class Policy(Protocol):
    """A distribution over rankings for every row of a block."""

    @property
    def over(self) -> Ragged:
        """The B rows whose documents are ranked."""
        ...

    @property
    def stream(self) -> NDArray[np.uint64]:
        """uint64 (B, 2), the digests of the queries."""
        ...

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        """Draw n independent rankings a row, labelled first, first + 1, …; draw i does not depend on earlier draws.

        ``depth`` keeps the first ranks of each only, without changing them.
        """
        ...

    def schedule(self, n: int, seed: int, depth: int | None = None) -> Rankings:
        """Return n rankings a row to publish, labelled 0, 1, …: together nearer to the exposure than n draws.

        Each of them has the policy's distribution, so that their mean exposure is right on average; but they depend on
        each other and on n, so that its error is smaller than that of n independent draws. ``depth`` keeps the first
        ranks only, without changing them.
        """
        ...

    def exposure(self, browsing: Browsing) -> Exposure | None:
        """Return the exact expected exposure, or None where there is no closed form."""
        ...

    def log_prob(self, rankings: Rankings) -> NDArray[np.float64]:
        """Return the log probability of each ranking, float64 (R,); of a short one, that a draw begins with it."""
        ...


def draw(
    policy: Policy, n: int, seed: int, first: int, depth: int | None, sampler: Callable[[int], Sampler]
) -> Rankings:
    """Draw rankings row by row.

    Parameters
    ----------
    sampler
        row -> the sampler of that row: (first, draws, k) -> the first k documents of each of these draws,
        int (draws, k). It is called once, so that a schedule may be drawn as a whole.
    """
    n, first, depth = check_draws(n, seed, first, depth)
    sizes = policy.over.lengths.tolist()

    def one_row(row: int) -> NDArray[np.int32]:
        size = sizes[row]
        k = size if depth is None else min(depth, size)
        if not size or not n:
            return np.empty((n, k), dtype=np.int32)
        return sampler(row)(first, n, k).astype(np.int32, copy=False)

    # Every row has its own key, so threads change nothing but the time; small blocks are not worth them.
    threads = thread_count() if policy.over.nnz * n >= WORTH_THREADS else 1
    return Rankings.of_matrix(policy.over, thread_map(one_row, range(len(sizes)), threads), first)


def tiles(draws: int, size: int) -> Iterator[slice]:
    """Cut draws of ``size`` noise numbers each into slices whose numbers fit the cache."""
    step = max(1, TILE // size)
    for start in range(0, draws, step):
        yield slice(start, min(start + step, draws))


def smallest(keys: NDArray[np.float64], k: int) -> NDArray[np.integer]:
    """Return the places of the k smallest keys of each row (m, size), the smallest first: int (m, k)."""
    if 4 * k > keys.shape[1]:
        return np.argsort(keys, axis=1)[:, :k]
    near = np.argpartition(keys, k - 1, axis=1)[:, :k]
    inside = np.argsort(np.take_along_axis(keys, near, axis=1), axis=1)
    return np.take_along_axis(near, inside, axis=1)


def check_draws(n: int, seed: int, first: int, depth: int | None) -> tuple[int, int, int | None]:
    """Return n, first and depth; `InputError` unless all are whole numbers in their range, and the seed is one."""
    whole_number("seed", seed)
    n, first = whole_number("n", n, 0), whole_number("first", first, 0)
    if first + n > LABELS:
        raise InputError.one("first", f"{first}, and {n} draws from there", f"at most {LABELS} together")
    return n, first, None if depth is None else whole_number("depth", depth, 1)


def check_rows(over: Ragged, stream: NDArray[np.uint64], name: str, values: NDArray[np.generic]) -> None:
    """Raise `InputError` unless there is a stream a row and a value a document."""
    if stream.shape != (len(over), 2):
        raise InputError.one("stream", f"shape {stream.shape}", f"({len(over)}, 2), one digest a row")
    if values.shape != (over.nnz,):
        raise InputError.one(name, f"shape {values.shape}", f"({over.nnz},), one value a document")


def score_array(over: Ragged, score: ArrayLike) -> NDArray[np.float64]:
    """Return scores to rank by as float64 (nnz,); `InputError` for another shape and not-a-number."""
    value = float_array("score", score)
    if value.shape != (over.nnz,) or np.any(np.isnan(value)):
        raise InputError.one("score", f"shape {value.shape} or not-a-number", f"({over.nnz},) numbers")
    return value


def check_rankings(over: Ragged, rankings: Rankings) -> None:
    """Raise `InputError` unless rankings are over the same rows and hold documents of their row at most once each."""
    if not np.array_equal(over.indptr, rankings.over.indptr):
        raise InputError.one("rankings", "rankings over other rows", "rankings over the rows of the policy")
    size = over.lengths[rankings.row_of_ranking][rankings.ranking_of_item]
    if np.any((rankings.item < 0) | (rankings.item >= size)):
        raise InputError.one("rankings", "a document that its row does not have", "positions within the row")
    key = np.sort(rankings.ranking_of_item * max(1, int(size.max(initial=1))) + rankings.item)
    if np.any(key[1:] == key[:-1]):
        raise InputError.one("rankings", "a document twice in one ranking", "each document once")

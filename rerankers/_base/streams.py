"""Random streams by key: every draw is a function of (seed, query, purpose, draw) and of nothing else.

The seed, the query and the purpose are hashed together into a 128-bit key of numpy's counter-based Philox
generator; the draw is its counter. Hence no result depends on the order of queries, on the number of workers
or on which draws were made before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLER_VERSION = 2  # stored with policies: raised whenever a seed would give other rankings than before
_ONE = np.uint64(0x3FF0000000000000)  # the bits of 1.0
_WORDS_PER_COUNTER = 4  # Philox4x64 gives four 64-bit words a counter step


def query_streams(qids: Iterable[str]) -> NDArray[np.uint64]:
    """Return the 128-bit digests of query ids, shape (Q, 2): the root of every random draw of a query."""
    digests = [hashlib.blake2b(qid.encode(), digest_size=16, person=b"query").digest() for qid in qids]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def stream_key(seed: int, stream: NDArray[np.uint64], purpose: str) -> NDArray[np.uint64]:
    """Return the 128-bit Philox key, shape (2,), of one query's stream for one purpose.

    Parameters
    ----------
    seed
        any integer; its whole value counts.
    stream
        uint64 (2,), the query's digest from `query_streams`.
    purpose
        what is drawn, for instance ``"plackett_luce"``: two purposes never share randomness.
    """
    number = str(int(seed)).encode()
    word = purpose.encode()
    state = hashlib.blake2b(digest_size=16, person=b"stream")
    for part in (number, stream.astype("<u8").tobytes(), word):
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return np.frombuffer(state.digest(), dtype="<u8").astype(np.uint64)


def uniforms(key: NDArray[np.uint64], first: int, draws: int, size: int) -> NDArray[np.float64]:
    """Return uniform numbers strictly between 0 and 1, shape (draws, size), for draws first, first + 1, ….

    Draw i reads its own range of counters, so it is the same whether or not earlier draws were made.
    The grid is (j + 1/2) / 2^52: symmetric, and neither log(u) nor log(1 - u) is ever infinite.
    """
    steps = -(-size // _WORDS_PER_COUNTER)
    if draws == 0 or size == 0:
        return np.empty((draws, size))
    generator = np.random.Philox(key=key)
    generator.advance(first * steps)
    raw = generator.random_raw(draws * steps * _WORDS_PER_COUNTER)
    # The upper 52 bits become the fraction of a number in [1, 2), in place: no conversion, and every step is exact.
    raw >>= np.uint64(12)
    raw |= _ONE
    numbers = raw.view(np.float64)
    numbers -= 1.0 - 2.0**-53
    return numbers.reshape(draws, steps * _WORDS_PER_COUNTER)[:, :size]


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return a numpy Generator for work that is not per query (a bootstrap, a generated world), keyed by names."""
    state = hashlib.blake2b(digest_size=16, person=b"generator")
    for part in (seed, *names):
        text = f"{type(part).__name__}:{part}".encode()
        state.update(len(text).to_bytes(8, "little"))
        state.update(text)
    return np.random.Generator(np.random.Philox(key=np.frombuffer(state.digest(), dtype="<u8").astype(np.uint64)))

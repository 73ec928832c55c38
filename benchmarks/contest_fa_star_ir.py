"""Tables of FA*IR for k=100, adjusted for a hundred tests, against the published package or its plain form."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
from _settings import Settings
from _timing import Result, interleaved
from numpy.typing import NDArray

from rerankers.methods.prefixes import tables

K, ALPHA, DEMANDED = 100, 0.1, 100.0
PACKAGE = "fairsearchcore"


def results(settings: Settings) -> Iterator[Result]:
    """Hold a contest a share. Ours forgets the tables it has made before each call."""
    published = importlib.util.find_spec(PACKAGE) is not None
    for p in (0.3, 0.5):

        def ours(p: float = p) -> NDArray[np.int64]:
            tables._table.cache_clear()
            return tables.fa_star_ir_table(K, p, ALPHA)

        peer = _package(p) if published else _plain(p)
        mine, theirs = interleaved([ours, peer], settings.repetitions)
        rate = tables.fa_star_ir_fail_probability(ours(), p)
        yield Result(
            f"FA*IR table, adjusted, k={K}, p={p:g}, alpha={ALPHA:g}",
            mine,
            theirs,
            f"{PACKAGE} (published)" if published else "bisection over alpha, recursion over counts, plain Python",
            DEMANDED if published else None,
            f"{mine.best * 1e3:.2f} ms at best; fair rankings fail with probability {rate:.5f}",
        )


def _package(p: float) -> Callable[[], object]:
    fair = importlib.import_module(PACKAGE)
    return lambda: fair.Fair(K, p, ALPHA).create_adjusted_mtable()


def _plain(p: float) -> Callable[[], object]:
    """Return the adjustment as its definition says: no published code is at hand."""
    from scipy.stats import binom

    def failure(table: list[int]) -> float:
        chances = {0: 1.0}
        for minimum in table:
            after: dict[int, float] = {}
            for held, chance in chances.items():
                for more, part in ((1, p), (0, 1.0 - p)):
                    if held + more >= minimum:
                        after[held + more] = after.get(held + more, 0.0) + chance * part
            chances = after
        return 1.0 - sum(chances.values())

    def adjusted() -> list[int]:
        low, high, table = 0.0, ALPHA, [0] * K
        while high - low > 1e-9:
            middle = (low + high) / 2
            table = [int(binom.ppf(middle, size, p)) for size in range(1, K + 1)]
            low, high = (middle, high) if failure(table) <= ALPHA else (low, middle)
        return table

    return adjusted

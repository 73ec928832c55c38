"""Rows of pools made of equally many variants, the ceiling that two human halves set, and curves of growth.

More variants find more documents, whoever wrote them: sets of different sizes are compared at an equal number, by
exact expectation over all choices of so many variants (`rerankers.queries.rarefaction`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.queries.pools import among, merged
from rerankers.queries.rarefaction import ExpectedOverlap, equal_number_overlap, pool_growth, split_half_overlap
from rerankers.queries.variant_rows import CEILING, EQUAL, SMALLER, Key, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.variant_pools import Pooled

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EXPECTED = ("jaccard_of_expectations", "coverage_of_human", "coverage_of_generated")
DETAILS = {
    CEILING: "two halves of the human variants",
    EQUAL: "as many as half of the human variants",
    SMALLER: "as many as the smaller set has",
}


def equal_number_rows(pooled: Pooled, human: str, generated: Sequence[str], depths: Sequence[int]) -> Iterator[Row]:
    """Yield what pools of equally many variants share, and how many documents they find.

    Role ``equal_number`` takes as many variants of either side as both can give when the human ones are halved, and
    is to be held against the ceiling; ``smaller_number`` as many as the smaller of the two sets has.
    ``pool_expected_size_all`` and ``pool_expected_size_rel`` take as many of every set as the smallest of all has.
    """
    for name in generated:
        yield from _shared_rows(pooled, EQUAL, human, name, depths)
        yield from _shared_rows(pooled, SMALLER, human, name, depths)
    yield from _shared_rows(pooled, CEILING, human, human, depths)
    yield from _size_rows(pooled, [human, *generated], depths)


def _kinds(pooled: Pooled) -> tuple[str, ...]:
    return ("all", "rel") if pooled.known.any() else ("all",)


def _cut(pooled: Pooled, keys: Ints, kind: str) -> tuple[Ints, Ints]:
    """Return the keys of a kind of documents, and where each topic's start."""
    some = keys if kind == "all" else keys[among(keys, pooled.relevant)]
    return some, np.searchsorted(some, np.arange(len(pooled.topics) + 1) * pooled.width)


def _shared_rows(pooled: Pooled, role: str, human: str, name: str, depths: Sequence[int]) -> Iterator[Row]:
    one, two = pooled.pools(human), pooled.pools(name)
    keys = merged(one.best()[0], two.best()[0])
    sizes = list(zip(pooled.variants(human), pooled.variants(name), strict=True))
    number = [{CEILING: n // 2, EQUAL: min(n // 2, other), SMALLER: min(n, other)}[role] for n, other in sizes]
    for kind in _kinds(pooled):
        some, cut = _cut(pooled, keys, kind)
        for depth in depths:
            counts = (one.variants(some, depth), two.variants(some, depth))
            found: list[ExpectedOverlap | None] = []
            for at, m in enumerate(number):
                first, second = (side[cut[at] : cut[at + 1]] for side in counts)
                if not m:
                    found.append(None)
                elif role == CEILING:
                    found.append(split_half_overlap(first, sizes[at][0], m))
                else:
                    found.append(equal_number_overlap(first, sizes[at][0], second, sizes[at][1], m))
            # the halves are alike: the coverage of one is that of the other
            for form in EXPECTED[:2] if role == CEILING else EXPECTED:
                values = [None if overlap is None else getattr(overlap, form) for overlap in found]
                key = Key(f"pool_{form}_{kind}", role, None, depth, DETAILS[role])
                yield _row(pooled, key, name, human, values, number, kind)


def _size_rows(pooled: Pooled, names: Sequence[str], depths: Sequence[int]) -> Iterator[Row]:
    """Yield the expected sizes of the pools of every set, all of them given as many variants as the smallest has."""
    sizes = {name: pooled.variants(name) for name in names}
    number = [min(each) for each in zip(*sizes.values(), strict=True)]
    for name in names:
        pools = pooled.pools(name)
        for kind in _kinds(pooled):
            some, cut = _cut(pooled, pools.best()[0], kind)
            for depth in depths:
                counts = pools.variants(some, depth)
                values = [
                    float(pool_growth(counts[cut[at] : cut[at + 1]], n)[m - 1]) if m else None
                    for at, (n, m) in enumerate(zip(sizes[name], number, strict=True))
                ]
                key = Key(f"pool_expected_size_{kind}", EQUAL, None, depth, "as many as the smallest set has")
                yield _row(pooled, key, name, None, values, number, kind)


def _row(
    pooled: Pooled,
    key: Key,
    name: str,
    against: str | None,
    values: Sequence[float | None],
    number: Sequence[int],
    kind: str,
) -> Row:
    """Return a row with the number of variants as a part; ``too_few_variants`` where it is 0."""
    table = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    present = pooled.has(name) if against is None else pooled.has(name, against)
    row = pooled.row(key, name, against, table, present, kind == "rel")
    few = {at: "too_few_variants" for at, m in enumerate(number) if not m and present[at]}
    parts = {"variants": np.array(number, dtype=np.float64)}
    return Row(key, name, against, row.values, {**row.reasons, **few}, parts=parts)


def growth_curves(pooled: Pooled, names: Sequence[str], depths: Sequence[int]) -> list[dict[str, Any]]:
    """Return how the pools of each set grow with the number of variants, over the same topics at every number.

    A topic with fewer than m variants counts with all of them: a mean over the topics that still have m would be
    about other topics at every m, and could fall.

    Returns
    -------
    list of dict
        ``set``, ``depth``, ``documents`` (``all`` or ``relevant``), ``topics`` (how many: those of which every set
        has rankings, of relevant documents the judged ones) and ``expected`` (m = 1, 2, …: mean over them).
    """
    sizes = {name: np.array(pooled.variants(name), dtype=np.int64) for name in names}
    common = np.all([size > 0 for size in sizes.values()], axis=0)
    out = []
    for name in names:
        pools, numbers = pooled.pools(name), sizes[name]
        for kind in _kinds(pooled):
            use = np.flatnonzero(common & pooled.known if kind == "rel" else common)
            if not len(use):
                continue
            some, cut = _cut(pooled, pools.best()[0], kind)
            documents, most = "relevant" if kind == "rel" else "all", int(numbers[use].max())
            for depth in depths:
                counts, curves = pools.variants(some, depth), np.zeros((len(use), most))
                for row, at in enumerate(use):
                    curve = pool_growth(counts[cut[at] : cut[at + 1]], int(numbers[at]))
                    curves[row] = np.pad(curve, (0, most - len(curve)), mode="edge")
                what = {"set": name, "depth": depth, "documents": documents, "topics": len(use)}
                out.append({**what, "expected": curves.mean(axis=0).tolist()})
    return out

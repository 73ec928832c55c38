"""FA*IR: tables and failure probabilities against enumeration and the published code, reranks against its output."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from constraint_worlds import rankings_of, world
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError, InputError
from rerankers.methods.fa_star_ir import FaStarIr
from rerankers.methods.prefixes.tables import fa_star_ir_fail_probability, fa_star_ir_table, pool_table
from rerankers.methods.targets import Population

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0])


def enumerated(table: list[int], p: float) -> float:
    """Return the failure probability over all 2^k sequences."""
    failed = 0.0
    for bits in itertools.product((0, 1), repeat=len(table)):
        if any(held < minimum for held, minimum in zip(itertools.accumulate(bits), table, strict=True)):
            failed += math.prod(p if bit else 1 - p for bit in bits)
    return failed


def pool_failure(table: list[int], protected: int, pool: int) -> float:
    """Return the failure probability over all arrangements of a pool."""
    arrangements = list(itertools.combinations(range(pool), protected))
    failed = 0
    for places in arrangements:
        held = list(itertools.accumulate(int(at in places) for at in range(len(table))))
        failed += any(one < minimum for one, minimum in zip(held, table, strict=True))
    return failed / len(arrangements)


@pytest.fixture(scope="module")
def oracle(shared: Path) -> dict:
    return json.loads((shared / "oracles" / "algorithms" / "fa_star_ir.json").read_text())


@pytest.mark.shared_data
def test_published_tables_and_probabilities(oracle: dict) -> None:
    affected = 0
    for case in oracle["cases"]:
        k, p, alpha = case["k"], case["p"], case["alpha"]
        assert fa_star_ir_table(k, p, alpha, adjusted=False).tolist() == case["mtable_unadjusted"]
        assert fa_star_ir_table(k, p, alpha, published=True).tolist() == case["mtable_adjusted"]
        for which in ("unadjusted", "adjusted"):
            table = case[f"mtable_{which}"]
            legacy = fa_star_ir_fail_probability(table, p, published=True)
            assert legacy == pytest.approx(case[f"fail_prob_{which}"], abs=1e-9)
            exact = fa_star_ir_fail_probability(table, p)
            if table[-1] > table[-2]:
                affected += 1
                assert exact > legacy + 1e-4
            else:
                assert exact == legacy
        best = fa_star_ir_fail_probability(fa_star_ir_table(k, p, alpha), p)
        theirs = fa_star_ir_fail_probability(case["mtable_adjusted"], p)
        assert abs(best - alpha) <= abs(theirs - alpha) + 1e-12, "the nearest table"
    assert affected > 10


@pytest.mark.shared_data
def test_published_reranks(oracle: dict) -> None:
    for case in oracle["rerank"]:
        labels = ["A" if one else "B" for one in case["protected"]]
        part = block([case["scores"]], {"g": alignment("g", labels)})
        method = FaStarIr(protected="A", p=case["p"], alpha=case["alpha"], cutoff=case["k"], published=True)
        assert rankings_of(method.policy(part))[0][: case["k"]] == case["reranked_ids"]


@given(table=st.lists(st.integers(0, 4), min_size=1, max_size=9), p=SHARES)
def test_failure_by_enumeration(table: list[int], p: float) -> None:
    assert fa_star_ir_fail_probability(table, p) == pytest.approx(enumerated(table, p), abs=1e-14)


def test_a_last_minimum_that_rises_counts() -> None:
    table = fa_star_ir_table(15, 0.25, 0.1, adjusted=False)
    assert fa_star_ir_fail_probability(table, 0.25) == pytest.approx(enumerated(table.tolist(), 0.25), abs=1e-14)
    assert fa_star_ir_fail_probability(table, 0.25) == pytest.approx(0.1152, abs=5e-5)
    assert fa_star_ir_fail_probability(table, 0.25, published=True) == pytest.approx(0.0751, abs=5e-5)


@settings(max_examples=40)
@given(k=st.integers(1, 12), p=SHARES, alpha=st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]))
def test_adjusted_tables_are_the_nearest_of_all(k: int, p: float, alpha: float) -> None:
    every = {tuple(np.zeros(k, int))}
    for size, held in itertools.product(range(1, k + 1), range(k)):
        level = binom.cdf(held, size, p)
        if level < alpha * (1 - 1e-12):
            every.add(tuple(np.maximum(binom.ppf(level * (1 + 1e-9) + 1e-300, np.arange(1, k + 1), p), 0).astype(int)))
    nearest = min(abs(fa_star_ir_fail_probability(table, p) - alpha) for table in every)
    ours = fa_star_ir_table(k, p, alpha)
    assert abs(fa_star_ir_fail_probability(ours, p) - alpha) == pytest.approx(nearest, abs=1e-12)
    assert np.all(np.diff(ours) >= 0)
    assert np.all(ours <= fa_star_ir_table(k, p, alpha, adjusted=False))


@given(pool=st.integers(1, 9), data=st.data(), alpha=st.sampled_from([0.05, 0.1, 0.3]))
def test_tables_of_a_pool(pool: int, data: st.DataObject, alpha: float) -> None:
    protected, k = data.draw(st.integers(0, pool)), data.draw(st.integers(1, pool))
    plain = [int(hypergeom.ppf(alpha * (1 - 1e-12), pool, protected, size)) for size in range(1, k + 1)]
    assert pool_table(k, protected, pool, alpha, adjusted=False).tolist() == plain
    adjusted = pool_table(k, protected, pool, alpha).tolist()
    failure = pool_failure(adjusted, protected, pool)
    assert abs(failure - alpha) <= abs(pool_failure(plain, protected, pool) - alpha) + 1e-12
    assert max(adjusted) <= protected


@given(data=st.data(), n=st.integers(1, 7), unknown=st.sampled_from(["unprotected", "protected", "keep"]))
def test_reranks_by_brute_force(data: st.DataObject, n: int, unknown: str) -> None:
    """Of all rankings that keep the minima, the one that is best rank by rank; unknown documents as told."""
    labels = data.draw(st.lists(st.sampled_from(["A", "B", None]), min_size=n, max_size=n))
    part = world([list(np.arange(n, 0, -1.0))], labels)
    method = FaStarIr(protected="A", p=0.6, alpha=0.3, unknown=unknown)
    found, counts = method.counted(part)
    protected = [label == "A" or (label is None and unknown == "protected") for label in labels]
    ranked = [d for d in range(n) if unknown != "keep" or labels[d] is not None]
    total = sum(protected[d] for d in ranked)
    minima = np.minimum(fa_star_ir_table(max(len(ranked), 1), 0.6, 0.3), total)
    best = next(  # in lexicographic order the first is the best
        order
        for order in itertools.permutations(ranked)
        if all(sum(protected[d] for d in order[: at + 1]) >= minima[at] for at in range(len(order)))
    )
    queue = list(best)
    expected = [queue.pop(0) if d in ranked else d for d in range(n)]
    assert rankings_of(found) == [expected]
    short = bool(ranked) and fa_star_ir_table(len(ranked), 0.6, 0.3).max() > total
    assert counts.get("rows_short_of_protected", 0) == short


def test_share_from_the_target_and_the_pool() -> None:
    part = world([[6.0, 5, 4, 3, 2, 1]], list("BBBAAA"), target=Population({"A": 1.0, "B": 0.0}))
    assert rankings_of(FaStarIr(protected="A").policy(part)) == [[3, 4, 5, 0, 1, 2]]
    assert rankings_of(FaStarIr(protected="B").policy(part)) == [[0, 1, 2, 3, 4, 5]]
    # of a pool of three and three, drawn without replacement, four are not all of one group by chance
    assert rankings_of(FaStarIr(protected="A", pool=True, adjusted=False).policy(part)) == [[0, 1, 3, 2, 4, 5]]
    assert rankings_of(FaStarIr(protected="A", p=0.95, cutoff=1).policy(part)) == [[3, 0, 1, 2, 4, 5]]


def test_what_is_refused() -> None:
    part = world([[1.0, 2.0]], ["A", "B"])
    with pytest.raises(ConfigError, match=r"method.protected: found null; expected one of the groups A, B"):
        FaStarIr().policy(part)
    with pytest.raises(ConfigError, match=r"method.protected: found 'C'"):
        FaStarIr(protected="C").policy(part)
    for options in ({"p": 1.5}, {"alpha": 0.0}, {"cutoff": 0}, {"unknown": "drop"}, {"pool": True, "p": 0.5}):
        with pytest.raises(ConfigError, match=f"method.{next(iter(options))}"):
            FaStarIr(**options)
    with pytest.raises(ConfigError, match=r"alpha: found 1\.0"):
        fa_star_ir_table(5, 0.5, 1.0)
    with pytest.raises(ConfigError, match="p: found nan"):
        fa_star_ir_table(5, math.nan, 0.1)
    with pytest.raises(InputError, match="k: found 0"):
        fa_star_ir_table(0, 0.5, 0.1)
    with pytest.raises(InputError, match="protected"):
        pool_table(2, 5, 4, 0.1)
    for table in ([], [-1], [[1]]):
        with pytest.raises(InputError, match="table"):
            fa_star_ir_fail_probability(table, 0.5)


def test_tables_are_copies() -> None:
    first = fa_star_ir_table(10, 0.5, 0.1)
    first[:] = 9
    assert fa_star_ir_table(10, 0.5, 0.1).max() < 9

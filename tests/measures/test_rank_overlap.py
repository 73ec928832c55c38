"""Rank-biased overlap: published values, the definition, ties broken in every way, and wrong arguments."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.rank_overlap import rbo


def by_definition(a: list, b: list, p: float) -> float:
    """Agreement of growing sets, extrapolated (equation 32 of Webber et al. 2010)."""
    short, long = sorted((a, b), key=len)
    s, n = len(short), len(long)
    shared = [len(set(short[:d]) & set(long[:d])) for d in range(1, n + 1)]
    total = sum(shared[d - 1] / d * p**d for d in range(1, n + 1))
    total += sum(shared[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * total + ((shared[-1] - shared[s - 1]) / n + shared[s - 1] / s) * p**n


@pytest.mark.shared_data
def test_published_values(shared: Path) -> None:
    cases = json.loads((shared / "oracles/text-bias-and-queries/rbo.json").read_text())["cases"]
    assert len(cases) == 27
    for case in cases:
        for ties in "wab":
            for kind, value in case[ties].items():
                assert rbo(case["x"], case["y"], case["p"], ties, kind) == pytest.approx(value, abs=2e-15)
                assert rbo(case["y"], case["x"], case["p"], ties, kind) == pytest.approx(value, abs=2e-15)


rankings = st.lists(st.integers(0, 12), min_size=1, max_size=10, unique=True)


@given(rankings, rankings, st.floats(0.05, 0.99))
def test_untied_is_the_definition_in_every_form(a: list[int], b: list[int], p: float) -> None:
    expected = by_definition(a, b, p)
    forms = [
        rbo(a, b, p),
        rbo(b, a, p, "w"),
        rbo(a, b, p, "b"),
        rbo(np.array(a), np.array(b), p),
        rbo(np.array(a, np.int32) - 10**6, np.array(b, np.int32) - 10**6, p),
        rbo(np.array(a) * 10**9, np.array(b) * 10**9, p),
        rbo([f"d{one}" for one in a], [f"d{one}" for one in b], p),
        rbo([[one] for one in a], b, p),
    ]
    assert forms == pytest.approx([expected] * len(forms), abs=1e-13)
    low, high = rbo(a, b, p, kind="min"), rbo(a, b, p, kind="max")
    assert -1e-12 <= low <= expected + 1e-12
    assert expected <= high + 1e-12 <= 1 + 2e-12
    assert rbo(a, b, p, kind="res") == pytest.approx(high - low)
    assert rbo(a, a, p) == pytest.approx(1.0)


def ties_broken(ranking: list) -> list[list]:
    """Every ranking that breaks the ties."""
    out: list[list] = [[]]
    for item in ranking:
        group = item if isinstance(item, list) else [item]
        out = [[*before, *order] for before in out for order in permutations(group)]
    return out


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([["x", "y", "z"], "w"], ["y", ["w", "x"], "z"]),
        ([["a", "b"], ["c", "d"]], [["d", "e"], ["a", "f"]]),
        ([["a", "b", "c", "d"]], ["a", "b", "e", "f"]),
    ],
)
def test_variant_a_is_the_mean_over_broken_ties(a: list, b: list) -> None:
    each = [by_definition(one, two, 0.8) for one in ties_broken(a) for two in ties_broken(b)]
    assert rbo(a, b, 0.8) == pytest.approx(np.mean(each), abs=1e-14)


def test_variants_of_one_tie_group() -> None:
    assert rbo([["a", "b", "c"]], [["a", "b", "c"]], 0.7, "w") == pytest.approx(1.0)
    assert rbo([["a", "b", "c"]], [["c", "a", "b"]], 0.7, "b") == pytest.approx(1.0)
    assert rbo([["a", "b", "c"]], [["a", "b", "c"]], 0.7, "a") < 0.9


@pytest.mark.parametrize(
    ("a", "b", "p", "text"),
    [
        ([1, 2], [1], 1.0, "p: found 1.0; expected a number strictly between 0 and 1"),
        ([1, 2], [1], 0, "p: found 0"),
        ([1, 2], [1], float("nan"), "p: found nan"),
        ([1, 2], [1], True, "p: found True"),
        ([1, 2], [], 0.5, "b: found an empty ranking"),
        (np.array([1, 2]), np.array([], int), 0.5, "b: found an array of shape"),
        (np.array([[1, 2]]), np.array([1]), 0.5, "a: found an array of shape"),
        ([1, 2, 1], [1], 0.5, "a: found an item more than once"),
        ([1], [[1, 2], 2], 0.5, "b: found an item more than once"),
        (np.array([3, 3]), np.array([1]), 0.5, "a: found an item more than once"),
        ([1, []], [1], 0.5, "a: found an empty tie group at 1"),
        ([[{}]], [1], 0.5, "a: found an item that cannot be compared"),
    ],
)
def test_wrong_arguments(a: object, b: object, p: float, text: str) -> None:
    with pytest.raises(InputError, match=text.replace("(", r"\(")):
        rbo(a, b, p)  # type: ignore[arg-type]


@pytest.mark.parametrize(("ties", "kind"), [("c", "ext"), ("a", "mid")])
def test_wrong_words(ties: str, kind: str) -> None:
    with pytest.raises(ConfigError, match="expected one of"):
        rbo([1], [1], 0.5, ties, kind)


def test_deep_lists_are_fast() -> None:
    """Fifty times is what is aimed at, on a machine of its own; far less tells that something is wrong."""
    rng = np.random.default_rng(0)
    a, b = (rng.permutation(1500)[:1000] for _ in range(2))

    def best(call: object, times: int) -> float:
        out = []
        for _ in range(times):
            start = perf_counter()
            call()  # type: ignore[operator]
            out.append(perf_counter() - start)
        return min(out)

    assert rbo(a, b, 0.9) == pytest.approx(by_definition(a.tolist(), b.tolist(), 0.9), abs=1e-14)
    assert best(lambda: by_definition(a.tolist(), b.tolist(), 0.9), 2) > 10 * best(lambda: rbo(a, b, 0.9), 20)


def test_long_lists_of_large_ties_take_linear_time() -> None:
    groups = [list(range(start, start + 25_000)) for start in range(0, 100_000, 25_000)]
    assert rbo(groups, list(reversed(range(100_000))), 0.5) == pytest.approx(0.0, abs=1e-4)

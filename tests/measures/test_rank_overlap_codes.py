"""Rank-biased overlap of rankings without ties: codes in arrays and lists, near and far apart, and what is unseen."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.measures.rank_overlap import KINDS, rbo
from rerankers.measures.rank_overlap_loops import unseen


@pytest.mark.parametrize("p", [1e-6, 0.3, 0.9, 0.999, 1 - 1e-9])
@pytest.mark.parametrize(("one", "two"), [(1, 1), (3, 200), (150, 90), (130, 130)])
def test_every_form_of_two_rankings_is_one_value(one: int, two: int, p: float) -> None:
    draw = np.random.default_rng(one * two)
    a, b = draw.permutation(210)[:one], draw.permutation(210)[:two]
    for kind in KINDS:
        value = rbo([f"d{item}" for item in a], [f"d{item}" for item in b], p, kind=kind)
        forms = [
            rbo(a, b, p, kind=kind),
            rbo(b, a, p, "w", kind),
            rbo(a.tolist(), tuple(b.tolist()), p, "b", kind),
            rbo(a * 2**40 - 7, b * 2**40 - 7, p, kind=kind),
            rbo(a.astype(np.uint64) + 2**63, b.astype(np.uint64) + 2**63, p, kind=kind),
            rbo(a[::-1].astype(np.int16)[::-1], b.tolist(), p, kind=kind),
            rbo([[item] for item in a.tolist()], b.tolist(), p, kind=kind),
        ]
        assert forms == pytest.approx([value] * len(forms), abs=2e-15)


def test_codes_of_different_types_are_not_mixed_up() -> None:
    assert rbo(np.array([-1, 0]), np.array([2**64 - 1, 0], np.uint64), 0.5) == rbo([-1, 0], ["x", 0], 0.5)
    assert rbo([1, 2.5], [True, 3], 0.5) == rbo([1, 2], [1, 3], 0.5)
    assert rbo([2**70, 1], [2**70, 1], 0.5) == 1.0
    assert rbo(np.array([-(2**63), 2**63 - 1]), np.array([2**63 - 1, -(2**63)]), 0.5) == rbo([0, 1], [1, 0], 0.5)


@pytest.mark.parametrize("far", [1, 2**40])
@pytest.mark.parametrize("kind", [np.array, list])
def test_an_item_twice_is_named_by_its_ranking(far: int, kind: type) -> None:
    for a, b, name in (([1, 2, 1], [1], "a"), ([1], [3, 2, 3], "b"), ([1, 2], [2, 2], "b")):
        with pytest.raises(InputError, match=f"{name}: found an item more than once"):
            rbo(kind([one * far for one in a]), kind([one * far for one in b]), 0.5)


def test_a_ranking_that_cannot_be_written_to_is_read() -> None:
    codes = np.arange(5)
    codes.flags.writeable = False
    assert rbo(codes, codes, 0.9) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [1e-6, 0.5, 0.89, 0.9, 0.99, 0.999, 0.9999])
@pytest.mark.parametrize("n", [1, 9, 11, 101, 1000])
def test_the_unseen_part_is_exact(p: float, n: int) -> None:
    with localcontext() as context:
        context.prec = 400
        exact = Decimal(p)
        left = -(1 - exact).ln() / exact - sum(exact ** (d - 1) / d for d in range(1, n + 1))
        apart = abs(Decimal(unseen(p, n)) - left) * (1 - exact) * n  # the error of the overlap of n items
        assert float(apart) < 1e-14


def test_nothing_is_left_unseen_behind_a_long_ranking() -> None:
    codes = np.arange(100_000)
    assert rbo(codes, codes, 0.5, kind="min") == pytest.approx(1.0, abs=1e-15)
    assert rbo(codes, codes, 0.5, kind="res") == 0.0

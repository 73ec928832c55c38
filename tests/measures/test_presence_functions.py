"""CWEx of single lists and of draws: reference values, enumeration, edges."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.measures import cwex, cwex_of_draws, cwex_sweep, ncwex

EXACT = {"abs": 1e-12, "rel": 0}
LABELS = st.lists(st.sampled_from(["N", "M", "F", None]), min_size=1, max_size=7)
ALPHA = st.sampled_from([0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 1.0])


def oracle(shared: Path, name: str) -> dict[str, Any]:
    return json.loads((shared / "oracles" / "text-bias-and-queries" / f"{name}.json").read_text())


def plain(labels: list[str], alpha: float, groups: str = "MF") -> float:
    """CWEx by the formula, for fully labelled lists."""
    weight = [1 / math.log2(2 + rank) for rank in range(len(labels))]
    share = {g: sum(w for w, one in zip(weight, labels, strict=True) if one == g) / sum(weight) for g in "N" + groups}
    gaps = [share[g] for g in groups]
    return alpha * share["N"] - (1 - alpha) * (max(gaps) - min(gaps))


@pytest.mark.shared_data
def test_cwex_has_the_reference_values(shared: Path) -> None:
    cases = oracle(shared, "cwex")["cases"]
    assert len(cases) > 50
    for case in cases:
        found = cwex(case["labels"], case["alpha"], case["k"], groups=case.get("groups"))
        assert found["cwex"] == pytest.approx(case["cwex"], **EXACT)
        assert found["spread"] == pytest.approx(case["gap"], **EXACT)
        long = {"N": "neutral", "M": "male", "F": "female"}
        for letter, share in case["exposure"].items():
            name = "neutral" if letter == "N" else letter if "groups" in case else long[letter]
            assert found[name] == pytest.approx(share, **EXACT)
        if "cwex_rescaled01" in case:
            assert found["rescaled"] == pytest.approx(case["cwex_rescaled01"], **EXACT)


@settings(max_examples=150, deadline=None)
@given(LABELS, ALPHA)
def test_bounds_are_those_of_all_ways_to_label(labels: list[str | None], alpha: float) -> None:
    found = cwex(labels, alpha, None)
    choices = [["N", "M", "F"] if one is None else [one] for one in labels]
    values = [plain(list(way), alpha) for way in itertools.product(*choices)]
    assert found["lo"] == pytest.approx(min(values), abs=1e-12)
    assert found["hi"] >= max(values) - 1e-12
    if alpha >= 0.5:
        assert found["hi"] == pytest.approx(max(values), abs=1e-12)
    if None not in labels:
        assert found["cwex"] == pytest.approx(plain([str(one) for one in labels], alpha), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["N", "A", "B", "C", None]), min_size=1, max_size=5), ALPHA)
def test_bounds_of_three_groups(labels: list[str | None], alpha: float) -> None:
    found = cwex([None if one is None else one for one in labels], alpha, None, groups=["A", "B", "C", "neither"][:3])
    choices = [["N", "A", "B", "C"] if one is None else [one] for one in labels]
    values = [plain(list(way), alpha, "ABC") for way in itertools.product(*choices)]
    assert found["lo"] == pytest.approx(min(values), abs=1e-12)
    assert found["hi"] >= max(values) - 1e-12
    if alpha >= 0.5:
        assert found["hi"] == pytest.approx(max(values), abs=1e-12)


def test_the_upper_bound_below_one_half_is_the_published_one() -> None:
    """Unknown exposure that fits into the gap closes it; else the gap closes and the rest is neutral."""
    for labels in (["M", "M", None, "N"], ["M", None, None, "N", None]):
        one = cwex(labels, 0.3, None)
        gap, unknown = one["spread"], one["unknown"]
        fits = unknown <= gap
        want = 0.3 * one["neutral"] + (-0.7 * (gap - unknown) if fits else 0.3 * (unknown - gap))
        assert one["hi"] == pytest.approx(want, abs=1e-12)
        assert fits == (labels[1] == "M")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from("NMF"), min_size=2, max_size=6), st.integers(1, 6), ALPHA)
def test_pool_normalised_is_between_the_best_and_the_worst_order(pool: list[str], k: int, alpha: float) -> None:
    n = min(k, len(pool))
    values = [plain(list(order[:n]), alpha) for order in itertools.permutations(pool)]
    found = ncwex(pool, pool, alpha, k)
    assert found["lowest"] == pytest.approx(min(values), abs=1e-12)
    assert found["highest"] == pytest.approx(max(values), abs=1e-12)
    assert found["exact"] is True
    if max(values) - min(values) > 1e-9:
        want = (plain(pool[:n], alpha) - min(values)) / (max(values) - min(values))
        assert found["ncwex"] == pytest.approx(want, abs=1e-9)
        assert 0 <= found["ncwex"] <= 1
    else:
        assert (found["ncwex"], found["reason"]) == (None, "one_value_in_pool")


def test_pool_of_more_than_ten_has_a_stated_bound() -> None:
    pool = ["N"] * 3 + ["M"] * 7 + ["F"] * 5
    found = ncwex(pool, pool, 0.5, 12)
    weights = [1 / math.log2(2 + rank) for rank in range(12)]
    assert found["exact"] is False
    assert found["highest"] == pytest.approx(0.5 * sum(weights[:3]) / sum(weights))
    assert ncwex(pool[:12], pool, 0.5, 10)["exact"] is True
    three = ncwex(["A", "N", "B", "C"], ["A", "N", "B", "C", "C"], groups=["A", "B", "C"])
    assert (three["exact"], three["reason"]) == (True, None)


def test_pool_edges() -> None:
    assert ncwex(["N", None], ["N", None, "M"])["reason"] == "unlabelled_document"
    assert ncwex([], ["N"])["reason"] == "no_ranked_document"
    with pytest.raises(InputError, match="the labels of the ranking and maybe more"):
        ncwex(["N", "M"], ["N", "F"])


def test_known_numbers_of_the_design() -> None:
    assert cwex(list("MMMMMFFFFF"))["cwex"] == pytest.approx(-0.14893, abs=5e-6)
    assert cwex(list("MMMMMNNNNN"))["cwex"] == pytest.approx(-0.14893, abs=5e-6)
    assert cwex(list("MFMFMFMFMF"))["cwex"] == pytest.approx(-0.0549, abs=5e-5)
    assert cwex(list("FMMFFMMFFM"))["cwex"] == pytest.approx(-0.0357, abs=5e-5)
    assert cwex(list("NNNNNMMMMM"))["cwex"] == pytest.approx(0.1489, abs=5e-5)
    draws = cwex_of_draws([list("NMF"), list("FMN"), list("MFN"), list("MNF")])
    assert draws["expected"] == pytest.approx(0.11732, abs=5e-6)
    assert draws["mean"] == pytest.approx(0.07402, abs=5e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from("NMF"), min_size=4, max_size=4), min_size=1, max_size=5), ALPHA)
def test_expected_is_at_least_the_mean(lists: list[list[str]], alpha: float) -> None:
    found = cwex_of_draws(lists, alpha=alpha)
    assert found["expected"] is not None
    assert found["mean"] is not None
    assert found["expected"] >= found["mean"] - 1e-12
    one = cwex_of_draws([lists[0], lists[-1]], [1.0, 0.0], alpha)
    assert one["expected"] == pytest.approx(plain(lists[0], alpha))
    assert one["mean"] == pytest.approx(plain(lists[0], alpha))


def test_cwex_words_signs_and_conditions() -> None:
    found = cwex(["F", "N", "male", None, "female"], k=4)
    assert found["gap"] == pytest.approx(found["male"] - found["female"])
    assert found["gap"] < 0 < found["unknown"]
    assert found["neutral"] + found["male"] + found["female"] + found["unknown"] == pytest.approx(1)
    only = cwex(["M", "N", "F", "M"], relevant=[False, True, True, False])
    assert only["neutral"] == pytest.approx((1 / math.log2(3)) / (1 / math.log2(3) + 0.5))
    assert only["male"] == 0
    assert cwex(["M"], relevant=[False])["reason"] == "no_relevant_document"
    assert cwex_sweep(["N", "M"]) == {
        alpha: pytest.approx(plain(["N", "M"], alpha)) for alpha in (0, 0.25, 0.5, 0.75, 1)
    }
    three = cwex(["A", "B", "N"], groups=["A", "B", "C"])
    assert three["present"] == pytest.approx(plain(["A", "B", "N"], 0.5, "AB"))
    assert three["cwex"] == pytest.approx(plain(["A", "B", "N"], 0.5, "ABC"))
    assert cwex(["A", "N"], groups=["A", "B"])["present"] is None


def test_nothing_known_is_no_value() -> None:
    found = cwex([None, None], 0.4)
    assert (found["cwex"], found["reason"], found["unknown"]) == (None, "no_labels", 1.0)
    assert found["lo"] == pytest.approx(-0.6)
    assert found["hi"] == pytest.approx(0.4)
    empty = cwex([])
    assert empty["reason"] == "no_ranked_document"
    assert [value for key, value in empty.items() if key != "reason"] == [None] * (len(empty) - 1)
    assert cwex_of_draws([]) == {"expected": None, "mean": None}
    assert cwex_of_draws([[None]]) == {"expected": None, "mean": None}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cwex(["N", "X"]), "labels: found 'X'; expected one of neutral, male, female, N, M, F, or None"),
        (lambda: cwex("NMF"), "a list of labels"),
        (lambda: cwex(["N"], alpha=1.5), "alpha: found 1.5"),
        (lambda: cwex(["N"], alpha=math.nan), "alpha: found nan"),
        (lambda: cwex(["N"], k=0), "k: found 0; expected a whole number of at least 1"),
        (lambda: cwex(["N"], k=2.5), "k: found 2.5"),
        (lambda: cwex(["N"], groups=["A"]), "two different names or more"),
        (lambda: cwex(["N"], groups=["A", "gap"]), "names other than"),
        (lambda: cwex(["N"], relevant=[True, False]), "relevant: found shape"),
        (lambda: cwex_of_draws([["N"]], [-1.0]), "weights"),
    ],
)
def test_wrong_arguments(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)

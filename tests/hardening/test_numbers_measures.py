"""Measures of numbers of any size, against exact sums or what must not change; what is no number is refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from math import fsum

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures import (
    arab,
    awrf,
    cwex,
    cwex_of_draws,
    evaluate,
    favoured_pairs,
    gfr,
    group_exposure_placebo,
    group_rates,
    iaa,
    jme,
    leximin,
    lexirecall,
    ndkl,
    nfairr,
    pareto_distance,
    prefix_parity,
    rbo,
    texfair,
    unequal,
)
from rerankers.measures.divergences import jsd, kl, rnod
from rerankers.measures.placebo import Bilinear
from rerankers.measures.placebo_variance import shuffled_variance
from rerankers.measures.rate_parity import WAYS
from rerankers.measures.scaling import near_one
from rerankers.values import GroupAlignment

TINY = 5e-324
SIZES = [TINY * 8, 1e-310, 1e-200, 1.0, 1e100]
TWO = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.0, 0.0]]
WORDS = {"male": ["he"], "female": ["she"]}


@pytest.fixture(autouse=True)
def nothing_is_said_in_passing() -> object:
    """No warning reaches a user, and no number overflows on the way."""
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        yield


# What depends on ratios alone, whatever the size of the numbers.


@pytest.mark.parametrize("size", [*SIZES, 1e300])
def test_shares_do_not_depend_on_size(size: float) -> None:
    weights, target = np.array([8.0, 4.0, 2.0, 1.0]), np.array([2.0, 6.0])
    factor = size / 16 if size > 1 else size
    assert awrf(weights * factor, TWO, target * factor) == pytest.approx(awrf(weights, TWO, target), rel=1e-14)
    assert awrf(weights, np.array(TWO) * 2 * factor, target) == pytest.approx(awrf(weights, TWO, target), rel=1e-14)
    assert iaa(weights * factor, [1, 0, 2, 0]) == pytest.approx(iaa(weights, [1, 0, 2, 0]), rel=1e-14)
    aim = {"a": 2 * factor, "b": 6 * factor}
    labels = ["a", "b", None, "a"]
    assert ndkl(labels, aim) == pytest.approx(ndkl(labels, {"a": 1, "b": 3}), rel=1e-14)
    assert gfr(labels, aim, [1, 0, 2, 0]) == gfr(labels, {"a": 1, "b": 3}, [1, 0, 2, 0])
    texts = ["he", "she she", "he"]
    due = {"male": 2 * factor, "female": 6 * factor}
    assert texfair(texts, WORDS, due) == texfair(texts, WORDS, {"male": 1, "female": 3})
    lists = [["M", "F", "N"], ["F", "M"], ["M"]]
    found, plain = cwex_of_draws(lists, [factor, 2 * factor, factor]), cwex_of_draws(lists, [1, 2, 1])
    assert found == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize("largest", [1.5e308, 1.0e308])
def test_sums_beyond_all_numbers(largest: float) -> None:
    both = [largest, largest]
    assert awrf(both, [[1, 0], [0, 1]], both) == 1.0
    assert iaa(both, both) == 0.0
    assert ndkl(["a", "b"], {"a": largest, "b": largest}) == ndkl(["a", "b"], {"a": 1, "b": 1})
    assert cwex_of_draws([["M"], ["F"]], both) == cwex_of_draws([["M"], ["F"]], [1, 1])


@pytest.mark.parametrize("size", SIZES)
def test_prefixes_do_not_depend_on_the_size_of_weights(size: float) -> None:
    weights = np.array(TWO * 5)
    for call in (
        lambda w: ndkl(w, [1, 1]),
        lambda w: ndkl(w, [1, 3], smoothing=0.1),
        lambda w: prefix_parity(w, form="rND", step=3),
        lambda w: prefix_parity(w, form="rKL", step=3),
        lambda w: prefix_parity(w, form="rRD", step=3),
        lambda w: gfr(w, [1, 1], [1] * 20)["fairness"],
    ):
        assert call(weights * size) == pytest.approx(call(weights), rel=1e-13)


def test_numbers_of_ordinary_size_stay_as_they_are() -> None:
    values = np.random.default_rng(1).random((5, 4)) * 1e140
    assert near_one(values) is values
    rows = np.array([[1e200, 5e199], [1.0, 0.3], [0.0, 0.0], [TINY, 0.0]])
    scaled = near_one(rows, axis=1)
    np.testing.assert_array_equal(scaled[1:3], rows[1:3])
    assert np.all(scaled[[0, 3], 0] >= 0.5)
    assert scaled[0, 0] == 2 * scaled[0, 1]
    np.testing.assert_array_equal(near_one(np.empty((0, 3)), axis=1), np.empty((0, 3)))


# Exact references.


@pytest.mark.parametrize("p", [TINY, 1e-310, 1e-160, 1e-9, 0.3, 0.9, 0.999999, 1 - 2.0**-53])
@pytest.mark.parametrize("tied", [False, True])
def test_overlap_of_any_persistence(p: float, tied: bool) -> None:
    """The first ranks agree nowhere, so that for small p the value is that of the second rank."""
    a, b = ([1, 2, 3, 4], [2, 1, 5, 3]) if not tied else ([[1], [2], 3, 4], [2, 1, [5], 3])
    shared, found = [0, 2, 2, 3], {kind: rbo(a, b, p, kind=kind) for kind in ("ext", "min", "max", "res")}
    with localcontext() as context:
        context.prec, context.Emin = 400, -(10**6)
        q = Decimal(p)
        body = (1 - q) * sum(q ** (d - 1) * x / d for d, x in enumerate(shared, 1))
        unseen = -(1 - q).ln() / q - sum(q ** (d - 1) / d for d in range(1, 5)) if p > 1e-20 else q**4 / 5
        low = body + (1 - q) * 3 * unseen
        high = body + (1 - q) * q**4 * Decimal(2 * 5 - 8 + 3) / 5 + q**5
        expected = {"ext": body + q**4 * 3 / 4, "min": low, "max": high, "res": high - low}
    for kind, value in expected.items():
        if kind == "res" and p < 0.1:
            assert 0 <= found[kind] <= 1e-15 * p + 10 * p**4
        else:
            assert found[kind] == pytest.approx(float(value), rel=1e-12, abs=TINY if kind != "res" else 1e-15)
        assert type(found[kind]) is float


@pytest.mark.parametrize("size", [1e-140, 1.0, 1e70])
def test_placebo_is_the_mean_over_all_shuffles(size: float) -> None:
    rng = np.random.default_rng(2)
    gap, part = rng.normal(size=5), rng.random((5, 3))
    total = Fraction(0)
    for order in permutations(range(5)):
        for group in range(3):
            total += sum(Fraction(gap[i]) * Fraction(part[order[i], group]) for i in range(5)) ** 2
    exact = float(total / math.factorial(5))
    assert group_exposure_placebo(gap * size, part) == pytest.approx(exact * size * size, rel=1e-12)
    labels = ["a", "b", "a", None, "b"]
    hot = [[label == name for name in ("a", "b", None)] for label in labels]
    assert group_exposure_placebo(gap, labels) == pytest.approx(group_exposure_placebo(gap, hot), rel=1e-15)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("soft", [False, True])
def test_variance_over_shuffles_of_exposures_that_hardly_differ(offset: float, soft: bool) -> None:
    rng = np.random.default_rng(7)
    x = offset + rng.normal(size=6)
    part = rng.random((6, 3)) if soft else np.eye(2)[[0, 0, 1, 1, 1, 0]] * np.array([1.0, 2.0])
    exact_x, exact_part = [Fraction(v) for v in x.tolist()], [[Fraction(v) for v in one] for one in part.tolist()]
    values = []
    for order in permutations(range(6)):
        totals = [sum(exact_x[i] * exact_part[order[i]][g] for i in range(6)) for g in range(part.shape[1])]
        values.append(sum(total * total for total in totals))
    mean = sum(values) / len(values)
    exact = float(sum((value - mean) ** 2 for value in values) / len(values))
    doc, group = np.nonzero(part)
    names = tuple(str(number) for number in range(part.shape[1]))
    alignment = GroupAlignment.of_entries("g", names, doc, group, part[doc, group], 6, "value").resolve("drop")
    found = shuffled_variance(Bilinear.of(alignment, np.array([0, 6]), np.arange(6), x))
    assert found is not None
    assert found[0] == pytest.approx(exact, rel=1e-12)


def test_what_does_not_vary_over_shuffles() -> None:
    ones = np.full(7, 0.3)
    for labels in ("aaaaaaa", "abcdefg", "aabbccd"):
        names = tuple(sorted(set(labels)))
        group = np.array([names.index(label) for label in labels])
        alignment = GroupAlignment.of_entries("g", names, np.arange(7), group, np.ones(7), 7, "value").resolve("drop")
        for x in (ones, ones + 1e-17, *([np.arange(7) + 0.1] if len(names) in (1, 7) else [])):
            found = shuffled_variance(Bilinear.of(alignment, np.array([0, 7]), np.arange(7), x))
            assert found is not None
            assert found.tolist() == [0.0]


def test_divergences_at_their_bounds() -> None:
    zero_one, half = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])
    assert kl(zero_one, half).tolist() == pytest.approx([math.log(2)] * 2)
    assert kl(half, zero_one).tolist() == [math.inf] * 2  # the target gives nothing to what is there: stated
    assert jsd(zero_one[0], zero_one[1]) == 1.0
    assert jsd(half, half) == rnod(half, half) == 0.0
    assert rnod(zero_one[0], zero_one[1]) == 1.0
    small = np.array([1.0, 1e-310])
    assert kl(small, np.array([1.0, TINY])) == pytest.approx(1e-310 * math.log(1e-310 / TINY), rel=1e-9)
    assert 0.0 <= jsd(small, np.array([1.0, 0.0])) <= 1e-300
    with pytest.raises(InputError, match=r"nothing for b, which is ranked.*infinite there"):
        ndkl(["a", "b"], {"a": 1})
    assert ndkl(["b"], {"a": 1, "b": 1e-320}) == pytest.approx(-math.log(1e-320), rel=1e-12)


@pytest.mark.parametrize("how", WAYS)
def test_rates_of_any_size(how: str) -> None:
    rate = [3.0, 1.0, math.nan, 2.0]
    plain = unequal(rate, how)
    power = {"min_max": 0, "max_min": 0, "variance": 2}.get(how, 1)
    for factor in (2.0**-400, 2.0**400):
        assert unequal([one * factor for one in rate], how) == pytest.approx(plain * factor**power, rel=1e-14)
    for wrong in (math.inf, 1e150, 1.7e308):
        with pytest.raises(InputError, match=r"rate: found .* at 1; expected finite numbers below 1e\+150"):
            unequal([1.0, wrong, 2.0], how)
    assert unequal([0.0, 0.0], "min_max") == unequal([0.0, 0.0], "max_min") == 1.0
    assert unequal([0.0, 1.0], "max_min") == math.inf


def test_rates_of_groups() -> None:
    rate, names = group_rates([1e-310, 1e-310, 4.0], ["a", "a", "b"], per=[1e-310, 0, 2.0])
    assert names == ["a", "b"]
    assert rate.tolist() == pytest.approx([2.0, 2.0], rel=1e-12)
    assert np.isnan(group_rates([1.0], ["a"], per=[0.0])[0]).all()
    with pytest.raises(InputError, match=r"per: found 1e-300 for the group a; expected 0, or enough"):
        group_rates([1e20], ["a"], per=[1e-300])


def test_joint_exposure_is_its_definition() -> None:
    rng = np.random.default_rng(5)
    system, target, mask = rng.random((4, 6)), rng.random((4, 6)), rng.random((4, 6)) < 0.7
    users, items = rng.random((2, 4)), rng.random((3, 6))
    found = jme(system, target, 0.3, item_groups=items, user_groups=users, mask=mask)
    cells = {"I": (np.eye(4), np.eye(6)), "G": (users, items), "A": (np.ones((1, 4)), None)}
    for name, parts in found.items():
        rows, columns = cells[name[0]][0], cells[name[1]][1]
        gaps = []
        for row in rows:
            for column in columns:
                weight = np.outer(row, column) * mask
                number = fsum(weight.ravel())
                gaps.append(fsum((weight * (system - target)).ravel()) / number if number else 0.0)
        mean = fsum(gap * gap for gap in gaps) / (mask.sum() if name == "II" else len(gaps))
        assert parts.loss == pytest.approx(mean, rel=1e-12)


def test_joint_exposure_of_many_users_and_items() -> None:
    """Users and items by themselves need no matrix of all by all, which would have a million million numbers."""
    for shape in ((1, 10**6), (10**6, 1)):
        found = jme(np.full(shape, 0.5), np.zeros(shape), 0.0)
        assert found["II"].loss == pytest.approx(0.25, rel=1e-15)


def test_shuffles_of_as_many_labels_as_documents() -> None:
    gap = np.ones(10**5)
    assert group_exposure_placebo(gap, range(10**5)) == pytest.approx(1e5, rel=1e-14)


def test_documents_that_nobody_finds_are_not_written_down() -> None:
    assert lexirecall([1], [2], relevant=10**15) == 1
    assert lexirecall([1, 3], [1], relevant=10**15) == 1
    assert lexirecall([1], [1], relevant=10**15) == 0
    assert lexirecall([], [], relevant=10**15) == lexirecall([], []) == 0
    for wrong in (2.5, math.nan, "3"):
        with pytest.raises(InputError, match=r"relevant: found .*; expected a whole number"):
            lexirecall([1], [2], relevant=wrong)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1.0, 1e140])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, None])
def test_distance_to_the_front_is_in_its_units(size: float, alpha: float | None) -> None:
    utility, loss = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 2.0])
    plain = pareto_distance([0.5, 2.0], [1.5, 0.5], utility, loss, alpha=alpha, scaled=False)
    found = pareto_distance(
        np.array([0.5, 2.0]) * size, np.array([1.5, 0.5]) * size, utility * size, loss * size, alpha=alpha, scaled=False
    )
    np.testing.assert_allclose(found, plain * size, rtol=1e-12)
    on = pareto_distance(utility * size, loss * size, utility * size, loss * size, alpha=None, scaled=False)
    assert np.all(on <= 1e-15 * size)


def test_a_front_without_extent() -> None:
    assert pareto_distance(1.0, 1.0, [0.0], [0.0]) == pytest.approx([math.sqrt(2)])
    assert pareto_distance(1.0, 1.0, [0.0, 1e-320], [0.0, 1e-320], alpha=None) == pytest.approx([math.sqrt(2)])


# One group, no group, nothing relevant, everything relevant, nothing at all.


def test_one_group_and_documents_in_none() -> None:
    for labels in (["a"] * 30, [None] * 29 + ["a"]):
        assert ndkl(labels) == prefix_parity(labels) == 0.0
        assert math.isnan(favoured_pairs(labels)[0][0]) == (None not in labels)
        assert gfr(labels, [1.0], [0] * 30)["fairness"] == 0.0
        assert gfr(labels, [1.0], [1] + [0] * 29)["GFR"] >= 0.0
    assert awrf([1, 1], [[1], [0]], [5]) == 1.0
    with pytest.raises(InputError, match="zeros only"):
        awrf([1, 1], [[0], [0]], [1])
    with pytest.raises(InputError, match="no document of any group"):
        ndkl([None, None])
    with pytest.raises(InputError, match="no document"):
        ndkl([])


def test_nothing_and_everything_relevant() -> None:
    assert iaa([[0, 0], [1, 3]], [[0, 0], [0, 0]]) == 1.0
    assert iaa([], []) == 0.0
    assert gfr(["a", "b"], [1, 1], [0, 0]) == {"GFR": 0.0, "relevance": 0.0, "fairness": 0.0}
    assert leximin([], []) == 0
    for grade, reason in ((0, "no_relevant_document"), (1, None)):
        rows = evaluate({"q": [["d1", "d2"]]}, {"q": {"d1": grade, "d2": grade}}, measures=["AP", "EEL", "utility"])
        found = {row["measure"]: (row["value"], row["reason"]) for row in rows.to_pylist()}
        assert found["AP"] == ((None, reason) if reason else (1.0, None))
        assert found["EEL"][0] >= 0.0
        assert found["utility"][0] == (0.0 if reason else pytest.approx(0.625))


def test_single_precision_whole_numbers_flags_and_the_sign_of_zero() -> None:
    weights, part = np.array([0.5, 0.25, 0.125]), np.array([[1, 0], [0, 1], [1, 1]])
    expected = awrf(weights, part, [1, 1])
    for kind in (np.float32, np.float16, np.longdouble):
        assert awrf(weights.astype(kind), part.astype(kind), [1, 1]) == expected
    assert awrf(weights, part.astype(bool), np.array([1, 1], np.uint8)) == expected
    assert group_rates(np.array([2, 4], np.int8), ["a", "b"])[0].tolist() == [2.0, 4.0]
    assert group_rates([True, False], ["a", "b"])[0].tolist() == [1.0, 0.0]
    assert leximin([-0.0, 1], [0.0, 1], 0) == 0
    assert unequal([-0.0, 0.0]) == 1.0
    rng = np.random.default_rng(6)
    gap = rng.normal(size=40)
    labels = list("ab" * 20)
    found, exact = group_exposure_placebo(gap.astype(np.float32), labels), group_exposure_placebo(gap, labels)
    assert found == pytest.approx(exact, rel=1e-5)  # 40 numbers, each off by 6e-8 at most


NUMBERS: list[tuple[str, Callable[[float], object]]] = [
    ("weights", lambda x: awrf([1, x], [[1], [1]], [1])),
    ("alignment", lambda x: awrf([1, 1], [[1], [x]], [1])),
    ("target", lambda x: awrf([1, 1], [[1, 0], [1, 0]], [1, x])),
    ("attention", lambda x: iaa([1, x], [1, 1])),
    ("relevance", lambda x: iaa([1, 1], [1, x])),
    ("attention", lambda x: iaa([1, x], [1, 1], "fairranktune")),
    ("groups", lambda x: ndkl([[1, 0], [0, x]])),
    ("target", lambda x: ndkl(["a", "b"], {"a": 1, "b": x})),
    ("groups", lambda x: prefix_parity([[1, 0], [0, x]] * 5)),
    ("groups", lambda x: favoured_pairs([[1, 0], [0, x]])),
    ("grades", lambda x: gfr(["a", "b"], [1, 1], [1, x])),
    ("max_grade", lambda x: gfr(["a", "b"], [1, 1], [1, 1], max_grade=x)),
    ("target", lambda x: gfr(["a", "b"], [1, x], [1, 1])),
    ("difference", lambda x: group_exposure_placebo([1, x], ["a", "b"])),
    ("groups", lambda x: group_exposure_placebo([1, 1], [[1, 0], [0, x]])),
    ("amounts", lambda x: group_rates([1, x], ["a", "b"])),
    ("per", lambda x: group_rates([1, 1], ["a", "b"], per=[1, x])),
    ("system", lambda x: jme([[1, x]], [[1, 1]])),
    ("target", lambda x: jme([[1, 1]], [[1, x]])),
    ("collection", lambda x: jme([[1, 1]], [[1, 1]], x)),
    ("item_groups", lambda x: jme([[1, 1]], [[1, 1]], item_groups=[[1, x]])),
    ("utility", lambda x: pareto_distance(x, 0, [1], [1])),
    ("front", lambda x: pareto_distance(1, 0, [x], [1])),
    ("weights", lambda x: cwex_of_draws([["M"], ["F"]], [1, x])),
    ("target", lambda x: texfair(["he"], WORDS, {"male": 1, "female": x})),
    ("magnitudes, male", lambda x: arab({"male": [1, x], "female": [1, 1]}, None)),
    ("neutrality", lambda x: nfairr([1, x], [1], None)),
    ("b", lambda x: leximin([1], [x])),
    ("a", lambda x: lexirecall([x], [1])),
    ("p", lambda x: rbo([1], [1], x)),
    ("alpha", lambda x: cwex(["M", "F"], x)),
]


@pytest.mark.parametrize(("name", "take"), NUMBERS)
def test_what_is_not_finite_is_refused(name: str, take: Callable[[float], object]) -> None:
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises((InputError, ConfigError), match=f"^{name}"):
            take(wrong)


LARGE = {name: take for name, take in NUMBERS if name in ("amounts", "system", "collection", "difference", "utility")}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_overflow_is_refused(name: str) -> None:
    for wrong in (1e150, -1e300):
        with pytest.raises(InputError, match=rf"^{name}: found .*; expected finite numbers below 1e\+150 in size"):
            LARGE[name](wrong)
    LARGE[name](9e149)


def test_products_that_would_overflow() -> None:
    with pytest.raises(InputError, match="difference: found"):
        group_exposure_placebo([1e100, 1], [[1e60], [1]])
    with pytest.raises(InputError, match="attention: found 1e"):
        iaa([1e308, 1e308], [1, 1], "fairranktune")
    with pytest.raises(InputError, match="magnitudes, female: found"):
        arab({"male": [1e149], "female": [-1e308]}, None)
    for wrong in (math.nan, -1e-300):
        with pytest.raises(InputError, match="tolerance: found"):
            leximin([1], [2], wrong)

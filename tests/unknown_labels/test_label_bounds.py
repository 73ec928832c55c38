"""Bounds over all completions of unknown labels: equal to enumeration, and never inside of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.unknown_labels import (
    DETERMINED,
    LEVEL,
    UNDETERMINED,
    Bounds,
    GroupForm,
    alignment_of,
    completion_bounds,
    difference_form,
    group_bounds,
    group_form,
    order_of,
    share_bounds,
    with_unknown,
)
from rerankers.measures.unknown_labels import consistent as consistent_module
from rerankers.measures.unknown_labels.branch import branch_least
from rerankers.measures.unknown_labels.completion import Incomplete
from rerankers.measures.unknown_labels.products import product_extremes
from rerankers.measures.unknown_labels.search import improve
from rerankers.measures.unknown_labels.squares import greatest_square, least_square
from tests.unknown_labels.label_twins import completions, extremes, product_of_sums, values_of

MEASURES = ("group_EEL", "group_EED", "group_EER", "group_EET")
NAMES = ("A", "B", "C")
LEVELS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
NUMBERS = st.one_of(LEVELS, st.floats(0, 2, allow_subnormal=False))


def named(labels: list[int]) -> list[str | None]:
    return [None if label < 0 else NAMES[label] for label in labels]


@st.composite
def queries(draw: st.DrawFn, most: int = 7) -> tuple[np.ndarray, np.ndarray, list[int], int]:
    n, groups = draw(st.integers(1, most)), draw(st.integers(1, 3))
    exposure = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
    target = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)))
    return exposure, target, draw(st.lists(st.integers(-1, groups - 1), min_size=n, max_size=n)), groups


@settings(max_examples=60)
@given(queries(), st.sampled_from(MEASURES), st.booleans())
def test_bounds_are_those_of_enumeration(query: tuple, measure: str, none: bool) -> None:
    exposure, target, labels, groups = query
    least, greatest = extremes(*values_of(measure, exposure, target), labels, groups, none)
    found = group_bounds(measure, exposure, target, named(labels), NAMES[:groups], none=none)
    assert found.lower == pytest.approx(least, abs=1e-10)
    assert found.upper == pytest.approx(greatest, abs=1e-10)
    assert (found.lower_found, found.upper_found) == (found.lower, found.upper)
    assert found.sharp


@pytest.mark.parametrize("groups", [2, 3])
def test_twelve_unknown_documents(groups: int) -> None:
    rng = np.random.default_rng(groups)
    exposure, target = 0.6 ** np.arange(13.0), rng.random(13)
    labels = [0] + [-1] * 12
    unknown = np.array(list(np.ndindex(*[groups] * 12)))
    for measure in MEASURES:
        left, right = values_of(measure, exposure, target)
        total = np.zeros(len(unknown))
        for group in range(groups):
            own = np.column_stack([np.full(len(unknown), group == 0), unknown == group])
            total += (own @ left) * (own @ right)
        found = group_bounds(measure, exposure, target, named(labels), NAMES[:groups])
        assert found.sharp
        assert found.lower == pytest.approx(total.min(), abs=1e-11)
        assert found.upper == pytest.approx(total.max(), abs=1e-11)


@settings(max_examples=40)
@given(queries(6), st.booleans())
def test_outer_bounds_hold_where_nothing_is_compared(query: tuple, none: bool) -> None:
    exposure, target, labels, groups = query
    alignment = alignment_of(named(labels), NAMES[:groups])
    for measure in MEASURES:
        form = group_form(measure, np.array([0, len(labels)]), np.arange(len(labels)), exposure, target)
        found = completion_bounds(form, alignment, none, exact=0, points=1, branches=1).of(0)
        least, greatest = extremes(form.left, form.right, labels, groups, none)
        assert found.lower - 1e-10 <= least <= found.lower_found + 1e-10
        assert found.upper_found - 1e-10 <= greatest <= found.upper + 1e-10


@settings(max_examples=50)
@given(queries(6), st.integers(0, 3))
def test_every_way_to_the_least_square_agrees(query: tuple, seed: int) -> None:
    exposure, target, _, groups = query
    value = exposure - target
    base = np.random.default_rng(seed).normal(size=groups) * (seed > 0)
    problem = Incomplete(base, base, value, value, none=seed == 3)
    filled = completions([-1] * len(value), groups, none=seed == 3)
    sums = [problem.value(np.array(one)) for one in filled]
    assert branch_least(problem).found == pytest.approx(min(sums), abs=1e-10)
    assert least_square(problem, branches=1).bound == pytest.approx(min(sums), abs=1e-10)
    assert greatest_square(problem).found == pytest.approx(max(sums), abs=1e-10)
    few = branch_least(problem, 1)
    assert few.bound - 1e-10 <= min(sums) <= few.found + 1e-10
    assert product_extremes(problem)[0].found == pytest.approx(min(sums), abs=1e-10)


def test_many_documents_of_unknown_group_are_bounded_tightly() -> None:
    rng = np.random.default_rng(1)
    n = 300
    exposure = 0.9 ** np.arange(n)
    target = rng.permutation(exposure)
    labels = [None if place % 4 else NAMES[place % 3] for place in range(n)]
    found = group_bounds("group_EEL", exposure, target, labels, NAMES)
    assert found.upper == found.upper_found
    assert 0 <= found.lower_found - found.lower < 1e-9
    drawn = []
    for _ in range(200):
        own = [rng.integers(3) if label is None else NAMES.index(label) for label in labels]
        drawn.append(product_of_sums(exposure - target, exposure - target, own, 3))
    assert found.lower <= min(drawn)
    assert max(drawn) <= found.upper


def test_edges() -> None:
    one = np.array([0.5])
    assert group_bounds("group_EEL", one, one * 0, [None], ["A"]) == Bounds(0.25, 0.25, 0.25, 0.25)
    assert group_bounds("group_EEL", one, one * 0, [None], ["A", "B"], none=True) == Bounds(0.0, 0.0, 0.25, 0.25)
    nothing = group_bounds("group_EEL", np.zeros(0), np.zeros(0), [], ["A", "B"])
    assert nothing == Bounds(0.0, 0.0, 0.0, 0.0)
    assert nothing.sharp
    known = group_bounds("group_EEL", np.array([1.0, 0.5]), np.array([0.5, 1.0]), ["A", "B"])
    assert known == Bounds(0.5, 0.5, 0.5, 0.5)
    all_unknown = group_bounds("group_EEL", np.array([1.0, 0.5]), np.array([0.5, 1.0]), [None, None], ["A", "B"])
    assert all_unknown == Bounds(0.0, 0.0, 0.5, 0.5)
    ties = group_bounds("group_EED", np.full(40, 0.25), np.zeros(40), [None] * 40, NAMES)
    assert ties.lower == pytest.approx((13 * 13 + 13 * 13 + 14 * 14) / 16)
    assert ties.upper == pytest.approx(100.0)
    assert ties.sharp


def test_wide_spreads() -> None:
    exposure = np.array([1e6, 1.0, 1e-6, 1e-12])
    found = group_bounds("group_EED", exposure, exposure, [None] * 4, NAMES[:2])
    assert found.lower == pytest.approx(1e12 + 1.000001**2, rel=1e-12)
    assert found.upper == pytest.approx(exposure.sum() ** 2, rel=1e-12)


def test_partly_unknown_documents_move_their_unknown_part() -> None:
    from dataclasses import replace

    whole = alignment_of(["A", None], ["A", "B"])
    part = replace(whole, kind="share", weight=np.array([0.75]), unknown=np.array([0.25, 1.0]))
    form = group_form("group_EED", np.array([0, 2]), np.arange(2), np.array([1.0, 0.5]), np.zeros(2))
    found = completion_bounds(form, part).of(0)
    by_hand = [
        (0.75 + 0.25 * (first == 0) + 0.5 * (second == 0)) ** 2 + (0.25 * (first == 1) + 0.5 * (second == 1)) ** 2
        for first in (0, 1)
        for second in (0, 1)
    ]
    assert (found.lower, found.upper) == (pytest.approx(min(by_hand)), pytest.approx(max(by_hand)))


def shared_document() -> tuple[GroupForm, GroupForm]:
    """Two queries that share their only unknown document, which pulls the other way in each."""
    indptr, doc = np.array([0, 2, 4]), np.array([0, 2, 1, 2])
    one = group_form("group_EEL", indptr, doc, np.array([1.0, 1.0, 1.0, 1.0]), np.zeros(4))
    two = group_form("group_EEL", indptr, doc, np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4))
    return one, two


def test_documents_of_several_queries_keep_one_label(monkeypatch: pytest.MonkeyPatch) -> None:
    form, _ = shared_document()
    found = completion_bounds(form, alignment_of(["A", "B", None]))
    assert found.shared == 1
    assert found.lower.tolist() == [2.0, 2.0]
    assert found.upper.tolist() == [4.0, 4.0]
    # with one label the document stands beside the other in exactly one of the two queries
    assert found.mean == Bounds(3.0, 3.0, 3.0, 3.0)
    monkeypatch.setattr(consistent_module, "SOLVED", 0)
    found = completion_bounds(form, alignment_of(["A", "B", None]))
    assert found.mean == Bounds(2.0, 3.0, 3.0, 4.0)
    assert not found.mean.sharp
    assert found.mean.gap == 1.0


@settings(max_examples=40)
@given(st.integers(0, 100_000), st.booleans(), st.sampled_from(["group_EEL", "group_EER"]))
def test_means_over_queries_that_share_documents(seed: int, none: bool, measure: str) -> None:
    rng = np.random.default_rng(seed)
    groups, sizes = int(rng.integers(1, 4)), rng.integers(0, 4, size=4)
    labels = [-1 if rng.random() < 0.7 else int(rng.integers(groups)) for _ in range(7)]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    doc = np.concatenate([np.sort(rng.choice(7, size=size, replace=False)) for size in sizes]).astype(int)
    form = group_form(measure, indptr, doc, rng.random(len(doc)), np.round(rng.random(len(doc)) * 2) / 2)
    means = [
        np.mean(
            [
                product_of_sums(form.left[a:b], form.right[a:b], [filled[one] for one in doc[a:b]], groups)
                for a, b in itertools.pairwise(indptr.tolist())
            ]
        )
        for filled in completions(labels, groups, none)
    ]
    alignment = alignment_of(named(labels), NAMES[:groups])
    found = completion_bounds(form, alignment, none).mean
    assert (found.lower, found.upper) == (pytest.approx(min(means)), pytest.approx(max(means)))
    assert (found.lower_found, found.upper_found) == (pytest.approx(min(means)), pytest.approx(max(means)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(consistent_module, "SOLVED", 0)
        found = completion_bounds(form, alignment, none).mean
    assert found.lower - 1e-10 <= min(means) <= found.lower_found + 1e-10
    assert found.upper_found - 1e-10 <= max(means) <= found.upper + 1e-10


def test_order_of_two_systems() -> None:
    one, two = shared_document()
    alignment = alignment_of(["A", "B", None])
    order = order_of(one, two, alignment)
    assert order.verdict == DETERMINED
    # the first query cancels; the second is 2 or 4 against 0
    assert order.difference == Bounds(1.0, 1.0, 2.0, 2.0)
    x, y = np.array([0.5, 0.0, 1.0]), np.array([0.75, 1.0, 0.0])
    first = group_form("group_EEL", np.array([0, 3]), np.arange(3), x, np.zeros(3))
    second = group_form("group_EEL", np.array([0, 3]), np.arange(3), y, np.zeros(3))
    order = order_of(first, second, alignment_of(["A", "B", None]))
    by_hand = [product_of_sums(x, x, [0, 1, label], 2) - product_of_sums(y, y, [0, 1, label], 2) for label in (0, 1)]
    assert (order.difference.lower, order.difference.upper) == (
        pytest.approx(min(by_hand)),
        pytest.approx(max(by_hand)),
    )
    assert order.verdict == (UNDETERMINED if min(by_hand) < 0 < max(by_hand) else DETERMINED)
    assert order_of(first, first, alignment).verdict == LEVEL


@settings(max_examples=40)
@given(queries(5), st.integers(0, 5))
def test_difference_form(query: tuple, seed: int) -> None:
    exposure, target, labels, groups = query
    n = len(labels)
    rng = np.random.default_rng(seed)
    other_docs = np.sort(rng.choice(n + 2, size=rng.integers(0, n + 2), replace=False))
    other = rng.normal(size=len(other_docs))
    labels = [*labels, -1, 0]
    one = group_form("group_EEL", np.array([0, n]), np.arange(n), exposure, target)
    two = GroupForm(np.array([0, len(other)]), other_docs, other, other)
    found = completion_bounds(difference_form(one, two), alignment_of(named(labels), NAMES[:groups])).of(0)
    x, y = np.zeros(n + 2), np.zeros(n + 2)
    x[:n], y[other_docs] = one.left, other
    differences = [
        product_of_sums(x, x, filled, groups) - product_of_sums(y, y, filled, groups)
        for filled in completions(labels, groups)
    ]
    assert found.lower == pytest.approx(min(differences), abs=1e-10)
    assert found.upper == pytest.approx(max(differences), abs=1e-10)


def test_shares() -> None:
    alignment = alignment_of(["A", "B", None, None], ["A", "B", "C"])
    doc, value = np.array([0, 1, 2, 2, 3]), np.array([1.0, 0.5, 0.25, 0.25, 0.0])
    found = share_bounds(doc, value, 2, alignment)
    assert found.lower.tolist() == [0.5, 0.25, 0.0]
    assert found.upper.tolist() == [0.75, 0.5, 0.25]
    assert found.share_lower.tolist() == [0.5, 0.25, 0.0]
    assert found.share_upper.tolist() == [0.75, 0.5, 0.25]
    nothing = share_bounds(doc, value * 0, 2, alignment)
    assert np.isnan(nothing.share_lower).all()


def test_unknown_comes_back_from_a_counted_alignment() -> None:
    raw = alignment_of(["B", None, "A", None, "B"])
    again = with_unknown(raw.resolve("count"))
    assert again.groups == raw.groups
    assert again.unknown.tolist() == raw.unknown.tolist()
    assert again.group.tolist() == raw.group.tolist()
    assert not again.resolved
    assert with_unknown(alignment_of(["A", "B"]).resolve("drop")).groups == ("A", "B")


def test_search_never_worsens_and_keeps_labels_together() -> None:
    rng = np.random.default_rng(5)
    problems, documents, start = [], [], []
    for _ in range(6):
        value, base = rng.normal(size=5), rng.normal(size=3)
        problems.append(Incomplete(base, base, value, value, False))
        documents.append(rng.choice(12, size=5, replace=False))
        start.append(rng.integers(3, size=5))
    label: dict[int, int] = {}
    for codes, choice in zip(documents, start, strict=True):
        for code, one in zip(codes.tolist(), choice.tolist(), strict=True):
            label.setdefault(code, one)
    before = [np.array([label[code] for code in codes.tolist()]) for codes in documents]
    for sign in (1, -1):
        after = improve(problems, start, sign, documents)
        value = [sum(p.value(c) for p, c in zip(problems, one, strict=True)) for one in (before, after)]
        assert sign * value[1] <= sign * value[0]
        seen: dict[int, int] = {}
        for codes, choice in zip(documents, after, strict=True):
            assert all(seen.setdefault(c, int(g)) == g for c, g in zip(codes.tolist(), choice, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [None, None]}, "no document of a known group"),
        ({"labels": ["A"]}, "one value a document"),
        ({"labels": ["A", "D"], "groups": ["A", "B"]}, "the label 'D'"),
        ({"target": np.zeros(3)}, "target"),
        ({"exposure": np.array([np.nan, 0.0])}, "not finite"),
    ],
)
def test_wrong_arguments(change: dict, message: str) -> None:
    fine = {"exposure": np.ones(2), "target": np.zeros(2), "labels": ["A", None]}
    with pytest.raises(InputError, match=message):
        group_bounds("group_EEL", **{**fine, **change})


def test_wrong_words_and_alignments() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'group_EEL'"):
        group_bounds("group_EL", np.ones(1), np.ones(1), ["A"])
    form = group_form("group_EER", np.array([0, 2]), np.arange(2), np.ones(2), np.zeros(2))
    with pytest.raises(InputError, match="still says what is unknown"):
        completion_bounds(form, alignment_of(["A", "B"]).resolve("count"))
    with pytest.raises(InputError, match="at least 2"):
        completion_bounds(form, alignment_of(["A"]))
    with pytest.raises(InputError, match="sum of squares"):
        difference_form(form, form)
    with pytest.raises(InputError, match="found none"):
        group_form("group_EEL", np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    with pytest.raises(InputError, match="negative values"):
        share_bounds(np.arange(1), -np.ones(1), 1, alignment_of(["A"]))


@settings(max_examples=25)
@given(queries(6), st.randoms(use_true_random=False))
def test_the_order_of_documents_and_groups_does_not_matter(query: tuple, random: object) -> None:
    exposure, target, labels, groups = query
    order = np.array(random.sample(range(len(labels)), len(labels)))  # type: ignore[attr-defined]
    one = group_bounds("group_EEL", exposure, target, named(labels), NAMES[:groups])
    two = group_bounds(
        "group_EEL", exposure[order], target[order], [named(labels)[place] for place in order], NAMES[:groups][::-1]
    )
    assert two.lower == pytest.approx(one.lower, abs=1e-10)
    assert two.upper == pytest.approx(one.upper, abs=1e-10)


def test_more_documents_than_branches_tell_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.measures.unknown_labels import branch

    monkeypatch.setattr(branch, "DEEP", 3)
    rng = np.random.default_rng(3)
    for _ in range(20):
        value, base = rng.normal(size=7), rng.normal(size=2)
        problem = Incomplete(base, base, value, value, none=False)
        least = min(problem.value(np.array(one)) for one in completions([-1] * 7, 2))
        found = branch_least(problem)
        assert found.bound - 1e-10 <= least <= found.found + 1e-10


def test_pairs_of_documents_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.measures.unknown_labels import products

    rng = np.random.default_rng(4)
    left, right = rng.normal(size=50), rng.normal(size=50)
    pair = (np.outer(left, right) + np.outer(right, left))[np.triu_indices(50, 1)]
    for cells in (1, 170, 1 << 20):
        monkeypatch.setattr(products, "_CELLS", cells)
        found = products._of_pairs(left, right)
        assert found == pytest.approx((pair[pair < 0].sum(), pair[pair > 0].sum()))

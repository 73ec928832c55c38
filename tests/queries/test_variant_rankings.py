"""Rankings of variants: overlap of many pairs against the definition, precision with residual, best of several."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.rank_overlap import rbo
from rerankers.queries.consistency_of_variants import consistency_across, consistency_within
from rerankers.queries.rank_pairs import rbo_matrix
from rerankers.queries.ranked import Ranked
from rerankers.queries.residual import (
    Residual,
    expected_best,
    gains_of,
    mean_residual,
    rbp_residual,
    residuals,
)


@st.composite
def many(draw: st.DrawFn) -> list[Ranked]:
    """Draw rankings, some empty, some with ties, some with large codes."""
    far = draw(st.sampled_from([0, 10**12]))
    out = []
    for _ in range(draw(st.integers(1, 5))):
        docs = np.array(draw(st.lists(st.integers(0, 12), unique=True, max_size=9)), dtype=np.int64) + far
        levels = sorted(draw(st.lists(st.integers(0, 4), min_size=len(docs), max_size=len(docs))), reverse=True)
        out.append(Ranked(docs, draw(st.sampled_from([None, np.array(levels, dtype=np.float64)]))))
    return out


def grouped(one: Ranked, depth: int | None) -> list[list[int]]:
    """A ranking as the definition takes it: every item in its tie group."""
    docs = one.docs[:depth].tolist()
    levels = np.arange(len(docs), 0, -1.0) if one.scores is None else one.scores[:depth]
    return [[doc for doc, level in zip(docs, levels, strict=True) if level == each] for each in dict.fromkeys(levels)]


@given(many(), many(), st.floats(0.05, 0.99), st.sampled_from("abw"), st.sampled_from([None, 1, 4]))
def test_all_pairs_are_the_definition(
    rows: list[Ranked], columns: list[Ranked], p: float, ties: str, depth: int | None
) -> None:
    found = rbo_matrix(rows, columns, p=p, ties=ties, depth=depth)
    assert found.shape == (len(rows), len(columns))
    for (i, one), (j, two) in product(enumerate(rows), enumerate(columns)):
        if len(one) and len(two):
            expected = rbo(grouped(one, depth), grouped(two, depth), p, ties)
            assert found[i, j] == pytest.approx(expected, abs=1e-13)
        else:
            assert np.isnan(found[i, j])
    same = rbo_matrix(rows, p=p, ties=ties, depth=depth)
    np.testing.assert_array_equal(same, same.T)
    np.testing.assert_allclose(same, rbo_matrix(rows, rows, p=p, ties=ties, depth=depth), atol=1e-14)


@pytest.mark.shared_data
def test_all_pairs_give_the_published_values(shared: Path) -> None:
    cases = json.loads((shared / "oracles/text-bias-and-queries/rbo.json").read_text())["cases"]
    for case in cases:
        code: dict[str, int] = {}
        lists = []
        for given_list in (case["x"], case["y"]):
            groups = [item if isinstance(item, list) else [item] for item in given_list]
            docs = [code.setdefault(str(item), len(code)) for group in groups for item in group]
            levels = [-float(at) for at, group in enumerate(groups) for _ in group]
            lists.append(Ranked(np.array(docs), np.array(levels)))
        for ties in "wab":
            assert rbo_matrix(lists, p=case["p"], ties=ties)[0, 1] == pytest.approx(case[ties]["ext"], abs=2e-15)


def test_wrong_arguments() -> None:
    one = [Ranked(np.array([1, 2]))]
    with pytest.raises(InputError, match=r"p: found 1\.0; expected a number strictly between 0 and 1"):
        rbo_matrix(one, p=1.0)
    with pytest.raises(ConfigError, match="ties: found 'c'"):
        rbo_matrix(one, p=0.9, ties="c")
    assert rbo_matrix([], p=0.9).shape == (0, 0)
    assert np.isnan(rbo_matrix([Ranked(np.array([]))], p=0.9)).all()


def test_consistency_is_a_mean_over_pairs_and_counts_empty_rankings() -> None:
    lists = [Ranked(np.array(docs, dtype=np.int64)) for docs in ([1, 2, 3], [2, 1, 3, 4], [], [5])]
    pairs = [rbo(lists[i].docs, lists[j].docs, 0.8) for i, j in ((0, 1), (0, 3), (1, 3))]
    within = consistency_within(lists, p=0.8)
    assert (within.pairs, within.empty) == (3, 1)
    assert within.value == pytest.approx(np.mean(pairs))
    across = consistency_across(lists[:2], lists[2:], p=0.8)
    assert (across.pairs, across.empty) == (2, 1)
    assert across.value == pytest.approx(np.mean(pairs[1:]))
    assert consistency_within(lists[2:], p=0.8).value is None
    assert consistency_within([], p=0.8) == consistency_across([], [], p=0.8)


def sets_by_depth(a: list[int], b: list[int], p: float) -> float:
    """The equation as it stands: agreement of the first d items, at every depth."""
    total = sum(len(set(a[:d]) & set(b[:d])) / d * p**d for d in range(1, len(a) + 1))
    return (1 - p) / p * total + len(set(a) & set(b)) / len(a) * p ** len(a)


def test_all_pairs_of_long_lists_are_much_faster_than_python() -> None:
    draw = np.random.default_rng(0)
    lists = [Ranked(draw.permutation(2000)[:1000]) for _ in range(12)]
    plain = [one.docs.tolist() for one in lists]
    found = rbo_matrix(lists, p=0.9)  # compiles
    ours = min(_seconds(lambda: rbo_matrix(lists, p=0.9)) for _ in range(5)) / 78
    single = min(_seconds(lambda: rbo(lists[0].docs, lists[1].docs, 0.9)) for _ in range(20))
    theirs = min(_seconds(lambda: sets_by_depth(plain[0], plain[1], 0.9)) for _ in range(3))
    assert sets_by_depth(plain[0], plain[1], 0.9) == pytest.approx(found[0, 1], abs=1e-13)
    assert theirs > 50 * ours
    assert theirs > 50 * single


def _seconds(work: object) -> float:
    start = perf_counter()
    work()  # type: ignore[operator]
    return perf_counter() - start


@pytest.mark.shared_data
def test_residual_reference_values(shared: Path) -> None:
    cases = json.loads((shared / "oracles/text-bias-and-queries/rbp_residual.json").read_text())["cases"]
    assert len(cases) == 16
    for case in cases:
        found = rbp_residual(case["rels"], case["p"])
        assert found.lower == pytest.approx(case["rbp_lower"], abs=1e-15)
        assert found.unjudged == pytest.approx(case["residual_unjudged"], abs=1e-15)
        assert found.tail == pytest.approx(case["residual_tail"], abs=1e-15)
        assert found.residual == pytest.approx(case["residual"], abs=1e-15)
        assert found.upper == pytest.approx(case["rbp_upper"], abs=1e-15)
        assert found.condensed == pytest.approx(case["condensed_lower"], abs=1e-15)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8), st.floats(0.05, 0.95))
def test_residual_is_what_judging_everything_could_add(gains: list[float | None], p: float) -> None:
    found = rbp_residual(gains, p)
    full = [1.0 if gain is None else gain for gain in gains] + [1.0] * 2000
    assert found.lower == pytest.approx(sum((1 - p) * (gain or 0.0) * p**at for at, gain in enumerate(gains)))
    assert found.upper == pytest.approx(sum((1 - p) * gain * p**at for at, gain in enumerate(full)), abs=1e-9)
    judged = [gain for gain in gains if gain is not None]
    assert found.condensed == pytest.approx(rbp_residual(judged, p).lower)


def test_residual_edges() -> None:
    assert rbp_residual([], 0.5) == Residual(0.0, 0.0, 1.0, 0.0)
    assert str(rbp_residual([1, None], 0.5)) == "0.500 +0.500"
    for gains, message in (([2.0], "gains: found numbers up to 2"), ([[1.0]], r"gains: found shape \(1, 1\)")):
        with pytest.raises(InputError, match=message):
            rbp_residual(gains, 0.5)
    with pytest.raises(InputError, match="p: found 0"):
        rbp_residual([1.0], 0)


def test_gains_of_grades() -> None:
    grades = np.array([-100.0, 0.0, 1.0, 4.0, np.nan])
    np.testing.assert_allclose(gains_of(grades, "binary", 4.0), [0, 0, 1, 1, np.nan])
    np.testing.assert_allclose(gains_of(grades, "linear", 4.0), [0, 0, 0.25, 1, np.nan])
    np.testing.assert_allclose(gains_of(grades, "exponential", 4.0), [0, 0, 1 / 16, 15 / 16, np.nan])
    with pytest.raises(InputError, match="grades: found the grade 4; expected at most max_grade, 3"):
        gains_of(grades, "linear", 3.0)
    with pytest.raises(ConfigError, match="gain: found 'square'"):
        gains_of(grades, "square", 3.0)


def test_residuals_of_rankings() -> None:
    lists = [Ranked(np.array([7, 3, 900])), Ranked(np.array([], dtype=np.int64))]
    found = residuals(lists, {900: 2, 7: -1}, 0.5)
    assert found == [rbp_residual([0, None, 1], 0.5), rbp_residual([], 0.5)]
    assert residuals(lists[:1], {}, 0.5) == [rbp_residual([None] * 3, 0.5)]
    assert residuals(lists[:1], {900: 2}, 0.5, "linear", 4.0) == [rbp_residual([None, None, 0.5], 0.5)]
    assert mean_residual(found).lower == found[0].lower / 2


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_expected_best_is_the_mean_over_all_choices(values: list[float]) -> None:
    for m in range(1, len(values) + 1):
        brute = np.mean([max(some) for some in combinations(values, m)])
        assert expected_best(values, m) == pytest.approx(brute, abs=1e-12)
    with pytest.raises(InputError, match="m: found 0"):
        expected_best(values, 0)

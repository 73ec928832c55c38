"""Measures of the distribution over given rankings, against loops over them; quantiles with weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.measures.consistency import mean_overlap
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.names import parse
from rerankers.measures.never_seen import missed_in_rotation
from rerankers.measures.over_draws import mean, quantile
from rerankers.measures.rank_overlap import rbo
from rerankers.measures.scores import REASONS
from rerankers.values import Ragged, Rankings
from tests.measures.draw_worlds import (
    SEEDS,
)
from tests.measures.measure_worlds import gerr_exposure, grades_of, lists_of, random_rankings, world


@given(SEEDS)
@settings(max_examples=40)
def test_given_rankings_are_enumerated(seed: int) -> None:
    made = world(seed, queries=4)
    rankings = random_rankings(seed, made.candidates)
    evaluation = Evaluation(rankings, made.judgments, made.groups)
    align = made.groups["economy"]
    part = {d: {align.groups[g]: w for g, w in zip(align.group[lo:hi], align.weight[lo:hi], strict=True)}
            for d, (lo, hi) in enumerate(zip(align.indptr[:-1], align.indptr[1:], strict=True))}  # fmt: skip
    texts = ["group_share(cell='a')@3", "group_share(cell='a',q=0.3)@3", "group_share(cell='a',of='exposure')@3",
             "group_out_of_bounds(cell='b',low=0.2,high=0.5)@3", "group_out_of_bounds(tolerance=0.25)@3",
             "worst_nDCG@3", "worst_nDCG(q=0.6)", "consistency(p=0.8)", "consistency(kind='min')@2",
             "exposure_variance(total='sum')", "exposure_variance(of='relevant')",
             "never_seen(n=2)@2", "never_seen(n=2,served='rotation')@2"]  # fmt: skip
    got = {text: parse(text).per_unit(evaluation) for text in texts}
    for row in range(len(made.candidates)):
        lists = lists_of(rankings, row)
        grade = {d: max(g, 0) for d, g in grades_of(made.judgments, row).items()}
        twin = twins(lists, grade, part, made.candidates.doc[made.candidates.row(row)].tolist())
        for text in texts:
            scores = got[text]
            if not grades_of(made.judgments, row):
                assert REASONS[scores.reason[row]] == "query_not_judged"
            elif twin[text] is None:
                assert scores.reason[row] >= 0, text
            else:
                assert scores.value[row] == pytest.approx(twin[text], abs=1e-12), text


def twins(lists: list, grade: dict, part: dict, candidates: list) -> dict[str, float | None]:
    """Every measure by a loop over the rankings of one query."""

    def expected(of: object, lists: list = lists) -> float | None:
        found = [(w, of(order)) for w, order in lists if order]  # type: ignore[operator]
        total = sum(w for w, _ in found)
        return sum(w * x for w, x in found) / total if total else None

    def low(values: list[tuple[float, float]], q: float) -> float | None:
        total, upto = sum(w for w, _ in values), 0.0
        for w, x in sorted(values, key=lambda pair: pair[1]):
            upto += w
            if upto >= q * total - 1e-12:
                return x
        return None

    def share(order: list, cell: str, k: int = 3) -> float:
        return sum(part[d].get(cell, 0.0) for d in order[:k]) / len(order[:k])

    def seen_share(order: list) -> float:
        seen = gerr_exposure(order[:3], grade)
        return sum(part[d].get("a", 0.0) * e for d, e in seen.items()) / sum(seen.values())

    usual = {c: np.mean([part[d].get(c, 0.0) for d in candidates] or [0]) for c in ("a", "b", "c", "unknown")}
    gain = sorted(grade.values(), reverse=True)
    relevant = [d for d, g in grade.items() if g > 0]

    def ndcg(order: list, k: int) -> float:
        best = sum(g / np.log2(r + 2) for r, g in enumerate(gain[:k]))
        return sum(grade.get(d, 0) / np.log2(r + 2) for r, d in enumerate(order[:k])) / best

    exposures = [(w, gerr_exposure(order, grade)) for w, order in lists]
    docs = sorted({*candidates, *grade})
    var = {}
    for d in docs:
        first = sum(w * e.get(d, 0.0) for w, e in exposures)
        var[d] = sum(w * (e.get(d, 0.0) - first) ** 2 for w, e in exposures)

    def overlap(p: float, kind: str, k: int | None) -> float | None:
        kept = [(w, order[:k]) for w, order in lists if order]
        total = sum(w for w, _ in kept) ** 2
        pairs = [v * w * rbo(a, b, p, kind=kind) for v, a in kept for w, b in kept]
        return sum(pairs) / total if kept else None

    def missed(d: int) -> float:
        return (1 - sum(w for w, order in lists if d in order[:2])) ** 2

    def turned(d: int) -> float:
        n = len(lists)
        return sum(w for s, (w, _) in enumerate(lists) if all(d not in lists[(s + i) % n][1][:2] for i in (0, 1)))

    some = bool(relevant)
    return {
        "group_share(cell='a')@3": expected(lambda order: share(order, "a")),
        "group_share(cell='a',q=0.3)@3": low([(w, share(order, "a")) for w, order in lists if order], 0.3),
        "group_share(cell='a',of='exposure')@3": expected(seen_share),
        "group_out_of_bounds(cell='b',low=0.2,high=0.5)@3": expected(lambda o: not 0.2 <= share(o, "b") <= 0.5),
        "group_out_of_bounds(tolerance=0.25)@3": expected(
            lambda o: any(abs(share(o, c) - usual[c]) > 0.25 + 1e-9 for c in usual)
        ),
        "worst_nDCG@3": low([(w, ndcg(order, 3)) for w, order in lists], 0.0) if some else None,
        "worst_nDCG(q=0.6)": low([(w, ndcg(order, 99)) for w, order in lists], 0.6) if some else None,
        "consistency(p=0.8)": overlap(0.8, "ext", None),
        "consistency(kind='min')@2": overlap(0.9, "min", 2),
        "exposure_variance(total='sum')": sum(var.values()) if docs else None,
        "exposure_variance(of='relevant')": float(np.mean([var[d] for d in relevant])) if some else None,
        "never_seen(n=2)@2": float(np.mean([missed(d) for d in relevant])) if some else None,
        "never_seen(n=2,served='rotation')@2": float(np.mean([turned(d) for d in relevant])) if some else None,
    }


@given(SEEDS, st.integers(1, 7), st.integers(1, 9), st.integers(1, 3))
@settings(max_examples=60)
def test_rotation_is_counted(seed: int, count: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    over = Ragged(np.arange(2), np.array([0, 4, 9]), np.arange(9, dtype=np.int32))
    orders = [np.array([rng.permutation(size)[:3] for _ in range(count)]) for size in (4, 5)]
    rankings = Rankings.of_matrix(over, orders)
    found = missed_in_rotation(rankings, n, k)
    for row, order in enumerate(orders):
        for doc in range(4 + row):
            starts = [all(doc not in order[(s + i) % count][:k] for i in range(n)) for s in range(count)]
            assert found[over.indptr[row] + doc] == pytest.approx(np.mean(starts), abs=1e-12)


@given(SEEDS, st.integers(1, 40), st.floats(0, 1))
@settings(max_examples=60)
def test_quantiles_and_means_with_weights(seed: int, count: int, q: float) -> None:
    rng = np.random.default_rng(seed)
    over = Ragged(np.arange(3), np.array([0, 1, 2, 3]), np.zeros(3, np.int32))
    parts = [rng.integers(0, 2, count) * rng.random(count) for _ in range(2)]
    weight = np.concatenate([part / part.sum() if part.sum() else np.full(count, 1 / count) for part in parts])
    items = np.zeros(2 * count, np.int32)
    rankings = Rankings(
        over, np.array([0, count, 2 * count, 2 * count]), np.arange(2 * count + 1), items, weight, items
    )
    values = np.where(rng.random(2 * count) < 0.2, np.nan, rng.integers(0, 4, 2 * count))
    got, middle = quantile(rankings, values, q), mean(rankings, values)
    assert np.isnan(got[2])
    for row in range(2):
        part = slice(row * count, (row + 1) * count)
        kept = [(x, w) for x, w in zip(values[part], weight[part], strict=True) if w > 0 and not np.isnan(x)]
        if not kept:
            assert np.isnan(got[row])
            continue
        total = sum(w for _, w in kept)
        chance = sum(w for x, w in kept if x <= got[row]) / total
        below = sum(w for x, w in kept if x < got[row]) / total
        assert chance >= q - 1e-9
        assert below < q + 1e-9 or below == 0
        assert middle[row] == pytest.approx(sum(x * w for x, w in kept) / total)


def test_consistency_of_equal_lengths_is_that_of_pairs() -> None:
    rng = np.random.default_rng(3)
    over = Ragged(np.arange(1), np.array([0, 30]), np.arange(30, dtype=np.int32))
    orders = np.array([rng.permutation(30)[:12] for _ in range(9)])
    rankings = Rankings.of_matrix(over, [orders])
    pairs = [rbo(orders[i], orders[j], 0.9) for i in range(9) for j in range(i)]
    assert mean_overlap(rankings, 0.9)[0] == pytest.approx(np.mean(pairs), abs=1e-14)
    everything = [rbo(a, b, 0.9, kind="min") for a in orders for b in orders]
    assert mean_overlap(rankings, 0.9, "min", distinct=False)[0] == pytest.approx(np.mean(everything), abs=1e-14)

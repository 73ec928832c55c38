"""Named fairness measures of evaluations against the functions and plain twins, and on the edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from measure_worlds import World, gerr_exposure, grades_of, lists_of, mean_exposure, random_rankings, world

from rerankers.exposure import GERR
from rerankers.measures import parse, parse_many
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.fairweb import gfr
from rerankers.measures.joint_exposure import jme
from rerankers.measures.prefix_divergence import ndkl
from rerankers.measures.prefix_shares import prefix_parity
from rerankers.measures.table import concat, measure_block
from rerankers.policies import PlackettLuce, zscore
from rerankers.values import Rankings

GROUP_NAMES = (
    "NDKL NDKL(target='relevant') NDKL@3 rND(step=2) rKL(step=1)@4 rRD(step=2) GF GFR(decay='rbp',p=.6) "
    "GF(decay='irbu')@3 GF(divergence='rnod',order='b<a<c') DP DP(combine='difference') EUR RUR "
    "ARP PAIR PAIR(pairs='inter') JME_IG"
)
OTHERS = "IAA JME_II JME_II(part='disparity') TSE worst_exposure"


def evaluation_of(made: World, source: Rankings | PlackettLuce | None = None, **options: object) -> Evaluation:
    rankings = random_rankings(1, made.candidates) if source is None else source
    return Evaluation(rankings, made.judgments, made.groups, Options(max_grade=3, **options))


def table(made: World, doc: int) -> np.ndarray:
    (alignment,) = made.groups.values()
    out = np.zeros(len(alignment.groups))
    for place in range(alignment.indptr[doc], alignment.indptr[doc + 1]):
        out[alignment.group[place]] += alignment.weight[place]
    return out


def union_of(made: World, query: int) -> list[int]:
    mine = made.candidates.doc[made.candidates.row(query)].tolist()
    return sorted({*mine, *grades_of(made.judgments, query)})


def values(name: str, evaluation: Evaluation) -> np.ndarray:
    return parse(name).per_unit(evaluation).value


def normal(total: np.ndarray) -> np.ndarray:
    return total / total.sum() if total.sum() else total


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_measures_of_prefixes_are_the_means_of_the_functions(seed: int) -> None:
    made = world(seed, queries=8)
    evaluation = evaluation_of(made)
    names = ("NDKL", "NDKL@3", "NDKL(target='relevant')", "rND(step=2)", "rKL(step=1)", "rRD(protected='b',step=2)")
    found = {name: values(name, evaluation) for name in names}
    fair = {word: values(f"GF(decay='{word}',p=.6)", evaluation) for word in ("err", "irbu", "rbp")}
    both = values("GFR", evaluation)
    compared = 0
    for query in range(8):
        grade = {doc: max(value, 0) for doc, value in grades_of(made.judgments, query).items()}
        docs = union_of(made, query)
        lists = lists_of(evaluation.rankings, query)
        if not grades_of(made.judgments, query) or not any(ranking for _, ranking in lists):
            assert all(np.isnan(one[query]) for one in found.values())
            continue
        population = normal(sum(table(made, doc) for doc in docs))
        relevant = sum((table(made, doc) for doc in docs if grade.get(doc, 0) > 0), np.zeros(len(population)))
        uniform = normal(np.array([float(name != "unknown") for name in made.groups["economy"].groups]))
        total = dict.fromkeys([*found, *fair, "GFR"], 0.0)
        for weight, ranking in lists:
            if not ranking:
                continue
            rows = np.array([table(made, doc) for doc in ranking])
            total["NDKL"] += weight * ndkl(rows, population)
            total["NDKL@3"] += weight * ndkl(rows[:3], population)
            if relevant.any():
                total["NDKL(target='relevant')"] += weight * ndkl(rows, relevant, smoothing=1e-3)
            for word in fair:
                got = gfr(rows, uniform, [grade.get(doc, 0) for doc in ranking], decay=word, patience=0.6, max_grade=3)
                total[word] += weight * got["fairness"]
                total["GFR"] += weight * got["GFR"] * (word == "err")
        assert found["NDKL"][query] == pytest.approx(total["NDKL"], rel=1e-10)
        assert found["NDKL@3"][query] == pytest.approx(total["NDKL@3"], rel=1e-10)
        third = found["NDKL(target='relevant')"][query]
        assert third == pytest.approx(total["NDKL(target='relevant')"], rel=1e-9) if relevant.any() else np.isnan(third)
        for word, one in fair.items():
            assert one[query] == pytest.approx(total[word], rel=1e-10)
        assert both[query] == pytest.approx(total["GFR"], rel=1e-10)
        compared += 1
    assert compared >= 3


def test_prefix_parity_of_full_rankings_is_that_of_the_function() -> None:
    made = world(4, queries=6, longest=12)
    # Judged documents that are no candidates would enlarge the population: keep candidates only.
    rankings = random_rankings(2, made.candidates, short=False)
    for form in ("rND", "rKL", "rRD"):
        found = parse(f"{form}(step=3)").per_unit(evaluation_of(made, rankings))
        for query in range(6):
            docs = made.candidates.doc[made.candidates.row(query)].tolist()
            if set(union_of(made, query)) != set(docs) or len(docs) < 3 or np.isnan(found.value[query]):
                continue
            expected = sum(
                weight * prefix_parity(np.array([table(made, doc) for doc in ranking]), form=form, step=3)
                for weight, ranking in lists_of(rankings, query)
            )
            assert found.value[query] == pytest.approx(expected, rel=1e-10)


def query_arrays(made: World, evaluation: Evaluation, query: int) -> tuple[list[int], list, np.ndarray, ...]:
    """Return the documents of a query, its rankings, and their expected exposure, grade and groups by twins."""
    grade = {doc: float(max(value, 0)) for doc, value in grades_of(made.judgments, query).items()}
    docs, lists = union_of(made, query), lists_of(evaluation.rankings, query)
    exposure = mean_exposure(lists, grade)
    e, y = (np.array([of.get(doc, 0.0) for doc in docs]) for of in (exposure, grade))
    return docs, lists, e, y, np.array([table(made, doc) for doc in docs])


def judged_queries(made: World) -> list[int]:
    return [query for query in range(len(made.qids)) if grades_of(made.judgments, query)]


def test_rates_are_those_written_out() -> None:
    made = world(3, queries=8)
    evaluation = evaluation_of(made)
    found = {name: values(name, evaluation) for name in ("DP", "DP(combine='difference')", "EUR", "RUR")}
    for query in judged_queries(made):
        _, _, e, y, w = query_arrays(made, evaluation, query)
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = {"DP": (e @ w) / w.sum(0), "EUR": (e @ w) / (y @ w), "RUR": ((e * y) @ w) / (y @ w)}
        for name, rate in rates.items():
            some = rate[np.isfinite(rate)]
            if len(some) < 2:
                assert np.isnan(found[name][query])
            else:
                expected = some.min() / some.max() if some.max() > 0 else 1.0
                assert found[name][query] == pytest.approx(expected, rel=1e-10)
                if name == "DP":
                    difference = found["DP(combine='difference')"][query]
                    assert difference == pytest.approx(np.ptp(some), rel=1e-9, abs=1e-14)


def in_order(lists: list, docs: list[int], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Count pairs of a document of the first and one of the second kind, in order, over rankings."""
    mean = np.zeros(first.shape[1])
    for weight, ranking in lists:
        rank = [ranking.index(doc) if doc in ranking else math.inf for doc in docs]
        for i, j in itertools.permutations(range(len(docs)), 2):
            order = 0.5 if rank[i] == rank[j] else float(rank[i] < rank[j])
            mean += weight * order * first[i] * second[j]
    return mean


@pytest.mark.parametrize("name", ["ARP", "PAIR", "PAIR(pairs='inter')"])
def test_pairs_are_those_counted(name: str) -> None:
    made = world(3, queries=8)
    evaluation = evaluation_of(made)
    found = values(name, evaluation)
    for query in judged_queries(made):
        docs, lists, _, y, w = query_arrays(made, evaluation, query)
        first, second = w, 1 - w
        if name != "ARP":
            first = w * (y > 0)[:, None]
            second = (y == 0)[:, None] * (1 - w if "inter" in name else np.ones_like(w))
        possible = first.sum(0) * second.sum(0) - (first * second).sum(0)
        some = possible > 1e-12
        if some.sum() < 2 or (name != "ARP" and not y.any()):
            assert np.isnan(found[query])
        else:
            rate = in_order(lists, docs, first, second)[some] / possible[some]
            assert found[query] == pytest.approx(np.ptp(rate), abs=1e-10)
    assert np.sum(np.isfinite(found)) >= 2


def test_attention_and_the_worst_off_are_those_written_out() -> None:
    made = world(3, queries=8)
    evaluation = evaluation_of(made)
    found = {name: values(name, evaluation) for name in ("IAA", "TSE", "worst_exposure")}
    checked = 0
    for query in judged_queries(made):
        docs, lists, e, y, _ = query_arrays(made, evaluation, query)
        if not y.any():
            assert all(np.isnan(one[query]) for one in found.values())
            continue
        if e.any():
            assert found["IAA"][query] == pytest.approx(np.abs(e / e.sum() - y / y.sum()).sum(), rel=1e-10)
        efficiency = 0.0
        for weight, ranking in lists:
            seen = gerr_exposure(ranking, dict(zip(docs, y, strict=True)))
            efficiency += weight * min(seen.get(doc, 0.0) for doc, grade in zip(docs, y, strict=True) if grade)
        assert found["TSE"][query] == pytest.approx(efficiency, abs=1e-12)
        assert found["worst_exposure"][query] == pytest.approx(e[y > 0].min(), abs=1e-12)
        assert found["TSE"][query] <= found["worst_exposure"][query] + 1e-12
        checked += 1
    assert checked >= 3


def test_parts_of_jme_add_up_and_follow_the_function() -> None:
    made = world(3, queries=8)
    evaluation = evaluation_of(made)
    for name, key in (("JME_II", "II"), ("JME_IG", "IG")):
        parts = {part: values(f"{name}(part='{part}')", evaluation) for part in ("loss", "disparity", "relevance")}
        for query in range(8):
            if not grades_of(made.judgments, query):
                continue
            row = evaluation.over.row(query)
            w = np.array([table(made, doc) for doc in evaluation.over.doc[row]])
            e, t = evaluation.exposure(GERR())[row], evaluation.target(GERR())[row]
            expected = jme([e], [t], item_groups=w.T[w.sum(0) > 0])[key]
            assert [parts[part][query] for part in parts] == pytest.approx(expected, rel=1e-8, abs=1e-14)


def test_bits_of_a_query_depend_on_that_query_alone() -> None:
    made = world(7, queries=9)
    rankings = random_rankings(5, made.candidates)
    measures = parse_many(f"{GROUP_NAMES} {OTHERS}")
    whole = measure_block(evaluation_of(made, rankings), measures, made.qids, "s")
    parts = [
        measure_block(evaluation_of(made, rankings.take(np.arange(a, b))), measures, made.qids[a:b], "s")
        for a, b in ((0, 2), (2, 3), (3, 9))
    ]
    key = [("unit", "ascending"), ("measure", "ascending")]
    assert concat(parts).sort_by(key).equals(whole.sort_by(key))


def test_policies_are_measured_by_exposure_or_by_their_draws() -> None:
    made = world(11, queries=5, longest=8)
    policy = PlackettLuce(made.candidates, zscore(made.candidates.indptr, made.candidates.score), made.stream)
    exact, drawn = evaluation_of(made, policy), evaluation_of(made, policy.sample(3000, 1))
    for measure in parse_many(f"{GROUP_NAMES} {OTHERS}"):
        a, b = measure.per_unit(exact), measure.per_unit(drawn)
        assert np.array_equal(a.reason, b.reason)
        assert np.nanmax(np.abs(a.value - b.value), initial=0.0) < 0.15


def test_share_loss_is_the_distance_from_shares_of_what_is_due() -> None:
    made = world(3, queries=8)
    evaluation = evaluation_of(made)
    due = evaluation.per_row(evaluation.target(GERR()))
    for word in ("population", "relevant", "uniform"):
        found = values(f"share_loss(target='{word}')", evaluation)
        for query in judged_queries(made):
            _, _, e, y, w = query_arrays(made, evaluation, query)
            shares = {"population": w.sum(0), "relevant": (y > 0) @ w, "uniform": np.array([1.0, 1.0, 1.0, 0.0])}
            if not shares[word].any():
                assert np.isnan(found[query])
            else:
                expected = ((e @ w - due[query] * normal(shares[word])) ** 2).sum()
                assert found[query] == pytest.approx(expected, rel=1e-9)

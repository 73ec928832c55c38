"""Estimates from draws against pairs of draws, enumeration of all draws, repetition, and the measures."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from itertools import combinations, permutations, product
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from exposure_twins import SPECS, bound, one_row, plain_exposure, pointers
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.exposure import GERR, RBP, Browsing, TopKSet
from rerankers.exposure.estimators import Estimates, draws_needed, estimate, estimate_groups, unbiased_ee
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import equal_exposure
from rerankers.values import GroupAlignment, Ragged, Rankings

NAMES = [item.name for item in fields(Estimates)]
N = 5
SCORE = np.array([1.0, 0.3, 0.0, -0.4, -1.0])
GRADES = np.array([0, 1, 2, 0, 1])


def block(lengths: list[int], draws: list[list[np.ndarray]], n_docs: int | None = None) -> Rankings:
    """Return rankings of any lengths, equally weighted, over documents whose codes are spread over ``n_docs``."""
    rows = pointers(lengths)
    docs = [np.random.default_rng(row).permutation(n_docs or 9)[:n] for row, n in enumerate(lengths)]
    flat = [order for row in draws for order in row]
    counts = np.array([len(row) for row in draws], dtype=np.int64)
    return Rankings(
        Ragged(np.arange(len(lengths)), rows, np.concatenate([np.empty(0, np.int64), *docs])),
        pointers(counts.tolist()),
        pointers([len(order) for order in flat]),
        np.concatenate([np.empty(0), *flat]).astype(np.int32),
        np.repeat(1.0 / np.maximum(counts, 1), counts),
        np.concatenate([np.empty(0), *[np.arange(count) for count in counts]]).astype(np.int32),
    )


def world(shape: list[tuple[int, int]], seed: int) -> Rankings:
    rng = np.random.default_rng(seed)
    draws = [[rng.permutation(n)[: rng.integers(0, n + 1)] for _ in range(count)] for n, count in shape]
    return block([n for n, _ in shape], draws)


def drawn(rankings: Rankings, browsing: Browsing, row: int) -> np.ndarray:
    """Return the exposure of every draw of a row, (S, n), by the plain loop."""
    part = rankings.over.row(row)
    found = [np.empty((0, part.stop - part.start))]
    for ranking in range(rankings.query_ptr[row], rankings.query_ptr[row + 1]):
        order = rankings.item[rankings.item_ptr[ranking] : rankings.item_ptr[ranking + 1]]
        found.append(plain_exposure(order.tolist(), browsing.position, browsing.continuation[part])[None])
    return np.concatenate(found)


def twin(x: np.ndarray, t: np.ndarray) -> dict[str, float]:
    """Return the estimates from all pairs of draws, not-a-number where there are too few."""
    draws, nan = len(x), float("nan")
    pairs = list(combinations(range(draws), 2))
    m = x.mean(axis=0) if draws else np.full(len(t), nan)
    others = [np.delete(x, s, axis=0).mean(axis=0) for s in range(draws)] if draws > 1 else []
    disparity = [2 * x[s] @ others[s] for s in range(draws)] if draws > 2 else []
    relevance = [row @ t for row in x] if draws > 1 else []
    loss = [h - 2 * r for h, r in zip(disparity, relevance, strict=True)] if disparity else []
    return {
        "EED": mean(x[a] @ x[b] for a, b in pairs) if pairs else nan,
        "EER": m @ t if draws else nan,
        "EEL": mean((x[a] - t) @ (x[b] - t) for a, b in pairs) if pairs else nan,
        "EET": t @ t,
        "plug_in_EED": m @ m if draws else nan,
        "plug_in_EEL": (m - t) @ (m - t) if draws else nan,
        "se_EED": stdev(disparity) / sqrt(draws) if disparity else nan,
        "se_EER": stdev(relevance) / sqrt(draws) if relevance else nan,
        "se_EEL": stdev(loss) / sqrt(draws) if loss else nan,
        "draws": draws,
    }


def assert_row(found: Estimates, row: int, expected: dict[str, float]) -> None:
    for name in NAMES:
        np.testing.assert_allclose(getattr(found, name)[row], expected[name], rtol=1e-9, atol=1e-13, err_msg=name)


SHAPES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=4)


@given(SHAPES, SPECS, st.integers(0, 2**32 - 1))
def test_documents_agree_with_all_pairs(shape: list[tuple[int, int]], spec: object, seed: int) -> None:
    rankings = world(shape, seed)
    over, rng = rankings.over, np.random.default_rng(seed)
    browsing, target = bound(spec, rng.integers(-1, 4, over.nnz), over.indptr), rng.random(over.nnz)
    found = estimate(rankings, browsing, target)
    assert all(getattr(found, name).shape == (len(over),) for name in NAMES)
    for row in range(len(over)):
        x, t = drawn(rankings, browsing, row), target[over.row(row)]
        expected = twin(x, t)
        assert_row(found, row, expected)
        if len(x) > 1:
            single = unbiased_ee(x, t)
            assert list(single) == ["EEL", "EED", "EER", "se"]
            assert all(type(value) is float for value in single.values())
            assert [single[name] for name in ("EEL", "EED", "EER")] == pytest.approx(
                [expected[name] for name in ("EEL", "EED", "EER")], rel=1e-9, abs=1e-13
            )
        if len(x) > 2:
            assert single["se"] == pytest.approx(expected["se_EEL"], rel=1e-9, abs=1e-13)


def alignments(seed: int, n_docs: int = 9) -> list[GroupAlignment]:
    """Three attributes: several groups a document, parts of any weight, and one with many more groups than met."""
    rng = np.random.default_rng(seed)
    made = []
    for number, (groups, kind, unknown) in enumerate([(3, "membership", "count"), (2, "value", "drop"), (50, "share",
                                                       "spread")]):  # fmt: skip
        pairs = np.unique(rng.integers(0, (n_docs, groups), size=(n_docs, 2)), axis=0)
        weight = np.ones(len(pairs)) if kind == "membership" else rng.random(len(pairs))
        names = tuple(f"g{group}" for group in range(groups))
        entries = GroupAlignment.of_entries(f"a{number}", names, pairs[:, 0], pairs[:, 1], weight, n_docs, kind)
        made.append(entries.resolve(unknown))
    return made


def group_sums(alignment: GroupAlignment, docs: list[int], values: list[float]) -> np.ndarray:
    sums = dict.fromkeys(range(len(alignment.groups)), 0.0)
    for doc, value in zip(docs, values, strict=True):
        for entry in range(alignment.indptr[doc], alignment.indptr[doc + 1]):
            sums[int(alignment.group[entry])] += value * float(alignment.weight[entry])
    return np.array([sums[group] for group in range(len(alignment.groups))])


@given(SHAPES, SPECS, st.integers(0, 2**32 - 1))
def test_groups_agree_with_sums_in_a_dictionary(shape: list[tuple[int, int]], spec: object, seed: int) -> None:
    rankings = world(shape, seed)
    over, rng = rankings.over, np.random.default_rng(seed)
    browsing, target = bound(spec, rng.integers(-1, 4, over.nnz), over.indptr), rng.random(over.nnz)
    made = alignments(seed)
    together = estimate_groups(rankings, browsing, target, made)
    for alignment, found in zip(made, together, strict=True):
        alone = estimate_groups(rankings, browsing, target, [alignment])[0]
        for name in NAMES:
            np.testing.assert_array_equal(getattr(alone, name), getattr(found, name))
        for row in range(len(over)):
            docs, x = over.doc[over.row(row)].tolist(), drawn(rankings, browsing, row)
            by_group = [group_sums(alignment, docs, list(draw)) for draw in x]
            t = group_sums(alignment, docs, target[over.row(row)].tolist())
            assert_row(found, row, twin(np.array(by_group).reshape(len(x), len(t)), t))
    assert estimate_groups(rankings, browsing, target, []) == []


@dataclass
class NoClosedForm:
    """A policy of given draws, for the measures."""

    rankings: Rankings
    over: Ragged
    stream: np.ndarray

    def sample(self, n: int, seed: int, first: int = 0, depth: int | None = None) -> Rankings:
        return self.rankings

    def exposure(self, browsing: Browsing) -> None:
        return None

    def log_prob(self, rankings: Rankings) -> np.ndarray:
        raise NotImplementedError


def test_the_measures_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.exposure import _draw_sums
    from rerankers.measures.decomposition import decompose
    from rerankers.measures.evaluation import Evaluation, Options
    from rerankers.values import Candidates, Judgments

    monkeypatch.setattr(_draw_sums, "CELLS", 7)  # several tiles of rows
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 8, 12).tolist()
    rows = pointers(lengths)
    docs = np.concatenate([np.sort(rng.permutation(9)[:n]) for n in lengths])
    over = Candidates(np.arange(12), rows, docs)
    draws = [np.argsort(rng.random((6, n)), axis=1) for n in lengths]
    rankings = Rankings.of_matrix(over, draws)
    grades = rng.integers(0, 3, over.nnz)
    judgments = Judgments(np.arange(12), rows, docs, {"grade": grades.astype(np.int16)})
    made, model = alignments(1), GERR(0.8, 0.4)
    groups = {alignment.attribute: alignment for alignment in made}
    policy = NoClosedForm(rankings, over, np.zeros((12, 2), np.uint64))
    evaluation = Evaluation(policy, judgments, groups, Options(samples=6))
    browsing = model.bind(grades, rows)
    target = equal_exposure(rows, grades, browsing)
    found = [estimate(rankings, browsing, target), *estimate_groups(rankings, browsing, target, made)]
    for attribute, estimates in zip([None, *groups], found, strict=True):
        terms = decompose(evaluation, model, attribute)
        np.testing.assert_allclose(estimates.EEL, terms.loss, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(estimates.EED, terms.disparity, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(estimates.EER, terms.relevance, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(estimates.EET, terms.target, rtol=1e-13, atol=1e-15)


def plackett_luce() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all rankings of three documents, their probabilities and the documents' continuation."""
    weight = np.exp(SCORE[:3])
    orders = np.array(list(permutations(range(3))))
    chances = [
        weight[a] / weight.sum() * weight[b] / (weight[b] + weight[c]) for a, b, c in orders
    ]  # the last comes for certain
    return orders, np.array(chances), GERR(0.8, 0.5).bind(GRADES[:3], one_row(3)).continuation


@pytest.mark.parametrize("draws", [2, 3])
def test_mean_over_all_possible_draws(draws: int) -> None:
    orders, chance, continuation = plackett_luce()
    x = np.array([plain_exposure(order.tolist(), None, continuation) for order in orders])
    expected = chance @ x
    t = np.array([0.2, 1.0, 0.4])
    tuples = list(product(range(6), repeat=draws))
    rankings = block([3] * len(tuples), [[orders[s] for s in chosen] for chosen in tuples])
    browsing = Browsing(None, np.tile(continuation, len(tuples)), np.ones(3 * len(tuples)))
    likelihood = np.array([np.prod(chance[list(chosen)]) for chosen in tuples])
    found = estimate(rankings, browsing, np.tile(t, len(tuples)))
    assert likelihood @ found.EED == pytest.approx(expected @ expected, rel=1e-13)
    assert likelihood @ found.EER == pytest.approx(expected @ t, rel=1e-13)
    assert likelihood @ found.EEL == pytest.approx((expected - t) @ (expected - t), rel=1e-12)
    spread = chance @ np.square(x).sum(axis=1) - expected @ expected  # the trace of the covariance
    assert likelihood @ found.plug_in_EED == pytest.approx(expected @ expected + spread / draws, rel=1e-13)
    assert likelihood @ found.plug_in_EEL - likelihood @ found.EEL == pytest.approx(spread / draws, rel=1e-12)
    assert spread > 0.1


def repeated(rows: int, draws: int, seed: int, score: np.ndarray = SCORE) -> Rankings:
    """Return Plackett-Luce draws of one policy, each row a repetition of the experiment."""
    noise = np.random.default_rng(seed).gumbel(size=(rows, draws, len(score)))
    over = Ragged(np.arange(rows), np.arange(rows + 1) * len(score), np.tile(np.arange(len(score)), rows))
    return Rankings.of_matrix(over, list(np.argsort(-(score + noise), axis=2)))


def exact() -> tuple[np.ndarray, np.ndarray]:
    """Return the exact exposure of the policy of `repeated` under GERR(.8, .5), and a target that is no optimum."""
    from rerankers.exposure import pl_exposure

    return pl_exposure(SCORE, GERR(0.8, 0.5), GRADES), np.array([0.3, 0.9, 1.0, 0.1, 0.6])


def test_standard_errors_are_what_repetition_shows() -> None:
    rows = 2000
    rankings = repeated(rows, 50, seed=11)
    e, t = exact()
    browsing = GERR(0.8, 0.5).bind(np.tile(GRADES, rows), rankings.over.indptr)
    found = estimate(rankings, browsing, np.tile(t, rows))
    truth = {"EED": e @ e, "EER": e @ t, "EEL": (e - t) @ (e - t)}
    for name, value in truth.items():
        estimates, errors = getattr(found, name), getattr(found, f"se_{name}")
        assert sqrt(np.mean(errors**2)) == pytest.approx(estimates.std(ddof=1), rel=0.1)
        assert abs(estimates.mean() - value) < 4 * estimates.std() / sqrt(rows)
        z = (estimates - value) / errors
        assert abs(z.mean()) < 0.15
        assert z.std() == pytest.approx(1, abs=0.1)
        assert np.mean(np.abs(z) < 1.96) == pytest.approx(0.95, abs=0.02)
    bias = found.plug_in_EEL.mean() - truth["EEL"]
    assert bias > 5 * found.plug_in_EEL.std() / sqrt(rows)  # the correction is worth having


def test_errors_near_the_optimum_are_too_large_by_at_most_the_square_root_of_two() -> None:
    rows = 1500
    rankings = repeated(rows, 30, seed=2, score=np.zeros(4))
    browsing = RBP(0.7).bind(None, rankings.over.indptr)
    found = estimate(rankings, browsing, equal_exposure(rankings.over.indptr, np.zeros(4 * rows), browsing))
    assert abs(found.EEL.mean()) < 4 * found.EEL.std() / sqrt(rows)  # the loss is 0
    assert np.any(found.EEL < 0)
    ratio = sqrt(np.mean(found.se_EEL**2)) / found.EEL.std()
    assert 1.2 < ratio < 1.05 * sqrt(2)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_draws_needed_are_enough(confidence: float) -> None:
    e, t = exact()
    pilot = repeated(1, 2000, seed=7)
    first = estimate(pilot, GERR(0.8, 0.5).bind(GRADES, pilot.over.indptr), t)
    epsilon = 0.1
    needed = int(draws_needed(first.se_EEL, first.draws, epsilon, confidence)[0])
    assert 30 < needed < 400
    rows = 2000
    again = repeated(rows, needed, seed=8)
    found = estimate(again, GERR(0.8, 0.5).bind(np.tile(GRADES, rows), again.over.indptr), np.tile(t, rows))
    inside = np.mean(np.abs(found.EEL - (e - t) @ (e - t)) <= epsilon)
    assert inside == pytest.approx(confidence, abs=0.035)


def test_draws_needed_by_hand() -> None:
    assert draws_needed([0.1, 0.0, 0.02], [100, 100, 400], 0.05).tolist() == [1537, 2, 246]  # (1.96 sd / .05)^2
    assert draws_needed(0.1, 100, 0.05, confidence=0.6826894921370859) == 400
    assert draws_needed(np.empty(0), np.empty(0, np.int64), 0.1).dtype == np.int64
    for arguments, message in (
        (([0.1], [9], 0.0), "epsilon: found 0.0"),
        (([0.1], [9], float("nan")), "epsilon"),
        (([0.1], [9], 1e-30), "takes"),
        (([0.1], [9], 0.1, 1.0), "confidence: found 1.0"),
        (([0.1], [9, 9], 0.1), "draws: found shape"),
        (([0.1, np.nan], [9, 1], 0.1), "at least 3 draws"),
        (([-0.1], [9], 0.1), "se: found"),
    ):
        with pytest.raises(InputError, match=message):
            draws_needed(*arguments)  # type: ignore[arg-type]


def test_a_policy_that_never_varies() -> None:
    rankings = block([4], [[np.array([2, 0, 3, 1])] * 7])
    found = estimate(rankings, RBP(0.3).bind(None, one_row(4)), np.full(4, 0.3))
    assert (found.se_EED[0], found.se_EER[0], found.se_EEL[0]) == (0, 0, 0)
    assert found.EED[0] == pytest.approx(found.plug_in_EED[0], rel=1e-15)
    x = np.tile(np.random.default_rng(0).random(33), (9, 1))
    assert unbiased_ee(x, x[0])["se"] == 0
    assert unbiased_ee(x, x[0])["EEL"] == pytest.approx(0, abs=1e-14)


def test_bits_of_a_row_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from rerankers.exposure import _walk

    rng = np.random.default_rng(5)
    shape = [(int(n), int(count)) for n, count in zip(rng.integers(0, 9, 60), rng.integers(0, 9, 60), strict=True)]
    rankings, made = world(shape, 6), alignments(2)
    grades, target = rng.integers(0, 3, rankings.over.nnz), rng.random(rankings.over.nnz)

    def all_of(part: Rankings, at: np.ndarray) -> list[Estimates]:
        browsing = GERR().bind(grades[at], part.over.indptr)
        return [estimate(part, browsing, target[at]), *estimate_groups(part, browsing, target[at], made)]

    whole = all_of(rankings, np.arange(rankings.over.nnz))
    order = rng.permutation(60)[:20]
    taken = rankings.take(order)
    place = np.concatenate([np.arange(rankings.over.nnz)[rankings.over.row(row)] for row in order])
    pieces = all_of(taken, place)
    monkeypatch.setattr(_walk, "WORTH_THREADS", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    threaded = all_of(rankings, np.arange(rankings.over.nnz))
    for before, piece, after in zip(whole, pieces, threaded, strict=True):
        for name in NAMES:
            np.testing.assert_array_equal(getattr(before, name)[order], getattr(piece, name))
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_refused() -> None:
    rankings = block([2], [[np.array([0, 1]), np.array([1, 0])]])
    browsing, target = RBP().bind(None, one_row(2)), np.zeros(2)
    mixture = Rankings.of_matrix(rankings.over, [np.array([[0, 1], [1, 0]])])
    mixture.weight[:] = 0.25, 0.75
    with pytest.raises(InputError, match=r"unequal weights in a row.*exposure_of.*Mixture"):
        estimate(mixture, browsing, target)
    mixture.weight[:] = np.nan
    with pytest.raises(InputError, match="unequal weights"):
        estimate_groups(mixture, browsing, target, [])
    for wrong, message in ((np.zeros(3), "shape"), (np.array([0, np.inf]), "inf at 1")):
        with pytest.raises(InputError, match=rf"target: found.*{message}"):
            estimate(rankings, browsing, wrong)
    entries = np.arange(9)
    unresolved = GroupAlignment.of_entries("sex", ("f", "m"), entries, entries % 2, np.ones(9), 9)
    with pytest.raises(InputError, match=r"alignments: .*'sex'.*resolve\(\)"):
        estimate_groups(rankings, browsing, target, [unresolved])
    few = GroupAlignment.of_entries("sex", ("f",), np.array([0]), np.array([0]), np.ones(1), 1).resolve("drop")
    with pytest.raises(InputError, match="found one of 1 documents"):
        estimate_groups(rankings, browsing, target, [few])
    for exposures, aim, message in (
        (np.zeros((1, 3)), np.zeros(3), "exposures: found an array of shape"),
        (np.zeros(3), np.zeros(3), "exposures: found an array of shape"),
        (np.zeros((2, 3)), np.zeros(2), "target: found shape"),
        (np.full((2, 3), np.nan), np.zeros(3), "exposures: found nan at"),
    ):
        with pytest.raises(ValueError, match=message):
            unbiased_ee(exposures, aim)


def test_sets_and_no_documents() -> None:
    empty = block([], [])
    found = estimate(empty, RBP().bind(None, pointers([])), np.empty(0))
    assert all(getattr(found, name).shape == (0,) for name in NAMES)
    assert estimate_groups(empty, RBP().bind(None, pointers([])), np.empty(0), alignments(0))[1].EEL.shape == (0,)
    pairs = block([3], [[np.array([0, 1, 2]), np.array([1, 0, 2]), np.array([2])]])
    sets = estimate(pairs, TopKSet(2).bind(None, one_row(3)), np.zeros(3))
    assert sets.EED[0] == pytest.approx(2 / 3)  # the first two draws share two documents, the third none
    assert unbiased_ee(np.empty((2, 0)), np.empty(0)) == {"EEL": 0, "EED": 0, "EER": 0, "se": 0}


@pytest.mark.shared_data
def test_published_plug_in_values(shared: Path) -> None:
    cases = json.loads((shared / "oracles/algorithms/expeval.json").read_text())["cases"]
    compared = 0
    for name, case in cases.items():
        given = case["input"]
        if "/three_samples/" not in name or not given["complete"]:
            continue
        qrels = [line.split() for line in given["qrels"].splitlines()]
        run = [line.split() for line in given["run"].splitlines()]
        docs = [line[2] for line in qrels]
        order = [[docs.index(line[2]) for line in run if line[1] == sample] for sample in ("s1", "s2", "s3")]
        over = Ragged(np.zeros(1), one_row(len(docs)), np.arange(len(docs)))
        rankings = Rankings.of_matrix(over, [np.array(order)])
        grades = np.array([int(line[3]) for line in qrels])
        model = GERR(given["umPatience"], given["umUtility"]) if given["umType"] == "gerr" else RBP(given["umPatience"])
        browsing = model.bind(grades, over.indptr)
        target = equal_exposure(over.indptr, grades, browsing)
        if given["group"]:
            pairs = [(doc, group) for doc, line in enumerate(qrels) for group in line[1].split("|")]
            groups = sorted({group for _, group in pairs})
            doc, group = np.array([(doc, groups.index(group)) for doc, group in pairs]).T
            made = GroupAlignment.of_entries("any", tuple(groups), doc, group, np.ones(len(doc)), len(docs))
            found = estimate_groups(rankings, browsing, target, [made.resolve("drop")])[0]
        else:
            found = estimate(rankings, browsing, target)
        theirs = case["output"]["per_query"]["q1"]
        for ours, other in (("plug_in_EED", "disparity"), ("EER", "relevance"), ("plug_in_EEL", "difference")):
            assert getattr(found, ours)[0] == pytest.approx(theirs[other]["value"], rel=1e-12, abs=1e-15), name
            compared += 1
        assert exposure_of(rankings, browsing).draws.tolist() == [3]
    assert compared >= 60

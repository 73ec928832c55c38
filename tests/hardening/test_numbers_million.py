"""A million documents in a ranking: sums against exact ones, and memory that grows with the documents alone."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from math import fsum

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.exposure import (
    DCG,
    GERR,
    RBP,
    equal_exposure_target,
    pl_exposure,
    pl_exposure_gradient,
    project_permutahedron,
    ranking_exposure,
    unbiased_ee,
)
from rerankers.measures import (
    arab,
    awrf,
    cwex,
    favoured_pairs,
    gfr,
    group_exposure_placebo,
    group_rates,
    iaa,
    jme,
    leximin,
    lexirecall,
    ndkl,
    pareto_distance,
    prefix_parity,
    rbo,
)
from rerankers.policies import PlackettLuce, zscore
from rerankers.values import Ragged

N = 10**6
RNG = np.random.default_rng(20)
SCORES, GRADES = RNG.normal(size=N) * 3, RNG.integers(0, 2, N).astype(float)
RANK = np.arange(N)
LABELS = ["a", "b"] * (N // 2)
PART = np.eye(2)[RANK % 2]
DISCOUNT = 1.0 / np.log2(RANK + 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "total"),
    [
        (RBP(0.99), 100.0),
        (RBP(1 - 2.0**-20), (1 - (1 - 2.0**-20) ** N) * 2.0**20),
        (DCG(), fsum(DISCOUNT)),
        (DCG(1000), fsum(DISCOUNT[:1000])),
    ],
    ids=str,
)
def test_exposure_is_handed_out_to_the_last_digit(model: object, total: float) -> None:
    for found in (equal_exposure_target(GRADES, model), ranking_exposure(RANK, model), pl_exposure(SCORES, model)):
        assert fsum(found) == pytest.approx(total, rel=2e-13)
        assert found.min() >= 0.0


@pytest.mark.slow
def test_spread_of_2000_nats_and_gradients() -> None:
    wide = RNG.uniform(-2000, 0, N)
    assert fsum(pl_exposure(wide, RBP(0.99))) == pytest.approx(100.0, rel=1e-13)
    slope = pl_exposure_gradient(SCORES, GERR(0.99, 0.5), GRADES, GRADES)
    assert abs(fsum(slope)) < 1e-13
    point = project_permutahedron(SCORES, DISCOUNT)
    assert fsum(point) == pytest.approx(fsum(DISCOUNT), rel=1e-13)


@pytest.mark.slow
def test_a_policy_over_a_million() -> None:
    over = Ragged(np.zeros(1, np.int64), np.array([0, N]), RANK)
    moved = zscore(over.indptr, SCORES + 1e6)
    assert abs(fsum(moved)) < 1e-6
    assert fsum(moved * moved) == pytest.approx(N, rel=1e-12)
    policy = PlackettLuce(over, SCORES, query_streams(["q"]))
    drawn = policy.sample(1, 4)
    assert np.array_equal(np.sort(drawn.item), RANK)
    # from the last rank on, the weights of what is left: sums of positive numbers only
    left = np.logaddexp.accumulate(SCORES[drawn.item].astype(np.longdouble)[::-1])[::-1]
    assert policy.log_prob(drawn)[0] == pytest.approx(float((SCORES[drawn.item] - left).sum()), rel=1e-13)


def kl_of_halves() -> float:
    """NDKL of two groups in turn, by exact sums."""
    first = (RANK // 2 + 1) / (RANK + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = sum(np.where(p > 0, p * np.log(2 * p), 0.0) for p in (first, 1 - first))
    return fsum(np.maximum(terms, 0.0) * DISCOUNT) / fsum(DISCOUNT)


GAP = SCORES - 1.0
SUMS: list[tuple[str, Callable[[], float], Callable[[], float]]] = [
    (
        "awrf",
        lambda: awrf(DISCOUNT, PART, [1, 1]),
        lambda: awrf([fsum(DISCOUNT[::2]), fsum(DISCOUNT[1::2])], np.eye(2), [1, 1]),
    ),
    ("ndkl", lambda: ndkl(LABELS, [1, 1]), kl_of_halves),
    (
        "iaa",
        lambda: iaa(GRADES + 1, GRADES),
        lambda: fsum(np.abs((GRADES + 1) / fsum(GRADES + 1) - GRADES / fsum(GRADES))),
    ),
    ("rates", lambda: group_rates(SCORES, LABELS)[0][1], lambda: fsum(SCORES[1::2]) / (N // 2)),
    ("jme", lambda: jme(SCORES[None], GRADES[None], 0.0)["II"].loss, lambda: fsum((SCORES - GRADES) ** 2) / N),
    ("ARaB", lambda: arab({"m": GRADES, "f": 1 - GRADES}, None)["RaB"]["male"], lambda: fsum(GRADES) / N),
    (
        "placebo",
        lambda: group_exposure_placebo(GAP, LABELS),
        lambda: fsum(GAP**2) + (fsum(GAP) ** 2 - fsum(GAP**2)) * (N / 2 - 1) / (N - 1),
    ),
    ("pairs", lambda: favoured_pairs(LABELS)[0][0], lambda: 0.5 + 1.0 / N),
    ("gfr", lambda: gfr(LABELS, [1, 1], GRADES, decay="rbp", patience=0.99)["relevance"],
     lambda: fsum(0.01 * 0.99**RANK * 0.5 * GRADES)),
    ("rbo", lambda: rbo(RANK, RANK[::-1].copy(), 0.999999, kind="ext"),
     lambda: 1e-6 * fsum(np.maximum(2 * (RANK + 1) - N, 0) / (RANK + 1) * 0.999999**RANK) + 0.999999**N),
    ("EED", lambda: unbiased_ee(np.stack([GRADES, 1 - GRADES]), SCORES)["EED"], lambda: 0.0),
    ("EER", lambda: unbiased_ee(np.stack([GRADES, 1 - GRADES]), SCORES)["EER"], lambda: fsum(SCORES) / 2),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "found", "exact"), SUMS, ids=[one[0] for one in SUMS])
def test_sums_of_a_million(name: str, found: Callable[[], float], exact: Callable[[], float]) -> None:
    """Relative errors of 2e-12 are 10,000 roundings; a sum of a million terms may have a million."""
    assert found() == pytest.approx(exact(), rel=2e-12, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        lambda: ndkl(PART),
        lambda: prefix_parity(PART, form="rKL"),
        lambda: favoured_pairs(PART),
        lambda: gfr(PART, [1, 1], GRADES),
        lambda: group_exposure_placebo(SCORES, RANK),
        lambda: jme(SCORES[None], GRADES[None], item_groups=PART.T),
        lambda: jme(SCORES[:, None], GRADES[:, None]),
        lambda: pareto_distance(0.5, 0.5, RANK / N, np.square(RANK / N)),
        lambda: pareto_distance(0.5, 0.5, RANK / N, np.square(RANK / N), alpha=None),
        lambda: lexirecall(RANK, RANK, relevant=10**12),
        lambda: leximin(SCORES, SCORES),
        lambda: cwex(["M", "F"] * (N // 2), 0.5, None),
        lambda: ranking_exposure(RANK, DCG()),
        lambda: equal_exposure_target(GRADES, DCG()),
        lambda: project_permutahedron(SCORES, DISCOUNT),
    ],
)
def test_memory_grows_with_the_documents(call: Callable[[], object]) -> None:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * N  # bytes: some tens of numbers a document

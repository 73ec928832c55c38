"""Equal expected exposure: brute force, closed forms, large levels, independence of the block."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from exposure_twins import SPECS, averaged_target, bound, one_row, plain_exposure, pointers
from hypothesis import given
from hypothesis import strategies as st

from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, equal_exposure_target
from rerankers.exposure.targets import equal_exposure, shuffle_exposure

RNG = np.random.default_rng(11)
GRADES = st.lists(st.integers(-1, 3), min_size=0, max_size=6)


@given(GRADES, SPECS)
def test_is_the_mean_over_all_ideal_rankings(grades: list[int], spec: object) -> None:
    values = np.array(grades, dtype=np.int64)
    browsing = bound(spec, values, one_row(len(values)))
    expected = averaged_target(np.maximum(values, 0), browsing.position, browsing.continuation)
    found = equal_exposure(one_row(len(values)), values, browsing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-15)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=6), st.booleans(), st.randoms(use_true_random=False))
def test_continuations_that_differ_inside_a_level(grades: list[int], weighted: bool, random: object) -> None:
    n = len(grades)
    continuation = np.array([random.choice([0, 0.2, 0.7, 1]) for _ in grades])  # type: ignore[attr-defined]
    cascade = Cascade(continuation, position=[1, 0.8, 0.1, 0.1] if weighted else None)
    position = cascade.bind(None, one_row(n)).position
    expected = averaged_target(np.array(grades), position, continuation)
    np.testing.assert_allclose(equal_exposure_target(grades, cascade), expected, rtol=0, atol=5e-15)


@pytest.mark.parametrize("p", [0.0, 0.3, 1 - 1e-9, 1 - 1e-13, 1.0])
def test_patience_up_to_one(p: float) -> None:
    grades = np.array([0, 1, 0, 1, 0])
    expected = [np.mean(p ** np.arange(2, 5)), np.mean(p ** np.arange(2))]
    found = equal_exposure_target(grades, RBP(p))
    np.testing.assert_allclose(found, np.array(expected)[grades], rtol=1e-15)


def test_large_levels() -> None:
    n = 1_000_000
    rank = np.arange(n)
    for spec, total in (
        (RBP(0.999999), -np.expm1(n * np.log(0.999999)) / (1 - 0.999999)),
        (RBP(1.0), float(n)),
        (DCG(), np.sum(1 / np.log2(rank + 2))),
        (DCG(1000), np.sum(1 / np.log2(rank[:1000] + 2))),
    ):
        found = equal_exposure_target(np.zeros(n), spec)
        assert found[0] == found[-1]
        assert found[0] * n == pytest.approx(total, rel=1e-12)


def test_a_row_has_the_same_bits_in_every_block() -> None:
    lengths = RNG.integers(0, 30, 200).tolist()
    rows = pointers(lengths)
    grades = RNG.integers(-1, 4, rows[-1])
    for spec in (GERR(0.9, 0.4), GERR(0.9, 0.4, cutoff=7), ERR(max_grade=3), DCG(), RBP(1.0)):
        whole = equal_exposure(rows, grades, spec.bind(grades, rows))
        for low, high in ((0, 1), (17, 18), (40, 130)):
            part = slice(rows[low], rows[high])
            alone = rows[low : high + 1] - rows[low]
            piece = equal_exposure(alone, grades[part], spec.bind(grades[part], alone))
            np.testing.assert_array_equal(piece, whole[part])


def test_wrong_grades() -> None:
    with pytest.raises(ValueError, match="grades"):
        equal_exposure_target([0, np.nan], RBP())
    with pytest.raises(ValueError, match="grades"):
        equal_exposure_target([[0, 1]], GERR())
    assert equal_exposure_target([], GERR()).shape == (0,)


@pytest.mark.shared_data
def test_enumerated_targets_of_the_2020_track(shared: Path) -> None:
    cases = json.loads((shared / "oracles/trec/target_bruteforce_2020.json").read_text())["cases"]
    assert cases
    for case in cases:
        spec = GERR(case["p"], case["u"]) if case["umType"] == "gerr" else RBP(case["p"])
        grades, expected = np.array(list(case["qrels"].values())), np.array(list(case["brute_force"].values()))
        row = one_row(len(grades))
        # The enumeration gives a negative grade a level of its own; here it shares the level of grade 0.
        own_level = shuffle_exposure(row, grades, spec.bind(grades, row))
        np.testing.assert_allclose(own_level, expected, rtol=0, atol=1e-15, err_msg=case["name"])
        if np.any(grades < 0):
            expected[grades <= 0] = expected[grades <= 0].mean()
        np.testing.assert_allclose(equal_exposure_target(grades, spec), expected, rtol=0, atol=1e-15)


@pytest.mark.shared_data
def test_documents_of_the_2020_evaluator(shared: Path) -> None:
    cases = json.loads((shared / "oracles/trec/eel_2020_cases.json").read_text())["cases"]
    checked = 0
    for case in cases:
        results = next(iter(case["expected"].values())).get("per_query", {})
        regular = case["params"].get("complete") and case["name"] not in {
            "negative_relevance",  # the official target counts negative grades as stops
            "duplicate_rank",
            "duplicate_docs_in_ranking",  # a run that is not a ranking
        }
        for qid, result in results.items() if regular else ():
            grades = {row[2]: row[3] for row in case["qrels"] if row[0] == qid}
            if case["params"].get("binarize"):
                grades = {doc: int(grade > 0) for doc, grade in grades.items()}
            spec = GERR(case["params"].get("p", 0.5), case["params"].get("u", 0.5))
            found = dict(zip(grades, equal_exposure_target(list(grades.values()), spec), strict=True))
            assert found == pytest.approx(result["target_doc"], rel=1e-12)
            if "run_doc" in result:  # absent for a query that is not in the run
                checked += _run_agrees(case, qid, grades, spec, result["run_doc"])
    assert checked >= 10


def _run_agrees(case: dict, qid: str, grades: dict, spec: GERR, expected: dict) -> int:
    ranked = [row for row in case["run"] if row[0] == qid]
    docs = list(dict.fromkeys([*grades, *(row[2] for row in ranked)]))
    values = np.array([grades.get(doc, 0) for doc in docs])
    continuation = spec.bind(values, one_row(len(docs))).continuation
    samples = dict.fromkeys(row[1] for row in ranked)
    total = np.zeros(len(docs))
    for sample in samples:
        rows = sorted((row for row in ranked if row[1] == sample), key=lambda row: row[3])
        total += plain_exposure([docs.index(row[2]) for row in rows], None, continuation)
    found = {doc: value for doc, value in zip(docs, total / max(len(samples), 1), strict=True) if doc in expected}
    assert found == pytest.approx(expected, rel=1e-12), case["name"]
    return 1

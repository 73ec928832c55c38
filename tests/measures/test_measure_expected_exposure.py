"""Expected exposure against enumeration and plain loops, for documents and groups, in both universes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from measure_worlds import World, enumerated_target, grades_of, lists_of, mean_exposure, random_rankings, world

from rerankers._base.errors import ConfigError
from rerankers.exposure import DCG, ERR, RBP, Positions, TopKSet
from rerankers.measures import parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.scores import REASONS
from rerankers.values import Candidates, Judgments, Rankings


def per_unit(name: str, evaluation: Evaluation) -> np.ndarray:
    return parse(name).per_unit(evaluation).value


def documents(made: World, rankings: Rankings, row: int, universe: str) -> tuple[list[int], dict[int, int]]:
    grade = grades_of(made.judgments, row)
    ranked = made.candidates.doc[made.candidates.row(row)].tolist()
    return (sorted({*ranked, *grade}) if universe == "union" else sorted(grade)), grade


@pytest.mark.parametrize("universe", ["union", "judged"])
@pytest.mark.parametrize("model", [{}, {"p": 0.9, "u": 0.3}])
def test_against_enumeration(universe: str, model: dict[str, float]) -> None:
    made = world(2, queries=25, longest=5)
    rankings = random_rankings(3, made.candidates)
    evaluation = Evaluation(rankings, made.judgments, made.groups, Options(universe=universe))
    params = f"({','.join(f'{name}={value}' for name, value in model.items())})" if model else ""
    names = ("EEL", "EED", "EER", "EET", "utility", "group_EEL", "group_EED", "group_EER", "group_EET")
    found = {name: per_unit(f"{name}{params}", evaluation) for name in names}
    alignment = made.groups["economy"]
    compared = 0
    for row in range(25):
        docs, grade = documents(made, rankings, row, universe)
        if not grade:
            assert all(math.isnan(values[row]) for values in found.values())
            continue
        got = mean_exposure(lists_of(rankings, row), grade, **model)
        due = enumerated_target(docs, grade, **model)
        e, t = np.array([got.get(doc, 0.0) for doc in docs]), np.array([due[doc] for doc in docs])
        weight = np.zeros((len(docs), 4))
        for position, doc in enumerate(docs):
            part = slice(alignment.indptr[doc], alignment.indptr[doc + 1])
            weight[position, alignment.group[part]] = alignment.weight[part]
        satisfied = sum(e[i] * model.get("u", 0.5) for i, doc in enumerate(docs) if grade.get(doc, 0) > 0)
        for prefix, x, y in (("", e, t), ("group_", e @ weight, t @ weight)):
            expected = {"EEL": np.sum((x - y) ** 2), "EED": x @ x, "EER": x @ y, "EET": y @ y}
            for name, value in expected.items():
                assert found[prefix + name][row] == pytest.approx(value, abs=1e-12)
        assert found["utility"][row] == pytest.approx(satisfied, abs=1e-12)
        compared += 1
    assert compared >= 15


@pytest.mark.parametrize("name", ["EEL(umodel='rbp',p=0.8)@3", "EEL(umodel='dcg')", "EEL(umodel='err')", "EEL@2",
                                  "EEL(umodel='topk_set')@3", "group_EEL(umodel='dcg')@4"])  # fmt: skip
def test_loss_is_disparity_minus_twice_relevance_plus_target(name: str) -> None:
    made = world(4, queries=20)
    options = Options(max_grade=3)
    evaluation = Evaluation(random_rankings(0, made.candidates), made.judgments, made.groups, options)
    loss, disparity, relevance, target = (per_unit(name.replace("EEL", f"EE{x}"), evaluation) for x in "LDRT")
    np.testing.assert_allclose(loss, disparity - 2 * relevance + target, atol=1e-12)
    assert np.nanmax(loss) > 0.01


def test_a_cutoff_hides_what_is_below_it_from_exposure_and_target() -> None:
    over = Candidates(np.array([0]), np.array([0, 4]), np.arange(4))
    judgments = Judgments(np.array([0]), np.array([0, 4]), np.arange(4), {"grade": np.array([1, 1, 1, 0], np.int16)})
    rankings = Rankings.of_matrix(over, [np.array([[3, 2, 1, 0]])])
    evaluation = Evaluation(rankings, judgments, {}, Options(browsing=RBP(0.5), cutoff=2))
    assert evaluation.exposure(evaluation.options.model).tolist() == [0.0, 0.0, 0.5, 1.0]
    np.testing.assert_allclose(evaluation.target(evaluation.options.model), [0.5, 0.5, 0.5, 0.0], atol=1e-15)
    np.testing.assert_array_equal(per_unit("EEL", evaluation), per_unit("EEL@2", evaluation))
    assert per_unit("EEL@1", evaluation) != per_unit("EEL", evaluation)


def test_satisfaction_is_one_under_rbp_and_graded_under_err() -> None:
    over = Candidates(np.array([0]), np.array([0, 3]), np.arange(3))
    judgments = Judgments(np.array([0]), np.array([0, 3]), np.arange(3), {"grade": np.array([2, 0, 1], np.int16)})
    evaluation = Evaluation(Rankings.of_matrix(over, [np.array([[0, 1, 2]])]), judgments, {}, Options(max_grade=2))
    assert per_unit("utility(umodel='rbp',p=0.5)", evaluation) == pytest.approx([1.25])
    assert per_unit("utility(umodel='dcg')", evaluation) == pytest.approx([1.5])
    # ERR: R = (2^g - 1) / 2^2, here 3/4, 0 and 1/4; the last is seen with probability 1/4.
    assert per_unit("utility(umodel='err')", evaluation) == pytest.approx([0.75 + 0.25 * 0.25])


def test_a_document_of_several_groups_counts_in_full_for_each() -> None:
    made = world(0, queries=3)
    one = Evaluation(random_rankings(0, made.candidates), made.judgments, made.groups)
    exposure = one.exposure(one.options.model)
    totals = one.by_group("economy", exposure)
    weight = np.zeros(made.groups["economy"].n_docs)
    np.add.at(
        weight, np.repeat(np.arange(len(weight)), np.diff(made.groups["economy"].indptr)), made.groups["economy"].weight
    )
    assert totals.sum() == pytest.approx(np.sum(exposure * weight[one.over.doc]))


def test_without_groups_group_measures_are_null_and_say_so() -> None:
    made = world(1)
    evaluation = Evaluation(random_rankings(0, made.candidates), made.judgments)
    for name in ("group_EEL", "EEL(group='economy')"):
        scores = parse(name).per_unit(evaluation)
        assert np.all(np.isnan(scores.value))
        assert {REASONS[code] for code in scores.reason} == {"no_groups"}


def test_nothing_relevant_gives_the_uniform_target_and_no_utility() -> None:
    over = Candidates(np.array([0]), np.array([0, 4]), np.arange(4))
    judgments = Judgments(np.array([0]), np.array([0, 2]), np.array([0, 1]), {"grade": np.array([0, -1], np.int16)})
    evaluation = Evaluation(Rankings.of_matrix(over, [np.array([[0, 1, 2, 3]])]), judgments)
    exposure = np.array([1, 0.5, 0.25, 0.125])
    assert per_unit("EEL", evaluation) == pytest.approx([np.sum((exposure - exposure.mean()) ** 2)])
    assert per_unit("utility", evaluation).tolist() == [0.0]
    assert per_unit("P@2", evaluation).tolist() == [0.0]
    for name in ("AP", "nDCG", "nDCG@2", "R@2", "RR"):
        scores = parse(name).per_unit(evaluation)
        assert REASONS[scores.reason[0]] == "no_relevant_document"


def test_nothing_ranked_is_zero_exposure() -> None:
    over = Candidates(np.array([0]), np.array([0, 0]), np.empty(0))
    judgments = Judgments(np.array([0]), np.array([0, 2]), np.array([3, 5]), {"grade": np.array([1, 0], np.int16)})
    evaluation = Evaluation(Rankings.of_matrix(over, [np.empty((1, 0), np.int64)]), judgments)
    target = 1 + 0.25**2  # the relevant document first; then p (1 - u)
    found = {name: per_unit(name, evaluation)[0] for name in ("EEL", "EED", "EER", "EET", "utility", "nDCG", "AP")}
    assert found == {"EEL": target, "EED": 0, "EER": 0, "EET": target, "utility": 0, "nDCG": 0, "AP": 0}


def test_no_query_at_all() -> None:
    evaluation = Evaluation(
        Rankings.of_matrix(Candidates.empty(), []), Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    )
    assert (
        len(per_unit("EEL", evaluation))
        == len(per_unit("AP", evaluation))
        == len(per_unit("Judged@5", evaluation))
        == 0
    )


def test_parameters_that_a_model_does_not_have_are_refused() -> None:
    made = world(0)
    evaluation = Evaluation(random_rankings(0, made.candidates), made.judgments)
    for name, message in (
        ("EEL(umodel='rbp',u=0.5)", "does not have"),
        ("EEL(umodel='dcg',p=0.5)", "does not have"),
        ("EEL(umodel='topk_set')", "needs a cutoff"),
    ):
        with pytest.raises(ConfigError, match=message):
            per_unit(name, evaluation)


@pytest.mark.parametrize(
    ("model", "cutoff", "same"),
    [
        (RBP(0.8), 2, RBP(0.8, cutoff=2)),
        (DCG(cutoff=9), 2, DCG(cutoff=2)),
        (ERR(max_grade=3), 2, ERR(max_grade=3, cutoff=2)),
        (Positions((1.0, 0.5, 0.2)), 2, Positions((1.0, 0.5))),
        (TopKSet(5), 2, TopKSet(2)),
        (TopKSet(1), 2, TopKSet(1)),
    ],
)
def test_every_model_takes_a_cutoff(model: object, cutoff: int, same: object) -> None:
    assert Options(browsing=model, cutoff=cutoff).model == same  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="1 or more"):
        Options(browsing=model, cutoff=0).model  # type: ignore[arg-type]  # noqa: B018

"""The five anchors: what they are, what they give, and that the ideal one is ideal in both universes."""

from __future__ import annotations

import numpy as np
import pytest
from measure_worlds import world

from rerankers.exposure import DCG, ERR, GERR, RBP, BrowsingModel
from rerankers.measures import parse
from rerankers.measures.anchors import ANCHORS, anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.values import Candidates, Judgments


def test_all_five_with_scores_and_three_without() -> None:
    made = world(0)
    assert tuple(anchors(made.candidates, made.judgments, made.stream)) == ANCHORS
    bare = Candidates(made.candidates.query, made.candidates.indptr, made.candidates.doc)
    assert list(anchors(bare, made.judgments, made.stream)) == ["anchor:random", "anchor:worst_first", "anchor:ideal"]


@pytest.mark.parametrize("universe", ["union", "judged"])
@pytest.mark.parametrize("model", [GERR(), GERR(0.9, 0.3), RBP(0.8), DCG(), RBP(0.7, cutoff=3), ERR(max_grade=3)])
def test_the_ideal_anchor_has_no_loss(universe: str, model: BrowsingModel) -> None:
    made = world(5, queries=25)
    ideal = anchors(made.candidates, made.judgments, made.stream, universe)["anchor:ideal"]
    evaluation = Evaluation(ideal, made.judgments, made.groups, Options(browsing=model, universe=universe))
    for name in ("EEL", "group_EEL"):
        loss = parse(name).per_unit(evaluation).value
        assert np.nanmax(np.abs(loss)) < 1e-20


def test_utility_rises_from_worst_first_over_random_to_ideal() -> None:
    made = world(5, queries=25)
    made_anchors = anchors(made.candidates, made.judgments, made.stream)
    utility = {
        name: np.nanmean(parse("utility").per_unit(Evaluation(policy, made.judgments)).value)
        for name, policy in made_anchors.items()
    }
    assert utility["anchor:worst_first"] < utility["anchor:random"] < utility["anchor:ideal"]


def test_worst_first_never_shows_a_relevant_document_before_another() -> None:
    made = world(6, queries=25)
    policy = anchors(made.candidates, made.judgments, made.stream)["anchor:worst_first"]
    rankings = policy.sample(5, 0)
    grade = Evaluation(policy, made.judgments).universe.candidate_grade[rankings.flat]
    inside = rankings.rank[1:] > 0
    assert np.all(np.diff(grade)[inside] >= 0)


def test_deterministic_breaks_ties_by_docno_whatever_the_order_of_the_candidates() -> None:
    candidates = Candidates(
        np.array([0]), np.array([0, 4]), np.array([7, 2, 9, 4]), {"score": np.array([1.0, 1, 3, 1])}
    )
    judgments = Judgments(np.array([0]), np.array([0, 1]), np.array([2]), {"grade": np.array([1], np.int16)})
    stream = np.zeros((1, 2), np.uint64)
    drawn = anchors(candidates, judgments, stream)["anchor:deterministic"].sample(1, 0)
    assert drawn.over.doc[drawn.flat].tolist() == [9, 2, 4, 7]


def test_plackett_luce_does_not_depend_on_the_scale_of_scores_and_is_uniform_without_differences() -> None:
    candidates = Candidates(
        np.array([0, 1]), np.array([0, 3, 6]), np.arange(6), {"score": np.array([1.0, 2, 4, 5, 5, 5])}
    )
    judgments = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    stream = np.ones((2, 2), np.uint64)
    browsing = RBP(0.5).bind(None, candidates.indptr)

    def exposure(scale: float, shift: float) -> np.ndarray:
        scores = candidates.with_columns(score=candidates.score * scale + shift)
        found = anchors(scores, judgments, stream)["anchor:plackett_luce"].exposure(browsing)
        assert found is not None
        return found.value

    plain = exposure(1, 0)
    np.testing.assert_allclose(exposure(1e6, -3), plain, rtol=1e-9)
    np.testing.assert_allclose(plain[3:], 1.75 / 3, rtol=1e-12)
    assert plain[0] < plain[1] < plain[2]

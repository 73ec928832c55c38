"""One evaluation: exact against drawn, blocks and order against bits, what is counted, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from measure_worlds import World, alignment, random_rankings, world

from rerankers._base.errors import ConfigError
from rerankers.exposure import GERR, RBP, BrowsingModel
from rerankers.measures import parse, parse_many
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.scores import REASONS
from rerankers.measures.table import concat, measure_block
from rerankers.policies import GradeShuffle, Mixture, PlackettLuce, zscore
from rerankers.values import Candidates, Judgments, Ragged, Rankings

ALL = parse_many(
    "EEL EED EER EET utility group_EEL group_EED EEL(umodel='rbp',p=.7)@5 nDCG nDCG@5 AP RR P@3 R@5 Judged@4"
)


def policy_of(made: World) -> PlackettLuce:
    return PlackettLuce(made.candidates, zscore(made.candidates.indptr, made.candidates.score), made.stream)


class Formless:
    """A policy without a closed form."""

    def __init__(self, policy: PlackettLuce) -> None:
        self.over, self.stream, self.sample = policy.over, policy.stream, policy.sample

    def exposure(self, browsing: object) -> None:
        return None


@pytest.mark.parametrize("name", ["EEL", "EED", "EER", "utility", "group_EEL", "group_EED", "group_EER"])
@pytest.mark.parametrize("universe", ["union", "judged"])
def test_exact_agrees_with_draws_within_five_standard_errors(name: str, universe: str) -> None:
    made = world(11, queries=5, longest=8)
    policy, measure, draws = policy_of(made), parse(name), 400
    exact = measure.per_unit(Evaluation(policy, made.judgments, made.groups, Options(universe=universe))).value
    drawn = np.array(
        [
            measure.per_unit(
                Evaluation(
                    Formless(policy), made.judgments, made.groups, Options(universe=universe, samples=draws, seed=seed)
                )
            ).value
            for seed in range(30)
        ]
    )
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    assert np.all((np.abs(drawn.mean(axis=0) - exact) <= 5 * error + 1e-12) | np.isnan(exact))
    assert np.sum(~np.isnan(exact)) >= 3


def test_few_draws_are_unbiased_too() -> None:
    made = world(3, queries=4, longest=9)
    policy = policy_of(made)
    exact = Evaluation(policy, made.judgments, made.groups)
    plain = [parse(name).per_unit(exact).value for name in ("EEL", "group_EEL")]
    for name, value in zip(("EEL", "group_EEL"), plain, strict=True):
        drawn, plug_in = [], []
        for seed in range(400):
            estimate = Evaluation(Formless(policy), made.judgments, made.groups, Options(samples=3, seed=seed))
            drawn.append(parse(name).per_unit(estimate).value)
            published = Evaluation(policy.sample(3, seed), made.judgments, made.groups)
            plug_in.append(parse(name).per_unit(published).value)
        error = np.std(drawn, axis=0, ddof=1) / 20
        assert np.all((np.abs(np.mean(drawn, axis=0) - value) <= 5 * error + 1e-12) | np.isnan(value))
        assert np.nanmax(np.mean(plug_in, axis=0) - value - 5 * error) > 0  # what is published is another policy


def test_which_of_the_two_is_recorded() -> None:
    made = world(3)
    policy, model = policy_of(made), GERR()
    assert not Evaluation(policy, made.judgments).estimated(model)
    for source, forced in ((policy, True), (Formless(policy), False)):
        evaluation = Evaluation(source, made.judgments, {}, Options(force_draws=forced, samples=7))
        assert evaluation.estimated(model)
        draws = evaluation.candidate_exposure(model).draws
        assert draws is not None
        assert draws.tolist() == [7] * len(made.qids)
    assert not Evaluation(policy.sample(3, 0), made.judgments).estimated(model)


def test_forced_draws_are_judged_as_the_run_that_is_published() -> None:
    made = world(3)
    policy = policy_of(made)
    forced = Evaluation(policy, made.judgments, made.groups, Options(samples=20, seed=5, force_draws=True))
    published = Evaluation(policy.sample(20, 5), made.judgments, made.groups)
    for measure in ALL:
        np.testing.assert_array_equal(measure.per_unit(forced).value, measure.per_unit(published).value)


def test_one_draw_tells_nothing_about_disparity() -> None:
    made = world(3)
    evaluation = Evaluation(Formless(policy_of(made)), made.judgments, made.groups, Options(samples=1))
    for name in ("EEL", "EED", "group_EEL"):
        scores = parse(name).per_unit(evaluation)
        assert {REASONS[code] for code in scores.reason} == {"too_few_draws"}
    assert np.any(parse("EER").per_unit(evaluation).reason < 0)


def test_a_mixture_is_measured_by_its_own_rankings() -> None:
    made = world(6)
    rankings = random_rankings(0, made.candidates)
    mixture = Evaluation(Mixture(rankings, made.stream), made.judgments, made.groups)
    given = Evaluation(rankings, made.judgments, made.groups)
    for measure in ALL:
        np.testing.assert_array_equal(measure.per_unit(mixture).value, measure.per_unit(given).value)


def test_the_ideal_policy_has_no_loss_and_the_worst_first_has_one() -> None:
    made = world(8, queries=20)
    plain = Evaluation(policy_of(made), made.judgments)
    ideal = GradeShuffle(plain.over, plain.grade, made.stream)
    for model in (GERR(), GERR(0.9, 0.3), RBP(0.8)):
        options = Options(browsing=model)
        loss = parse("EEL").per_unit(Evaluation(ideal, made.judgments, {}, options)).value
        assert np.nanmax(np.abs(loss)) < 1e-25
    reverse = GradeShuffle(plain.over, -plain.grade, made.stream)
    assert np.nanmax(parse("EEL").per_unit(Evaluation(reverse, made.judgments)).value) > 0.1


def blocks(made: World, policy: PlackettLuce, cuts: list[int], options: Options, formless: bool) -> list:
    out = []
    for start, stop in zip([0, *cuts], [*cuts, len(made.qids)], strict=True):
        part = PlackettLuce(
            made.candidates.rows(start, stop),
            policy.logit[made.candidates.indptr[start] : made.candidates.indptr[stop]],
            made.stream[start:stop],
        )
        source = Formless(part) if formless else part
        evaluation = Evaluation(source, made.judgments, made.groups, options)
        out.append(measure_block(evaluation, ALL, made.qids[start:stop], "s"))
    return out


@pytest.mark.parametrize(("force", "formless"), [(False, False), (True, False), (False, True)])
def test_blocks_do_not_change_bits(force: bool, formless: bool) -> None:
    made = world(9, queries=40, longest=30, n_docs=200)
    policy, options = policy_of(made), Options(samples=9, force_draws=force)
    whole = concat(blocks(made, policy, [], options, formless))
    assert concat(blocks(made, policy, [1, 2, 17, 39], options, formless)).equals(whole)
    assert concat(blocks(made, policy, list(range(1, 40)), options, formless)).equals(whole)


@pytest.mark.parametrize("force", [False, True])
def test_the_order_of_queries_does_not_change_bits(force: bool) -> None:
    made = world(10, queries=40, longest=30, n_docs=200)
    policy, options = policy_of(made), Options(samples=9, force_draws=force)
    order = np.random.default_rng(0).permutation(40)
    shuffled = made.candidates.take(order)
    logit = made.candidates.with_columns(logit=policy.logit).take(order).columns["logit"]
    other = PlackettLuce(shuffled, logit, made.stream[order])
    judgments = made.judgments.take(np.random.default_rng(1).permutation(len(made.judgments)))
    first = Evaluation(policy, made.judgments, made.groups, options)
    second = Evaluation(other, judgments, made.groups, options)
    for measure in ALL:
        before, after = measure.per_unit(first), measure.per_unit(second)
        np.testing.assert_array_equal(before.value[order], after.value)
        np.testing.assert_array_equal(before.reason[order], after.reason)


def test_exposure_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = world(3)
    calls: list[object] = []
    exposure = PlackettLuce.exposure

    def counted(self: PlackettLuce, browsing: object) -> object:
        calls.append(browsing)
        return exposure(self, browsing)  # type: ignore[arg-type]

    monkeypatch.setattr(PlackettLuce, "exposure", counted)
    evaluation = Evaluation(policy_of(made), made.judgments, made.groups)
    for measure in ALL:
        measure.per_unit(evaluation)
    assert len(calls) == 2  # GERR, and RBP(.7) at depth 5


def test_counts() -> None:
    candidates = Candidates(np.array([0, 1, 2]), np.array([0, 3, 3, 5]), np.array([0, 1, 2, 3, 4]))
    judgments = Judgments(
        np.array([0, 1, 7]), np.array([0, 3, 4, 5]), np.array([1, 2, 9, 4, 4]),
        {"grade": np.array([1, -1, 2, 0, -3], np.int16)},
    )  # fmt: skip
    rankings = Rankings.of_matrix(candidates, [np.array([[0, 1]]), np.empty((1, 0), int), np.array([[0, 1]])])
    assert Evaluation(rankings, judgments).counts == {
        "queries": 3,
        "queries_not_judged": 1,
        "queries_without_relevant_document": 1,
        "queries_without_candidates": 1,
        "candidates_not_judged": 3,
        "judged_not_candidates": 2,
        "negative_grades": 1,
    }


def test_refuses_alignments_that_do_not_fit() -> None:
    made = world(0)
    rankings = random_rankings(0, made.candidates)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="at least 4"):
        Evaluation(rankings, made.judgments, {"economy": alignment(rng, 3)})
    loose = made.groups["economy"].__class__.of_entries(
        "economy", ("a",), np.array([0]), np.array([0]), np.array([1.0]), 40
    )
    with pytest.raises(ValueError, match="resolved: False"):
        Evaluation(rankings, made.judgments, {"economy": loose})


def test_options_are_refused_when_they_are_made() -> None:
    for wrong, message in (({"universe": "all"}, "union"), ({"samples": 0}, "samples"), ({"cutoff": 0}, "cutoff")):
        with pytest.raises(ConfigError, match=message):
            Options(**wrong)  # type: ignore[arg-type]


def test_candidates_can_be_any_ragged_rows() -> None:
    made = world(0)
    rows = Ragged(made.candidates.query, made.candidates.indptr, made.candidates.doc)
    model: BrowsingModel = GERR()
    value = Evaluation(GradeShuffle(rows, np.zeros(rows.nnz), made.stream), made.judgments).exposure(model)
    assert len(value) >= rows.nnz

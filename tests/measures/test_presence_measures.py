"""Measures of gender presence by name over an evaluation, beside plain sums over its rankings."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from measure_worlds import lists_of
from presence_worlds import evaluations, labelled_world, mean, reason, valued

from rerankers._base.errors import ConfigError
from rerankers.exposure import pl_rank_marginals
from rerankers.measures import arab, magnitudes, nfairr, parse
from rerankers.measures.direction import better
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.presence_lists import log_weights
from rerankers.measures.word_magnitudes import rank_weights
from rerankers.policies import PlackettLuce
from rerankers.report.keys import parse as parse_key
from rerankers.values.companions import NEUTRALITY, companion

K = 3


@pytest.mark.parametrize("seed", [0, 3])
def test_neutrality_measures_are_means_over_rankings(seed: int) -> None:
    evaluation, _, values = evaluations(seed)
    names = ("FaiRR", "NFaiRR", "FaiRR(of=ideal)", "FaiRR(of=agnostic)", "NFaiRR(of=agnostic)")
    found = {name: parse(f"{name}@{K}").per_unit(evaluation) for name in names}
    whole = parse("NFaiRR").per_unit(evaluation)
    union = parse(f"NFaiRR(background=union)@{K}").per_unit(evaluation)
    for row in range(len(evaluation.over)):
        lists = lists_of(evaluation.rankings, row)
        if not any(docs for _, docs in lists):
            assert reason(found["NFaiRR"], row) == "no_ranked_document"
            continue
        neutrality = values["neutrality"]
        for k, scores, rows in (
            (K, found, evaluation.source.over),
            (None, {"NFaiRR": whole}, evaluation.source.over),
            (K, {"NFaiRR": union}, evaluation.universe.union),
        ):
            pool = neutrality[rows.doc[rows.row(row)]].tolist()
            each = [(w, nfairr(neutrality[docs].tolist(), pool, k)) for w, docs in lists]
            want = {
                "FaiRR": sum(w * (one["fairr"] or 0.0) for w, one in each),
                "NFaiRR": sum(w * (one["nfairr"] or 0.0) for w, one in each),
                "FaiRR(of=ideal)": each[0][1]["ideal"],
                "FaiRR(of=agnostic)": each[0][1]["agnostic"],
                "NFaiRR(of=agnostic)": each[0][1]["agnostic"] / each[0][1]["ideal"],
            }
            for name, score in scores.items():
                assert score.value[row] == pytest.approx(want[name], abs=1e-12), name


@pytest.mark.parametrize("words", ["tf", "tc", "bool"])
def test_measures_of_words_are_means_over_rankings(words: str) -> None:
    evaluation, _, values = evaluations(1)
    for name, k in itertools.product(("RaB", "ARaB", "nDRaB"), (K, None)):
        cut = "" if k is None else f"@{k}"
        found = {
            of: parse(f"{name}(words={words},of={of}){cut}").per_unit(evaluation) for of in ("delta", "gap", "male")
        }
        for row in range(len(evaluation.over)):
            each = []
            for weight, docs in lists_of(evaluation.rankings, row):
                counts = dict(zip(("male", "female"), values["words"][docs].T, strict=True))
                each.append((weight, arab(magnitudes(counts, words), k)[name]))
            delta = mean([(w, one["delta"]) for w, one in each])
            if delta is None:
                assert reason(found["delta"], row) == "no_ranked_document"
                continue
            assert found["delta"].value[row] == pytest.approx(delta, abs=1e-12)
            assert found["gap"].value[row] == pytest.approx(abs(delta), abs=1e-12)
            assert found["male"].value[row] == pytest.approx(mean([(w, one["male"]) for w, one in each]), abs=1e-12)


@pytest.mark.parametrize("form", ["expected", "mean"])
def test_texfair_by_name(form: str) -> None:
    evaluation, _, values = evaluations(5)
    of = {name: parse(f"TExFAIR(form={form},of={name!r},target='male:1,female:3')@{K}").per_unit(evaluation)
          for name in ("score", "TED", "RBDF", "share:female")}  # fmt: skip
    due = np.array([0.25, 0.75])

    def parts(weighted: list[tuple[float, list[int]]]) -> dict[str, float] | None:
        po = [(w / math.log2(2 + rank), doc) for w, docs in weighted for rank, doc in enumerate(docs[:K])]
        total = sum(w for w, _ in po)
        if not total:
            return None
        exposure = sum(w * values["shares"][doc] for w, doc in po) / total
        seen = sum(w for w, doc in po if values["shares"][doc].any()) / total
        ted = float(np.abs(exposure / exposure.sum() - due).sum()) if exposure.sum() else 0.0
        share = float(exposure[1] / exposure.sum()) if exposure.sum() else None
        return {"score": 1 - ted * seen, "TED": ted, "RBDF": seen, "share:female": share}

    for row in range(len(evaluation.over)):
        lists = lists_of(evaluation.rankings, row)
        found = [(1.0, parts(lists))] if form == "expected" else [(w, parts([(1.0, docs)])) for w, docs in lists]
        for name, scores in of.items():
            want = mean([(w, None if one is None else one[name]) for w, one in found])
            if want is None:
                assert reason(scores, row) in ("no_ranked_document", "no_group_words")
            else:
                assert scores.value[row] == pytest.approx(want, abs=1e-12), name


LINEAR = ("FaiRR@3", "NFaiRR", "RaB@3", "ARaB@3", "ARaB", "nDRaB@4", "CWEx(of=neutral)@3", "CWEx(of=gap)", "CWEx@3")


@pytest.mark.parametrize("text", LINEAR)
def test_policies_have_exact_values_near_those_of_many_draws(text: str) -> None:
    made, _, companions, _, aligned = labelled_world(6)
    policy = PlackettLuce(made.candidates, made.candidates.columns["score"], made.stream)
    groups = {"gender": aligned.resolve("count")}
    exact = parse(text).per_unit(Evaluation(policy, made.judgments, groups, Options(samples=2), companions)).value
    drawn = Options(samples=4000, force_draws=True)
    estimate = parse(text).per_unit(Evaluation(policy, made.judgments, groups, drawn, companions)).value
    np.testing.assert_allclose(exact, estimate, atol=0.05)
    assert not np.array_equal(exact, estimate)
    again = parse(text).per_unit(Evaluation(policy, made.judgments, groups, Options(samples=7), companions)).value
    np.testing.assert_array_equal(exact, again)  # draws do not enter


@pytest.mark.parametrize("name", ["RaB", "ARaB", "nDRaB"])
@pytest.mark.parametrize("k", [3, 12, None])
def test_exact_means_are_sums_over_rank_probabilities(name: str, k: int | None) -> None:
    """Of lists that are longer and shorter than k, each from the exact probability of every document at every rank."""
    made, _, companions, values, aligned = labelled_world(8)
    score = np.asarray(made.candidates.columns["score"])
    policy = PlackettLuce(made.candidates, score, made.stream)
    evaluation = Evaluation(
        policy, made.judgments, {"gender": aligned.resolve("count")}, Options(samples=1), companions
    )
    cut = "" if k is None else f"@{k}"
    found = {of: parse(f"{name}(of={of}){cut}").per_unit(evaluation).value for of in ("male", "female", "delta")}
    for row in range(len(made.candidates)):
        part = made.candidates.row(row)
        docs = made.candidates.doc[part]
        if len(docs) == 0:
            assert np.isnan(found["male"][row])
            continue
        n = len(docs) if k is None else min(k, len(docs))
        marginal = pl_rank_marginals(policy.logit[part], n)
        strength = np.log1p(values["words"][docs])
        male, female = rank_weights(name, n) @ (marginal.T @ strength)
        want = {"male": male, "female": female, "delta": male - female}
        assert {of: found[of][row] for of in want} == pytest.approx(want, abs=1e-12)


def test_documents_without_values_and_without_companions() -> None:
    evaluation, _, values = evaluations(0)
    rows = [row for row in range(len(evaluation.over))
            if any(docs[:1] for _, docs in lists_of(evaluation.rankings, row))]  # fmt: skip
    doc = next(docs[0] for _, docs in lists_of(evaluation.rankings, rows[0]) if docs)
    lacking = values["neutrality"].copy()
    lacking[doc] = np.nan
    key = companion("gender", NEUTRALITY)
    other = replace(evaluation, companions={**evaluation.companions, key: valued(("neutrality",), lacking[:, None])})
    assert reason(parse("NFaiRR@3").per_unit(other), rows[0]) == "unlabelled_document"
    for word, value in (("neutral", 1.0), ("drop", 0.0)):
        filled = np.where(np.isnan(lacking), value, lacking)
        lists = [(weight, filled[docs[:3]]) for weight, docs in lists_of(evaluation.rankings, rows[0])]
        want = sum(weight * float(first @ log_weights(len(first))) for weight, first in lists)
        assert parse(f"FaiRR(missing={word})@3").per_unit(other).value[rows[0]] == pytest.approx(want, abs=1e-12)
    bare = replace(evaluation, companions={})
    for text in ("FaiRR@3", "NFaiRR@3", "RaB@3", "ARaB@3", "nDRaB@3", "TExFAIR@3"):
        scores = parse(text).per_unit(bare)
        assert [reason(scores, row) for row in range(len(scores.value))] == ["no_labels"] * len(scores.value)
    without = replace(evaluation, groups={})
    assert [reason(parse("CWEx@3").per_unit(without), row) for row in (0, 1)] == ["no_groups"] * 2
    np.testing.assert_array_equal(parse("RaB@3").per_unit(without).value, parse("RaB@3").per_unit(evaluation).value)


def test_nothing_neutral_in_the_background() -> None:
    evaluation, _, values = evaluations(0)
    zero = valued(("neutrality",), np.zeros((len(values["neutrality"]), 1)))
    other = replace(evaluation, companions={companion("gender", NEUTRALITY): zero})
    scores = parse("NFaiRR@3").per_unit(other)
    reasons = {reason(scores, row) for row in range(len(scores.value))}
    assert reasons <= {"no_neutral_background", "no_ranked_document"}
    assert "no_neutral_background" in reasons
    assert np.nanmax(parse("FaiRR@3").per_unit(other).value) == 0.0


def test_unjudged_queries_have_values() -> None:
    evaluation, _, _ = evaluations(3)
    judgments = evaluation.judgments.take(np.arange(1))
    other = replace(evaluation, judgments=judgments)
    ranked = [any(docs for _, docs in lists_of(evaluation.rankings, row)) for row in range(len(evaluation.over))]
    rows = np.flatnonzero(~other.query_judged & np.array(ranked))
    assert len(rows) >= 3
    for text in ("CWEx(of=unknown)@3", "NFaiRR@3", "RaB@3", "TExFAIR@3"):
        found, before = (parse(text).per_unit(one).value[rows] for one in (other, evaluation))
        np.testing.assert_array_equal(found, before)
        assert not np.isnan(found).any()


def test_the_cutoff_of_the_job_counts_where_a_measure_has_none() -> None:
    evaluation, _, _ = evaluations(1)
    limited = replace(evaluation, options=Options(cutoff=2))
    for name in ("CWEx", "NFaiRR", "ARaB", "TExFAIR"):
        np.testing.assert_array_equal(
            parse(name).per_unit(limited).value, parse(f"{name}@2").per_unit(evaluation).value
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CWEx(of=males)@3", "Did you mean 'male'"),
        ("CWEx(neutral=neuter)@3", "neutral: found 'neuter'"),
        ("CWEx(alpha=2)@3", "alpha: found"),
        ("RaB(of=men)@3", "of: found 'men'"),
        ("TExFAIR(of=ted)@3", "of: found 'ted'"),
        ("TExFAIR(target='male')@3", "expected uniform, or group:share"),
        ("TExFAIR(target='male:1,women:2')@3", "the groups male, female"),
        ("RaB@3_excess", "found excess"),
        ("NFaiRR_placebo", "does not depend on groups"),
    ],
)
def test_what_cannot_be_asked(text: str, message: str) -> None:
    evaluation, _, _ = evaluations(0)
    with pytest.raises(ConfigError) as caught:
        parse(text).per_unit(evaluation)
    assert message in str(caught.value)


def test_which_way_is_better() -> None:
    higher = ("CWEx@10", "nCWEx@10", "FaiRR@10", "NFaiRR@10", "TExFAIR@10", "CWEx(of=low)@10")
    assert {better(parse(text)) for text in higher} == {"higher"}
    assert {better(parse(text)) for text in ("CWEx(of=spread)@10", "TExFAIR(of=TED)@10", "CWEx_excess")} <= {
        "lower",
        "higher",
    }
    assert better(parse("CWEx(of=spread)@10")) == "lower"
    neither = ("CWEx(of=gap)@10", "CWEx(of=neutral)@10", "RaB@10", "ARaB@10", "nDRaB@10", "TExFAIR(of=RBDF)@10")
    assert {better(parse(text)) for text in neither} == {""}
    assert [parse_key(text).better for text in ("CWEx@10", "CWEx(of='gap')@10", "ARaB@10")] == ["higher", "", ""]
    assert parse_key("TExFAIR(of='TED')@10").words.startswith("1 minus TED times RBDF")

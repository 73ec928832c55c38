"""CWEx and nCWEx by name over an evaluation, beside plain sums over its rankings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from measure_worlds import lists_of, random_rankings
from presence_worlds import LABELS, evaluations, labelled_world, mean, reason

from rerankers.measures import cwex, ncwex, parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.policies import static
from rerankers.values import GroupAlignment

K = 3


def shares(lists: list[tuple[float, list[int]]], labels: list[str | None], k: int) -> dict[str | None, float] | None:
    """Expected exposure shares by label, the unlabelled under None."""
    mass: dict[str | None, float] = dict.fromkeys((*LABELS, None), 0.0)
    for weight, ranking in lists:
        for rank, doc in enumerate(ranking[:k]):
            mass[labels[doc]] += weight / math.log2(2 + rank)
    total = sum(mass.values())
    return {label: value / total for label, value in mass.items()} if total else None


@pytest.mark.parametrize("unknown", ["count", "drop"])
@pytest.mark.parametrize("seed", [0, 1])
def test_cwex_is_that_of_expected_exposure(seed: int, unknown: str) -> None:
    evaluation, labels, _ = evaluations(seed, unknown)
    of = {name: parse(f"CWEx(of={name},alpha=0.3)@{K}").per_unit(evaluation) for name in
          ("score", "neutral", "male", "gap", "spread", "unknown", "low", "high")}  # fmt: skip
    for row in range(len(evaluation.over)):
        share = shares(lists_of(evaluation.rankings, row), labels, K)
        if share is None:
            assert reason(of["score"], row) == "no_ranked_document"
            continue
        gap = share["male"] - share["female"]
        assert of["unknown"].value[row] == pytest.approx(share[None], abs=1e-12)
        if share[None] == 1.0:
            assert reason(of["score"], row) == "no_labels"
            continue
        want = {"score": 0.3 * share["neutral"] - 0.7 * abs(gap), "neutral": share["neutral"], "male": share["male"],
                "gap": gap, "spread": abs(gap)}  # fmt: skip
        lower = 0.3 * share["neutral"] - 0.7 * (abs(gap) + share[None])
        closed = min(share[None], abs(gap))
        upper = 0.3 * (share["neutral"] + share[None] - closed) - 0.7 * (abs(gap) - closed)
        for name, value in (want | {"low": lower, "high": upper}).items():
            assert of[name].value[row] == pytest.approx(value, abs=1e-12), name


def test_mean_form_relevant_documents_and_present_groups() -> None:
    evaluation, labels, _ = evaluations(2)
    average = parse(f"CWEx(form=mean)@{K}").per_unit(evaluation)
    relevant = parse(f"CWEx(docs=relevant)@{K}").per_unit(evaluation)
    universe = evaluation.universe
    for row in range(len(evaluation.over)):
        lists = lists_of(evaluation.rankings, row)
        one = mean([(weight, cwex([labels[doc] for doc in docs], 0.5, K)["cwex"]) for weight, docs in lists])
        assert average.value[row] == (
            pytest.approx(one, abs=1e-12) if one is not None else pytest.approx(np.nan, nan_ok=True)
        )
        part = universe.candidates.row(row)
        grade = dict(zip(universe.candidates.doc[part].tolist(), universe.candidate_grade[part], strict=True))
        mass = {label: sum(w / math.log2(2 + rank) for w, docs in lists for rank, doc in enumerate(docs[:K])
                           if grade[doc] > 0 and labels[doc] == label) for label in (*LABELS, None)}  # fmt: skip
        total = sum(mass.values())
        if not evaluation.query_judged[row]:
            assert reason(relevant, row) == "query_not_judged"
        elif not total:
            assert reason(relevant, row) == "no_relevant_document"
        elif mass[None] < total:
            want = (0.5 * mass["neutral"] - 0.5 * abs(mass["male"] - mass["female"])) / total
            assert relevant.value[row] == pytest.approx(want, abs=1e-12)


def three_groups() -> tuple[Evaluation, list[str]]:
    evaluation, _, _ = evaluations(3)
    n_docs = evaluation.groups["gender"].n_docs
    names = ("neutral", "a", "b", "c")
    code = np.random.default_rng(5).integers(0, 4, size=n_docs)
    aligned = GroupAlignment.of_entries("gender", names, np.arange(n_docs), code, np.ones(n_docs), n_docs)
    return replace(evaluation, groups={"gender": aligned.resolve("count")}), [names[one] for one in code]


def test_more_groups_and_groups_that_are_present() -> None:
    evaluation, labels = three_groups()
    every = parse(f"CWEx@{K}").per_unit(evaluation)
    present = parse(f"CWEx(among=present)@{K}").per_unit(evaluation)
    for row in range(len(evaluation.over)):
        lists = lists_of(evaluation.rankings, row)
        total = sum(w / math.log2(2 + rank) for w, docs in lists for rank, _ in enumerate(docs[:K]))
        if not total:
            continue
        share = {name: sum(w / math.log2(2 + rank) for w, docs in lists for rank, doc in enumerate(docs[:K])
                           if labels[doc] == name) / total for name in ("neutral", "a", "b", "c")}  # fmt: skip
        groups = [share[name] for name in "abc"]
        assert every.value[row] == pytest.approx(0.5 * share["neutral"] - 0.5 * (max(groups) - min(groups)), abs=1e-12)
        there = {labels[doc] for doc in evaluation.source.over.doc[evaluation.source.over.row(row)]} - {"neutral"}
        if len(there) < 2:
            assert reason(present, row) == "fewer_than_two_groups"
        else:
            some = [share[name] for name in there]
            want = 0.5 * share["neutral"] - 0.5 * (max(some) - min(some))
            assert present.value[row] == pytest.approx(want, abs=1e-12)


def test_pool_normalised_by_name() -> None:
    made, labels, _, _, aligned = labelled_world(4, unknown=0.02)
    evaluation = Evaluation(random_rankings(4, made.candidates), made.judgments, {"gender": aligned.resolve("count")})
    found = parse(f"nCWEx@{K}").per_unit(evaluation)
    seen = set()
    for row in range(len(evaluation.over)):
        pool = [labels[doc] for doc in made.candidates.doc[made.candidates.row(row)]]
        lists = lists_of(evaluation.rankings, row)
        single = [(w, ncwex([labels[doc] for doc in docs], pool, 0.5, K)["ncwex"]) for w, docs in lists]
        want = mean(single)
        if want is None:
            assert np.isnan(found.value[row])
            seen.add(reason(found, row))
        else:
            assert found.value[row] == pytest.approx(want, abs=1e-9)
    assert "" not in seen
    assert np.sum(~np.isnan(found.value)) >= 2


def test_a_fixed_order_is_the_plain_function() -> None:
    made, labels, companions, _, aligned = labelled_world(7, unknown=0.0)
    policy = static(made.candidates, made.candidates.columns["score"], made.stream)
    evaluation = Evaluation(policy, made.judgments, {"gender": aligned.resolve("count")}, Options(), companions)
    found = {form: parse(f"CWEx(form={form})@{K}").per_unit(evaluation).value for form in ("expected", "mean")}
    for row in range(len(evaluation.over)):
        (_, docs), *_ = lists_of(evaluation.rankings, row) or [(1.0, [])]
        want = cwex([labels[doc] for doc in docs], 0.5, K)["cwex"]
        for value in found.values():
            assert np.isnan(value[row]) if want is None else value[row] == pytest.approx(want, abs=1e-12)


def test_placebo_of_cwex_is_the_mean_over_shuffles() -> None:
    evaluation, _, _ = evaluations(1, permutations=300)
    units = [f"q{row}" for row in range(len(evaluation.over))]
    whole, placebo, excess = (
        parse(f"CWEx@3{part}").per_unit(evaluation, units).value for part in ("", "_placebo", "_excess")
    )
    there = ~np.isnan(placebo)
    assert there.any()
    np.testing.assert_allclose(whole[there] - placebo[there], excess[there], atol=1e-12)
    assert not parse("NFaiRR@3").depends_on_groups
    assert not parse("RaB@3").depends_on_groups

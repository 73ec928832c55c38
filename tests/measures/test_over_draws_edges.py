"""Measures of the distribution over draws at their edges: few draws, no forms, shuffled labels, odd queries."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers._base.errors import ConfigError
from rerankers.measures import evaluate
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.excess import part_scores
from rerankers.measures.names import parse
from rerankers.measures.plan import plan
from rerankers.measures.rank_overlap import rbo
from rerankers.policies import LabelShuffle, Mixture, PlackettLuce, static
from rerankers.values import Ragged, Rankings
from tests.measures.draw_worlds import (
    GRADES,
    GROUPS,
    LOGIT,
    POLICIES,
    STREAM,
    Opaque,
    first_four,
    one_query,
    reason,
    value,
)
from tests.measures.measure_worlds import random_rankings, world


def test_static_rankings() -> None:
    evaluation = one_query(GRADES, [*GROUPS], lambda over: static(over, LOGIT))
    assert value(evaluation, "exposure_variance") == 0.0
    assert value(evaluation, "consistency") == pytest.approx(1.0)
    assert value(evaluation, "worst_nDCG@2") == pytest.approx(value(evaluation, "nDCG@2"))
    assert value(evaluation, "never_seen@4") == pytest.approx(1 / 3)
    assert value(evaluation, "group_share(cell='a',q=0.05)@1") == 1.0


def test_a_mixture_is_exact_whatever_is_drawn() -> None:
    def mixture(over: Ragged) -> Mixture:
        orders = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], np.int32)
        base = Rankings.of_matrix(over, [orders])
        return Mixture(
            Rankings(over, base.query_ptr, base.item_ptr, base.item, np.array([0.9, 0.1]), base.label), STREAM
        )

    one = Evaluation(
        (base := one_query(GRADES, [*GROUPS], mixture)).source, base.judgments, base.groups, Options(samples=1)
    )
    assert value(one, "never_seen(n=5)@1") == pytest.approx((0.1**5 + 1 + 1) / 3)
    expected = 0.82 + 0.18 * rbo([0, 1, 2, 3], [3, 2, 1, 0], 0.9)
    assert value(one, "consistency") == pytest.approx(expected)
    assert value(one, "group_out_of_bounds(cell='a',low=0.9)@1") == pytest.approx(0.1)
    assert value(one, "worst_nDCG@1") == 0.0


@pytest.mark.parametrize(
    ("text", "samples", "word"),
    [
        ("consistency(p=0.99)", 1, "too_few_draws"),
        ("group_share(cell='a',q=0.05)@2", 19, "too_few_draws"),
        ("worst_nDCG@2", 1, "too_few_draws"),
        ("worst_nDCG(q=0.1)@2", 9, "too_few_draws"),
    ],
)
def test_too_few_draws(text: str, samples: int, word: str) -> None:
    base = one_query(GRADES, [*GROUPS], POLICIES["labels"])
    few = Evaluation(base.source, base.judgments, base.groups, Options(samples=samples))
    assert reason(few, text) == word
    enough = Evaluation(base.source, base.judgments, base.groups, Options(samples=samples + 1))
    assert np.isfinite(value(enough, text))
    forced = Evaluation(base.source, base.judgments, base.groups, Options(samples=1, force_draws=True))
    assert np.isfinite(value(forced, text))


def test_without_a_closed_form_draws_are_used() -> None:
    base = one_query(GRADES, [*GROUPS], lambda over: Opaque(PlackettLuce(over, LOGIT, STREAM)))
    exact = one_query(GRADES, [*GROUPS], POLICIES["plackett-luce"])
    texts = ("exposure_variance", "exposure_variance(of='relevant')", "never_seen(n=3)@2", "group_share(cell='b')@2")
    many = Evaluation(base.source, base.judgments, base.groups, Options(samples=20_000))
    for text in texts:
        assert value(many, text) == pytest.approx(value(exact, text), abs=0.01)
    for text, samples in (("exposure_variance", 1), ("never_seen(n=3)@2", 2)):
        few = Evaluation(base.source, base.judgments, base.groups, Options(samples=samples))
        assert reason(few, text) == "too_few_draws"
        assert np.isfinite(
            value(Evaluation(base.source, base.judgments, base.groups, Options(samples=samples + 1)), text)
        )


def test_shuffled_labels() -> None:
    """The placebo of a mean share is the share of all documents that count; shuffled mixtures stay exact."""

    def reversed_too(over: Ragged) -> Mixture:
        base = Rankings.of_matrix(over, [np.array([[0, 1, 2, 3], [3, 2, 1, 0]], np.int32)])
        return Mixture(base, STREAM)

    for policy in (POLICIES["plackett-luce"], reversed_too):
        base = one_query(GRADES, [*GROUPS, {"a": 1.0}], lambda over, policy=policy: policy(first_four(over)))
        many = Evaluation(base.source, base.judgments, base.groups, Options(samples=2, permutations=1000))
        for text, expected in (("group_share(cell='a')@2", 2.5 / 5), ("never_seen(cell='b',n=1)@4", 1 / 3)):
            scores = part_scores(parse(f"{text}_placebo"), many, ["q"])
            assert scores.value[0] == pytest.approx(expected, abs=0.06), text
    scores = part_scores(parse("group_share(cell='a',q=0.05)@2_excess"), many, ["q"])
    assert np.isfinite(scores.value[0])  # two samples would be too few for a policy that has to be drawn from
    assert parse("never_seen(cell='a')@2_excess").part == "excess"
    with pytest.raises(ConfigError, match="does not depend on groups"):
        parse("never_seen@2_excess")


def test_one_document_no_relevant_one_and_unknown_groups() -> None:
    one = one_query([1], [{}], lambda over: PlackettLuce(over, np.zeros(1), STREAM))
    assert value(one, "group_share(cell='unknown')@10") == 1.0
    assert value(one, "group_out_of_bounds@10") == 0.0
    assert value(one, "consistency") == pytest.approx(1.0)
    assert value(one, "exposure_variance") == 0.0
    assert value(one, "never_seen@1") == 0.0
    nothing = one_query([0, 0], [{}, {}], lambda over: PlackettLuce(over, np.zeros(2), STREAM))
    for text in ("never_seen@1", "never_seen_count@1", "worst_nDCG@1", "exposure_variance(of='relevant')"):
        assert reason(nothing, text) == "no_relevant_document"
    unjudged = one_query([None, None], [{}, {}], lambda over: PlackettLuce(over, np.zeros(2), STREAM))
    for text in ("never_seen@1", "consistency", "group_share(cell='unknown')@1", "exposure_variance", "worst_nDCG"):
        assert reason(unjudged, text) == "query_not_judged"
    empty = one_query([1], [], lambda over: PlackettLuce(over, np.zeros(0), STREAM))
    for text in ("consistency", "group_share(cell='unknown')@1", "group_out_of_bounds@1"):
        assert reason(empty, text) == "no_ranked_document"
    assert value(empty, "never_seen@1") == 1.0


def test_without_groups_and_wrong_words() -> None:
    base = one_query(GRADES, [*GROUPS], POLICIES["labels"])
    bare = Evaluation(base.source, base.judgments)
    for text in ("group_share(cell='a')@2", "group_out_of_bounds@2", "never_seen(cell='a')@2"):
        assert reason(bare, text) == "no_groups"
    with pytest.raises(ConfigError, match=r"found no cell.*group_share\(cell='a'\)@2"):
        value(base, "group_share@2")
    with pytest.raises(ConfigError, match="cell: found 'z'; expected one of a, b, unknown"):
        value(base, "group_share(cell='z')@2")
    with pytest.raises(ConfigError, match="expected low <= high"):
        value(base, "group_out_of_bounds(low=0.5,high=0.2)@2")
    for text in ("group_share(cell='a')", "never_seen", "share(q=2)@1", "consistency(p=1)", "never_seen(n=0)@1"):
        with pytest.raises(ConfigError):
            parse(text)


def test_rows_do_not_depend_on_their_block() -> None:
    made = world(5, queries=8)
    texts = ["group_share(cell='a',q=0.1)@3", "exposure_variance", "consistency", "worst_nDCG@5", "never_seen@3",
             "never_seen(served='rotation')@3", "group_out_of_bounds@3"]  # fmt: skip
    for policy in (
        PlackettLuce(made.candidates, made.candidates.score, made.stream),
        LabelShuffle(made.candidates, np.full(made.candidates.nnz, 0.4), made.stream),
    ):
        whole = Evaluation(policy, made.judgments, made.groups)
        order = np.array([6, 3, 4])
        place = np.concatenate([np.arange(made.candidates.nnz)[made.candidates.row(int(row))] for row in order])
        over = made.candidates.take(order)
        kind = type(policy)
        inner = policy.logit if isinstance(policy, PlackettLuce) else policy.chance
        part = Evaluation(kind(over, inner[place], made.stream[order]), made.judgments, made.groups)
        for text in texts:
            a, b = parse(text).per_unit(whole), parse(text).per_unit(part)
            assert np.array_equal(a.value[order], b.value, equal_nan=True), text
            assert np.array_equal(a.reason[order], b.reason), text


def test_by_name_over_dictionaries() -> None:
    run = {"q": [["x", "y", "z"], ["z", "x", "y"]]}
    names = ["group_share(cell='A')@1", "group_share(cell='A',q=0.05)@1", "never_seen(n=3)@1", "consistency(p=0.5)@1"]
    table = evaluate(
        run, {"q": {"x": 1, "y": 1}}, {"x": "A", "y": "B", "z": ["B"]}, measures=[*names, f"{names[0]}_placebo"]
    )
    found = {row["measure"]: row["value"] for row in table.to_pylist()}
    assert [found[name] for name in names] == pytest.approx([0.5, 0.0, (0.5**3 + 1) / 2, 0.5])
    assert found["group_share(cell='A')@1_placebo"] == pytest.approx(1 / 3, abs=0.15)


def test_several_attributes_are_named() -> None:
    asked = plan([parse("group_share(cell='a')@2"), parse("out_of_bounds(group='h')@2")], ["g", "h"])
    assert {"share(cell='a',group='g')@2", "share(cell='a',group='h')@2", "out_of_bounds(group='h')@2"} <= set(asked)
    made = world(3, attributes=2)
    evaluation = Evaluation(random_rankings(3, made.candidates), made.judgments, made.groups)
    one = parse("share(cell='a',group='h_index')@2").per_unit(evaluation)
    alone = Evaluation(evaluation.source, made.judgments, {"h_index": made.groups["h_index"]})
    assert np.array_equal(one.value, parse("group_share(cell='a')@2").per_unit(alone).value, equal_nan=True)

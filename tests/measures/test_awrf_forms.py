"""AWRF by name: the tracks' position weights, the unit scale, the mean over rankings; against reference values."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from measure_worlds import lists_of, world
from presence_worlds import evaluations, reason

from rerankers._base.errors import ConfigError
from rerankers.exposure import TrecDiscount, ranking_exposure
from rerankers.measures import awrf, parse
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.rank_discount import rank_discount
from rerankers.policies import PlackettLuce
from rerankers.values import Candidates, GroupAlignment, Judgments, Rankings

FORMS = ("expected", "mean")
EXACT = {"abs": 1e-12, "rel": 0}
NAMED = {"uniform": "umodel=topk_set", "log": "umodel=dcg", "wptrec": "umodel=wptrec", "rbp.8": "umodel=rbp,p=0.8"}


def test_the_tracks_weights_are_a_browsing_model() -> None:
    assert ranking_exposure([2, 0, 1, 3], TrecDiscount()).tolist() == rank_discount(4)[[1, 2, 0, 3]].tolist()
    assert ranking_exposure(range(4), TrecDiscount(cutoff=2)).tolist() == [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="cutoff"):
        TrecDiscount(cutoff=0)
    with pytest.raises(ConfigError, match="found p, which"):
        parse("AWRF(umodel=wptrec,p=0.5)").per_unit(evaluations(0)[0])


@pytest.mark.shared_data
def test_awrf_has_the_reference_values(shared: Path) -> None:
    found = json.loads((shared / "oracles" / "text-bias-and-queries" / "group_distribution.json").read_text())
    groups, names = found["meta"]["alignment"], sorted(found["meta"]["target"])
    aim = [found["meta"]["target"][name] for name in names]
    for case in found["cases"]:
        ranking, bits, nats = case["ranking"], case["awrf_js_bits"], case["awrf_js_nats(wptrec)"]
        rank = np.arange(1, len(ranking) + 1)
        weight = {"uniform": np.ones(len(rank)), "log": 1 / np.log2(rank + 1), "rbp.8": 0.8**rank}.get(
            case["weight"], rank_discount(len(rank))
        )
        table = [[groups[doc].get(name, 0.0) for name in names] for doc in ranking]
        if bits is not None:
            assert awrf(weight, table, aim, scale="unit") == pytest.approx(bits, **EXACT)
            assert awrf(weight, table, aim) == pytest.approx(nats, **EXACT)
        if len(set(ranking)) < len(ranking):
            continue  # evaluation refuses a ranking that repeats a document
        options = f"{NAMED[case['weight']]},target=uniform"
        cut = "@6" if case["weight"] == "uniform" else ""
        evaluation = one_ranking(ranking, groups, names)
        for scale, form in itertools.product(("unit", "nats"), FORMS):
            scores = parse(f"AWRF({options},scale={scale},form={form}){cut}").per_unit(evaluation)
            want = bits if scale == "unit" else nats
            if want is None:
                assert reason(scores, 0) == "no_labels"
            else:
                assert scores.value[0] == pytest.approx(want, **EXACT)


def one_ranking(ranking: list[str], groups: dict[str, dict[str, float]], names: list[str]) -> Evaluation:
    """One judged query of which the first document is relevant; documents without a group are dropped."""
    docs, n = sorted(groups), len(ranking)
    entries = [
        (docs.index(doc), names.index(name), share) for doc, has in groups.items() for name, share in has.items()
    ]
    doc, group, share = (np.array(column) for column in zip(*entries, strict=True))
    aligned = GroupAlignment.of_entries("region", names, doc, group, share, len(docs), "value").resolve("drop")
    over = Candidates(
        np.zeros(1, np.int32),
        np.array([0, n]),
        np.array([docs.index(one) for one in ranking]),
        {"score": -np.arange(n)},
    )
    order = np.arange(n, dtype=np.int32)
    rankings = Rankings(over, np.array([0, 1]), np.array([0, n]), order, np.ones(1), np.zeros(1, np.int32))
    judged = Judgments(over.query, over.indptr, over.doc, {"grade": (order == 0).astype(np.int16)})
    return Evaluation(rankings, judged, {"region": aligned}, Options())


@pytest.mark.parametrize("universe", ["union", "judged"])
@pytest.mark.parametrize("unknown", ["count", "drop", "spread"])
def test_the_two_forms_beside_plain_sums(unknown: str, universe: str) -> None:
    evaluation, _, _ = evaluations(2, unknown, universe=universe)
    alignment = evaluation.groups["gender"]
    aim = np.array([float(name in ("neutral", "male", "female")) for name in alignment.groups])
    found = {form: parse(f"AWRF(umodel=wptrec,target=uniform,form={form})@4").per_unit(evaluation) for form in FORMS}
    differ = False
    for row in range(len(evaluation.over)):
        lists = lists_of(evaluation.rankings, row)
        counts = set(evaluation.over.doc[evaluation.over.row(row)].tolist())
        summed, values, often = np.zeros(len(aim)), 0.0, 0.0
        for weight, docs in lists:
            seen = rank_discount(len(docs)) * (np.arange(len(docs)) < 4) * [doc in counts for doc in docs]
            mass = alignment.totals(np.zeros(len(docs), dtype=np.int64), np.asarray(docs, dtype=np.int64), seen, 1)[0]
            summed += weight * mass
            if mass.sum() > 0:
                values, often = values + weight * awrf([1.0], [mass], aim), often + weight
        if found["expected"].reason[row] >= 0:
            assert reason(found["mean"], row) == reason(found["expected"], row)
            assert reason(found["mean"], row) in ("query_not_judged", "no_ranked_document", "no_labels")
            continue
        assert found["expected"].value[row] == pytest.approx(awrf([1.0], [summed], aim), **EXACT)
        assert found["mean"].value[row] == pytest.approx(values / often, **EXACT)
        differ |= abs(found["mean"].value[row] - found["expected"].value[row]) > 1e-3
    assert differ


def test_the_unit_scale_and_the_defaults() -> None:
    evaluation, _, _ = evaluations(5)
    plain, unit = (parse(name).per_unit(evaluation).value for name in ("AWRF", "AWRF(scale=unit)"))
    assert 1 - unit == pytest.approx((1 - plain) / math.log(2), nan_ok=True, abs=1e-14)
    same = parse("AWRF(scale=nats,form=expected,target=population)").per_unit(evaluation).value
    assert np.array_equal(plain, same, equal_nan=True)
    with pytest.raises(ConfigError, match="unit"):
        parse("AWRF(scale=bits)")


def test_plackett_luce_is_exact_under_the_tracks_weights() -> None:
    made = world(4)
    policy = PlackettLuce(made.candidates, made.candidates.score, made.stream)
    exact = policy.exposure(TrecDiscount().bind(None, made.candidates.indptr))
    assert exact is not None
    total = np.add.reduceat(np.append(exact.value, 0.0), made.candidates.indptr[:-1])
    for row, size in enumerate(made.candidates.lengths.tolist()):
        if size:
            assert total[row] == pytest.approx(rank_discount(size).sum(), abs=1e-9)

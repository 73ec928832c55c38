"""Measures of what documents carry, where nothing is known of any ranked one: null, never 0 or 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measure_worlds import lists_of
from presence_worlds import evaluations, mean, reason

from rerankers.measures import nfairr, parse
from rerankers.measures.evaluation import Evaluation
from rerankers.values.companions import NEUTRALITY, companion

DROP = [
    "FaiRR(missing=drop)@2", "NFaiRR(missing=drop)@2", "RaB(missing=drop)@2", "ARaB(missing=drop,of=male)@2",
    "nDRaB(missing=drop)@2", "TExFAIR(missing=drop)@2", "TExFAIR(missing=drop,form=mean)@2",
    "FaiRR(missing=drop,of=ideal)@2",
]  # fmt: skip


def unknown_for(evaluation: Evaluation, docs: set[int]) -> Evaluation:
    """Forget what these documents carry."""
    companions = {}
    for name, one in evaluation.companions.items():
        gone = np.array([float(doc in docs) for doc in range(one.n_docs)])
        doc = np.repeat(np.arange(one.n_docs), np.diff(one.indptr))
        companions[name] = replace(one, weight=np.where(gone[doc] > 0, 0.0, one.weight), unknown=gone)
    return replace(evaluation, companions=companions)


@pytest.mark.parametrize("name", DROP)
def test_nothing_known_is_no_value(name: str) -> None:
    evaluation, _, _ = evaluations(4)
    row = next(
        row for row in range(len(evaluation.over)) if any(docs for _, docs in lists_of(evaluation.rankings, row))
    )
    pool = evaluation.source.over.doc[evaluation.source.over.row(row)]
    found = parse(name).per_unit(unknown_for(evaluation, set(pool.tolist())))
    assert np.isnan(found.value[row])
    assert reason(found, row) == "no_labels"
    before, other = parse(name).per_unit(evaluation), [one for one in range(len(evaluation.over)) if one != row]
    apart = [one for one in other if not set(evaluation.source.over.doc[evaluation.source.over.row(one)]) & set(pool)]
    assert np.array_equal(before.value[apart], found.value[apart], equal_nan=True)


def test_a_known_background_does_not_stand_for_the_ranked() -> None:
    """The two documents that are ranked are unknown, a third candidate is neutral: no value, not 0."""
    evaluation, _, values = evaluations(4)
    rows = evaluation.source.over
    for row in range(len(rows)):
        lists = lists_of(evaluation.rankings, row)
        shown = {doc for _, docs in lists for doc in docs[:1]}
        pool = rows.doc[rows.row(row)].tolist()
        if not shown or shown >= set(pool):
            continue
        some = unknown_for(evaluation, shown)
        found = {form: parse(f"{form}(missing=drop)@1").per_unit(some) for form in ("NFaiRR", "FaiRR", "TExFAIR")}
        assert {reason(one, row) for one in found.values()} == {"no_labels"}
        one = shown.pop()
        partly = unknown_for(evaluation, {one})
        carried = {doc: None if doc == one else float(values["neutrality"][doc]) for doc in pool}
        each = [
            (weight, nfairr([carried[doc] for doc in docs], list(carried.values()), 1, missing="drop")["fairr"])
            for weight, docs in lists
            if docs
        ]
        total = sum(weight for weight, _ in each)
        score = parse("FaiRR(missing=drop)@1").per_unit(partly)
        if shown:
            assert score.value[row] == pytest.approx((mean(each) or 0.0) * total, abs=1e-12)
        return
    pytest.fail("no such row")


def test_companions_are_what_is_forgotten() -> None:
    evaluation, _, _ = evaluations(4)
    some = unknown_for(evaluation, {0, 1})
    assert some.companions[companion("gender", NEUTRALITY)].unknown[:3].tolist() == [1.0, 1.0, 0.0]


def test_a_list_of_which_nothing_is_known() -> None:
    found = nfairr([None, None], [0.5, None], 2, missing="drop")
    assert (found["nfairr"], found["fairr"], found["reason"], found["ideal"]) == (None, None, "no_labels", 0.5)
    assert nfairr([None, 0.5], [0.5], 1, missing="drop")["reason"] == "no_labels"
    assert nfairr([], [0.5], 1, missing="drop")["reason"] == "no_ranked_document"
    assert nfairr([None], [0.5], 1, missing="neutral")["nfairr"] == 1.0

"""What judging a document is worth, and how pools grow, against plain enumeration; topics with several queries."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.queries.pool_bounds import pool_overlap_bounds
from rerankers.queries.pools import width_of
from rerankers.queries.variant_files import of_rows
from rerankers.queries.variant_growth import growth_curves
from rerankers.queries.variant_pools import Pooled
from rerankers.stages.variants_effect import pool_totals
from rerankers.stages.variants_ground import Judged, by_topic
from rerankers.stages.variants_pool import gains, pool_table
from rerankers.stages.variants_retrieval import Found, row_id
from rerankers.stages.variants_sets import Sets, topic_ids
from rerankers.values import Candidates, Ids, Judgments, Topics

DOCS = st.sets(st.integers(0, 9), max_size=8)


def width(human: set[int], model: set[int], grades: dict[int, int]) -> float:
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    low, high = pool_overlap_bounds(human, model, grades, relevant)["jaccard_rel_bounds"]
    return (high or 0.0) - (low or 0.0)


@given(DOCS, DOCS, st.dictionaries(st.integers(0, 9), st.sampled_from([-1, 0, 1, 2]), max_size=6))
@settings(max_examples=150, deadline=None)
def test_what_judging_a_document_is_worth(human: set[int], model: set[int], grades: dict[int, int]) -> None:
    flags = [np.isin(np.arange(10), list(some)) for some in (human, model, grades)]
    relevant = np.array([grades.get(doc, 0) > 0 for doc in range(10)])
    found = gains(np.zeros(10, np.int64), *flags, relevant)
    for doc, gain in enumerate(found):
        if doc not in (human | model) - set(grades):
            assert gain == 0
            continue
        part = human & model if doc in human & model else human - model if doc in human else model - human
        judged = [grades[one] for one in part if one in grades]
        rate = (sum(grade > 0 for grade in judged) + 1) / (len(judged) + 2)
        after = rate * width(human, model, {**grades, doc: 1}) + (1 - rate) * width(human, model, {**grades, doc: 0})
        assert gain == pytest.approx(width(human, model, grades) - after, abs=1e-12)


LISTS = {"h": {"1": ["ab", "bc", "d"], "2": ["x"]}, "m": {"1": ["ae"], "2": ["xy", "yz"], "3": ["q"]}}


def world() -> tuple[Sets, Found, Judgments]:
    files = {name: of_rows(name, [(t, text) for t in of for text in of[t]]) for name, of in LISTS.items()}
    topics = ("1", "2", "3")
    docs = Ids.union(list("abcdeqxyz"))
    keys = [(topic, text) for of in LISTS.values() for topic, texts in of.items() for text in texts]
    lists = [docs.codes(list(text)) for _, text in keys]
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    score = np.concatenate([-np.arange(len(one), dtype=float) for one in lists])
    candidates = Candidates(np.arange(len(keys), dtype=np.int32), indptr, np.concatenate(lists), {"score": score})
    rows = {name: {t: tuple(keys.index((t, text)) for text in of[t]) for t in of} for name, of in LISTS.items()}
    asked = Topics.of([row_id(*key) for key in keys], [text for _, text in keys], [topics.index(t) for t, _ in keys])
    judged = Judgments(
        np.array([0, 1], np.int32),
        np.array([0, 3, 5]),
        docs.codes(["a", "c", "e", "y", "z"]),
        {"grade": np.array([1, 1, -1, 0, 2], np.int16)},
    )
    return Sets(topics, files, "h"), Found(docs, candidates, asked, rows, {}), judged


def test_growth_is_the_mean_over_all_choices_and_the_same_topics() -> None:
    sets, found, judged = world()
    ranked, grades = found.ranked(), by_topic(Judged(found.docs, judged, {}), sets.topics)
    pooled = Pooled.of(sets.topics, ranked, grades, width_of(*ranked.values()))
    grown = {(row["set"], row["documents"]): row for row in growth_curves(pooled, ["h", "m"], [2])}
    relevant = {"1": set("ac"), "2": set("z")}
    for (name, kind), row in grown.items():
        assert row["topics"] == 2  # topic 3 has no human variant
        for number, expected in enumerate(row["expected"], 1):
            total = 0.0
            for topic in ("1", "2"):
                texts = LISTS[name][topic]
                picks = list(combinations(texts, min(number, len(texts))))
                pools = [set("".join(pick)) for pick in picks]
                sizes = [len(pool & relevant[topic] if kind == "relevant" else pool) for pool in pools]
                total += float(np.mean(sizes)) / 2
            assert expected == pytest.approx(total)
    assert {len(row["expected"]) for (name, _), row in grown.items() if name == "h"} == {3}


def test_rows_for_assessors() -> None:
    sets, found, judged = world()
    lines = [line.split(",") for line in pool_table(sets, found, judged, 1).splitlines()]
    assert lines[0] == [
        "topic",
        "docno",
        "settles",
        "judged",
        *(f"{n} {w}" for n in "hm" for w in ("best rank", "variants")),
    ]
    rows = {(topic, doc): row for topic, doc, *row in lines[1:]}
    assert set(rows) == {("1", "a"), ("1", "b"), ("1", "d"), ("2", "x"), ("2", "y"), ("3", "q")}
    assert rows["1", "a"] == ["", "1", "1", "1", "1", "1"]
    assert rows["2", "y"] == ["", "0", "", "", "1", "1"]
    assert rows["3", "q"][1:] == ["", "", "", "1", "1"]
    deep = {tuple(line.split(",")[:2]): line.split(",")[2:] for line in pool_table(sets, found, judged, 2).splitlines()}
    assert deep["1", "b"][2:] == ["1", "2", "", ""]


def test_totals_of_pools() -> None:
    sets, found, judged = world()
    one, two = pool_totals(sets, found, judged, [1])
    # first documents: human a b d, x; model a, x y, q
    assert (one["documents"], one["relevant"], one["relevant_new"]) == (4, 1, None)
    assert (two["documents"], two["relevant"], two["relevant_new"], two["relevant_missed"]) == (4, 1, 0, 0)
    one, two = pool_totals(sets, found, judged, [2])
    assert (one["relevant"], two["relevant"], two["relevant_new"], two["relevant_missed"]) == (2, 2, 1, 1)


def test_a_topic_is_called_after_its_first_query() -> None:
    topics = Topics.of(["q1", "q2", "q3"], ["a", "b", "c"], [7, 3, 7])
    assert topic_ids(topics) == (["q1", "q2"], [0, 1, 0])


def test_codes_of_more_documents_change_nothing() -> None:
    _, found, _ = world()
    wider = found.over(Ids.union(found.docs, ["0", "m"]))
    for name, of in found.ranked().items():
        for topic, lists in of.items():
            for before, after in zip(lists, wider.ranked()[name][topic], strict=True):
                assert found.docs.take(before.docs) == wider.docs.take(after.docs)

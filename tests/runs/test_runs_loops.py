"""The compiled loops over ranked documents against a few lines of Python, and dictionaries of other programs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_twins import check, plain_of, problems_of

from rerankers.runs import read_run
from rerankers.runs.rows_loops import check_items, find_documents, find_rankings, place_documents

ROW = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-1, 3), st.sampled_from([0.0, 1.0, 2.0, np.inf]))


@given(st.lists(ROW, max_size=8), st.booleans(), st.booleans())
def test_find_rankings(rows: list[tuple[int, int, int, float]], ranked: bool, scored: bool) -> None:
    query, sample, rank, score = (np.array([row[column] for row in rows]) for column in range(4))
    start = np.empty(len(rows), dtype=np.int64)
    found, fits, rising, finite = find_rankings(
        query.astype(np.int32),
        sample.astype(np.int32),
        rank.astype(np.int64) if ranked else np.empty(0, np.int64),
        score.astype(np.float64) if scored else np.empty(0),
        start,
    )
    parts: list[list[tuple[int, int, int, float]]] = []
    for row in rows:
        if parts and parts[-1][-1][:2] == row[:2]:
            parts[-1].append(row)
        else:
            parts.append([row])
    assert found == len(parts)
    assert start[:found].tolist() == np.cumsum([0, *map(len, parts)])[:-1].tolist()
    ranks = [[row[2] for row in part] for part in parts]
    assert fits == (not ranked or all(r[0] in (0, 1) and r == list(range(r[0], r[0] + len(r))) for r in ranks))
    scores = [[row[3] for row in part] for part in parts]
    assert finite == (not scored or all(np.isfinite(score)))
    assert rising == (sum(s != sorted(s, reverse=True) for s in scores) if scored else 0)


RANKINGS = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 4), max_size=5)), max_size=6).map(sorted)


@given(RANKINGS)
def test_find_and_place_documents(rankings: list[tuple[int, list[int]]]) -> None:
    query = np.array([row for row, _ in rankings], dtype=np.int32)
    indptr = np.cumsum([0, *(len(docs) for _, docs in rankings)]).astype(np.int64)
    doc = np.array([code for _, docs in rankings for code in docs], dtype=np.int32)
    seen, found = np.full(5, -1, dtype=np.int64), np.empty(len(doc), dtype=np.int32)
    found_ptr, item = np.zeros(5, dtype=np.int64), np.empty(len(doc), dtype=np.int32)
    known, once = find_documents(query, indptr, doc, seen, found, found_ptr)
    assert known
    assert once == all(len(set(docs)) == len(docs) for _, docs in rankings)
    for row in range(4):
        mine = [code for other, docs in rankings if other == row for code in docs]
        assert found[found_ptr[row] : found_ptr[row + 1]].tolist() == list(dict.fromkeys(mine))
    assert (seen >= 0).tolist() == [code in doc for code in range(5)]
    place_documents(query, indptr, doc, found, found_ptr, np.empty(5, dtype=np.int32), item)
    row_of_item = np.repeat(query, np.diff(indptr))
    assert found[found_ptr[row_of_item] + item].tolist() == doc.tolist()


@given(RANKINGS, st.lists(st.integers(0, 5), min_size=4, max_size=4), st.integers(-2, 0))
def test_check_items(rankings: list[tuple[int, list[int]]], sizes: list[int], shift: int) -> None:
    query_ptr = np.searchsorted([row for row, _ in rankings], np.arange(5)).astype(np.int64)
    item_ptr = np.cumsum([0, *(len(items) for _, items in rankings)]).astype(np.int64)
    item = np.array([place + shift for _, items in rankings for place in items], dtype=np.int32)
    wrong, idle = np.zeros(len(rankings), dtype=bool), np.zeros(4, dtype=np.int64)
    right = check_items(query_ptr, item_ptr, item, np.cumsum([0, *sizes]).astype(np.int64), wrong, idle)
    shifted = [(row, [place + shift for place in items]) for row, items in rankings]
    bad = [len(set(items)) < len(items) or not set(items) <= set(range(sizes[row])) for row, items in shifted]
    assert wrong.tolist() == bad
    for row, size in enumerate(sizes):
        held = {place for other, items in shifted if other == row for place in items}
        if not any(flag for flag, (other, _) in zip(bad, shifted, strict=True) if other == row):
            assert idle[row] == size - len(held)
    assert right == (not wrong.any() and not idle.any())


def coded(places: list[int | None], names: list[str | None], kind: pa.DataType | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, kind or pa.int32()), pa.array(names, pa.string()))


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint16()])
def test_dictionaries_that_repeat_or_are_not_used(kind: pa.DataType) -> None:
    table = pa.table(
        {
            "qid": coded([3, 1, 1, 0], ["q", "p", "", "q"], kind),
            "docno": coded([2, 0, 4, 1], ["b", "c", "a", None, "a"], kind),
            "rank": pa.array([2, 1, 2, 1], pa.int32()),
        }
    )
    run = read_run(table)
    check(run)
    assert run.qids == ("q", "p")
    assert plain_of(run) == {"q": {0: ["c", "a"]}, "p": {0: ["b", "a"]}}
    twice = table.set_column(1, "docno", coded([2, 0, 4, 4], ["b", "c", "a", None, "a"], kind))
    found = [(problem.line, problem.found) for problem in problems_of(lambda: read_run(twice))]
    assert found == [(1, "document 'a' again in query 'q', sample 0, first on line 4")]  # by rank


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (coded([0, None, 1], ["a", "b"]), [(2, "no document id")]),
        (coded([0, 2, 1], ["a", "b", None]), [(2, "no document id")]),
        (coded([0, 2, 3], ["a", "b", "", ""]), [(2, "no document id"), (3, "no document id")]),
    ],
)
def test_missing_names_in_dictionaries(column: pa.DictionaryArray, expected: list[tuple[int, str]]) -> None:
    table = pa.table({"qid": ["q"] * 3, "docno": column, "rank": [1, 2, 3]})
    assert [(problem.line, problem.found) for problem in problems_of(lambda: read_run(table))] == expected


@pytest.mark.parametrize("name", ["qid", "docno", "sample"])
@pytest.mark.parametrize("place", [2, -1, -2, 2**31 - 1, -(2**31)])
def test_places_outside_a_dictionary(place: int, name: str) -> None:
    broken = pa.DictionaryArray.from_arrays(pa.array([0, place], pa.int32()), pa.array(["a", "b"]), safe=False)
    table = pa.table({"qid": ["q", "q"], "docno": ["a", "b"], "rank": [1, 2], "sample": ["0", "0"]} | {name: broken})
    assert "without a place in their dictionary of" in problems_of(lambda: read_run(table))[0].found


@pytest.mark.parametrize(
    ("samples", "kinds"),
    [
        ([5, 6, 2], [pa.int8(), pa.int64(), pa.uint32(), pa.uint64(), pa.string()]),
        ([0, 10**9 - 1, 0], [pa.int32(), pa.int64(), pa.uint32(), pa.uint64(), pa.string()]),
        ([0, 10**9, 0], [pa.int32(), pa.int64(), pa.uint32(), pa.uint64(), pa.string()]),
        ([3, -1, 3], [pa.int8(), pa.int64(), pa.string()]),
    ],
)
def test_sample_numbers_of_every_kind(samples: list[int], kinds: list[pa.DataType]) -> None:
    fits = all(0 <= sample < 10**9 for sample in samples)
    for kind in kinds:
        column = pa.array(list(map(str, samples)) if kind == pa.string() else samples, kind)
        run = read_run(
            pa.table({"qid": ["q", "q", "p"], "docno": ["a", "b", "c"], "sample": column, "rank": [1, 1, 1]})
        )
        assert run.rankings.label[:2].tolist() == (sorted(samples[:2]) if fits else [0, 1])
        assert run.counts.get("sample_names_numbered", 0) == (0 if fits else len(set(samples)))

"""The official forms of 2021 and 2022 against values of the official code."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from wiki_worlds import page_2021, table_of, write_lines

from rerankers._base.errors import InputError
from rerankers.measures.cell_distance import CellExposure
from rerankers.measures.cells import Cells, weighted_cells
from rerankers.measures.mixing import Mixed
from rerankers.measures.rank_discount import rank_discount
from rerankers.measures.work_needed import work_needed_exposure
from rerankers.tracks.official2022 import normalised_exposure
from rerankers.tracks.page_files import read_pages_2021
from rerankers.tracks.pages import WORK_ORDER
from rerankers.tracks.preset import preset
from rerankers.tracks.wiki_files import Files
from rerankers.tracks.wiki_targets import group_target
from rerankers.tracks.wiki_topics import RelevantPages

pytestmark = pytest.mark.shared_data
SINGLE = 1e-6


def cases(shared, year):
    return json.loads((shared / "oracles" / "trec" / f"eval_{year}_cases.json").read_text())


def number(value):
    return None if value in ("nan", None) else float(value)


def same(found, expected, rel=SINGLE):
    expected = number(expected)
    if expected is None:
        assert found is None or math.isnan(found)
    else:
        assert found == pytest.approx(expected, rel=rel, abs=1e-15)


def dense(mixed):
    out = (
        np.multiply.outer(mixed.spread, mixed.tail).ravel() if mixed.spread.any() else np.zeros(math.prod(mixed.sizes))
    )
    out[mixed.cell] = mixed.value
    return out


def target_of(values, sizes):
    values = np.array(values, float)
    return Mixed.of(Cells(tuple(sizes), np.flatnonzero(values), values[values > 0]))


def ints(values):
    return np.array(sorted(set(map(int, values))), np.int64)


def files_of(table, relevant=()):
    pages = ints(relevant)
    judged = RelevantPages(("7",), np.array([0, len(pages)]), pages, np.array([-1]))
    table, row = table.with_unknown_page()
    return Files(judged, {}, table, row, None)


def test_2021(shared):
    checked = 0
    for case in cases(shared, 2021)["cases"]:
        CHECKS_2021[case["function"]](case["name"], case["input"], case["expected"])
        checked += 1
    assert checked == 21


def check_discount(_, given, expected):
    assert rank_discount(given["n"], "float32") == pytest.approx(expected, rel=SINGLE)


def check_ndcg(_, given, expected):
    task = preset("trec2021_task1_official", ideal_depth=given.get("tgt_n", 1000))
    same(task.ndcg(np.array(given["run"]), ints(given["rel"])), expected)


def plain_table(given):
    align = given["page_align"]
    columns = list(next(iter(align.values())))
    rows = {page: [row[column] for column in columns] for page, row in align.items()}
    return table_of([("group", columns, rows, False, None)])


def check_awrf(_, given, expected):
    table = plain_table(given)
    target = target_of(given["target"], [len(given["target"])])
    task = preset("trec2021_task1_official")
    same(task.awrf(table, np.array(given["run"]), target)[0], expected)


def check_task1(_, given, expected):
    table = plain_table(given)
    qid = str(given["qid"])
    target = target_of(given["targets"][qid], [2])
    task = preset("trec2021_task1_official")
    found = task.score(table, np.array(given["run"]), ints(given["qrels"][qid]), target)
    same(found["nDCG"][0], expected["nDCG"])
    same(found["AWRF"][0], expected["AWRF"])
    same(found["score"][0], expected["Score"])


def check_exposure(_, given, expected):
    table = plain_table(given)
    task = preset("trec2021_task2_official")
    pages = np.concatenate([np.array(one) for one in given["rankings"]])
    rows = table.rows(pages)
    cells = task.exposure(table, rows, rows >= 0, [len(one) for one in given["rankings"]])
    assert dense(Mixed.of(cells)) == pytest.approx(list(expected.values()), rel=SINGLE)


def check_work(_, given, expected):
    levels = np.repeat(np.arange(6), [given["counts"].get(name, 0) for name in WORK_ORDER])
    deserved = work_needed_exposure(levels, "float32")
    for level, name in enumerate(WORK_ORDER):
        own = deserved[levels == level]
        same(own[0] if len(own) else None, expected[name])


def check_task2(_, given, expected):
    files = files_of(plain_table(given))
    task = preset("trec2021_task2_official")
    rankings = [np.array(one) for one in given["rankings"]]
    found = task.score(files, rankings, ints([]), target_of(given["target"], [3]))
    for key, name in (("EE-L", "EEL"), ("EE-D", "EED"), ("EE-R", "EER")):
        same(found[name][0], expected[key])


def wiki_table(given, tmp):
    records = []
    for page, (places, gender) in given["pages"].items():
        locations = [] if places == "Unknown" else places.split("+")
        records.append(page_2021(int(page), locations, [] if gender == "unknown" else [gender]))
    return read_pages_2021(write_lines(tmp, records))


def test_2021_targets_from_page_files(shared, tmp_path):
    found = [case for case in cases(shared, 2021)["cases"] if "pages" in case["input"]]
    assert len(found) == 4
    for case in found:
        given = case["input"]
        table = wiki_table(given, tmp_path / "pages.json")
        rows = table.rows(np.array(given["rel"]))
        expected = case["expected"]
        if case["function"].endswith("query_xideal"):
            weight = np.array(given["page_target_exposure"])
            target, _ = group_target(table, rows, weight, 0.5, by_cells=True)
            assert dense(target) == pytest.approx(expected, rel=1e-9)
            continue
        if case["name"].startswith("geo_t1"):
            table, expected = table.select(["geography"]), list(expected.values())
        target, _ = group_target(table, rows, np.ones(len(rows)), 0.5, drop_unknown=True, by_cells=True)
        if "nan" in expected:
            assert target is None
        else:
            assert dense(target)[1:] == pytest.approx(expected, rel=1e-9)
            assert dense(target)[0] == 0


def nothing(*_):
    """Judged by `test_2021_targets_from_page_files`."""


CHECKS_2021 = {
    "discount": check_discount,
    "qr_ndcg": check_ndcg,
    "qr_awrf": check_awrf,
    "Task1Metric.__call__": check_task1,
    "qrs_exposure": check_exposure,
    "qw_tgt_exposure": check_work,
    "Task2Metric.__call__": check_task2,
    "Alignments.py:query_xalign": nothing,
    "Alignments.py:query_xideal": nothing,
    "Alignments.py (Task 1 geographic cells, re-typed)": nothing,
}


def test_2022(shared):
    found = cases(shared, 2022)
    pages = found["page_alignments"]
    checked = 0
    for case in found["cases"]:
        CHECKS_2022[case["function"]](case, pages)
        checked += 1
    assert checked == 16


def table_2022(pages, dims):
    return table_of(
        [
            (name, pages[name]["columns"], pages[name]["rows"], pages[name]["columns"][0] == "@UNKNOWN", None)
            for name in dims
        ]
    )


def check_awrf_2022(case, pages):
    given, expected = case["input"], case["expected"]
    table = table_2022(pages, given["dims"])
    target = target_of(given["target_ravel"], [rows.size for rows in table.memberships])
    task = preset("trec2022_task1_official", ideal_depth=given["target_len"])
    run, relevant = np.array(given["run"]), ints(given["qrels"][str(given["topic"])])
    found = task.score(table, run, relevant, target)
    same(found["nDCG"][0], expected["nDCG"])
    same(found["AWRF"][0], expected["AWRF"])
    same(found["score"][0], expected["Score"])


def check_eel_2022(case, pages):
    given, expected = case["input"], case["expected"]
    table = table_2022(pages, given["dims"])
    target = target_of(given["target_ravel"], [rows.size for rows in table.memberships])
    relevant = ints(given["qrels"][str(given["topic"])])
    task = preset("trec2022_task2_official", target_mass_depth=given["target_len"])
    rankings = [np.array(one) for one in given["rankings"]]
    found = task.score(files_of(table, relevant), rankings, relevant, target)
    parts = CellExposure(**{name: value for name, (value, _) in found.items()})
    if given["kwargs"].get("normalize"):
        parts = normalised_exposure(parts, math.prod(target.sizes), task.mass)
    for key, name in (("EE-L", "EEL"), ("EE-D", "EED"), ("EE-R", "EER")):
        same(getattr(parts, name), expected[key])


def check_aggregate(case, pages):
    given, expected = case["input"], case["expected"]
    table = table_2022(pages, expected["dims"])
    weight = np.ones(len(given["pages"])) if given["weights"] is None else np.array(given["weights"])
    cells = weighted_cells(table.memberships, table.rows(np.array(given["pages"])), weight)
    if given["agg"] == "mean":
        cells = cells.scaled(1 / weight.sum())
    assert dense(Mixed.of(cells)) == pytest.approx(expected["ravel"], rel=1e-9)


def check_target(case, _):
    given, expected = case["input"], case["expected"]
    dimensions = []
    for name in expected["dims"]:
        spec = given["dims"][name]
        background = spec.get("background")
        shares = None if background is None else tuple(background[column] for column in spec["columns"][1:])
        dimensions.append((name, spec["columns"], spec["rows"], background is not None, shares))
    table = table_of(dimensions)
    rows = table.rows(np.array(given["rel"]))
    target, _ = group_target(table, rows, np.ones(len(rows)), 0.5)
    assert dense(target) == pytest.approx(expected["ravel"], rel=1e-9, abs=1e-15)
    assert target.total == pytest.approx(expected["sum"], rel=1e-12)


CHECKS_2022 = {
    "AWRFMetric.__call__": check_awrf_2022,
    "EELMetric.__call__": check_eel_2022,
    "agg_alignments": check_aggregate,
    "Task1Alignment.py:query_xalign/avg_with_bg": check_target,
}


def test_a_gain_above_one_stops_the_official_form(shared):
    case = next(case for case in cases(shared, 2021)["cases"] if case["name"] == "ndcg_dup")
    given = case["input"]
    table = table_of([("group", ["A"], {"1": [1.0]}, False, None)])
    with pytest.raises(InputError, match=r"nDCG 2\.630930 of topic '9'; expected at most 1"):
        preset("trec2021_task1_official").score(
            table, np.array(given["run"]), ints(given["rel"]), target_of([1], [1]), "9"
        )

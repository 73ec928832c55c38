"""The presets of 2021 on small files: official against corrected, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cell_twins_2021 import dense_targets
from wiki_worlds import page_2021, write_lines

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.measures.rank_discount import rank_discount
from rerankers.measures.rank_fairness import awrf
from rerankers.tracks.preset import Inputs, preset

PAGES = [
    page_2021(1, ["Europe"], ["male"], "Stub"),
    page_2021(2, ["Asia", "Africa"], [], "C"),
    page_2021(3, [], ["transgender female"], "Stub"),
    page_2021(4, [], [], "FA"),
    page_2021(5, ["Europe"], ["non-binary"], "B"),
    page_2021(1, ["Asia"], ["female"], "FA"),  # the first record of page 1 counts
]
TOPICS = [
    {"id": 101, "title": "a", "rel_docs": [1, 2, 3, 2], "max_tier": 2},
    {"id": 102, "title": "b", "rel_docs": [4], "max_tier": 1},
]


def folder(tmp_path, run, topics=TOPICS, pages=PAGES, name="ours.tsv"):
    return Inputs(
        runs=(write_lines(tmp_path / name, [run]),),
        qrels=write_lines(tmp_path / "topics.jsonl", topics),
        groups=write_lines(tmp_path / "pages.jsonl", pages),
    )


def values(outcome, system="ours"):
    rows = outcome.tables[system].to_pylist()
    return {(row["unit"], row["measure"]): row["value"] if row["reason"] is None else row["reason"] for row in rows}


def test_task1_is_what_dense_arrays_give(tmp_path):
    inputs = folder(tmp_path, "101\t1\n101\t9\n101\t5\n102\t2\n")
    found = values(preset("trec2021_task1_corrected").evaluate(inputs))
    align, targets = dense_targets(PAGES, TOPICS)
    shares = rank_discount(3)[[0, 2]] @ align[[1, 5]]
    assert found["101", "AWRF"] == pytest.approx(awrf([1], [shares[1:]], targets["101"]), rel=1e-12)
    assert found["101", "nDCG"] == pytest.approx(1 / (2 + 1 / math.log2(3)), rel=1e-12)
    assert found["101", "score"] == pytest.approx(found["101", "nDCG"] * found["101", "AWRF"], rel=1e-15)


def test_a_topic_of_unknown_pages_has_no_official_target_and_the_background_as_corrected_one(tmp_path):
    inputs = folder(tmp_path, "101\t1\n102\t5\n")
    official = preset("trec2021_task1_official").evaluate(inputs)
    assert values(official)["102", "AWRF"] == "target_undefined"
    assert values(official)["102", "score"] == "target_undefined"
    assert values(official)["102", "nDCG"] == 0
    assert official.counts["ours"]["topics_without_target"] == 1
    corrected = preset("trec2021_task1_corrected").evaluate(inputs)
    _, targets = dense_targets(PAGES, TOPICS)
    align, _ = dense_targets(PAGES, TOPICS)
    assert values(corrected)["102", "AWRF"] == pytest.approx(awrf([1], align[[5], 1:], targets["102"]), rel=1e-9)
    assert any("background alone" in warning for warning in corrected.warnings)


def test_rankings_of_unknown_pages(tmp_path):
    inputs = folder(tmp_path, "101\t77\n102\t4\n")
    official = values(preset("trec2021_task1_official").evaluate(inputs))
    _, targets = dense_targets(PAGES, TOPICS)
    assert official["101", "AWRF"] == pytest.approx(awrf([1], [np.ones(31)], targets["101"]), rel=1e-9)
    corrected = preset("trec2021_task1_corrected").evaluate(inputs)
    assert values(corrected)["101", "AWRF"] == 0
    assert corrected.counts["ours"]["rankings_without_any_group"] == 2
    left = preset("trec2021_task1_official", unknown_pages="leave_normaliser").evaluate(inputs)
    assert values(left)["101", "AWRF"] == "no_ranked_document_in_any_group"


def test_official_depths_are_20_of_1000_and_6_of_50(tmp_path):
    many = [{"id": 101, "rel_docs": list(range(1, 101)), "max_tier": 2}]
    run = "".join(f"101\t{page}\n" for page in range(1, 41))
    pages = [page_2021(page, ["Asia"], ["male"]) for page in range(1, 101)]
    inputs = folder(tmp_path, run, many, pages)
    found = values(preset("trec2021_task1_official").evaluate(inputs))["101", "nDCG"]
    assert found == pytest.approx(rank_discount(20).sum() / rank_discount(100).sum(), rel=1e-6)
    found = values(preset("trec2021_task1_corrected").evaluate(inputs))["101", "nDCG"]
    assert found == pytest.approx(rank_discount(40).sum() / rank_discount(100).sum(), rel=1e-12)
    run = "".join(f"101\t{seq}\t{page}\n" for seq in range(1, 31) for page in range(1, 41))
    inputs = folder(tmp_path, run, many, pages)
    official = preset("trec2021_task2_official").evaluate(inputs)
    exposure = rank_discount(6).sum()
    assert values(official)["101", "EED"] == pytest.approx(exposure**2, rel=1e-6)
    assert official.counts["ours"]["rankings"] == 25
    corrected = preset("trec2021_task2_corrected").evaluate(inputs)
    assert values(corrected)["101", "EED"] == pytest.approx(rank_discount(40).sum() ** 2, rel=1e-12)
    assert corrected.counts["ours"]["rankings"] == 30


def test_task2_counts_non_relevant_pages_officially_and_relevant_ones_only_when_corrected(tmp_path):
    inputs = folder(tmp_path, "101\t1\t5\n101\t1\t1\n102\t1\t4\n")
    official = values(preset("trec2021_task2_official").evaluate(inputs))
    assert ("102", "EEL") not in official  # a topic of the first tier
    assert official["101", "EED"] == pytest.approx(2, rel=1e-6)
    corrected = values(preset("trec2021_task2_corrected").evaluate(inputs))
    assert corrected["101", "EED"] == pytest.approx(1, rel=1e-12)
    parts = [corrected["101", name] for name in ("EEL", "EED", "EER", "EET")]
    assert parts[0] == pytest.approx(parts[1] - 2 * parts[2] + parts[3], rel=1e-12)
    only = preset("trec2021_task2_official", relevant_only=True).evaluate(inputs)
    assert values(only)["101", "EED"] == pytest.approx(1, rel=1e-6)


def test_a_dropped_gender_value_takes_the_page_out_of_the_cells(tmp_path):
    pages = [page_2021(1, ["Asia"], ["Taira no Kiyomori"]), page_2021(2, ["Asia"], ["male"])]
    topics = [{"id": 101, "rel_docs": [1, 2]}]
    outcome = preset("trec2021_task1_official").evaluate(folder(tmp_path, "101\t1\n", topics, pages))
    assert outcome.counts["groups"]["gender_values_dropped"] == 1
    by_region = preset("trec2021_task1_official", dimensions="geography")
    found = values(by_region.evaluate(folder(tmp_path, "101\t1\n", topics, pages)))
    shares = np.array([0.155070563, 1.54424e-07, 0.600202585, 0.103663858, 0.08609797, 0.049616733, 0.005348137]) / 2
    target = shares + np.array([0, 0, 0.5, 0, 0, 0, 0])
    assert found["101", "AWRF"] == pytest.approx(awrf([1], [[0, 0, 1, 0, 0, 0, 0]], target), rel=1e-9)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("101\t1\n101\t1\n102\t4\n", r"ours\.tsv:2: found page 1 again in ranking 1 of topic 101"),
        ("".join(f"101\t{page}\n" for page in range(1001)) + "102\t1\n", r"ours\.tsv:1001: found more than 1000 pages"),
        ("101\t1\n", "no ranking of topics 102"),
    ],
)
def test_what_the_corrected_form_refuses(tmp_path, run, message):
    with pytest.raises(InputError, match=message):
        preset("trec2021_task1_corrected").evaluate(folder(tmp_path, run))


def test_options_that_let_things_pass(tmp_path):
    inputs = folder(tmp_path, "101\t1\n101\t1\n101\t2\n103\t3\n")
    outcome = preset("trec2021_task1_corrected", duplicates="first", missing_query="zero_exposure").evaluate(inputs)
    found = values(outcome)
    assert found["101", "nDCG"] == pytest.approx(2 / (2 + 1 / math.log2(3)), rel=1e-12)
    assert (found["102", "nDCG"], found["102", "AWRF"], found["102", "score"]) == (0, 0, 0)
    assert ("103", "nDCG") not in found
    assert outcome.counts["ours"] == {
        "topics": 2,
        "rows": 4,
        "repeated_pages": 1,
        "topics_missing": 1,
        "topics_not_judged": 1,
        "topics_with_background_target": 1,
    }
    official = preset("trec2021_task1_official", unjudged_query="skip").evaluate(folder(tmp_path, "101\t1\n103\t3\n"))
    assert ("102", "nDCG") not in values(official)
    with pytest.raises(InputError, match="rankings of unjudged topics 103"):
        preset("trec2021_task1_official").evaluate(folder(tmp_path, "101\t1\n103\t3\n"))
    unit = values(preset("trec2021_task1_corrected", awrf_scale="unit").evaluate(folder(tmp_path, "101\t1\n102\t1\n")))
    nats = values(preset("trec2021_task1_corrected").evaluate(folder(tmp_path, "101\t1\n102\t1\n")))
    assert 1 - unit["101", "AWRF"] == pytest.approx((1 - nats["101", "AWRF"]) / math.log(2), rel=1e-12)


def test_missing_topics_of_task2_lose_the_whole_target(tmp_path):
    inputs = folder(tmp_path, "101\t1\t1\n")
    found = values(preset("trec2021_task2_corrected", missing_query="zero_exposure").evaluate(inputs))
    assert (found["102", "EED"], found["102", "EER"]) == (0, 0)
    assert found["102", "EEL"] == found["102", "EET"] > 0


def test_groups_and_targets_of_ones_own(tmp_path):
    groups = tmp_path / "kinds.csv"
    groups.write_text("docno,group\n1,A\n2,B\n3,A\n3,B\n")
    targets = tmp_path / "targets.csv"
    targets.write_text("qid,cell,value\n*,A,3\n*,1,1\n")
    inputs = folder(tmp_path, "101\t3\n101\t1\n102\t4\n")
    inputs = Inputs(inputs.runs, inputs.qrels, groups, targets=targets)
    found = values(preset("trec2021_task1_official").evaluate(inputs))
    assert found["101", "AWRF"] == pytest.approx(awrf([1, 1], [[1, 1], [1, 0]], [3, 1]), rel=1e-6)
    targets.write_text("qid,cell,value\n101,A,3\n101,C,1\n101,A,1\n101,B,x\n102,A,0\n")
    with pytest.raises(InputError) as caught:
        preset("trec2021_task1_official").evaluate(inputs)
    assert [problem.line for problem in caught.value.problems] == [3, 4, 5, None]
    targets.write_text("qid,cell,value\n101,A,3\n")
    with pytest.raises(InputError, match="nothing for topic '102'"):
        preset("trec2021_task1_official").evaluate(inputs)


def test_differences_and_options_are_told(tmp_path):
    inputs = folder(tmp_path, "101\t1\n102\t1\n")
    corrected = preset("trec2021_task1_corrected").evaluate(inputs)
    assert corrected.differences == ()
    official = preset("trec2021_task1_official").evaluate(inputs)
    assert "relevant pages in the ideal ranking: ideal_depth=1000 (corrected: ideal_depth=null)" in official.differences
    assert len(official.differences) == 11
    assert official.options["eval_depth"] == 20
    assert "name" not in official.options
    assert official.summary["cells"] == "32"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duplicates": "none"}, "duplicates: found 'none'"),
        ({"eval_depth": 0}, "eval_depth: found 0"),
        ({"background_share": 2}, "background_share"),
        ({"year": 2020}, "year"),
        ({"relevant_only": "no"}, "relevant_only"),
        ({"eval_deep": 3}, "Did you mean 'eval_depth'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ConfigError, match=message):
        preset("trec2021_task2_official", **options)


def test_files_that_are_needed(tmp_path):
    inputs = folder(tmp_path, "101\t1\n102\t4\n")
    with pytest.raises(ConfigError, match="groups=FILE"):
        preset("trec2021_task1_official").evaluate(Inputs(inputs.runs, inputs.qrels))
    with pytest.raises(MissingError):
        preset("trec2021_task1_official").evaluate(Inputs(inputs.runs, inputs.qrels, tmp_path / "none.jsonl"))
    other = write_lines(tmp_path / "other.jsonl", [page_2021(900, [], [])])
    with pytest.raises(InputError, match="none of the pages"):
        preset("trec2021_task1_official").evaluate(Inputs(inputs.runs, inputs.qrels, other))
    with pytest.raises(ConfigError, match="dimensions"):
        preset("trec2021_task1_official", dimensions=["age"]).evaluate(inputs)

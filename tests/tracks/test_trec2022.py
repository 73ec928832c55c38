"""The presets of 2022 on small files, eight dimensions against dense arrays of some of them, and its full size."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from wiki_worlds import page_2022, write_lines

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.cell_distance import cell_divergence, cell_exposure
from rerankers.measures.cells import Memberships, weighted_cells
from rerankers.measures.mixing import mix_background
from rerankers.measures.rank_discount import rank_discount
from rerankers.measures.rank_fairness import awrf
from rerankers.tracks.background import POPULATION_2022, shares_of
from rerankers.tracks.preset import Inputs, preset

PAGES = [
    page_2022(1, page_subcont_regions=["Melanesia", "Polynesia"], gender=["male"], occupations=["writer"]),
    page_2022(2, source_subcont_regions={"UNK": 3, "Eastern Asia": 1}, gender=["male", "cisgender female"]),
    page_2022(3, gender=["agender"], occupations=["writer", "poet"], qual_cat="GA", first_letter_category="e-k"),
    page_2022(4, relative_pageviews_category="High", qual_cat=None),
    page_2022(4, gender=["female"]),
]
TOPICS = [{"id": 7, "rel_docs": [1, 2, 3]}, {"topic_id": "8", "rel_docs": [4]}]


def folder(tmp_path, run, topics=TOPICS, pages=PAGES):
    return Inputs(
        runs=(write_lines(tmp_path / "ours.tsv", [run]),),
        qrels=write_lines(tmp_path / "reldocs.jsonl", topics),
        groups=write_lines(tmp_path / "articles.json", pages),
    )


def values(outcome):
    rows = outcome.tables["ours"].to_pylist()
    return {(row["unit"], row["measure"]): row["value"] if row["reason"] is None else row["reason"] for row in rows}


def gender_target(rows):
    """Mix (unknown, female, male, NB) with the background."""
    rows = np.array(rows, float)
    known = rows[1:].sum()
    return np.concatenate([rows[:1], rows[1:] / 2 + known / 2 * np.array([0.495, 0.495, 0.01])])


def test_gender_rows_count_twice_officially_and_as_halves_when_corrected(tmp_path):
    inputs = folder(tmp_path, "7\t2\n7\t3\n8\t4\n")
    weight = rank_discount(2)
    for name, two in (("official", [0, 1, 1, 0]), ("corrected", [0, 0.5, 0.5, 0])):
        task = preset(f"trec2022_task1_{name}", dimensions=["gender"])
        align = np.array([[0, 0, 1, 0], two, [0, 0, 0, 1]], float)
        target = gender_target(align.mean(axis=0))
        expected = awrf([1], [weight @ align[1:]], target)
        assert values(task.evaluate(inputs))["7", "AWRF"] == pytest.approx(expected, rel=1e-6)


def test_regions_of_oceania_are_one_and_sources_are_weighted(tmp_path):
    inputs = folder(tmp_path, "7\t1\n8\t4\n")
    world = np.array(list(shares_of(POPULATION_2022).values()))
    oceania = 1 + list(shares_of(POPULATION_2022)).index("Oceania")
    aim = np.concatenate([[2 / 3], world / 6])
    aim[oceania] += 1 / 6
    found = values(preset("trec2022_task1_corrected", dimensions=["sub-geo"]).evaluate(inputs))
    assert found["7", "AWRF"] == pytest.approx(awrf([1], [np.eye(21)[oceania]], aim), rel=1e-12)
    eastern = 1 + list(shares_of(POPULATION_2022)).index("Eastern Asia")
    aim = np.concatenate([[0.75 / 3 + 2 / 3], world * 0.25 / 6])
    aim[eastern] += 0.25 / 6
    found = values(preset("trec2022_task1_corrected", dimensions=["src-geo"]).evaluate(inputs))
    assert found["7", "AWRF"] == pytest.approx(awrf([1], [np.eye(21)[0]], aim), rel=1e-12)


def test_task2_counts_relevant_pages_only_and_needs_work_first(tmp_path):
    run = "id\trep_number\tpage_id\n7\t1\t4\n7\t1\t1\n7\t2\t3\n8\t1\t1\n"
    found = values(preset("trec2022_task2_corrected", dimensions=["alpha"]).evaluate(folder(tmp_path, run)))
    # two of three pages are stubs at ranks 1 and 2, the third is a good article at rank 3
    target = np.array([2, 1 / math.log2(3)]) / (2 + 1 / math.log2(3)) * rank_discount(20).sum()
    exposure = np.array([1, 1]) / 2
    assert found["7", "EED"] == pytest.approx(exposure @ exposure, rel=1e-12)
    assert found["7", "EER"] == pytest.approx(exposure @ target, rel=1e-12)
    assert found["7", "EET"] == pytest.approx(target @ target, rel=1e-12)
    assert found["7", "EEL"] == pytest.approx((exposure - target) @ (exposure - target), rel=1e-12)
    assert found["8", "EEL"] == "target_undefined"  # its only relevant page has no quality class


def test_relevant_pages_without_a_record(tmp_path):
    topics = [{"id": 7, "rel_docs": [1, 99]}]
    inputs = folder(tmp_path, "7\t99\n7\t1\n", topics)
    with pytest.raises(InputError, match="page 99, relevant to topic '7', without a record"):
        preset("trec2022_task1_official").evaluate(inputs)
    found = values(preset("trec2022_task1_corrected", dimensions=["gender"]).evaluate(inputs))
    target = gender_target([0.5, 0, 0.5, 0])
    assert found["7", "AWRF"] == pytest.approx(awrf([1], [[0, 0, 1, 0]], target), rel=1e-12)
    inputs = folder(tmp_path, "7\t1\t99\n7\t1\t1\n", topics)
    found = values(preset("trec2022_task2_corrected", dimensions=["gender", "pop"]).evaluate(inputs))
    assert found["7", "EED"] == pytest.approx(1.5, rel=1e-12)  # male x Low, unknown x Low and x High by halves
    with pytest.raises(InputError, match="page 99"):
        preset("trec2022_task2_official").evaluate(inputs)


@pytest.mark.parametrize("task", ["task1", "task2"])
def test_a_run_scores_the_same_whatever_is_judged_beside_it(tmp_path, task):
    ages = ["2001-2006", "2007-2011", "2012-2016", "2017-2022"]
    pages = [page_2022(page, creation_date_category=age) for page, age in enumerate(ages, 1)]
    pages.append(page_2022(5, occupations=["poet"]))
    at = "" if task == "task1" else "\t1"
    inputs = folder(tmp_path, f"7{at}\t1\n", [{"id": 7, "rel_docs": [1, 99]}], pages)
    other = write_lines(tmp_path / "other.tsv", ["".join(f"7{at}\t{page}\n" for page in range(2, 6))])
    judge = preset(f"trec2022_{task}_corrected", dimensions=["occ", "age"])
    alone = judge.evaluate(inputs)
    beside = judge.evaluate(Inputs((*inputs.runs, other), inputs.qrels, inputs.groups))
    assert alone.summary["dimensions"] == "occ (2), age (4)"
    assert values(alone) == values(beside)
    if task == "task1":  # page 99 is spread over the four categories of the file
        target = [5 / 8, 1 / 8, 1 / 8, 1 / 8]
        assert values(alone)["7", "AWRF"] == pytest.approx(awrf([1], [[1, 0, 0, 0]], target), rel=1e-12)


def test_a_sequence_has_no_use_here(tmp_path):
    inputs = folder(tmp_path, "7\t1\n8\t4\n")
    with pytest.raises(ConfigError, match=r"sequence: found .*expected null, since trec2022_task1_corrected"):
        preset("trec2022_task1_corrected").evaluate(Inputs(inputs.runs, inputs.qrels, inputs.groups, tmp_path / "s"))


def test_a_gain_above_one_names_the_run(tmp_path):
    inputs = folder(tmp_path, "7\t1\n7\t1\n7\t1\n7\t1\n8\t4\n")
    with pytest.raises(InputError, match=r"run ours: found nDCG .* of topic '7'"):
        preset("trec2022_task1_official").evaluate(inputs)


def test_no_known_page_is_undefined_officially_and_0_when_corrected(tmp_path):
    inputs = folder(tmp_path, "7\t98\n7\t99\n8\t4\n")
    official = values(preset("trec2022_task1_official").evaluate(inputs))
    assert official["7", "nDCG"] == 0
    assert official["7", "score"] == official["7", "AWRF"] == "no_ranked_document_in_any_group"
    corrected = preset("trec2022_task1_corrected").evaluate(inputs)
    assert values(corrected)["7", "AWRF"] == 0
    assert corrected.counts["ours"]["rankings_without_any_group"] == 1
    assert corrected.counts["groups"]["duplicate_pages"] == 1
    assert corrected.counts["groups"]["pages_without_quality"] == 1


def test_more_than_500_pages_are_refused_in_task1_and_official_task2_judges_all(tmp_path):
    topics = [{"id": 7, "rel_docs": [1]}]
    inputs = folder(tmp_path, "".join(f"7\t{page}\n" for page in range(1, 502)), topics)
    for name in ("trec2022_task1_official", "trec2022_task1_corrected"):
        with pytest.raises(InputError, match="more than 500 pages of topic 7"):
            preset(name).evaluate(inputs)
    run = "".join(f"7\t1\t{page}\n" for page in range(100, 121)) + "7\t1\t1\n"
    inputs = folder(tmp_path, run, topics)
    found = values(preset("trec2022_task2_official", dimensions=["alpha"]).evaluate(inputs))
    assert found["7", "EED"] == pytest.approx(1 / math.log2(22) ** 2, rel=1e-6)
    with pytest.raises(InputError, match="more than 20 pages"):
        preset("trec2022_task2_corrected").evaluate(inputs)


def test_a_population_file_replaces_the_numbers(tmp_path, request):
    inputs = folder(tmp_path, "7\t1\n8\t4\n")
    population = tmp_path / "pop.csv"
    rows = "".join(f"{at},X,{name},{1 if name == 'Oceania' else 0},\n" for at, name in enumerate(POPULATION_2022))
    population.write_text("Rank,Continent,Name,Population,\n" + rows)
    task = preset("trec2022_task1_corrected", dimensions=["sub-geo"], world_population=str(population))
    aim = np.zeros(21)
    aim[[0, 1 + list(shares_of(POPULATION_2022)).index("Oceania")]] = 2 / 3, 1 / 3
    expected = awrf([1], [np.where(np.arange(21) > 0, aim, 0)], aim)
    assert values(task.evaluate(inputs))["7", "AWRF"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.shared_data
def test_the_population_is_that_of_the_track(shared):
    from rerankers.tracks.background import read_world_population

    read = read_world_population(shared / "data" / "trec-fair-2022" / "world-pop.csv")
    assert read == dict(POPULATION_2022)


SIZES = (21, 21, 4, 33, 4, 4, 4, 3)


def full_world(pages, seed=0):
    draw = np.random.default_rng(seed)
    out = []
    for size, more in zip(SIZES, (0.2, 3.0, 0.0, 0.3, 0, 0, 0, 0), strict=True):
        count = np.minimum(1 + draw.poisson(more, pages), size - 1)
        indptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        first = (draw.random(pages) ** 3 * size).astype(np.int64)
        group = (np.repeat(first, count) + np.arange(indptr[-1]) - np.repeat(indptr[:-1], count)) % size
        out.append(Memberships(size, indptr, group.astype(np.int16), draw.random(indptr[-1]) + 0.1).normalised())
    share = draw.random(20)
    world = share / share.sum()
    return draw, out, [world, world, np.array([0.495, 0.495, 0.01])]


def test_all_eleven_million_cells_cost_what_the_pages_fill():
    draw, dimensions, backgrounds = full_world(20_000)
    relevant, ranked = np.arange(20_000), draw.integers(0, 20_000, 500)
    tracemalloc.start()
    cells = weighted_cells(dimensions, relevant, np.full(20_000, 1 / 20_000))
    target = mix_background(cells, backgrounds)
    seen = weighted_cells(dimensions, ranked, rank_discount(500))
    divergence = cell_divergence(seen, target)
    loss = cell_exposure(seen, target.scaled(7))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert math.prod(target.sizes) == 11_176_704
    assert peak < 60e6
    assert target.total == pytest.approx(1, rel=1e-12)
    full = np.multiply.outer(target.spread, target.tail).ravel()
    full[target.cell] = target.value
    other = np.zeros(len(full))
    other[seen.cell] = seen.value
    squares = (np.sum((other - 7 * full) ** 2), np.sum((7 * full) ** 2))
    found = (loss.EEL, loss.EET)
    assert found == pytest.approx(squares, rel=1e-12)
    other /= other.sum()
    both = other + full
    expected = sum(0.5 * np.sum(part[part > 0] * np.log(2 * part[part > 0] / both[part > 0])) for part in (other, full))
    assert divergence == pytest.approx(expected, rel=1e-12)

"""Readers of the Wikipedia tracks: every defect counted or refused with its line."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wiki_worlds import page_2021, page_2022, write_lines

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.tracks.background import read_world_population
from rerankers.tracks.page_files import read_pages_2021, read_pages_2022
from rerankers.tracks.page_groups import read_page_groups
from rerankers.tracks.wiki_runs import read_wiki_run
from rerankers.tracks.wiki_topics import read_relevant_pages, read_wiki_topics


def members(table, name):
    at = [dimension.name for dimension in table.dimensions].index(name)
    rows, groups = table.memberships[at], table.dimensions[at].groups
    return {
        int(page): {
            groups[g]: w
            for g, w in zip(
                *(x[rows.indptr[r] : rows.indptr[r + 1]] for x in (rows.group.tolist(), rows.weight.tolist())),
                strict=True,
            )
        }
        for page, r in zip(table.page, table.row, strict=True)
    }


def test_pages_of_2021(tmp_path):
    path = write_lines(
        tmp_path / "meta.json",
        [
            page_2021(5, ["Asia", "Atlantis"], ["transgender male", "genderfluid"], "GA"),
            page_2021(3, None, None, None),
            {"page_id": 4, "quality_score_disc": "Stub"},
            "\n",
            page_2021(5, ["Europe"], [], "FA"),
            page_2021(9, [], ["nobody"], "A"),
        ],
    )
    table = read_pages_2021(path, drop_values=["nobody"])
    assert table.page.tolist() == [3, 4, 5, 9]
    assert members(table, "geography")[5] == {"Asia": 1}
    assert members(table, "geography")[3] == {"Unknown": 1}
    assert members(table, "gender") == {3: {"unknown": 1}, 4: {"unknown": 1}, 5: {"male": 1, "third": 1}, 9: {}}
    assert table.quality[table.row].tolist() == [-1, 0, 4, -1]
    assert table.counts == {
        "pages": 4,
        "duplicate_pages": 1,
        "blank_page_lines": 1,
        "pages_without_quality": 2,
        "locations_not_in_the_scheme": 1,
        "gender_values_dropped": 1,
    }
    some = read_pages_2021(path, frozenset([3, 5]))
    assert some.page.tolist() == [3, 5]
    assert some.counts["pages_skipped"] == 2
    assert some.rows(np.array([5, 4, 3])).tolist() == [0, -1, 1]


def test_pages_of_2022(tmp_path):
    record = page_2022(
        11,
        page_subcont_regions=["Melanesia", "Western Asia", "Nowhere"],
        source_subcont_regions={"UNK": 2, "Polynesia": 1, "Micronesia": 1},
        gender=["female", "cisgender female", "two-spirit"],
        occupations=["poet", "actor", "poet"],
        relative_pageviews_category=None,
    )
    path = tmp_path / "articles.json.gz"
    with gzip.open(path, "wt") as stream:
        stream.write(json.dumps(record) + "\n" + json.dumps(page_2022(12, relative_pageviews_category="High")))
    table = read_pages_2022(path)
    assert members(table, "sub-geo") == {11: {"Oceania": 0.5, "Western Asia": 0.5}, 12: {"@UNKNOWN": 1}}
    assert members(table, "src-geo")[11] == {"@UNKNOWN": 0.5, "Oceania": 0.5}
    assert members(table, "gender") == {11: {"NB": 1, "female": 1}, 12: {"@UNKNOWN": 1}}
    assert members(table, "occ") == {11: {"poet": 0.5, "actor": 0.5}, 12: {"@UNKNOWN": 1}}
    assert members(table, "pop") == {11: {}, 12: {"High": 1}}
    assert [len(dimension.groups) for dimension in table.dimensions[:4]] == [21, 21, 4, 3]
    assert table.dimensions[3].groups == ("@UNKNOWN", "actor", "poet")
    assert [dimension.background is not None for dimension in table.dimensions] == [True] * 3 + [False] * 5
    assert table.counts["regions_not_in_the_scheme"] == 1
    assert table.counts["pages_without_relative_pageviews_category"] == 1


def test_pages_say_all_that_is_wrong(tmp_path):
    path = write_lines(
        tmp_path / "articles.json",
        [
            page_2022("x"),
            page_2022(1, gender="male"),
            page_2022(2, source_subcont_regions={"Asia": -1}),
            page_2022(3, occupations=[1]),
            page_2022(4, first_letter_category=7),
            "{\n",
            "[]\n",
        ],
    )
    with pytest.raises(InputError) as caught:
        read_pages_2022(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(InputError, match="no page"):
        read_pages_2021(write_lines(tmp_path / "empty.json", []))
    with pytest.raises(MissingError):
        read_pages_2021(tmp_path / "none.json")


def test_groups_of_pages_that_are_skipped_are_groups_too(tmp_path):
    records = [
        page_2022(1),
        page_2022(2, occupations=['caf\u00e9 "owner" [1]', "poet"], first_letter_category="s\u2013"),
        page_2022(3, occupations=[], first_letter_category=None, num_sitelinks_category=""),
        json.dumps(page_2022(4, title='"first_letter_category": "no"')) + "\n",
        '{"page_id": 5, "occupations": ["\\x"], "first_letter_category": 7}\n',
    ]
    path = write_lines(tmp_path / "articles.json", records)
    some, every = read_pages_2022(path, frozenset([1])), read_pages_2022(write_lines(path, records[:4]))
    assert some.page.tolist() == [1]
    assert some.dimensions[3].groups == ("@UNKNOWN", 'caf\u00e9 "owner" [1]', "poet")
    assert some.dimensions[4].groups == (" a-d", "s\u2013")
    assert some.dimensions == every.dimensions


def test_the_page_file_of_another_year_is_refused(tmp_path):
    old = write_lines(tmp_path / "old.json", [page_2021(page, ["Asia"], ["male"]) for page in (1, 2)])
    new = write_lines(tmp_path / "new.json", [page_2022(page, gender=["male"]) for page in (1, 2)])
    for pages in (None, frozenset([2]), frozenset([9])):
        with pytest.raises(InputError, match=r"none of the fields of 2022.*\n?.*looks like the page file of 2021"):
            read_pages_2022(old, pages)
        with pytest.raises(InputError, match=r"none of the fields of 2021.*\n?.*looks like the page file of 2022"):
            read_pages_2021(new, pages)
    bare = write_lines(tmp_path / "bare.json", [{"page_id": 1}])
    with pytest.raises(InputError, match=r"none of the fields of 2021; expected [^.]*gender"):
        read_pages_2021(bare)
    mixed = write_lines(tmp_path / "mixed.json", [{"page_id": 1}, page_2022(2)])
    assert read_pages_2022(mixed, frozenset([1])).page.tolist() == [1]  # the field is in the file
    genders = write_lines(tmp_path / "genders.json", [{"page_id": 1, "gender": ["male"]}])
    assert members(read_pages_2022(genders), "gender") == {1: {"male": 1}}


def test_relevant_pages_and_topics(tmp_path):
    path = write_lines(
        tmp_path / "topics.jsonl",
        [
            {"id": 101, "title": "Bees", "keywords": ["honey", "wax"], "rel_docs": [9, 2, "9"], "max_tier": 2.0},
            {"id": 102, "title": "Ants", "keywords": None, "rel_docs": []},
        ],
    )
    topics, relevant = read_wiki_topics(path)
    assert topics.text == ("Bees honey wax", "Ants")
    assert relevant.topics == ("101", "102")
    assert relevant.of(0).tolist() == [2, 9]
    assert relevant.tier.tolist() == [2, -1]
    expected = {"topics": 2, "relevant_pages": 2, "topics_without_relevant": 1, "duplicate_relevant_pages": 1}
    assert relevant.counts == expected
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("101 0 9 1\n101 0 3 0\n102 0 4 0\n")
    relevant = read_relevant_pages(qrels)
    assert relevant.topics == ("101", "102")
    assert (relevant.of(0).tolist(), relevant.of(1).tolist()) == ([9], [])
    qrels.write_text("101 0 d9 1\n")
    with pytest.raises(InputError, match="'d9'"):
        read_relevant_pages(qrels)
    wrong = [{"id": 1, "rel_docs": ["a"]}, {"id": 1}, {"rel_docs": []}, {"id": 2, "rel_docs": 3}]
    with pytest.raises(InputError) as caught:
        read_relevant_pages(write_lines(path, wrong))
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3, 4]


def ranked(run, **options):
    return {topic: [one.tolist() for one in lists] for topic, lists in run.rankings(**options).items()}


def test_runs_with_and_without_a_header(tmp_path):
    path = write_lines(tmp_path / "r.tsv", ["7\t11\n7\t12\r\n\n8\t11\n"])
    run = read_wiki_run(path, repeats=False)
    assert ranked(run) == {"7": [[11, 12]], "8": [[11]]}
    assert run.counts == {"topics": 2, "rows": 3, "blank_run_lines": 1}
    path = write_lines(tmp_path / "r2.tsv", ["id\trep_number\tpage_id\n7\t2\t5\n7\t1\t6\n7\t1\t5\n"])
    run = read_wiki_run(path, repeats=True)
    assert ranked(run) == {"7": [[6, 5], [5]]}
    assert ranked(run, depth=1) == {"7": [[6], [5]]}
    assert ranked(run, samples=1) == {"7": [[6, 5]]}
    assert run.counts["header_lines"] == 1
    assert not run.repeated().any()


def test_a_ranking_in_parts_is_one_or_begins_anew(tmp_path):
    path = write_lines(tmp_path / "r.tsv", ["7\t1\n8\t1\n7\t2\n7\t1\n"])
    run = read_wiki_run(path, repeats=False)
    assert run.rank.tolist() == [1, 1, 2, 3]
    assert run.counts["rankings_in_parts"] == 1
    assert run.repeated().tolist() == [False, False, False, True]
    blocks = read_wiki_run(path, repeats=False, by_blocks=True)
    assert blocks.rank.tolist() == [1, 1, 1, 2]
    assert ranked(blocks, depth=1) == {"7": [[1, 2]], "8": [[1]]}
    assert ranked(run.without(np.array([True, False, False, False])), depth=2) == {"7": [[2, 1]], "8": [[1]]}


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=30))
def test_runs_are_what_a_plain_loop_reads(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("runs") / "r.tsv"
    path.write_text("".join(f"{topic}\t{sample}\t{page}\n" for topic, sample, page in rows))
    expected: dict = {}
    for topic, sample, page in rows:
        expected.setdefault(str(topic), {}).setdefault(sample, []).append(page)
    plain = {topic: [lists[sample] for sample in sorted(lists)] for topic, lists in expected.items()}
    run = read_wiki_run(path, repeats=True)
    assert ranked(run) == plain
    once = {topic: [list(dict.fromkeys(one)) for one in lists] for topic, lists in plain.items()}
    assert ranked(run.without(run.repeated())) == once
    assert ranked(run.without(run.repeated()), depth=2) == {t: [one[:2] for one in lists] for t, lists in once.items()}


def test_runs_say_all_that_is_wrong(tmp_path):
    path = write_lines(tmp_path / "r.tsv", ["id\tpage_id\n7\t1\n7\t1\t2\n7\tx\nid\tpage_id\n-7\t1\n7\t 3\n"])
    with pytest.raises(InputError) as caught:
        read_wiki_run(path, repeats=False)
    assert [problem.line for problem in caught.value.problems] == [3, 4, 5, 6, 7]
    with pytest.raises(InputError, match="a header of 2 names"):
        read_wiki_run(path, repeats=True)
    for text in ("", "id\tpage_id\n"):
        with pytest.raises(InputError, match="no row"):
            read_wiki_run(write_lines(tmp_path / "r.tsv", [text]), repeats=False)


def test_runs_of_other_forms(tmp_path):
    path = write_lines(tmp_path / "r.run", ["7 0 12 1 2.0 x\n7 0 11 2 1.0 x\n7 1 11 1 2.0 x\n"])
    assert ranked(read_wiki_run(path, repeats=True)) == {"7": [[12, 11], [11]]}
    with pytest.raises(InputError, match="one ranking a topic"):
        read_wiki_run(path, repeats=False)
    write_lines(path, ["7 Q0 d12 1 2.0 x\n"])
    with pytest.raises(InputError, match="'d12'"):
        read_wiki_run(path, repeats=False)


def test_groups_of_ones_own(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("docno,group,attribute,weight\n4,b,kind,2\n2,a,kind,1\n4,a,kind,1\n2,unknown,age,\n5,old,age,1\n")
    table = read_page_groups(path)
    assert members(table, "kind") == {2: {"a": 1}, 4: {"a": 1, "b": 2}, 5: {}}
    assert members(table, "age") == {2: {}, 4: {}, 5: {"old": 1}}
    path.write_text("docno,group\nd1,a\n")
    with pytest.raises(InputError, match="'d1'"):
        read_page_groups(path)
    path.write_text("author_id,group\n1,a\n")
    with pytest.raises(ConfigError, match="no authors"):
        read_page_groups(path)


def test_populations(tmp_path):
    path = tmp_path / "pop.csv"
    path.write_text("Rank,Name,Population,\n1,B,5,\n2,A,7,\n")
    assert read_world_population(path) == {"A": 7, "B": 5}
    path.write_text("Name,Population\nA,x\nB,1\nB,2\n,3\n")
    with pytest.raises(InputError) as caught:
        read_world_population(path)
    assert [problem.line for problem in caught.value.problems] == [2, 4, 5]
    path.write_text("Name,People\nA,1\n")
    with pytest.raises(InputError, match="columns Name and Population"):
        read_world_population(path)


@pytest.mark.shared_data
def test_the_head_of_a_real_run(shared):
    path = shared / "data" / "trec-fair-2022" / "task2-p09.head2000.tsv"
    run = read_wiki_run(path, repeats=True)
    assert run.topics == ("84",)
    assert run.counts == {"topics": 1, "rows": 2000, "header_lines": 1}
    assert [len(one) for one in run.rankings()["84"]] == [20] * 100
    assert run.rankings()["84"][0][:2].tolist() == [27522314, 5815972]
    assert not run.repeated().any()
    assert np.array_equal(run.rank, read_wiki_run(path, repeats=True, by_blocks=True).rank)

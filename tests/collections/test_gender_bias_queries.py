"""Published query sets about gender, from files that users bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rerankers._base.errors import InputError, MissingError
from rerankers.collections.gender_bias import read_fairness_queries, read_labelled_queries, read_query_notes
from rerankers.collections.gender_bias_forms import read_query_forms


def test_labelled_queries_with_commas(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('5,who is he,m\n6,one, two, three,n\n\n4,"quoted",f\n9,x,o\n')
    found = read_labelled_queries(path)
    assert found.topics.ids.names.to_pylist() == ["5", "6", "4", "9"]
    assert found.topics.text == ("who is he", "one, two, three", '"quoted"', "x")
    assert found.labels == ("male", "neutral", "female", "other")
    assert found.of("neutral", "other").ids.names.to_pylist() == ["6", "9"]
    assert found.counts["queries_with_commas"] == found.counts["blank_query_lines"] == 1


def test_wrong_labelled_queries(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("5,who,m\n5,who,m\n7,x\n8,y,z\n,y,n\n")
    with pytest.raises(InputError) as caught:
        read_labelled_queries(path)
    assert {problem.line for problem in caught.value.problems} == {2, 3, 4, 5}
    path.write_text("")
    with pytest.raises(InputError, match="no query"):
        read_labelled_queries(path)
    with pytest.raises(MissingError):
        read_labelled_queries(tmp_path / "none")


def test_notes_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "notes.tsv"
    head = "QID\tQuery\tCategories\tDomains\tSubdomains\tExample/Description\r\n"
    path.write_bytes((head + "3\ta b\tCareer, Health\tWork;Body\t\tbecause\r\n4\tc\t\tWork\tx\t\r\n").encode())
    found = read_query_notes(path)
    assert found.texts == {"3": "a b", "4": "c"}
    assert found.categories == {"3": ("Career", "Health"), "4": ()}
    assert found.domains["3"] == ("Work", "Body")
    assert found.counts == {"queries": 2, "queries_without_category": 1}
    path.write_text("QID\tQuery\n1\tx\n")
    with pytest.raises(InputError, match="also the columns Categories, Domains, Subdomains"):
        read_query_notes(path)
    path.write_bytes((head + "3\ta\t\t\t\t\r\n3\tb\t\t\t\t\r\n").encode())
    with pytest.raises(InputError, match="query '3' again"):
        read_query_notes(path)


def test_queries_in_three_forms(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    forms = {
        "0_F": {"0": ["plain models", "female models", "male  models"]},
        "5_M": {"0": ["a", "b", "c"], "1": ["d"] * 3},
    }
    path.write_text(json.dumps(forms, indent=1))
    found = read_query_forms(path)
    assert len(found.topics) == 9
    assert found.topics.ids.name(2) == "0_F-0-counter_prototypical"
    assert found.topics.text[2] == "male models"
    assert found.topics.topic.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert found.expected[0] == "female"
    assert found.expected[-1] == "male"
    assert found.of("prototypical").text == ("female models", "b", "d")
    assert found.counts == {"topics": 2, "queries": 3, "queries_whose_forms_are_equal": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "JSON that is a list"),
        ("{", r":1: found broken JSON"),
        ("{}", "no query"),
        ('{"0": {}}', "a topic such as 0_F"),
        ('{"0_F": {"0": ["a", "b"]}}', "three texts"),
        ('{"0_F": {"0": ["a", "b", " "]}}', "three texts"),
    ],
)
def test_wrong_queries_in_three_forms(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read_query_forms(tmp_path / "q.jsonl")


@pytest.mark.shared_data
def test_the_real_query_files(shared: Path) -> None:
    home = shared / "data/gender-bias"
    found = read_labelled_queries(home / "rekabsaz2020/queries_gender_annotated.csv")
    assert found.counts == {
        "queries": 3750,
        "queries_neutral": 1765,
        "queries_male": 1202,
        "queries_female": 742,
        "queries_other": 41,
        "queries_with_commas": 22,
    }
    for name, number in (("msmarco_passage.dev", 215), ("trecdeep19_passage", 30)):
        topics, counts = read_fairness_queries(home / f"rekabsaz2021/{name}.fair.tsv")
        notes = read_query_notes(home / f"rekabsaz2021/{name}.fair.FULL_ANNOTATION.tsv")
        assert counts["queries"] == len(topics) == notes.counts["queries"] == number
        assert set(topics.ids.names.to_pylist()) == set(notes.texts)

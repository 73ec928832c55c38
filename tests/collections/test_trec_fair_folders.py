"""Native files of TREC Fair Ranking 2019 and 2020: hand-made folders, damaged ones, and the real ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.annotation_groups import AnnotationGroups
from rerankers.collections.annotations import annotation_form, read_annotations
from rerankers.collections.lift import lift
from rerankers.collections.paper_tables import read_author_numbers, read_paper_authors, read_papers
from rerankers.collections.ragged_labels import read_ragged_labels
from rerankers.collections.trec_fair import Trec2019, Trec2020
from rerankers.collections.trec_samples import UNJUDGED, is_sample, read_sample
from rerankers.values import Ids


def sample_lines(**change: Any) -> list[dict[str, Any]]:
    first = {
        "qid": 7,
        "query": "fair ranking",
        "frequency": 0.25,
        "documents": [{"doc_id": "b", "relevance": 1}, {"doc_id": "a", "relevance": 0}, {"doc_id": "z"}],
    }
    second = {"qid": "8", "query": "", "documents": [{"doc_id": "a", "relevance": None}]}
    return [{**first, **change}, second]


def write_lines(path: Path, records: list[Any]) -> Path:
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["s.json", "s.json.gz"])
def test_samples(tmp_path: Path, name: str) -> None:
    path = write_lines(tmp_path / name, [*sample_lines(), ""])
    sample = read_sample(path)
    assert is_sample(path)
    assert sample.topics.ids.names.to_pylist() == ["7", "8"]
    assert sample.topics.text == ("fair ranking", "")
    np.testing.assert_array_equal(sample.indptr, [0, 3, 4])
    assert sample.docno.to_pylist() == ["b", "a", "z", "a"]
    np.testing.assert_array_equal(sample.grade, [1, 0, UNJUDGED, UNJUDGED])
    assert sample.frequency[0] == 0.25
    assert np.isnan(sample.frequency[1])
    assert sample.counts == {
        "sample_queries": 2,
        "sample_pairs": 4,
        "sample_pairs_unjudged": 2,
        "sample_queries_unjudged": 1,
        "sample_queries_without_text": 1,
    }
    qrels = sample.qrels()
    assert (qrels.qid.to_pylist(), qrels.docno.to_pylist()) == (["7", "7"], ["b", "a"])


@pytest.mark.parametrize(
    ("records", "text"),
    [
        (["{"], "broken JSON"),
        ([{"query": "x", "documents": []}], "without qid"),
        ([{"qid": 1}], "without documents"),
        ([{"qid": 1, "documents": {}}], "documents that are an object"),
        ([{"qid": 1, "documents": [{"relevance": 1}]}], "a document without doc_id"),
        ([{"qid": 1, "documents": [{"doc_id": "a"}, {"doc_id": "a"}]}], "document 'a' again"),
        ([{"qid": 1, "documents": []}, {"qid": 1, "documents": []}], "query '1' again, as in line 1"),
        ([{"qid": 1, "documents": [{"doc_id": "a", "relevance": 0.5}]}], "relevance 0.5"),
        ([{"qid": 1, "documents": [{"doc_id": "a", "relevance": True}]}], "relevance True"),
        ([{"qid": 1, "frequency": "often", "documents": []}], "frequency 'often'"),
        ([{"qid": 1, "query": 3, "documents": []}], "a query that is a number"),
        ([], "no query"),
    ],
)
def test_damaged_samples(tmp_path: Path, records: list[Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        read_sample(write_lines(tmp_path / "s.json", records))


def annotation(docno: str, *authors: dict[str, Any]) -> dict[str, Any]:
    return {"id": docno, "missing_authors": False, "authors": list(authors)}


MERGED = [
    annotation("a", {"level": "Advanced", "h_index": 12, "type": "academic"}, {"level": "Developing", "h_index": 9}),
    annotation("b", {"level": None, "h_index": None}, {"level": " advanced ", "valid": False}),
    annotation("c", {"level": "Advnaced", "h_index": 10, "id": 4, "type": "inustry"}),
    annotation("q"),
]


def groups_of(path: Path, attribute: str, mixed: str = "own_group") -> list[list[str]]:
    docs = Ids.of(["a", "b", "c", "d"])
    labels, _ = read_annotations(path, attribute).labels(docs)
    alignment, _ = lift(labels, mixed, ("Developing", "Advanced") if attribute == "level" else ("L", "H"))
    return [
        [alignment.groups[g] for g in alignment.group[alignment.indptr[d] : alignment.indptr[d + 1]]] for d in range(4)
    ]


def test_annotated_authors(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "merged-annotations.json.gz", MERGED)
    assert annotation_form(path) == "authors"
    assert groups_of(path, "level") == [["mixed"], ["Advanced"], [], []]
    assert groups_of(path, "level", "up") == [["Advanced"], ["Advanced"], [], []]
    assert groups_of(path, "level", "down")[0] == ["Developing"]
    assert groups_of(path, "h_class") == [["mixed"], [], ["H"], []]
    labels, counts = read_annotations(path).labels(Ids.of(["a", "b", "c", "d"]))
    assert labels.level == "author"
    assert counts == {
        "annotated_documents": 4,
        "annotated_authors": 5,
        "annotated_authors_without_id": 4,
        "author_types_not_known": 4,
        "annotated_authors_without_label": 2,
        "labels_not_known": 1,
        "authors_marked_invalid": 1,
        "annotated_documents_without_author": 1,
        "documents_not_annotated": 1,
        "annotations_of_unknown_documents": 1,
    }


DOC_HEADER = "id,Advanced,Developing,DocLevel,H,L,DocHLevel"


def test_counted_documents(tmp_path: Path) -> None:
    path = tmp_path / "doc-annotations.csv"
    path.write_text(f"{DOC_HEADER}\na,1.0,2.0,Mixed,1.0,0.0,H\nb,3,,Advanced,,,\nc,,,Developing,1,1,Mixed\n")
    assert annotation_form(path) == "documents"
    assert groups_of(path, "level") == [["mixed"], ["Advanced"], [], []]
    assert groups_of(path, "h_class") == [["H"], [], ["mixed"], []]
    assert read_annotations(path).counts["document_labels_that_contradict_counts"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{DOC_HEADER}\na,one,0,,,,\n", "Advanced 'one'"),
        (f"{DOC_HEADER}\na,1,0,,,\n", "6 fields"),
        (f"{DOC_HEADER}\na,1,0,,,,\na,1,0,,,,\n", "document 'a' again"),
        (f"{DOC_HEADER}\n", "no annotation"),
        ("id,DocLevel,DocHLevel\na,,\n", "columns Advanced, Developing too"),
        ('{"id": "a", "authors": "x"}', "authors: text"),
        ('{"authors": []}', "id that is null"),
        ("docno,group\na,b\n", "no annotation file"),
    ],
)
def test_damaged_annotations(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError, match=message):
        read_annotations(tmp_path / "f")


def test_annotation_groups(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "m.json", MERGED)
    docs = Ids.of(["a", "b", "c", "d"])
    aligned = AnnotationGroups(str(path), ["level", "h_class"]).align_documents(docs)
    assert list(aligned) == ["level", "h_class"]
    assert aligned["level"].groups == ("Advanced", "Developing", "mixed", "unknown")
    assert AnnotationGroups(str(path), mixed="down").align_documents(docs)["level"].groups[:2] == (
        "Advanced",
        "Developing",
    )
    with pytest.raises(ConfigError, match="expected one of level, h_class"):
        AnnotationGroups(str(path), "gender").align_documents(docs)
    with pytest.raises(ConfigError, match="an empty list"):
        AnnotationGroups(str(path), [])


def test_ragged_labels(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text('a,X,Y,X\nb,\n\nc\n"d,1",Z,"X"')
    found = read_ragged_labels(path)
    assert found.groups == ("", "X", "Y", "Z")
    np.testing.assert_array_equal(found.indptr, [0, 3, 4, 4, 6])
    assert found.docno.to_pylist() == ["a", "b", "c", "d,1"]
    assert found.counts == {
        "labelled_documents": 4,
        "labels": 6,
        "labels_empty": 1,
        "documents_with_empty_label": 1,
        "documents_with_repeated_label": 1,
        "documents_without_label": 1,
        "blank_label_lines": 1,
    }
    labels, counts = found.labels("x", Ids.of(["a", "b", "e"]))
    np.testing.assert_array_equal(labels.label, [0, 1, 0, -1])
    assert (counts["documents_not_labelled"], counts["labelled_documents_unknown"]) == (1, 2)
    path.write_text('a,"X')
    with pytest.raises(InputError, match="cannot be read"):
        read_ragged_labels(path)


PAPERS = (
    "paper_sha,paper_title,paper_year,paper_venue,n_citations,n_key_citations\n"
    'b,"A title\nin two, lines",2016.0,V,3.0,\na,,,,many,1\n'
)
AUTHORS = (
    "corpus_author_id,name,num_citations,num_papers,i10,h_index,h_class\r\n5,author 5,10,2,1,11,H\r\n6,x,,,,3,L\r\n"
)
LINKS = "paper_sha,corpus_author_id,position\nb,6,2\nb,5,1\na,,1\nzz,5,1\n"


def write_folder(folder: Path) -> Path:
    folder.mkdir()
    write_lines(folder / "TREC-Fair-Ranking-eval-sample.json", sample_lines())
    for name, text in (("papers", PAPERS), ("authors", AUTHORS), ("paper_authors", LINKS)):
        (folder / f"corpus-subset-for-queries.{name}.csv").write_bytes(text.encode())
    write_lines(folder / "2020-merged-annotations.json", MERGED)
    return folder


def test_paper_tables(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "f")
    papers = read_papers(folder / "corpus-subset-for-queries.papers.csv")
    assert list(papers.texts.texts(["title", "venue"])) == [("a", ""), ("b", "A title\nin two, lines V")]
    np.testing.assert_array_equal(papers.fields["year"], [np.nan, 2016])
    assert papers.counts == {
        "papers": 2,
        "papers_without_title": 1,
        "papers_without_year": 1,
        "paper_numbers_not_read": 1,
    }
    docs = Ids.of(["a", "b", "c"])
    authors, counts = read_paper_authors(folder / "corpus-subset-for-queries.paper_authors.csv", docs)
    assert authors.ids.names.to_pylist() == ["5", "6"]
    np.testing.assert_array_equal(authors.indptr, [0, 1, 3, 3])
    np.testing.assert_array_equal(authors.author, [-1, 0, 1])
    assert counts == {
        "author_links": 4,
        "author_links_without_id": 1,
        "author_links_of_unknown_documents": 1,
        "documents_without_author": 1,
    }
    numbers = read_author_numbers(folder / "corpus-subset-for-queries.authors.csv")
    np.testing.assert_array_equal(numbers.fields["h_index"], [11, 3])


Reader = Callable[[Path], Any]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_papers, "paper_sha,paper_title\na,b\n", "columns paper_venue"),
        (read_papers, PAPERS + "a,,,,,\n", "paper 'a' again, as in line 4"),
        (read_author_numbers, AUTHORS + "5,,,,,,\r\n", "author '5' again"),
        (lambda path: read_paper_authors(path, Ids.of(["a"])), LINKS + "a,5,first\n", "position 'first'"),
    ],
)
def test_damaged_tables(tmp_path: Path, reader: Reader, text: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        reader(tmp_path / "t.csv")


def test_collections(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "f")
    found = Trec2020(str(folder)).load()
    assert found.docs.names.to_pylist() == ["a", "b", "z"]
    np.testing.assert_array_equal(found.candidates.doc, [1, 0, 2, 0])
    np.testing.assert_array_equal(found.judgments.grade, [0, 1])
    assert sorted(found.groups) == ["h_class", "level"]
    assert found.authors is not None
    np.testing.assert_array_equal(found.authors.fields["h_index"], [11, 3])
    np.testing.assert_array_equal(found.fields["n_citations"], [np.nan, 3, np.nan])
    assert found.counts["candidate_pairs_without_metadata"] == 1
    assert found.counts["candidate_documents_without_level"] == 1
    wider = found.over(Ids.of(["0", "a", "b", "z"]))
    np.testing.assert_array_equal(wider.candidates.doc, [2, 1, 3, 1])
    assert wider.frequency is found.frequency
    assert wider.groups["level"].n_docs == 4
    with pytest.raises(MissingError, match="TREC-Fair-Ranking-training-sample"):
        Trec2020(str(folder), "train").load()
    with pytest.raises(ConfigError, match="expected one of eval, train"):
        Trec2020(str(folder), "test")
    other = tmp_path / "g"
    other.mkdir()
    write_lines(other / "fair-TREC-training-sample.json", sample_lines())
    (other / "article-level.csv").write_text("a,Advanced\nb,\n")
    early = Trec2019(str(other), "train").load()
    assert early.authors is None
    assert early.groups["level"].groups == ("Advanced",)
    assert early.counts["candidate_documents_without_level"] == 2


@pytest.mark.shared_data
def test_real_folders(shared: Path) -> None:
    data = shared / "data"
    missing = 0
    for split in ("eval", "train"):
        found = Trec2020(str(data / "trec-fair-2020"), split).load()
        missing += found.counts["candidate_pairs_without_metadata"]
        assert len(found.topics) == 200
    assert missing == 188
    evaluation = Trec2020(str(data / "trec-fair-2020")).load()
    counts = evaluation.counts
    assert (counts["author_links_without_id"], counts["papers"], counts["author_records"]) == (121, 8879, 31975)
    assert counts["candidate_documents"] - counts["candidate_documents_without_author"] == 4588
    assert counts["candidate_documents"] - counts["candidate_documents_without_level"] == 2008
    assert counts["candidate_pairs_without_level"] == 2757
    levels = {"annotated_documents": 4381, "annotated_authors": 13874, "annotated_authors_without_label": 878}
    assert {name: counts[f"level_{name}"] for name in levels} == levels
    early = Trec2019(str(data / "trec-fair-2019")).load()
    assert early.counts["candidate_documents"] == 4027
    assert early.counts["level_documents_not_labelled"] == 4027 - 2052
    assert early.counts["level_documents_with_empty_label"] == 57
    assert early.counts["h_index_documents_with_empty_label"] == 140


@pytest.mark.shared_data
def test_both_annotation_files_say_the_same(shared: Path) -> None:
    folder = shared / "data/trec-fair-2020"
    docs = Ids.union(read_sample(folder / "TREC-Fair-Ranking-eval-sample.json").docno)
    for attribute in ("level", "h_class"):
        found = []
        for name in ("merged-annotations.json", "doc-annotations.csv"):
            table = read_annotations(folder / name, attribute)
            assert "document_labels_that_contradict_counts" not in table.counts
            found.append(lift(table.labels(docs)[0])[0])
        np.testing.assert_array_equal(found[0].indptr, found[1].indptr)
        np.testing.assert_array_equal(found[0].group, found[1].group)

"""The first real collection: sizes and group counts as its description states them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers.collections import AuthorField, Jsonl
from rerankers.values import Collection

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def cacm(shared: Path) -> Collection:
    return Jsonl(str(shared / "data" / "cacm")).load()


def test_sizes(cacm: Collection) -> None:
    assert (len(cacm.docs), len(cacm.topics), cacm.judgments.nnz) == (3204, 64, 796)
    assert len(cacm.judgments) == 52
    assert cacm.counts["queries_without_judgments"] == 12
    assert set(cacm.judgments.grade) == {1}
    lengths = cacm.judgments.lengths
    assert np.quantile(lengths, [0, 0.5, 1]).tolist() == [1, 12, 51]
    assert "documents_without_text" not in cacm.counts
    assert "judged_documents_unknown" not in cacm.counts


def test_texts_and_numbers(cacm: Collection) -> None:
    assert cacm.documents is not None
    assert cacm.documents.fields == ("title", "abstract")
    titles, abstracts = (dict(cacm.documents.texts([field])) for field in ("title", "abstract"))
    assert len(titles) == 3204
    assert sum(1 for text in abstracts.values() if text) == 1587
    assert list(titles) == cacm.docs.take(np.arange(3204))
    assert (cacm.fields["year"].min(), cacm.fields["year"].max()) == (1958, 1979)
    assert np.corrcoef(cacm.fields["cited_by_count"], cacm.fields["in_links"])[0, 1] == pytest.approx(0.9935, abs=5e-5)


def test_authors(cacm: Collection) -> None:
    authors = cacm.authors
    assert authors is not None
    assert len(authors.ids) == 2687
    assert len(authors.author) == 4303
    assert np.bincount(np.diff(authors.indptr)).tolist() == [90, 2213, 683, 165, 41, 8, 3, 1]
    np.testing.assert_array_equal(authors.papers, authors.fields["n_papers"])
    assert authors.papers.max() == 40


@pytest.mark.parametrize(
    ("field", "at_least", "below", "above"), [("n_papers", 2, 1962, 725), ("h_index", 1, 1525, 1162)]
)
def test_author_groups(cacm: Collection, field: str, at_least: int, below: int, above: int) -> None:
    aligned = AuthorField("A", field, at_least, ["below", "above"]).align(cacm)
    assert aligned.counts["A_authors_below"] == below
    assert aligned.counts["A_authors_above"] == above
    assert aligned.counts["A_documents_without_group"] == aligned.counts["A_documents_without_authors"] == 90
    weights = np.bincount(aligned["A"].group, weights=aligned["A"].weight)
    assert weights.sum() == 3204
    assert weights[aligned["A"].groups.index("unknown")] == 90


def test_both_human_queries_can_be_chosen(cacm: Collection, shared: Path) -> None:
    titles = Jsonl(str(shared / "data" / "cacm"), query_field="title").load()
    assert titles.topics.ids.fingerprint == cacm.topics.ids.fingerprint
    assert titles.topics.text != cacm.topics.text
    assert titles.fingerprint != cacm.fingerprint


def test_qrels_with_other_iterations_and_negative_grades(shared: Path) -> None:
    from rerankers.values import read_qrels

    table = read_qrels(shared / "data" / "query-variants" / "ClueWeb12B_qrelsUQV")
    assert table.counts["judgments"] == 55_587
    assert table.counts["negative_grades"] == 701
    grades, number = np.unique(table.grade, return_counts=True)
    stated = {-100: 67, -1: 634, 0: 43_404, 1: 7_284, 2: 3_046, 3: 1_058, 4: 94}
    assert dict(zip(grades.tolist(), number.tolist(), strict=True)) == stated

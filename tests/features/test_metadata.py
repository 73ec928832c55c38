"""Facts about documents and authors as features, against plain twins."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from feature_worlds import collection, made_up

from rerankers._base.errors import ConfigError
from rerankers.features import FeatureSet, FeatureTable
from rerankers.values import Authors, Candidates, Ids


def column(table: FeatureTable, name: str) -> list[float]:
    return table.values[:, table.names.index(name)].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_they_are_their_twins(seed: int, tmp_path: Path) -> None:
    world, candidates = made_up(seed)
    table = FeatureSet(families=["metadata", "authors"], relative=[]).compute(world, candidates, tmp_path)
    authors = world.authors
    assert authors is not None
    assert table.tier == "metadata"
    np.testing.assert_array_equal(column(table, "document.year"), world.fields["year"][candidates.doc])
    logs = [math.log1p(value) for value in world.fields["n_citations"][candidates.doc].tolist()]
    np.testing.assert_allclose(column(table, "document.n_citations.log"), logs, rtol=1e-15)
    for pair, doc in enumerate(candidates.doc.tolist()):
        people = authors.author[authors.indptr[doc] : authors.indptr[doc + 1]].tolist()
        expected = {"authors.count": float(len(people) or math.nan)}
        for field, name in (("h_index", "author.h_index"), ("n_papers", "author.n_papers.log")):
            known = [authors.fields[field][person] for person in people if person >= 0]
            known = [math.log1p(value) if "log" in name else value for value in known if not math.isnan(value)]
            expected |= {f"{name}.min": min(known, default=math.nan), f"{name}.max": max(known, default=math.nan)}
            expected[f"{name}.mean"] = math.fsum(known) / len(known) if known else math.nan
        for name, value in expected.items():
            np.testing.assert_allclose(column(table, name)[pair], value, rtol=1e-14, err_msg=name)
    missing = int(np.isnan(column(table, "document.year")).sum())
    assert table.counts.get("pairs_without_document.year", 0) == missing
    assert table.sources["author.n_papers.log.max"] == ("authors", "author:n_papers")
    assert table.sources["document.year"] == ("document:year",)


def test_odd_numbers(tmp_path: Path) -> None:
    ids = Ids.of(["a", "b"])
    large = Authors(ids, np.array([0, 2, 2, 3]), np.array([0, 1, -1]), {"h_index": np.array([1.6e308, 1.7e308])})
    numbers = {"size": np.array([math.inf, -math.inf, 1.0]), "n_x": np.array([-1.0, 0.0, math.inf])}
    world = collection({name: {"title": "x"} for name in "def"}, ["x"], authors=large, fields=numbers)
    candidates = Candidates(np.array([0]), np.array([0, 3]), np.array([0, 1, 2]))
    table = FeatureSet(families=["metadata", "authors"]).compute(world, candidates, tmp_path)
    assert not np.isinf(table.values).any()
    np.testing.assert_array_equal(column(table, "document.size"), [math.nan, math.nan, 1.0])
    np.testing.assert_array_equal(column(table, "document.n_x.log"), [math.nan, 0.0, math.nan])
    np.testing.assert_array_equal(column(table, "authors.count"), [2, math.nan, 1])
    np.testing.assert_allclose(column(table, "author.h_index.mean"), [1.65e308, math.nan, math.nan])
    assert table.counts["infinite_document.size"] == 2
    assert table.counts["infinite_document.n_x.log"] == 1
    assert table.counts["pairs_without_authors"] == 1
    assert table.counts["pairs_without_author.h_index"] == 2


def test_which_fields_are_counts_can_be_said(tmp_path: Path) -> None:
    world, candidates = made_up()
    table = FeatureSet(families=["metadata"], relative=[], log_fields=["year"]).compute(world, candidates, tmp_path)
    assert table.names == ("document.n_citations", "document.year.log")


def test_ratios(tmp_path: Path) -> None:
    ids = Ids.of(["a", "b", "c"])
    facts = {
        "h": np.array([2.0, 5.0, 3.0]),
        "n_cited": np.array([8.0, 9.0, 1e308]),
        "n_papers": np.array([4.0, 0, 1e-9]),
    }
    authors = Authors(ids, np.array([0, 2, 2, 3]), np.array([0, 1, 2]), facts)
    numbers = {"size": np.array([6.0, -3.0, math.nan]), "n_parts": np.array([4.0, 2.0, 1.0])}
    world = collection({name: {"title": "x"} for name in "ABC"}, ["x"], authors=authors, fields=numbers)
    candidates = Candidates(np.array([0]), np.array([0, 3]), np.array([0, 1, 2]))
    options = FeatureSet(
        families=["metadata", "authors"],
        relative=[],
        ratios=["n_cited/n_papers", "size/n_parts", "h/n_papers"],
        only=["*/*"],
    )
    table = options.compute(world, candidates, tmp_path)
    assert table.names == (
        "document.size/n_parts",
        *(f"author.n_cited/n_papers.log.{word}" for word in ("min", "mean", "max")),
        *(f"author.h/n_papers.{word}" for word in ("min", "mean", "max")),
    )
    np.testing.assert_array_equal(column(table, "document.size/n_parts"), [1.5, -1.5, math.nan])
    # Of document A the second author has no paper; C's ratio is beyond all numbers.
    expected = [math.log(3), math.nan, math.nan]
    np.testing.assert_allclose(column(table, "author.n_cited/n_papers.log.mean"), expected, rtol=1e-15)
    np.testing.assert_allclose(column(table, "author.h/n_papers.max"), [0.5, math.nan, 3e9], rtol=1e-15)
    assert table.counts["infinite_author.n_cited/n_papers.log"] == 1
    assert table.counts["authors_without_author.n_cited/n_papers.log"] == 2
    assert table.sources["author.h/n_papers.max"] == ("authors", "author:h", "author:n_papers")
    assert table.sources["document.size/n_parts"] == ("document:size", "document:n_parts")


@pytest.mark.parametrize("ratio", ["size/h", "h/n_paper", "no/nothing"])
def test_ratios_of_facts_that_are_not_there(ratio: str, tmp_path: Path) -> None:
    authors = Authors(Ids.of(["a"]), np.array([0, 1]), np.array([0]), {"h": np.ones(1)})
    world = collection({"A": {"title": "x"}}, ["x"], authors=authors, fields={"size": np.ones(1)})
    candidates = Candidates(np.array([0]), np.array([0, 1]), np.array([0]))
    with pytest.raises(ConfigError, match=rf"features\.ratios: found '{ratio}'.*h, size"):
        FeatureSet(families=["metadata"], ratios=[ratio]).compute(world, candidates, tmp_path)

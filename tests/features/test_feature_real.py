"""Features of the real data, one part of them against another team's feature table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rerankers.collections import Jsonl, Trec2020
from rerankers.collections.letor import Letor
from rerankers.features import FeatureSet
from rerankers.values import Candidates, Judgments

pytestmark = pytest.mark.shared_data

OURS = {
    "in_citations": "document.n_citations",
    "min_hindex": "author.h_index.min",
    "avg_hindex": "author.h_index.mean",
    "max_hindex": "author.h_index.max",
    "min_authorpapers": "author.num_papers.min",
    "avg_authorpapers": "author.num_papers.mean",
    "max_authorpapers": "author.num_papers.max",
    "min_i10index": "author.i10.min",
    "avg_i10index": "author.i10.mean",
    "max_i10index": "author.i10.max",
    "min_numcitations": "author.num_citations.min",
    "avg_numcitations": "author.num_citations.mean",
    "max_numcitations": "author.num_citations.max",
}


@pytest.mark.parametrize("split", ["train", "eval"])
def test_metadata_of_2020_equal_an_independent_table(split: str, shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "trec-fair-2020"
    world = Trec2020(str(folder), split=split).load()
    options = FeatureSet(
        families=["metadata", "authors"],
        files=[str(folder / f"feature_matrix_sayed_{split}.csv")],
        exclude=["relevance", "sid", "q_num"],
        relative=[],
        log_fields=[],
    )
    table = options.compute(world, world.candidates, tmp_path)
    column = dict(zip(table.names, table.values.T, strict=True))
    assert "relevance" not in column
    for theirs, ours in OURS.items():
        np.testing.assert_allclose(column[ours], column[theirs], rtol=1e-9, err_msg=ours)


def test_texts_of_2020(shared: Path, tmp_path: Path) -> None:
    world = Trec2020(str(shared / "data" / "trec-fair-2020"), split="train").load()
    options = FeatureSet(families=["lengths", "overlap", "metadata", "authors", "peers"])
    table = options.compute(world, world.candidates, tmp_path / "a")
    assert not np.isinf(table.values).any()
    assert table.counts["pairs_without_authors"] == 109
    assert table.counts["pairs_without_overlap.title"] == 92
    assert table.values.shape[0] == 4826
    bare = replace(world, judgments=Judgments.empty(), groups={})
    assert options.compute(bare, bare.candidates, tmp_path / "b").values.tobytes() == table.values.tobytes()
    some = world.candidates.rows(40, 60)
    part = options.compute(world, some, tmp_path / "a")
    assert part.values.tobytes() == table.values[world.candidates.indptr[40] : world.candidates.indptr[60]].tobytes()


def test_texts_of_cacm(shared: Path, tmp_path: Path) -> None:
    world = Jsonl(str(shared / "data" / "cacm")).load()
    rng = np.random.default_rng(0)
    doc = np.concatenate([rng.choice(len(world.docs), 20, replace=False) for _ in range(len(world.topics))])
    over = Candidates(np.arange(len(world.topics)), np.arange(len(world.topics) + 1) * 20, doc)
    table = FeatureSet(families=["overlap", "peers", "metadata"], relative=[]).compute(world, over, tmp_path)
    shares = [at for at, name in enumerate(table.names) if not name.startswith("document")]
    inside = table.values[:, shares]
    assert np.all(np.isnan(inside) | ((inside >= 0) & (inside <= 1)))
    assert ("author:n_papers",) not in table.sources.values()
    assert table.tier == "metadata"


def test_the_example_of_lightgbm(shared: Path, tmp_path: Path) -> None:
    made = Letor(str(shared / "data" / "lambdarank-example"), "test").load()
    table = FeatureSet(families=["given"], relative=[]).compute(made, made.candidates, tmp_path)
    assert table.names == tuple(f"given.f{number}" for number in range(1, 301))
    np.testing.assert_array_equal(table.values.T, list(made.candidates.columns.values()))

"""The set as a whole: families, cache, leaks, blocks of queries, exclusion, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from feature_worlds import collection, made_up

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections import Generated
from rerankers.collections.letor import Letor
from rerankers.features import FAMILIES, FeatureSet, write_letor
from rerankers.retrieval import BM25
from rerankers.retrieval.jvm import find_jar, find_java
from rerankers.values import Candidates, Collection, Ids, Judgments

CITED = "document.n_citations.log.rank"
WITHOUT_JAVA = [name for name in FAMILIES if name not in ("bm25", "query_likelihood", "given")]


def test_no_feature_sees_judgments_groups_or_truth(tmp_path: Path) -> None:
    world = Generated(documents=150, topics=6).load()
    candidates = Candidates(np.arange(6), np.arange(7) * 25, np.tile(np.arange(25), 6))
    options = FeatureSet(families=["lengths", "overlap", "metadata", "authors", "peers"])
    full = options.compute(world, candidates, tmp_path / "a")
    bare = replace(world, judgments=Judgments.empty(), groups={}, truth={})
    assert options.compute(bare, candidates, tmp_path / "b").values.tobytes() == full.values.tobytes()
    assert world.judgments.nnz
    assert world.groups


def test_queries_do_not_depend_on_each_other(tmp_path: Path) -> None:
    world, candidates = made_up(5)
    options = FeatureSet(families=WITHOUT_JAVA)
    whole = options.compute(world, candidates, tmp_path)
    order = np.random.default_rng(0).permutation(len(candidates))
    mixed = options.compute(world, candidates.take(order), tmp_path)
    place = candidates.with_columns(place=np.arange(candidates.nnz)).take(order).columns["place"]
    assert mixed.values.tobytes() == whole.values[place].tobytes()
    for row in range(len(candidates)):
        block = options.compute(world, candidates.rows(row, row + 1), tmp_path)
        assert block.names == whole.names
        assert block.values.tobytes() == whole.values[candidates.row(row)].tobytes()


def test_the_cache_is_found_again_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, candidates = made_up(1)
    options = FeatureSet(families=WITHOUT_JAVA)
    first = options.compute(world, candidates, tmp_path)
    entries = set((tmp_path / "features-2").iterdir())
    assert len(entries) == 1
    monkeypatch.setattr("rerankers.features.context.read_texts", lambda *_: pytest.fail("read again"))
    for same in (options, replace(options, threads=1, heap="2g"), replace(options, exclude=["no such"])):
        again = same.compute(world, candidates, tmp_path)
        assert again.values.tobytes() == first.values.tobytes()
        assert (again.names, again.tier, again.sources) == (first.names, first.tier, first.sources)
    assert set((tmp_path / "features-2").iterdir()) == entries
    monkeypatch.undo()
    for changed, over in (
        (replace(options, relative=["rank"]), candidates),
        (replace(options, log_fields=[]), candidates),
        (replace(options, fields=["title"]), candidates),
        (options, candidates.rows(2, 5)),
        (options, candidates.with_columns(score=candidates.score + 1)),
    ):
        changed.compute(world, over, tmp_path)
    assert len(set((tmp_path / "features-2").iterdir())) == 6


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    world, candidates = made_up(1)
    first = FeatureSet(families=["lengths"]).compute(world, candidates, tmp_path)
    (file,) = tmp_path.glob("features-2/*/features.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    again = FeatureSet(families=["lengths"]).compute(world, candidates, tmp_path)
    assert again.values.tobytes() == first.values.tobytes()
    assert file.read_bytes() == whole


def test_what_the_collection_lacks_is_said(tmp_path: Path) -> None:
    bare = collection(None, ["x"], ["a", "b"])
    candidates = Candidates(np.array([0]), np.array([0, 2]), np.array([0, 1]))
    table = FeatureSet().compute(bare, candidates, tmp_path)
    assert table.names == ("length.candidates",)
    assert [name for name in table.counts if name.startswith("family")] == [
        f"family_{name}_left_out" for name in FAMILIES if name != "lengths"
    ]
    for family in FAMILIES:
        if family != "lengths":
            with pytest.raises(ConfigError, match=rf"features\.families: found {family}; the collection lacks"):
                FeatureSet(families=[family]).compute(bare, candidates, tmp_path)
    with pytest.raises(ConfigError, match=r"features\.fields"):
        FeatureSet(fields=["title"]).compute(bare, candidates, tmp_path)


def test_exclusion(tmp_path: Path) -> None:
    world, candidates = made_up(1)
    options = FeatureSet(
        families=["metadata", "authors", "first_stage"], exclude=["author.n_papers.*", "first_*", "?*.rank"]
    )
    table = options.compute(world, candidates, tmp_path)
    assert not [name for name in table.names if "n_papers" in name or name == "first_stage" or name.endswith("rank")]
    assert "first_stage.zscore" not in table.names
    assert "document.year.zscore" in table.names
    assert not [fact for facts in table.sources.values() for fact in facts if fact == "author:n_papers"]
    assert set(table.sources) == set(table.names)
    blind = replace(options, exclude=["author*", "document*"]).compute(world, candidates, tmp_path)
    assert (blind.tier, blind.names) == ("blind", ("first_stage", "first_stage.rank", "first_stage.zscore"))
    idle = replace(options, exclude=["auther*"]).compute(world, candidates, tmp_path)
    assert idle.counts["exclude_patterns_that_match_nothing"] == 1
    with pytest.raises(ConfigError, match="no feature is left"):
        replace(options, exclude=["*"]).compute(world, candidates, tmp_path)


def test_only(tmp_path: Path) -> None:
    world, candidates = made_up(1)
    options = FeatureSet(families=["metadata", "authors", "first_stage"])
    full = options.compute(world, candidates, tmp_path)
    table = replace(options, only=["first_stage", "document.*.rank", "auther*"]).compute(world, candidates, tmp_path)
    assert table.names == tuple(
        name for name in full.names if name.startswith("first_stage") or name in ("document.year.rank", CITED)
    )
    for name in table.names:
        column = table.values[:, table.names.index(name)]
        np.testing.assert_array_equal(column, full.values[:, full.names.index(name)])
    assert table.counts["only_patterns_that_match_nothing"] == 1
    assert "only_patterns_that_match_nothing" not in full.counts
    both = replace(options, only=["first*"], exclude=["*.rank"]).compute(world, candidates, tmp_path)
    assert (both.names, both.tier) == (("first_stage", "first_stage.zscore"), "blind")
    assert len(set((tmp_path / "features-2").iterdir())) == 1, "what is kept is no part of what is computed"
    with pytest.raises(ConfigError, match="no feature is left"):
        replace(options, only=["x"]).compute(world, candidates, tmp_path)


def test_the_description_gives_the_set_back(tmp_path: Path) -> None:
    options = FeatureSet(families=["lengths"], relative=["rank"], exclude=["a*"], threads=2, mu=3.0)
    assert FeatureSet(**json.loads(json.dumps(options.describe()))) == options


@pytest.mark.parametrize("rows", [0, 1])
def test_no_candidates(rows: int, tmp_path: Path) -> None:
    world, _ = made_up(1)
    empty = np.empty(0, np.int32)
    candidates = Candidates(np.arange(rows), np.zeros(rows + 1), empty, {"score": np.empty(0)})
    table = FeatureSet(families=WITHOUT_JAVA).compute(world, candidates, tmp_path)
    assert table.values.shape == (0, len(table.names))
    full = FeatureSet(families=WITHOUT_JAVA).compute(*made_up(1), tmp_path)
    assert table.names == full.names


def test_documents_that_only_a_run_knows_have_nothing(tmp_path: Path) -> None:
    world, candidates = made_up(1)
    docs = Ids.union(world.docs, ["zzz"])
    wider = world.over(docs)
    code = world.docs.recoder(docs)
    last = Candidates(np.array([8]), np.array([0, 1]), np.array([len(docs) - 1]), {"score": np.ones(1)})
    options = FeatureSet(families=["metadata", "authors", "overlap", "peers", "lengths"])
    table = options.compute(wider, last, tmp_path)
    known = {name for name in table.names if not np.isnan(table.values[0, table.names.index(name)])}
    assert known == {"length.candidates", "length.query"}
    assert table.counts["pairs_without_authors"] == 1
    moved = options.compute(wider, candidates.recode(code), tmp_path)
    assert moved.values.tobytes() == options.compute(world, candidates, tmp_path).values.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["bm52"]}, "Did you mean 'bm25'"),
        ({"relative": ["ranks"]}, "Did you mean 'rank'"),
        ({"families": ["bm25", "bm25"]}, "twice"),
        ({"only": []}, "features.only"),
        ({"ratios": ["a/b", "a/b"]}, "twice"),
        ({"ratios": ["a"]}, "features.ratios: found 'a'"),
        ({"ratios": ["/b"]}, "features.ratios"),
        ({"ratios": ["a/"]}, "features.ratios"),
        ({"fields": []}, "empty list"),
        ({"mu": 0.0}, r"features\.mu"),
        ({"k1": -1.0}, r"features\.k1"),
        ({"b": float("nan")}, r"features\.k1"),
        ({"threads": 0}, r"features\.threads"),
        ({"heap": "much"}, "heap"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FeatureSet(**options)


def test_candidates_of_another_collection(tmp_path: Path) -> None:
    world, _ = made_up(1)
    for query, doc in ((0, 999), (99, 0), (0, -1)):
        candidates = Candidates(np.array([query]), np.array([0, 1]), np.array([doc]))
        with pytest.raises(InputError, match="candidates: found"):
            FeatureSet(families=["lengths"]).compute(world, candidates, tmp_path)


def test_what_to_do_without_java_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise MissingError("pyserini is not installed. Type: pip install pyserini")

    monkeypatch.setattr("rerankers.features.feature_set.find_jar", absent)
    with pytest.raises(MissingError, match=r"features\.families=\[first_stage, given, lengths, .*peers\]"):
        FeatureSet().compute(*made_up(1), tmp_path)
    assert FeatureSet(families=WITHOUT_JAVA).compute(*made_up(1), tmp_path).names


@pytest.mark.java
def test_scores_of_fields(tmp_path: Path) -> None:
    pytest.importorskip("jnius_config", reason="pyjnius is not installed")
    try:
        find_java(), find_jar()
    except MissingError as error:
        pytest.skip(f"no Java or no pyserini: {error}")
    world, candidates = made_up(2)
    table = FeatureSet(relative=[]).compute(world, candidates, tmp_path)
    asked = np.array([bool(text.strip()) for text in world.topics.text])[candidates.query][candidates.row_index]
    for field, fields in (("title", ["title"]), ("abstract", ["abstract"]), ("all", ["title", "abstract"])):
        length = table.values[:, table.names.index(f"length.{field}")]
        known = ~np.isnan(length) & asked
        pairs = Candidates(
            candidates.query, np.concatenate([[0], np.cumsum(known)])[candidates.indptr], candidates.doc[known]
        )
        model = BM25(fields=fields)
        for name, expected in (
            (f"bm25.{field}", model.scores(world, pairs, tmp_path)),
            (f"ql.{field}", model.likelihoods(world, pairs, tmp_path)),
        ):
            found = table.values[:, table.names.index(name)]
            np.testing.assert_array_equal(found[known], expected)
            assert np.isnan(found[~known]).all()
            assert table.counts[f"pairs_without_{name}"] == np.sum(~known) > 0
            assert np.any(expected > 0)
    order = np.arange(len(candidates))[::-1]
    mixed = FeatureSet(relative=[]).compute(world, candidates.take(order), tmp_path)
    place = candidates.with_columns(place=np.arange(candidates.nnz)).take(order).columns["place"]
    assert mixed.values.tobytes() == table.values[place].tobytes()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    world, candidates = made_up(1)
    rows = np.flatnonzero(candidates.lengths)[:2]
    first = candidates.doc[candidates.indptr[rows]]
    grades = Judgments(rows, np.array([0, 1, 2]), first, {"grade": np.array([3, -1], np.int16)})
    judged: Collection = replace(world, judgments=grades)
    options = FeatureSet(families=WITHOUT_JAVA)
    table = options.compute(judged, candidates, tmp_path)
    again = Letor(str(write_letor(tmp_path / "features.txt", judged, candidates, table))).load()
    given = FeatureSet(families=["given"], relative=[]).compute(again, again.candidates, tmp_path)
    assert given.names == tuple(f"given.{name}" for name in table.names)
    assert given.values.tobytes() == table.values.tobytes()
    assert sorted(again.judgments.grade.tolist())[-1] == 3
    assert sorted(again.judgments.grade.tolist())[0] == -1
    filled = np.flatnonzero(candidates.lengths)
    assert again.topics.ids.names.to_pylist() == [f"q{row}" for row in filled.tolist()]
    assert again.docs.take(again.candidates.doc) == judged.docs.take(candidates.doc)

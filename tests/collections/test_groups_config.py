"""Where groups come from: the collection, a file, a number about authors, nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from collection_folders import QUERIES, folder, load
from omegaconf import OmegaConf

from rerankers._base.errors import ConfigError, InputError
from rerankers.collections import Aligned, AuthorField, CollectionGroups, FileGroups, Generated, Jsonl, NoGroups
from rerankers.values import Collection, GroupAlignment

DOCS = [
    {"id": "a", "title": "x", "author_ids": ["p", "q"]},
    {"id": "b", "title": "x", "author_ids": ["q", None]},
    {"id": "c", "title": "x", "author_ids": []},
    {"id": "d", "title": "x", "author_ids": ["r"]},
]
AUTHOR_GROUPS = "author_id,attribute,group\np,economy,rich\nq,economy,poor\nr,economy,\np,field,f1\nq,field,f1\n"


def collection(path: Path, **files: str) -> Collection:
    return load(folder(path, DOCS, QUERIES, **files))


def of(alignment: GroupAlignment, doc: int) -> dict[str, float]:
    span = slice(alignment.indptr[doc], alignment.indptr[doc + 1])
    names = [alignment.groups[code] for code in alignment.group[span]]
    return dict(zip(names, alignment.weight[span].tolist(), strict=True))


def test_a_folder_brings_the_attributes_of_its_group_files(tmp_path: Path) -> None:
    more = "docno,group\na,open\nzz,open\nb,\n"
    found = collection(tmp_path, author_groups__csv=AUTHOR_GROUPS, access_groups__csv=more)
    assert {name: labels.level for name, labels in found.groups.items()} == {
        "access": "document",
        "economy": "author",
        "field": "author",
    }
    assert found.counts["group_rows"] == 8
    assert found.counts["group_rows_without_label"] == 2
    assert found.counts["group_rows_for_unknown_documents"] == 1
    aligned = CollectionGroups().align(found)
    assert isinstance(aligned, Mapping)
    assert list(aligned) == ["access", "economy", "field"]
    economy = aligned["economy"]
    assert economy.resolved
    assert [of(economy, doc) for doc in range(4)] == [{"mixed": 1}, {"poor": 1}, {"unknown": 1}, {"unknown": 1}]
    assert aligned.counts["economy_documents_mixed"] == 1
    assert aligned.counts["economy_documents_without_group"] == 2
    assert aligned.counts["economy_documents_without_authors"] == 1
    assert aligned.counts["economy_unknown_labels_beside_known"] == 1


def test_policies_reach_the_alignment(tmp_path: Path) -> None:
    found = collection(tmp_path, author_groups__csv=AUTHOR_GROUPS)
    groups = CollectionGroups(attribute="economy", unknown="drop", mixed="up", order=["poor", "rich"])
    assert [of(groups.align(found)["economy"], doc) for doc in range(4)] == [{"rich": 1}, {"poor": 1}, {}, {}]
    spread = CollectionGroups(["economy"], "spread", "split").align(found)["economy"]
    assert [of(spread, doc) for doc in (0, 2)] == [{"poor": 0.5, "rich": 0.5}] * 2


def test_a_wrong_attribute_lists_those_available(tmp_path: Path) -> None:
    found = collection(tmp_path, author_groups__csv=AUTHOR_GROUPS)
    with pytest.raises(ConfigError, match=r"economy, field.*Did you mean 'economy'"):
        CollectionGroups(attribute="econmy").align(found)
    (tmp_path / "author_groups.csv").unlink()
    with pytest.raises(ConfigError, match="brings no attribute"):
        CollectionGroups(attribute=["economy"]).align(load(tmp_path))
    assert len(CollectionGroups().align(load(tmp_path))) == 0
    assert dict(NoGroups().align(found)) == {}


def test_group_files_that_clash_or_lack_authors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"economy_groups\.csv.*author_groups\.csv"):
        collection(tmp_path, author_groups__csv=AUTHOR_GROUPS, economy_groups__csv="docno,group\na,X\n")
    (tmp_path / "economy_groups.csv").unlink()
    with pytest.raises(ConfigError, match=r"author_groups\.csv: groups of authors"):
        Jsonl(str(tmp_path), author_field="writers").load()


def test_groups_from_a_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    found = collection(tmp_path / "c")
    (tmp_path / "mine.csv").write_text("docno,group\na,X\na,Y\nb,X\nq,X\n")
    aligned = FileGroups(str(tmp_path / "mine.csv"), mixed="full").align(found)
    assert list(aligned) == ["mine"]
    assert [of(aligned["mine"], doc) for doc in range(3)] == [{"X": 1, "Y": 1}, {"X": 1}, {"unknown": 1}]
    assert aligned.counts == {
        "group_rows": 4,
        "group_rows_for_unknown_documents": 1,
        "mine_documents_without_group": 2,
        "mine_documents_mixed": 1,
    }
    assert list(FileGroups(str(tmp_path / "mine.csv"), attribute="size").align(found)) == ["size"]
    (tmp_path / "authors.csv").write_text(AUTHOR_GROUPS)
    assert list(FileGroups(str(tmp_path / "authors.csv"), attribute="field").align(found)) == ["field"]
    with pytest.raises(ConfigError, match="economy, field"):
        FileGroups(str(tmp_path / "authors.csv"), attribute="feild").align(found)


def test_weights_in_a_file_are_shares(tmp_path: Path) -> None:
    found = collection(tmp_path, groups__csv="docno,group,weight\na,X,3\na,Y,1\nb,X,\nb,,1\nc,X,0\n")
    aligned = CollectionGroups(unknown="count").align(found)["group"]
    assert aligned.kind == "share"
    assert [of(aligned, doc) for doc in range(3)] == [
        {"X": 0.75, "Y": 0.25},
        {"X": 0.5, "unknown": 0.5},
        {"unknown": 1},
    ]


def test_groups_by_a_number_about_authors(tmp_path: Path) -> None:
    found = collection(tmp_path, authors__csv="author_id,h\np,3\nq,2\n")
    groups = AuthorField(attribute="famous", field="h", at_least=3, groups=["no", "yes"])
    aligned = groups.align(found)
    assert aligned["famous"].groups == ("no", "yes", "mixed", "unknown")
    assert [of(aligned["famous"], doc) for doc in range(4)] == [{"mixed": 1}, {"no": 1}, {"unknown": 1}, {"unknown": 1}]
    assert aligned.counts["famous_authors_no"] == 1
    up = AuthorField("famous", "h", 3, ["no", "yes"], mixed="up").align(found)["famous"]
    assert of(up, 0) == {"yes": 1}
    with pytest.raises(ConfigError, match="expected one of h"):
        AuthorField("famous", "h_index", 3).align(found)
    with pytest.raises(ConfigError, match="no author lists"):
        groups.align(Jsonl(str(tmp_path), author_field="writers").load())


@pytest.mark.parametrize(
    "wrong", [{"unknown": "ignore"}, {"mixed": "both"}, {"groups": ["one"]}, {"groups": ["same", "same"]}]
)
def test_wrong_words_are_refused_when_built(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        AuthorField("x", "y", 1, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [NoGroups, CollectionGroups, FileGroups, AuthorField, Generated, Jsonl])
def test_every_config_is_a_schema(kind: type[object]) -> None:
    assert OmegaConf.structured(kind) is not None


def test_generated_attributes_are_aligned_like_any_other() -> None:
    world = Generated(documents=300, topics=2).load()
    aligned = CollectionGroups().align(world)
    assert isinstance(aligned, Aligned)
    assert list(aligned) == ["economy", "career", "region", "access"]
    for alignment in aligned.values():
        assert alignment.resolved
        total = np.zeros(300)
        np.add.at(total, np.repeat(np.arange(300), np.diff(alignment.indptr)), alignment.weight)
        np.testing.assert_allclose(total, 1.0)

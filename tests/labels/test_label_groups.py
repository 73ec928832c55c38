"""Labels of texts become groups, and what measures read besides."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.collections.paper_tables import PaperTexts
from rerankers.labels.base import Labelled, Text
from rerankers.labels.groups import LabelFileGroups, LabellerGroups, labeller_of, texts_of
from rerankers.labels.label_alignment import LabelRows
from rerankers.labels.label_records import is_label_file
from rerankers.values import Collection, GroupAlignment, Ids, Judgments, Topics

DOCS = Ids.of(["a", "b", "c", "d"])
RECORDS: list[dict[str, Any]] = [
    {"id": "c", "label": "male", "scores": {"male": 3, "female": 1, "tokens": 8, "neutrality": 0.5}, "source": "x"},
    {"id": "a", "label": "neutral", "scores": {"male": 0, "female": 0, "tokens": 0, "neutrality": 1.0}},
    {"id": "zz", "label": "female", "scores": {}},
    {"id": "b", "label": None, "reason": "ambiguous"},
]


@dataclass(frozen=True)
class ByFirstLetter:
    """A labeller for tests: a text is of the group its title begins with; ``?`` has no label."""

    @property
    def labels(self) -> tuple[str, ...]:
        return ("neutral", "m", "w")

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        for text in texts:
            first = text.title[:1] or text.text[:1]
            words = {"m": float(text.text.count("m")), "w": float(text.text.count("w")), "tokens": 4.0}
            yield Labelled(text.id, None if first == "?" else first.replace("n", "neutral"), words, "letters", "")


def written(path: Path, records: list[Any]) -> str:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return str(path)


def dense(alignment: GroupAlignment) -> dict[str, list[float]]:
    """Return group -> weight of every document."""
    out = np.zeros((alignment.n_docs, len(alignment.groups)))
    doc = np.repeat(np.arange(alignment.n_docs), np.diff(alignment.indptr))
    out[doc, alignment.group] = alignment.weight
    return dict(zip(alignment.groups, out.T.tolist(), strict=True))


def collection(titles: dict[str, str], texts: dict[str, str], docs: list[str]) -> Collection:
    names = pa.array(sorted(titles), pa.large_string())
    columns = {
        "title": pa.array([titles[name] for name in names.to_pylist()], pa.large_string()),
        "text": pa.array([texts[name] for name in names.to_pylist()], pa.large_string()),
    }
    judged = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    store = PaperTexts(names, columns, "mark")
    return Collection("hand made", Ids.of(docs), Topics.of([], []), judged, "mark", documents=store)


def test_a_label_file_by_hand(tmp_path: Path) -> None:
    found = LabelFileGroups(written(tmp_path / "l.jsonl", RECORDS)).align_documents(DOCS)
    assert list(found) == ["gender"]
    assert found["gender"].groups == ("neutral", "male", "female", "unknown")
    assert found["gender"].resolved
    assert dense(found["gender"]) == {
        "neutral": [1, 0, 0, 0],
        "male": [0, 0, 1, 0],
        "female": [0, 0, 0, 0],
        "unknown": [0, 1, 0, 1],
    }
    assert found.counts == {
        "labels": 4,
        "labels_for_unknown_documents": 1,
        "documents_not_labelled": 1,
        "labels_null": 1,
        "labels_null_ambiguous": 1,
        "gender_documents_without_group": 2,
    }
    neutrality, words, shares = (found.companions[f"gender:{kind}"] for kind in ("neutrality", "words", "shares"))
    assert dense(neutrality) == {"neutrality": [1, 0, 0.5, 0]}
    assert neutrality.unknown.tolist() == words.unknown.tolist() == shares.unknown.tolist() == [0, 1, 0, 1]
    assert dense(words) == {"female": [0, 0, 1, 0], "male": [0, 0, 3, 0]}
    assert dense(shares) == {"female": [0, 0, 0.125, 0], "male": [0, 0, 0.375, 0]}
    assert {words.kind, neutrality.kind} == {"value"}
    assert not words.resolved


def test_new_documents_are_unknown_after_recoding(tmp_path: Path) -> None:
    words = LabelFileGroups(written(tmp_path / "l.jsonl", RECORDS)).align_documents(DOCS).companions["gender:words"]
    moved = words.recode(DOCS, Ids.of(["a", "aa", "c"]))
    assert moved.unknown.tolist() == [0, 1, 0]
    assert dense(moved)["male"] == [0, 0, 3]


@pytest.mark.parametrize(("unknown", "groups"), [("drop", 3), ("count", 4), ("spread", 3)])
def test_unknown_documents(tmp_path: Path, unknown: str, groups: int) -> None:
    found = LabelFileGroups(written(tmp_path / "l.jsonl", RECORDS), unknown=unknown).align_documents(DOCS)["gender"]
    assert len(found.groups) == groups
    total = [sum(column) for column in zip(*dense(found).values(), strict=True)]
    assert total == pytest.approx([1, 0 if unknown == "drop" else 1, 1, 0 if unknown == "drop" else 1])


def test_tables_of_letters_and_other_names(tmp_path: Path) -> None:
    path = tmp_path / "msm.csv"
    path.write_text("doc_id,gender_bias\na,N\nb,M\nc,F\nd,both\n")
    open_ = LabelFileGroups(str(path)).align_documents(DOCS)["gender"]
    assert open_.groups == ("neutral", "male", "female", "both", "unknown")
    shut = LabelFileGroups(str(path), groups=["neutral", "male", "female"]).align_documents(DOCS)
    assert dense(shut["gender"])["unknown"] == [0, 0, 0, 1]
    assert shut.counts["labels_of_no_group"] == 1
    assert shut.companions == {}
    only = tmp_path / "two.tsv"
    only.write_text("id\tlabel\na\tx\nb\tunknown\n")
    assert LabelFileGroups(str(only)).align_documents(DOCS)["gender"].groups == ("neutral", "x", "unknown")


def test_neutrality_without_words(tmp_path: Path) -> None:
    votes = {"id": "a", "label": "male", "scores": {"male": 4, "neutral": 1, "neutrality": 0.25}}
    found = LabelFileGroups(written(tmp_path / "l.jsonl", [votes])).align_documents(DOCS)
    assert list(found.companions) == ["gender:neutrality"]  # votes are no words
    assert dense(found.companions["gender:neutrality"]) == {"neutrality": [0.25, 0, 0, 0]}


def test_everything_wrong_with_a_file(tmp_path: Path) -> None:
    lines: list[Any] = [
        {"id": "a", "label": "male"},
        {"id": "a", "label": "male"},
        {"id": "b"},
        {"id": "b c", "label": "male"},
        {"id": "d", "label": 3},
        {"id": "e", "label": "male", "scores": {"male": "many"}},
        {"id": "f", "label": "male", "scores": [1]},
        {"id": "g", "label": "male", "reason": 4},
        "[1]",
        "{",
    ]
    with pytest.raises(InputError) as caught:
        LabelFileGroups(written(tmp_path / "l.jsonl", lines)).align_documents(DOCS)
    assert {problem.line for problem in caught.value.problems} == {2, 3, 4, 5, 6, 7, 8, 9, 10}
    path = tmp_path / "t.csv"
    path.write_text("docno,word\na,b\n")
    with pytest.raises(InputError, match=r"one of label, group, gender, gender_bias"):
        LabelFileGroups(str(path)).align_documents(DOCS)
    with pytest.raises(InputError, match="at least one"):
        LabelFileGroups(written(tmp_path / "empty.jsonl", [])).align_documents(DOCS)
    with pytest.raises(InputError, match=r"\*\.jsonl or"):
        LabelFileGroups(written(tmp_path / "l.txt", RECORDS)).align_documents(DOCS)
    with pytest.raises(MissingError):
        LabelFileGroups(str(tmp_path / "none.jsonl")).align_documents(DOCS)
    with pytest.raises(ConfigError, match="Did you mean 'count'"):
        LabelFileGroups("x", unknown="coun")
    with pytest.raises(ConfigError, match="each once"):
        LabelFileGroups(written(tmp_path / "l.jsonl", RECORDS), groups=["a", "a"]).align_documents(DOCS)


def test_which_files_are_label_files(tmp_path: Path) -> None:
    def says(name: str, text: str) -> bool:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return is_label_file(path)

    assert says("l.jsonl.gz", '\n{"id": "a", "label": null}\n')
    assert says("l.csv", "doc_id,label\n")
    assert not says("m.json", '{"id": "a", "authors": []}\n')
    assert not says("g.csv", "docno,group,label\n")
    assert not says("h.csv", "author_id,label\n")
    assert not says("n.jsonl", "{broken\n")
    assert not is_label_file(tmp_path / "none")


def test_a_labeller_reads_the_texts_of_a_collection() -> None:
    known = collection({"a": "maps", "b": "nets", "d": "?"}, {"a": "mmw", "b": "", "d": "w"}, ["a", "b", "c", "d"])
    target = {"_target_": f"{ByFirstLetter.__module__}.ByFirstLetter"}
    with pytest.raises(ConfigError, match="expected a class of the packages rerankers"):
        LabellerGroups(target).align(known)
    rows = LabelRows()
    for record in ByFirstLetter().label(texts_of(known)):
        rows.add(record)
    found = rows.aligned(known.docs, "gender", ByFirstLetter().labels, "count")
    assert dense(found["gender"])["m"] == [1, 0, 0, 0]  # a group of its own here, not short for male
    assert found.counts["labels_null"] == 1
    assert found.counts["documents_not_labelled"] == 1
    assert dense(found.companions["gender:words"])["w"] == [1, 0, 0, 1]
    assert next(iter(texts_of(known))) == Text("a", "maps", "mmw")
    assert next(iter(texts_of(known, ["text"]))) == Text("a", "", "mmw")
    assert next(iter(texts_of(known, ["title"]))) == Text("a", "maps", "")


def test_lexical_labels_of_a_collection() -> None:
    known = collection({"a": "A man", "b": "Sky"}, {"a": "He and his mother", "b": "blue"}, ["a", "b", "c"])
    found = LabellerGroups({"name": "lexical_majority", "names": "drop"}).align(known)
    assert dense(found["gender"]) == {
        "neutral": [0, 1, 0],
        "male": [1, 0, 0],
        "female": [0, 0, 0],
        "unknown": [0, 0, 1],
    }
    assert dense(found.companions["gender:words"]) == {"female": [1, 0, 0], "male": [3, 0, 0]}
    assert dense(found.companions["gender:shares"])["male"][0] == pytest.approx(3 / 6)
    assert found.companions["gender:neutrality"].unknown.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("lexical_majorit", "Did you mean 'lexical_majority'"),
        ({"names": "drop"}, "a mapping with name"),
        (3, "the name of a labeller"),
        ({"name": "lexical_majority", "nmes": "drop"}, "Did you mean groups.labeller.names"),
        ({"_target_": "rerankers.collections.NoGroups"}, "has no label"),
        ("llm", "expected its label file"),
    ],
)
def test_labellers_that_do_not_do(node: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        labeller_of(node)


def test_collections_that_cannot_be_labelled() -> None:
    known = collection({"a": "x"}, {"a": "y"}, ["a"])
    bare = Collection("bare", known.docs, known.topics, known.judgments, "mark")
    with pytest.raises(ConfigError, match="brings no texts"):
        LabellerGroups().align(bare)
    with pytest.raises(ConfigError, match=r"groups\.fields"):
        LabellerGroups(fields=["body"]).align(known)
    with pytest.raises(ConfigError, match="found no field"):
        LabellerGroups(fields=[]).align(known)
    with pytest.raises(ConfigError, match="groups=LABELS"):
        LabellerGroups().align_documents(DOCS)


LABELS = st.sampled_from(["neutral", "male", "female", None])
ONE = st.tuples(LABELS, st.integers(0, 5), st.integers(0, 5), st.booleans())


@given(st.dictionaries(st.sampled_from("abcdefgh"), ONE, max_size=8), st.permutations("abcdefgh"))
def test_alignment_against_a_plain_twin(said: dict[str, tuple[str | None, int, int, bool]], order: list[str]) -> None:
    docs = Ids.of(list("bcdefg"))
    rows = LabelRows()
    for name in order:
        if name in said:
            label, male, female, counted = said[name]
            words = {"male": float(male), "female": float(female), "tokens": float(male + female)} if counted else {}
            rows.add(Labelled(name, label, words))
    found = rows.aligned(docs, "gender", None, "drop")
    shares = found.companions.get("gender:shares")
    for place, name in enumerate("bcdefg"):
        label, male, female, counted = said.get(name, (None, 0, 0, False))
        has = {group for group, column in dense(found["gender"]).items() if column[place]}
        assert has == ({label} if label else set())
        if shares is not None:
            assert shares.unknown[place] == (0 if counted else 1)
            if counted and male + female:
                assert dense(shares)["male"][place] == pytest.approx(male / (male + female))
    inside = [name for name in said if name in "bcdefg"]
    assert found.counts.get("documents_not_labelled", 0) == 6 - len(inside)
    assert found.counts.get("labels_for_unknown_documents", 0) == len(said) - len(inside)

"""Labels of files, votes, and the lines that are written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.labels.base import Labelled, Text
from rerankers.labels.file_labels import FileLabels, LabelFields, label_order, read_labels, written_out
from rerankers.labels.lexical import LexicalMajority, LexicalNeutrality
from rerankers.labels.records import record_line
from rerankers.labels.texts import TextReader
from rerankers.labels.votes import Votes, winner
from rerankers.labels.writing import write_labels


def texts(*ids: str) -> list[Text]:
    return [Text(one, "", "it rains") for one in ids]


def test_short_labels_are_written_out() -> None:
    assert [written_out(one) for one in ("N", "m", "F", "Neutral", " male ", "Both", None, "")] == [
        "neutral", "male", "female", "neutral", "male", "Both", None, None,
    ]  # fmt: skip
    assert label_order(["x", "female", None, "neutral", "a"]) == ("neutral", "female", "a", "x")
    assert label_order([]) == ("neutral",)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("doc_id,label,source\n1,M,x\n2,,x\n3,neutral,x\n")
    (tmp_path / "b.jsonl").write_text(
        record_line(Labelled("4", "female", {"female": 2.0}, "llm:x", "", ("F",)))
        + record_line(Labelled("5", None, {}, "llm:x", "refusal"))
    )
    found = read_labels([tmp_path / "a.csv", tmp_path / "b.jsonl"])
    assert {key: said.label for key, said in found.items()} == {
        "1": "male", "2": None, "3": "neutral", "4": "female", "5": None,
    }  # fmt: skip
    assert found["5"].reason == "refusal"
    labeller = FileLabels(str(tmp_path / "a.csv"))
    assert labeller.labels == ("neutral", "male")
    assert [(said.label, said.reason) for said in labeller.label(texts("3", "9"))] == [
        ("neutral", ""), (None, "not_in_file"),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="'male'"):
        list(FileLabels(str(tmp_path / "a.csv"), of=["neutral", "female"]).label(texts("1")))


def test_problems_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("doc_id,label\n1,M\n1,F\n")
    (tmp_path / "b.csv").write_text("doc_id,label\n1,M\n2,F,x\n")
    with pytest.raises(InputError) as error:
        read_labels([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert [(Path(one.where).name, one.line) for one in error.value.problems] == [
        ("a.csv", 3), ("b.csv", 2), ("b.csv", 3),
    ]  # fmt: skip


def test_columns_of_other_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('d_id,text,content_gender\n1,"a\nb",M\n2,c,both\n')
    found = read_labels(tmp_path / "a.csv", LabelFields("d_id", "content_gender"))
    assert {key: said.label for key, said in found.items()} == {"1": "male", "2": "both"}
    with pytest.raises(InputError, match="a column id and a column content_gender"):
        read_labels(tmp_path / "a.csv", LabelFields("id", "content_gender"))
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(InputError, match=r"\.csv or \.tsv"):
        read_labels(tmp_path / "a.jsonl", LabelFields("id", None))


@pytest.mark.shared_data
def test_labels_without_texts(shared: Path) -> None:
    found = read_labels(shared / "data/gender-bias/MSMGenderBias.csv", LabelFields("doc_id", "gender_bias"))
    counts = {label: sum(said.label == label for said in found.values()) for label in ("neutral", "male", "female")}
    assert counts == {"neutral": 636, "male": 144, "female": 113}
    assert read_labels(shared / "data/gender-bias/MSMGenderBias.csv") == found


@given(st.lists(st.sampled_from(["a", "b", "neutral", None]), max_size=7))
def test_winner_equals_counting(votes: list[str | None]) -> None:
    label, reason, scores = winner(votes)
    given_votes = [vote for vote in votes if vote is not None]
    ahead = [
        one for one in set(given_votes) if all(votes.count(one) > votes.count(o) for o in set(given_votes) - {one})
    ]
    assert label == (ahead[0] if ahead else None)
    assert reason == ("" if ahead else "tie" if given_votes else "no_votes")
    if given_votes:
        assert scores["agreement"] == max(map(given_votes.count, given_votes)) / len(given_votes)
        assert sum(value for key, value in scores.items() if key != "agreement") == len(given_votes)


def test_votes(tmp_path: Path) -> None:
    for name, labels in (("a", "MMN"), ("b", "MFF"), ("c", "FMN")):
        rows = "".join(f"{row},{label}\n" for row, label in enumerate(labels))
        (tmp_path / f"{name}.csv").write_text("id,label\n" + rows)
    voters = [str(tmp_path / f"{name}.csv") for name in "abc"]
    said = list(Votes(voters).label(texts("0", "1", "2", "9")))
    assert [one.label for one in said] == ["male", "male", "neutral", None]
    assert said[0].scores == {"male": 2.0, "female": 1.0, "agreement": 2 / 3}
    assert said[3].reason == "no_votes"
    two = list(Votes([voters[0], "lexical_majority"], least=2).label(texts("0", "9")))
    assert [(one.label, one.reason) for one in two] == [(None, "tie"), (None, "no_votes")]
    with pytest.raises(ConfigError, match="at least two"):
        list(Votes(["lexical_majority"]).label(texts("0")))
    with pytest.raises(ConfigError, match="least"):
        Votes(voters, least=0)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_writing(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"id":"é","text":"he"}\n{"id":"b","text":"…"}\n', encoding="utf-8")
    reader = TextReader([tmp_path / "in.jsonl"])
    done = write_labels(LexicalMajority(), reader, tmp_path / f"out{suffix}")
    assert done.said.labels == {"neutral": 1, "male": 1}
    assert done.counts == {"texts_without_tokens": 1}
    assert {key: one.label for key, one in read_labels(tmp_path / f"out{suffix}").items()} == {
        "é": "male", "b": "neutral",
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.jsonl", f"out{suffix}"])


def test_nothing_is_written_of_a_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id":"a","text":"he"}\n{"id":"b"}\n')
    (tmp_path / "out.jsonl").write_text("before")
    with pytest.raises(InputError, match=r"in.jsonl:2"):
        write_labels(LexicalMajority(), TextReader([tmp_path / "in.jsonl"]), tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_equal_texts_give_equal_archives(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id":"a","text":"he"}\n')
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_labels(LexicalMajority(), TextReader([tmp_path / "in.jsonl"]), tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert json.loads(gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()))["label"] == "male"


def test_half_a_surrogate_pair_can_be_written() -> None:
    line = record_line(Labelled("a", None, {}, "x", "invalid_label", ("\ud800",)))
    assert json.loads(line)["replies"] == ["\ud800"]
    line.encode()


def test_neutralities_below_zero_are_counted_not_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / "in.jsonl").write_text('{"id":"a","text":"she she"}\n{"id":"b","text":"he she"}\n')
    labeller = LexicalNeutrality(target={"male": 0.7, "female": 0.3})
    done = write_labels(labeller, TextReader([tmp_path / "in.jsonl"]), tmp_path / "out.jsonl")
    assert done.counts == {"neutrality_below_0": 1}
    assert not recwarn.list
    assert read_labels(tmp_path / "out.jsonl")["a"].scores["neutrality"] == pytest.approx(-0.4, abs=1e-12)

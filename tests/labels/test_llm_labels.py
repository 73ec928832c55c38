"""Labels by a language model, and the command ``label``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.cli import main
from rerankers.labels.base import Labelled, Text
from rerankers.labels.label_sets import read_label_set
from rerankers.labels.llm_labeller import LlmLabeller
from rerankers.llm import Answering, Request

CACHE = Path("unused")


def answered(labeller: LlmLabeller, answer: Any, *texts: Text) -> list[Labelled]:
    with Answering(answer, "test").session(CACHE) as session:
        return list(labeller.asking(session).label(texts))


def by_word(request: Request) -> str:
    said = request.messages[-1].content
    return '{"label": "female"}' if "mother" in said else "Sorry, I cannot label that." if "odd" in said else "**Male**"


def test_prompt_and_request() -> None:
    asked: list[Request] = []

    def note(request: Request) -> str:
        asked.append(request)
        return "N"

    said = answered(LlmLabeller(most_characters=10), note, Text("a", "A {{title}}", "x" * 30))
    assert said == [
        Labelled("a", "neutral", {"neutral": 1.0, "agreement": 1.0}, "llm:test", "", ("N",)),
    ]
    assert "Title: A {{title}" in asked[0].messages[-1].content
    assert asked[0].messages[-1].content.count("x") == 11  # ten, and that of Text
    assert "neutral, male, female" in asked[0].messages[0].content
    assert asked[0].schema is not None
    assert asked[0].schema["properties"]["label"]["enum"] == ["neutral", "male", "female"]
    assert asked[0].about == "a"
    examples = [json.loads(message.content)["label"] for message in asked[0].messages if message.role == "assistant"]
    assert sorted(set(examples)) == ["female", "male", "neutral"]


def test_labels_reasons_and_batches() -> None:
    texts = [Text(str(i), "", text) for i, text in enumerate(["my mother", "odd", "a father", "אמא mother"])]
    for batch in (1, 3, 64):
        said = answered(LlmLabeller(batch=batch), by_word, *texts)
        assert [one.label for one in said] == ["female", None, "male", "female"]
        assert said[1].reason == "refusal"
        assert said[1].replies == ("Sorry, I cannot label that.",)
        assert [one.id for one in said] == ["0", "1", "2", "3"]


def test_samples_vote() -> None:
    replies = {"a": ["M", "F", "M"], "b": ["M", "F", "nothing"], "c": ["x", "x", "M or F"], "d": ["M", "?", "?"]}
    texts = [Text(name, "", name) for name in replies]
    said = answered(LlmLabeller(samples=3), lambda request: replies[request.about][request.sample], *texts)
    assert [(one.label, one.reason) for one in said] == [
        ("male", ""), (None, "tie"), (None, "invalid_label"), ("male", ""),
    ]  # fmt: skip
    assert said[0].scores == {"male": 2.0, "female": 1.0, "agreement": 2 / 3}
    assert said[1].scores == {"male": 1.0, "female": 1.0, "agreement": 0.5, "unparsed": 1.0}
    assert said[2].scores == {}
    assert said[3].scores["unparsed"] == 2
    assert [len(one.replies) for one in said] == [3, 3, 3, 3]


def test_examples_are_not_labelled() -> None:
    texts = [Text("a", "", "he"), Text("shipped-2", "", "he")]
    with pytest.raises(InputError, match=r"shipped-2.*exclude_ids=\[shipped-2\]"):
        answered(LlmLabeller(), by_word, *texts)
    said = answered(LlmLabeller(exclude_ids=["shipped-2"]), by_word, *texts)
    assert [(one.label, one.reason) for one in said] == [("male", ""), (None, "excluded")]


class Likely:
    """A session that finds the label likeliest that the text names."""

    name = "likely"

    def likelihoods(self, requests: Sequence[Request], answers: Sequence[str]) -> Any:
        assert list(answers) == [f'{{"label": "{label}"}}' for label in ("neutral", "male", "female")]
        rows = {"he": [-3.0, -1.0, -2.0], "tie": [-1.0, -1.0, -2.0], "none": [float("nan")] * 3}
        return [rows[request.about] for request in requests]


def test_likelihoods() -> None:
    labeller = LlmLabeller(method="likelihood").asking(Likely())  # type: ignore[arg-type]
    said = list(labeller.label([Text(name, "", name) for name in ("he", "tie", "none")]))
    assert [(one.label, one.reason) for one in said] == [("male", ""), (None, "tie"), (None, "no_likelihood")]
    shares = np.exp([-3, -1, -2]) / np.exp([-3, -1, -2]).sum()
    assert list(said[0].scores.values()) == pytest.approx(shares.tolist(), abs=1e-12)
    with Answering(by_word).session(CACHE) as session, pytest.raises(ConfigError, match="likelihood"):
        LlmLabeller(method="likelihood").asking(session)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples"),
        ({"batch": 0}, "batch"),
        ({"most_characters": 0}, "most_characters"),
        ({"method": "guess"}, "method"),
        ({"method": "likelihood", "samples": 2}, "samples"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LlmLabeller(**options)


def test_prompts_and_label_sets_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text("name: colours\nlabels:\n  red: [rot]\n  neutral: []\n")
    (tmp_path / "prompt.yaml").write_text("name: p\nmessages:\n  - {role: user, content: 'Red? {{text}}'}\n")
    labeller = LlmLabeller(prompt=str(tmp_path / "prompt.yaml"), label_set=str(tmp_path / "set.yaml"))
    assert labeller.labels == ("neutral", "red")
    assert answered(labeller, lambda _: "Rot!", Text("a", "", "x"))[0].label == "red"
    with pytest.raises(ConfigError, match="llm=openai"):
        labeller.label([])
    for text, message in (
        ("name: x\nlabels: {a: [], b: []}\n", "neutral"),
        ("name: x\nlabels:\n  neutral: [n]\n  a: [N]\n", "'N' for a as well as for neutral"),
        ("name: x\nlabels:\n  neutral: [fine]\n  a: [ｆｉｎｅ]\n", "'ｆｉｎｅ' for a as well"),
        ("name: x\nlabels:\n  neutral: [no]\n", "at least two"),
        ("name: x\nlabels:\n  neutral: [false]\n  a: [b]\n", "Quote words"),
        ("labels:\n  neutral: []\n  a: [b]\n", "name"),
    ):
        (tmp_path / "wrong.yaml").write_text(text)
        with pytest.raises(InputError, match=message):
            read_label_set(str(tmp_path / "wrong.yaml"))
    with pytest.raises(MissingError, match=r"none\.yaml"):
        LlmLabeller(prompt=str(tmp_path / "none.yaml")).messages  # noqa: B018


def test_the_shipped_set() -> None:
    assert read_label_set("gender_presence").names == ("neutral", "male", "female")


def job(folder: Path, *words: str) -> int:
    (folder / "in.jsonl").write_text(
        "".join(f'{{"id":"{i}","text":"{text}"}}\n' for i, text in enumerate(["he", "she", "sorry", "it rains"])),
    )
    return main(["label", f"input={folder / 'in.jsonl'}", f"output={folder / 'out.jsonl'}", *words])


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]


def test_command_by_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert job(tmp_path) == 0
    assert [one["label"] for one in records(tmp_path)] == ["male", "female", "neutral", "neutral"]
    assert set(records(tmp_path)[0]) == {"id", "label", "scores", "source"}
    printed = capsys.readouterr().out
    assert "4 texts by lexical_majority" in printed
    assert "words 326" in printed


def test_command_by_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script.yaml").write_text(
        "replies:\n  'Text: she': '{\"label\": \"female\"}'\n  'Text: he': M\n"
        "  'Text: sorry': I am sorry, I cannot help with that.\notherwise: no idea\n"
    )
    words = [
        "labeller=llm",
        "llm=scripted",
        f"llm.path={tmp_path / 'script.yaml'}",
        f"paths.cache={tmp_path / 'cache'}",
    ]
    assert job(tmp_path, *words) == 1
    told = capsys.readouterr()
    assert "2 of 4 texts without a label (invalid_label 1, refusal 1)" in told.err
    assert [(one["label"], one.get("reason")) for one in records(tmp_path)] == [
        ("male", None), ("female", None), (None, "refusal"), (None, "invalid_label"),
    ]  # fmt: skip
    assert "no label: refusal" in told.out
    assert job(tmp_path, *words, "max_unparsed=0.5") == 0
    (tmp_path / "out.jsonl").unlink()
    assert job(tmp_path, *words, "llm.dry_run=true") == 0
    assert not (tmp_path / "out.jsonl").exists()
    assert "4 requests would be made" in capsys.readouterr().out


def test_command_by_a_model_that_answers_garbage(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text("cycle: [neutral, '{\"label\": }', '', male]\n")
    code = job(tmp_path, "labeller=llm", "llm=scripted", f"llm.path={tmp_path / 'script.yaml'}", "max_unparsed=1")
    assert code == 0
    assert [one["label"] for one in records(tmp_path)] == ["neutral", None, None, "male"]
    assert [one.get("reason") for one in records(tmp_path)][1:3] == ["invalid_label", "empty"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["labeller=llm"], 2, "llm=openai"),
        (["max_unparsed=2"], 2, "max_unparsed"),
        (["text_field=body"], 1, "no body"),
        (["title_field=null"], 2, "title_field"),
        (["labeller.tokens=x"], 2, "tokens"),
        (["labeller=votes"], 2, "at least two"),
        (["labeller=file", "labeller.path=none.jsonl"], 3, "none.jsonl"),
    ],
)
def test_what_the_command_refuses(
    tmp_path: Path, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert job(tmp_path, *words) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert job(tmp_path, f"output={tmp_path / 'in.jsonl'}") == 2
    assert job(tmp_path, f"output={tmp_path}") == 2
    assert "expected a file" in capsys.readouterr().err

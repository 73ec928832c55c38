"""Prompt files: what they become, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError, MissingError
from rerankers.llm import Message, Prompt

TEXT = """\
name: presence
messages:
  - role: system
    content: 'Answer with {"label": …}.'
  - {role: user, content: "Title: {{title}}\\nText: {{ text }}"}
examples:
  - {id: d1, title: A nurse, text: "She {{title}} works.", reply: '{"label": "female"}'}
  - {id: 7, title: Rain, text: It rains., reply: '{"label": "neutral"}'}
schema: {type: object}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prompt.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_request(tmp_path: Path) -> None:
    prompt = Prompt.read(written(tmp_path, TEXT), known=["title", "text", "labels"], required=["text"])
    request = prompt.request(
        {"title": "T {{text}} {x}", "text": "é\\1 \\g<0>", "labels": "unused"}, about="d9", sample=2
    )
    assert request.messages == (
        Message("system", 'Answer with {"label": …}.'),
        Message("user", "Title: A nurse\nText: She {{title}} works."),
        Message("assistant", '{"label": "female"}'),
        Message("user", "Title: Rain\nText: It rains."),
        Message("assistant", '{"label": "neutral"}'),
        Message("user", "Title: T {{text}} {x}\nText: é\\1 \\g<0>"),
    )
    assert (request.about, request.sample, request.schema) == ("d9", 2, {"type": "object"})
    assert request.prompt == prompt.fingerprint
    assert prompt.request({"title": "", "text": "x"}, schema={"a": 1}).schema == {"a": 1}
    assert prompt.example_ids == {"d1", "7"}
    assert prompt.placeholders == {"title", "text"}


@given(st.text(min_size=1))
def test_values_are_put_in_as_they_are(value: str) -> None:
    prompt = Prompt("p", (Message("user", "<{{a}}|{{ b }}>"),))
    assert prompt.request({"a": value, "b": "{{a}}"}).messages[0].content == f"<{value}|{{{{a}}}}>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("presence", "absence"),
        ("Answer with", "Reply with"),
        ("It rains", "It snows"),
        ("id: 7", "id: 8"),
        ("type: object", "type: array"),
    ],
)
def test_the_fingerprint_is_of_all_that_a_prompt_says(tmp_path: Path, old: str, new: str) -> None:
    first = Prompt.read(written(tmp_path, TEXT)).fingerprint
    assert Prompt.read(written(tmp_path, f"# a remark\n{TEXT}")).fingerprint == first
    assert Prompt.read(written(tmp_path, TEXT.replace(old, new))).fingerprint != first


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: presence", "name: [1]", r"yaml:1: found the name \[1\]"),
        ("name: presence", "name: presence\nsamples: 3", r"yaml:2: found the key 'samples'; expected one of name"),
        ("name: presence", "name: a\nname: b", "yaml:2: found the key 'name' twice"),
        ("role: system", "role: robot", r"yaml:3: found the role 'robot'; expected one of system, user, assistant"),
        ("role: user", "role: assistant", "yaml:5: found a last message by assistant"),
        (
            "    content: 'Answer with",
            "    note: 1\n    content: 'Answer with",
            "yaml:3: found a message of role, note, content",
        ),
        ("content: 'Answer with {\"label\": …}.'", "content: ' '", "yaml:3: found an empty message"),
        ("content: 'Answer with {\"label\": …}.'", "content: 3", "yaml:3: found an empty message"),
        ("{{title}}\\n", "{{titel}}\\n", r"yaml:5: found the placeholder \{\{titel\}\}; expected one of text, title"),
        ("{{title}}\\n", "{{a title}}\\n", r"yaml:5: found \{\{a title\}\}; expected a name"),
        ("{{ text }}", "text", r"yaml:2: found no \{\{text\}\}"),
        ("id: d1, ", "", "yaml:7: found an example of title, text, reply; expected id, reply, text, title"),
        ("id: 7, ", "id: 7, tilte: x, ", "yaml:8: found an example of id, tilte"),
        ("id: 7", "id: d1", "yaml:8: found the id 'd1' twice"),
        ("title: Rain", "title: 5", "yaml:8: found a value that is no text"),
        ('reply: \'{"label": "neutral"}\'', "reply: ''", "yaml:8: found an empty reply"),
        ("{type: object}", "yes", "yaml:9: found a schema of type bool"),
        ("{type: object}", "{type: [", "yaml:9: found no YAML"),
        ("{type: object}", "!!python/object/apply:os.getcwd []", "yaml:9: found no YAML"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=message):
        Prompt.read(written(tmp_path, TEXT.replace(old, new, 1)), known=["title", "text"], required=["text"])


@pytest.mark.parametrize(
    "text", ["", "[1]", "just text", "messages: []\nname: x", "name: x", "name: x\nmessages: {a: b}"]
)
def test_files_that_are_no_prompt(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"prompt\.yaml:1|no messages"):
        Prompt.read(written(tmp_path, text))


def test_all_problems_at_once(tmp_path: Path) -> None:
    text = TEXT.replace("role: system", "role: robot").replace("id: 7, ", "").replace("{type: object}", "3")
    with pytest.raises(InputError) as caught:
        Prompt.read(written(tmp_path, text))
    assert [problem.line for problem in caught.value.problems] == [3, 8, 9]
    with pytest.raises(MissingError, match="no such file"):
        Prompt.read(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"prompt 'p', about 'd1': found no value for \{\{a\}\}"),
        ({"b": "x"}, "expected one of b"),
        ({"a": 3}, "a of type int"),
        ({"a": " \n"}, "an empty message of role user"),
    ],
)
def test_values_that_do_not_fit(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prompt("p", (Message("user", "{{a}}"),)).request(values, about="d1")

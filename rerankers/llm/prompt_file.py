"""Prompts as files: their parts, and every problem with its line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rerankers._base.errors import Problems
from rerankers.llm.base import Message
from rerankers.llm.identity import ROLES
from rerankers.llm.yaml_text import YamlFile

_PLACE = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(r"\s*([^\W\d]\w*)\s*")
_OF_EXAMPLES = ("id", "reply")


@dataclass(frozen=True, slots=True)
class Example:
    """A case with its answer, shown to the model before the one that is asked.

    Attributes
    ----------
    id
        of the document or query, so that it can be kept out of what is evaluated.
    values
        placeholder -> text.
    reply
        the answer that is right.
    """

    id: str
    values: Mapping[str, str]
    reply: str


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its values, in one pass: what a value says is never looked at."""
    return _PLACE.sub(lambda match: values[match[1].strip()], template)


def places_of(template: str) -> set[str]:
    """Return the names of a template's placeholders."""
    return {match[1].strip() for match in _PLACE.finditer(template)}


def read_messages(file: YamlFile, problems: Problems) -> tuple[Message, ...]:
    """Return the messages of a file, noting every problem."""
    given = file.value.get("messages")
    if not isinstance(given, list) or not given:
        problems.add(file.line("messages"), "no messages", "a list of {role, content}")
        return ()
    messages = []
    for number, one in enumerate(given):
        line = file.line("messages", number)
        if not isinstance(one, dict) or set(one) != {"role", "content"}:
            keys = ", ".join(map(str, one)) if isinstance(one, dict) else type(one).__name__
            problems.add(line, f"a message of {keys or 'nothing'}", "role and content")
        elif one["role"] not in ROLES:
            problems.add(line, f"the role {one['role']!r}", f"one of {', '.join(ROLES)}")
        elif not isinstance(one["content"], str) or not one["content"].strip():
            problems.add(line, "an empty message", "a text")
        else:
            messages.append(Message(one["role"], one["content"]))
    if messages and messages[-1].role != "user":
        problems.add(file.line("messages", len(given) - 1), f"a last message by {messages[-1].role}", "one by the user")
    return tuple(messages)


def check_places(
    file: YamlFile,
    messages: tuple[Message, ...],
    known: Collection[str] | None,
    required: Collection[str],
    problems: Problems,
) -> None:
    """Note placeholders that are no names or that nobody has values for, and those that are required and absent."""
    used: set[str] = set()
    for number, message in enumerate(messages):
        for name in sorted(places_of(message.content)):
            used.add(name)
            line = file.line("messages", number)
            if not _NAME.fullmatch(name):
                problems.add(line, f"{{{{{name}}}}}", "a name between two braces")
            elif known is not None and name not in known:
                problems.add(line, f"the placeholder {{{{{name}}}}}", f"one of {', '.join(sorted(known))}")
    for name in sorted(set(required) - used):
        problems.add(file.line("messages"), f"no {{{{{name}}}}}", f"{{{{{name}}}}} in a message")


def read_examples(file: YamlFile, places: set[str], problems: Problems) -> tuple[Example, ...]:
    """Return the examples of a file, noting every problem; ``places`` are the placeholders of the last message."""
    given = file.value.get("examples") or []
    expected = ", ".join((*_OF_EXAMPLES, *sorted(places - set(_OF_EXAMPLES))))
    if not isinstance(given, list):
        problems.add(file.line("examples"), f"examples of type {type(given).__name__}", "a list")
        return ()
    examples: list[Example] = []
    for number, one in enumerate(given):
        line = file.line("examples", number)
        if not isinstance(one, dict) or set(map(str, one)) != {*_OF_EXAMPLES, *places}:
            keys = ", ".join(map(str, one)) if isinstance(one, dict) else type(one).__name__
            problems.add(line, f"an example of {keys or 'nothing'}", expected)
        elif not all(isinstance(value, str) for key, value in one.items() if key != "id"):
            problems.add(line, "a value that is no text", "texts; set quotes around numbers")
        elif not one["reply"].strip():
            problems.add(line, "an empty reply", "a text")
        elif str(one["id"]) in {example.id for example in examples}:
            problems.add(line, f"the id {one['id']!r} twice", "each once")
        else:
            values = {str(key): value for key, value in one.items() if key != "reply"}
            examples.append(Example(str(one["id"]), {**values, "id": str(one["id"])}, one["reply"]))
    return tuple(examples)

"""Prompts: files of messages with places for values, examples among them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerankers._base.errors import InputError, Problem, Problems
from rerankers._base.fingerprint import fingerprint
from rerankers.llm.base import Message, Request
from rerankers.llm.prompt_file import Example, check_places, filled, places_of, read_examples, read_messages
from rerankers.llm.yaml_text import read_yaml

KEYS = ("name", "messages", "examples", "schema")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages with placeholders.

    As a file, in YAML::

        name: gender_presence
        messages:
          - {role: system, content: "Label the text as neutral, female or male."}
          - {role: user, content: "{{title}} {{text}}"}
        examples:                   # optional; each is the last message and its reply, set before the last message
          - {id: d7, title: "A nurse", text: "She works at night.", reply: '{"label": "female"}'}
        schema: {type: object}      # optional; JSON schema that replies are to follow

    Values are put in as they are: braces in them mean nothing. Two braces with anything but a name between them are an
    error; single braces are text.

    Attributes
    ----------
    name
        of the prompt, for results.
    messages
        at least one, the last by the user.
    examples
        in their order.
    schema
        of the reply; None for plain text.
    """

    name: str
    messages: tuple[Message, ...]
    examples: tuple[Example, ...] = ()
    schema: Mapping[str, Any] | None = None

    @staticmethod
    def read(path: Path | str, known: Collection[str] | None = None, required: Collection[str] = ()) -> Prompt:
        """Read a file.

        Parameters
        ----------
        path
            of the file.
        known
            placeholders that there are values for; None takes any.
        required
            placeholders without which the prompt would ask the same of every case.

        Raises
        ------
        MissingError
            when there is no such file.
        InputError
            with lines: what is no YAML, unknown or missing keys, unknown or missing placeholders, empty messages.
        """
        place = Path(path).expanduser()
        file = read_yaml(place, KEYS)
        problems = Problems(str(place))
        name = file.value.get("name")
        if not isinstance(name, str) or not name.strip():
            problems.add(file.line("name"), f"the name {name!r}", "a text")
        messages = read_messages(file, problems)
        check_places(file, messages, known, required, problems)
        examples = read_examples(file, places_of(messages[-1].content) if messages else set(), problems)
        schema = file.value.get("schema")
        if schema is not None and not isinstance(schema, dict):
            problems.add(file.line("schema"), f"a schema of type {type(schema).__name__}", "a mapping")
        problems.raise_if_any()
        return Prompt(str(name), messages, examples, schema)

    @property
    def placeholders(self) -> frozenset[str]:
        """Names that a request needs values for."""
        return frozenset().union(*(places_of(message.content) for message in self.messages))

    @property
    def example_ids(self) -> frozenset[str]:
        """Ids of the examples, which must not be among what is evaluated."""
        return frozenset(example.id for example in self.examples)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of all that it says, stored with every reply."""
        turns = [[message.role, message.content] for message in self.messages]
        shown = [[example.id, dict(example.values), example.reply] for example in self.examples]
        return fingerprint(self.name, turns, shown, self.schema)

    def request(
        self,
        values: Mapping[str, str],
        about: str = "",
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
    ) -> Request:
        """Return the request for one case.

        Parameters
        ----------
        values
            placeholder -> text; those that the prompt has no place for are left out.
        about
            id of the document or query.
        sample
            number of the completion, from 0.
        schema
            in place of the prompt's own.

        Raises
        ------
        InputError
            for a placeholder without a value, a value that is no text, a message that is empty with its values.
        """
        where = f"prompt {self.name!r}" + (f", about {about!r}" if about else "")
        _check_values(where, self.placeholders, values)
        turns = [Message(message.role, filled(message.content, values)) for message in self.messages[:-1]]
        last = self.messages[-1]
        for example in self.examples:
            turns.append(Message(last.role, filled(last.content, example.values)))
            turns.append(Message("assistant", example.reply))
        turns.append(Message(last.role, filled(last.content, values)))
        for message in turns:
            if not message.content.strip():
                raise InputError.one(where, f"an empty message of role {message.role}", "a text")
        return Request(tuple(turns), sample, self.schema if schema is None else schema, self.fingerprint, about)


def _check_values(where: str, places: Collection[str], values: Mapping[str, str]) -> None:
    problems = [
        Problem(
            where, f"no value for {{{{{name}}}}}", f"one of {', '.join(sorted(values)) or 'none'}, or a value for it"
        )
        for name in sorted(places)
        if name not in values
    ]
    problems += [
        Problem(where, f"{name} of type {type(values[name]).__name__}", "a text")
        for name in sorted(places)
        if name in values and not isinstance(values[name], str)
    ]
    if problems:
        raise InputError(problems)

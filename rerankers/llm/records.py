"""What the replay cache keeps of a reply, and what every kind of cache offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from rerankers._base.json_text import parse_json
from rerankers.llm.base import Reply
from rerankers.llm.identity import canonical

KEEPS = ("", "refusal")
"""Errors of replies that are kept: a refusal is what the model says, a failed call says nothing."""


@dataclass(frozen=True, slots=True)
class Record:
    """One kept reply; no address, no header, no key of an account.

    Attributes
    ----------
    key
        name of the request, from `rerankers.llm.identity`.
    text, finish_reason, model, prompt_tokens, completion_tokens, error, detail
        of the reply, word for word.
    prompt
        fingerprint of the prompt file.
    """

    key: str
    text: str
    finish_reason: str = "stop"
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""
    detail: str = ""
    prompt: str = ""

    @staticmethod
    def of(key: str, reply: Reply, prompt: str) -> Record:
        """Return what is kept of a reply."""
        return Record(
            key,
            reply.text,
            reply.finish_reason,
            reply.model,
            reply.prompt_tokens,
            reply.completion_tokens,
            reply.error,
            reply.detail,
            prompt,
        )

    def reply(self) -> Reply:
        """Return it as a reply that was found."""
        return Reply(
            self.text,
            self.finish_reason,
            self.model,
            self.prompt_tokens,
            self.completion_tokens,
            attempts=0,
            cached=True,
            error=self.error,
            detail=self.detail,
        )

    def line(self) -> str:
        """Return it as one line of JSON without its end; fields that say nothing are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return canonical({name: value for name, value in values.items() if name in _ALWAYS or value not in ("", None)})


_ALWAYS = ("key", "text")
_KINDS: Mapping[str, type] = {field.name: int if field.name.endswith("_tokens") else str for field in fields(Record)}


def read_record(line: str) -> Record:
    """Return the record of a line of JSON.

    Raises
    ------
    ValueError
        when it is none, saying what is wrong.
    """
    value = parse_json(line)
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in _ALWAYS):
        raise ValueError("no object with key and text")
    known: dict[str, Any] = {}
    for name, one in value.items():
        kind = _KINDS.get(name)
        if kind is None:
            raise ValueError(f"the unknown field {name!r}")
        if one is not None and (not isinstance(one, kind) or isinstance(one, bool)):
            raise ValueError(f"{name} that is no {'whole number' if kind is int else 'text'}")
        known[name] = one
    return Record(**{name: one for name, one in known.items() if one is not None})


class Replies(Protocol):
    """A replay cache that is open. Records are added and never changed: the first reply to a request stays.

    Attributes
    ----------
    place
        where it is, for messages.
    damaged
        records that could not be read: the last one of a writer that was killed.
    """

    place: str
    damaged: int

    def find(self, keys: Sequence[str]) -> dict[str, Record]:
        """Return key -> record of those that are there."""
        ...

    def add(self, records: Sequence[Record]) -> dict[str, Record]:
        """Keep records for good, and return key -> the record that is kept: an earlier one where there was one."""
        ...

    def every(self) -> Iterable[Record]:
        """Yield all records, in the order in which they came."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...

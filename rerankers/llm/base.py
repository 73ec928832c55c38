"""What language models are asked and what they answer, whoever answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

_HALVES = re.compile("[\ud800-\udfff]")


def sendable(text: str) -> str:
    """Return a text with each half of a surrogate pair replaced by U+FFFD, for it has no UTF-8."""
    return _HALVES.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn: ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One completion that is asked for.

    Attributes
    ----------
    messages
        the turns so far, at least one, none of them empty.
    sample
        number of the completion among several of the same messages, from 0; part of its name in the replay cache.
    schema
        JSON schema that the reply is asked to follow; None for plain text.
    prompt
        fingerprint of the prompt file behind the messages, kept with the reply.
    about
        id of the document or query that it is about, for messages only.
    """

    messages: tuple[Message, ...]
    sample: int = 0
    schema: Mapping[str, Any] | None = None
    prompt: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes
    ----------
    text
        as it came, ``""`` where nothing did.
    finish_reason
        ``stop``, ``length`` and so on, in the server's words.
    model
        who answered, in the server's words.
    prompt_tokens, completion_tokens
        as the server counts them; None where it does not say.
    attempts
        tries that it took, 0 for one found in the cache.
    cached
        whether it was found in the cache.
    error
        ``""``, or why there is no text: ``http_error``, ``timeout``, ``refusal``, ``budget``, ``dry_run``,
        ``too_long`` (for a local model).
    detail
        what the server said of the error; never a key or a header.
    """

    text: str
    finish_reason: str = "stop"
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    cached: bool = False
    error: str = ""
    detail: str = ""


class Session(Protocol):
    """A provider at work for one job; a context manager.

    Attributes
    ----------
    name
        of provider and model, for results: ``openai:gpt-x``, ``local:folder``, ``scripted``.
    dry_run
        True when nothing is really asked: every reply has the error ``dry_run`` and ``account`` says what it would be.
    """

    name: str
    dry_run: bool

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return a reply to each request, in their order; a request that fails for good has a reply with ``error``."""
        ...

    @property
    def account(self) -> Mapping[str, int | float]:
        """What was asked so far: calls, attempts, found in the cache, tokens, cost, replies by error."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Provider(Protocol):
    """Who answers; its dataclass fields are the options of ``conf/llm/<name>.yaml``."""

    def session(self, cache: Path) -> Session:
        """Open it for a job. ``cache`` is the folder of the replay cache, unless an option names another file."""
        ...

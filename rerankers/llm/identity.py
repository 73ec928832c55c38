"""The name of a request in the replay cache: equal questions to equal models have equal names, everywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import InputError
from rerankers.llm.base import Request

KEY_VERSION = 1  # part of every key: raised when the same words would ask for something else
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is asked, as far as it bears on the answer.

    Attributes
    ----------
    kind
        of provider: ``openai``, ``local``, ``scripted``. Addresses and keys are no part of it, so that replies found by
        one person are found again by another.
    model
        its name.
    parameters
        of sampling, such as temperature and seed; numbers, texts and mappings of these.
    """

    kind: str
    model: str
    parameters: Mapping[str, Any]

    def key(self, request: Request, purpose: str = "reply") -> str:
        """Return the request's name: sha256, hexadecimal, of canonical JSON.

        ``about`` and ``prompt`` of the request are no part of it: they change nothing about the answer.

        Raises
        ------
        InputError
            for a request without messages, with an empty one or a role that is none.
        """
        check_request(request)
        content = {
            "version": KEY_VERSION,
            "purpose": purpose,
            "kind": self.kind,
            "model": self.model,
            "parameters": dict(self.parameters),
            "messages": [[message.role, message.content] for message in request.messages],
            "schema": request.schema,
            "sample": request.sample,
        }
        return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(value: object) -> str:
    """Return the one JSON text of a value: keys sorted, no blanks, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_request(request: Request) -> None:
    """Raise `InputError` for what nobody can be asked."""
    where = f"request about {request.about!r}" if request.about else "request"
    if not request.messages:
        raise InputError.one(where, "no messages", "at least one")
    if request.sample < 0:
        raise InputError.one(where, f"sample {request.sample}", "a number from 0")
    for message in request.messages:
        if message.role not in ROLES:
            raise InputError.one(where, f"the role {message.role!r}", f"one of {', '.join(ROLES)}")
        if not message.content.strip():
            raise InputError.one(where, f"an empty message of role {message.role}", "a text")

"""The chat completions protocol: what is sent, and what a body or an error says."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from rerankers._base.json_text import parse_json
from rerankers.llm.base import Reply, Request, sendable

AGAIN = frozenset((408, 409, 425, 429))
"""Answers after which trying again may help; so may 500 and above."""
NO_SCHEMA = frozenset((400, 415, 422, 501))
"""Answers of servers that do not know ``response_format``."""
_LONGEST_DETAIL, _LONGEST_READ = 300, 4000
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no reply.

    Attributes
    ----------
    error
        ``http_error`` or ``timeout``.
    detail
        what was said; not yet cleaned.
    status
        of the answer; None where there was none.
    again
        whether to try again.
    wait
        seconds that the server asks to wait for; None where it does not say.
    """

    error: str
    detail: str
    status: int | None = None
    again: bool = False
    wait: float | None = None


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what asks for replies that follow a JSON schema."""
    name = _NOT_NAME.sub("_", str(schema.get("title", "reply")))[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}


def turns(request: Request) -> list[dict[str, str]]:
    """Return the messages as the protocol has them."""
    return [{"role": message.role, "content": sendable(message.content)} for message in request.messages]


def reply_of(body: str, attempts: int) -> Reply | Failure:
    """Return the first choice of a body, or what is wrong with it: then trying again may help."""
    try:
        value = parse_json(body)
    except (ValueError, RecursionError):
        return Failure("http_error", f"a body that is no JSON: {_short(body)}", 200, again=True)
    if isinstance(value, dict) and value.get("error"):
        return Failure("http_error", _said(value, body), 200, again=True)
    choice = _first(value.get("choices")) if isinstance(value, dict) else None
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        return Failure("http_error", f"a body that is no chat completion: {_short(body)}", 200, again=True)
    usage = value.get("usage") if isinstance(value.get("usage"), dict) else {}
    refusal = message.get("refusal")
    text = _content(message.get("content"))
    refused = isinstance(refusal, str) and bool(refusal.strip()) and not text.strip()
    return Reply(
        text,
        _text(choice.get("finish_reason")),
        _text(value.get("model")),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        attempts,
        error="refusal" if refused else "",
        detail=_short(_text(refusal)) if refused else "",
    )


def failure_of(status: int, body: str, headers: Mapping[str, str]) -> Failure:
    """Return what an answer with an error status says."""
    try:
        value = parse_json(body)
    except (ValueError, RecursionError):
        value = None
    spent = isinstance(value, dict) and "insufficient_quota" in str(value.get("error"))
    again = (status in AGAIN or status >= 500) and not spent
    return Failure("http_error", f"{status}: {_said(value, body)}", status, again, retry_after(headers))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from milliseconds, seconds or an HTTP date; None for nonsense."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            seconds = float(milliseconds) / 1000
        elif (given := headers.get("retry-after")) is None:
            return None
        else:
            seconds = float(given) if _is_number(given) else parsedate_to_datetime(given).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*\d+(\.\d*)?\s*", text) is not None


def _said(value: Any, body: str) -> str:
    """Return the message of an error body, in the forms that servers have."""
    error = value.get("error", value) if isinstance(value, dict) else None
    if isinstance(error, dict):
        error = next((error[key] for key in ("message", "detail", "error") if error.get(key)), None)
    return _short(error if isinstance(error, str) else body)


def _short(text: str) -> str:
    plain = " ".join(re.sub(r"<[^<>]{0,500}>", " ", text[:20_000]).split())
    return plain[:_LONGEST_READ]  # once it is cleaned it is `shortened`: half a key would not be known


def shortened(detail: str) -> str:
    """Return a cleaned detail in the length that is shown."""
    return detail if len(detail) <= _LONGEST_DETAIL else f"{detail[:_LONGEST_DETAIL]}…"


def _first(choices: Any) -> dict[str, Any] | None:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _content(content: Any) -> str:
    """Return the text of a message, which some servers give in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _text(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

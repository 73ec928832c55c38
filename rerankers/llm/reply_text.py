"""What is common to every reading of a reply: thinking aloud is set aside, fences and JSON are found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rerankers._base.json_text import parse_json
from rerankers.llm.base import Reply

NOTHING = object()
"""What `whole_json` gives where the text is no JSON; None is a JSON value."""

_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"(?:^|\n)[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:\n[ \t]*\1[ \t]*(?=\n|$)|\Z)", re.DOTALL)
_MOST_OPENINGS = 200  # braces that are tried as the start of an object: a reply of nothing else stays cheap
_REFUSING = re.compile(
    r"\W*(?:(?:i[’']?m|i am|we[’']?re|we are)\s+(?:very\s+|really\s+)?sorry|sorry|as an ai\b|"
    r"i\s+(?:can[’']?t|cannot|can not|won[’']?t|will not|am unable|must decline)|i[’']m\s+(?:unable|not able))"
    r"[^.!?\n]{0,120}?\b(?:assist|help|comply|answer|fulfil|fulfill|continue|provide|label|classify|engage|do that|"
    r"generate|create|rewrite|process|complete|determine|support|decline|discuss)\b",
    re.IGNORECASE,
)


def answer_of(reply: Reply) -> tuple[str, bool]:
    """Return (the text without a block of thinking at its start, whether the reply stopped inside that block)."""
    match = _THINKING.match(reply.text)
    if match is None:
        return reply.text.strip(), False
    return reply.text[match.end() :].strip(), match[3] == ""


def failure_of(reply: Reply) -> str:
    """Return why a reply can hold no answer: its error, ``refusal`` where a filter stopped it, or ``""``."""
    if reply.error:
        return reply.error
    return "refusal" if reply.finish_reason == "content_filter" else ""


def refuses(text: str) -> bool:
    """Say whether a text opens as refusals do. English only; others have no label and are ``invalid_label``."""
    return _REFUSING.match(text) is not None


def whole_json(text: str) -> Any:
    """Return the JSON value that the whole text is, or `NOTHING`."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return NOTHING


def fenced(text: str) -> list[str]:
    """Return what stands between fences, in order; a fence that is never closed ends with the text."""
    return [match[2].strip() for match in _FENCE.finditer(text)]


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the complete JSON objects in a text, from left to right, none inside another."""
    reader = json.JSONDecoder()
    start, tried = text.find("{"), 0
    while start >= 0 and tried < _MOST_OPENINGS:
        tried += 1
        try:
            value, end = reader.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)

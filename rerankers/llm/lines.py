"""From a reply to a list of short texts, one a line, however the model chose to set its list."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import InputError
from rerankers.llm.base import Reply
from rerankers.llm.reply_text import NOTHING, answer_of, failure_of, fenced, objects_in, refuses, whole_json

COUNTS = ("echo", "empty", "repeated", "beyond_most", "heading", "truncated", "no_text", "too_long", "markup")
"""Why lines are dropped: they repeat the original, hold nothing, repeat another line, are more than were asked for,
announce the list, were cut off by the limit of tokens, are entries of a JSON list that are no text, are longer than
`LONGEST`, or are a line of a web page."""

LONGEST = 400
"""Letters of a text in a list; a model that goes round in circles within a line writes tens of thousands."""

_NUMBER = re.compile(
    r"\s*[*_]{0,2}(?:(?:query|variant|rewrite|option|suggestion)\s+)?[(\[]?(\d{1,3})[.):\]]+[*_]{0,2}(?:\s+|$)", re.I
)
_BULLET = re.compile(r"\s*(?:[-*+•‣▪●○◦·–—]|→|=>)(?:\s+|$)")
_QUOTES = (
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("«", "»"),
    ("„", "“"),
    ("„", "”"),
    ("`", "`"),
    ("**", "**"),
    ("*", "*"),
)
_TAG = re.compile(r"<[!/]?[a-zA-Z][^<>]*>|<!--")
_FENCE_LINE = re.compile(r"\s*(?:```+|~~~+)\s*\w*\s*$")
_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+(?:(")|\\?\Z)', re.DOTALL)  # unclosed ones too, or every quote is tried anew
_MARKS = " \t.,;:!?\"'`*_“”‘’«»„"


@dataclass(frozen=True, slots=True)
class Lines:
    """The texts of a list.

    Attributes
    ----------
    kept
        in their order, stripped of numbers, bullets, quotes and superfluous blanks; no two alike but for case, blanks
        and the marks around them.
    counts
        lines that were dropped, by reason: every key of `COUNTS`, 0 included.
    raw
        the reply, word for word.
    reason
        ``""``, or why nothing was kept: the reply's error, ``empty``, ``refusal``, ``truncated`` or ``nothing_new``.
    """

    kept: tuple[str, ...]
    counts: Mapping[str, int]
    raw: str
    reason: str = ""


def parse_lines(reply: Reply, echo: str = "", most: int | None = None) -> Lines:
    """Return the texts of a reply that is a list.

    One a line, or a JSON array; numbers (``1.``, ``2)``), bullets, quotes and fences are taken off. Where the limit of
    tokens cut the reply, its last line is dropped, for nobody knows how it would have ended.

    Parameters
    ----------
    reply
        as it came.
    echo
        the original, which is no new text.
    most
        texts that are kept; None keeps all.

    Raises
    ------
    InputError
        for ``most`` below 1.
    """
    if most is not None and most < 1:
        raise InputError.one("most", str(most), "at least 1, or None for all")
    counts = dict.fromkeys(COUNTS, 0)
    failure = failure_of(reply)
    text, unfinished = answer_of(reply)
    if failure or not text:
        cut = unfinished or reply.finish_reason == "length"
        return Lines((), counts, reply.text, failure or ("truncated" if cut else "empty"))
    if refuses(text):
        return Lines((), counts, reply.text, "refusal")
    items = _items(text, reply, counts)
    kept = _chosen(items, echo, most, counts)
    reason = "" if kept else "truncated" if counts["truncated"] and not items else "nothing_new"
    return Lines(tuple(kept), counts, reply.text, reason)


def _chosen(items: list[str], echo: str, most: int | None, counts: dict[str, int]) -> list[str]:
    kept: list[str] = []
    original, seen = _normal(echo), set[str]()
    for item in items:
        normal = _normal(item)
        if all(unicodedata.category(letter)[0] in "PZC" for letter in normal):  # marks and blanks alone
            counts["empty"] += 1
        elif len(item) > max(LONGEST, 2 * len(echo)):  # long originals have long rewrites
            counts["too_long"] += 1
        elif _TAG.match(item):
            counts["markup"] += 1
        elif normal == original:
            counts["echo"] += 1
        elif normal in seen:
            counts["repeated"] += 1
        elif most is not None and len(kept) >= most:
            counts["beyond_most"] += 1
        else:
            seen.add(normal)
            kept.append(item)
    return kept


def _items(text: str, reply: Reply, counts: dict[str, int]) -> list[str]:
    """Return the entries of the list, cleaned, in order."""
    for candidate in (text, *fenced(text)):
        value = whole_json(candidate)
        if value is not NOTHING and isinstance(value, list | dict):
            return _of_json(value, counts)
    if text.startswith("["):  # an array that breaks off: its complete texts
        texts = [whole_json(found[0]) for found in _JSON_TEXT.finditer(text) if found[1]]
        if texts:
            counts["truncated"] += 1
            return [_blanks(str(one)) for one in texts if one is not NOTHING]
    for found in objects_in(text):
        return _of_json(found, counts)
    return _of_lines(text, reply, counts)


def _of_json(value: Any, counts: dict[str, int]) -> list[str]:
    """Return the texts of an array, of the arrays in an object, or of an object's own values."""
    if isinstance(value, dict):
        arrays = [one for one in value.values() if isinstance(one, list)]
        value = [one for array in arrays for one in array] if arrays else list(value.values())
    items = []
    for one in value:
        texts = [field for field in one.values() if isinstance(field, str)] if isinstance(one, dict) else [one]
        if len(texts) == 1 and isinstance(texts[0], str):
            items.append(_blanks(texts[0]))
        else:
            counts["no_text"] += 1
    return items


def _of_lines(text: str, reply: Reply, counts: dict[str, int]) -> list[str]:
    lines = [line for line in text.splitlines() if not _FENCE_LINE.match(line)]
    if reply.finish_reason == "length" and lines and not reply.text.endswith("\n"):
        counts["truncated"] += 1
        lines.pop()
    if len(lines) > 1 and lines[0].rstrip(" *_").endswith(":"):
        counts["heading"] += 1
        lines = lines[1:]
    filled = [line for line in lines if line.strip()]
    numbered = [match for line in filled if (match := _NUMBER.match(line))]
    # A text may itself begin with a number: a lone line loses it only where it says that it is the first.
    strip = len(numbered) * 2 >= len(filled) and (len(filled) > 1 or numbered[:1] == [] or numbered[0][1] == "1")
    return [_clean(line, strip) for line in lines]


def _clean(line: str, numbered: bool) -> str:
    bare = _without(_BULLET, line)
    if numbered:
        bare = _without(_NUMBER, bare)
    bare = _blanks(bare)
    for _ in range(3):  # quotes inside stars inside quotes
        inner = _unquoted(bare)
        if inner == bare:
            break
        bare = inner
    return bare


def _without(start: re.Pattern[str], line: str) -> str:
    match = start.match(line)
    return line if match is None else line[match.end() :]


def _unquoted(text: str) -> str:
    inside = text.removesuffix(",") if text[:1] in ("'", '"') else text
    for left, right in _QUOTES:
        inner = inside[len(left) : len(inside) - len(right)]
        whole = len(inside) >= len(left) + len(right) and inside.startswith(left) and inside.endswith(right)
        if whole and left not in inner and right not in inner:
            return inner.strip()
    return text


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _normal(text: str) -> str:
    return _blanks(unicodedata.normalize("NFKC", text).casefold()).strip(_MARKS)

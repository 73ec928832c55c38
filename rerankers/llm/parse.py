"""From a reply to a label. What is no label stays None, with the reason: it is never mapped to neutral or 0."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rerankers._base.errors import InputError
from rerankers.llm.base import Reply
from rerankers.llm.lines import Lines, parse_lines
from rerankers.llm.reply_text import NOTHING, answer_of, failure_of, fenced, objects_in, refuses, whole_json

__all__ = ["Lines", "Parsed", "parse_label", "parse_lines"]

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that set no blanks between words: there a label needs no word boundary."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says.

    Attributes
    ----------
    value
        the label, or None.
    route
        how it was found: ``json`` (the whole reply), ``fenced``, ``object`` (inside other text), ``word``; ``""`` where
        nothing was looked at.
    reason
        ``""``, or why there is no label: ``empty``, ``truncated``, ``refusal``, ``invalid_label``, ``ambiguous``, or
        the reply's own error (``http_error``, ``timeout``, ``budget``, ``dry_run``, …).
    """

    value: str | None
    route: str = ""
    reason: str = ""


def parse_label(
    reply: Reply, labels: Mapping[str, Sequence[str]], *, field: str = "label", first: bool = False
) -> Parsed:
    """Return the label that a reply gives.

    Looked at in this order, and the first that is there decides: the whole reply as JSON, JSON inside fences, the first
    complete object in the text, and last the words of the text. Of words there must be exactly one label, as a whole
    word in any case. Negations are not interpreted: ``not male`` names ``male``.

    Parameters
    ----------
    reply
        as it came; thinking aloud at its start (``<think>…</think>``) is set aside.
    labels
        label -> its synonyms; a label is its own synonym.
    field
        the object's field that holds the label. Where an object lacks it, any value that is a label and nothing else
        counts. Other fields are ignored.
    first
        take the first of several different labels instead of giving ``ambiguous``.

    Raises
    ------
    InputError
        for no labels, an empty one, or one synonym of two labels.
    """
    words = _Words.of(labels)
    failure = failure_of(reply)
    if failure:
        return Parsed(None, "", failure)
    text, unfinished = answer_of(reply)
    if not text:
        return Parsed(None, "", "truncated" if unfinished or reply.finish_reason == "length" else "empty")
    for route, value in _structured(text):
        return _decided(route, _of_value(value, field, words), first)
    if reply.finish_reason == "length":
        return Parsed(None, "", "truncated")
    if refuses(text):
        return Parsed(None, "word", "refusal")
    return _decided("word", words.all_in(text), first)


def _structured(text: str) -> Sequence[tuple[str, Any]]:
    """Return the first JSON value that says something, with its route, or nothing."""
    value = whole_json(text)
    if isinstance(value, dict | list | str):
        return [("json", value)]
    for block in fenced(text):
        value = whole_json(block)
        if value is not NOTHING and isinstance(value, dict | list | str):
            return [("fenced", value)]
    return [("object", value) for value in objects_in(text)][:1]


def _of_value(value: Any, field: str, words: _Words) -> list[str]:
    """Return the labels that a JSON value names, in order."""
    if isinstance(value, dict):
        folded = {str(key).casefold().strip(): one for key, one in value.items()}
        if field.casefold() in folded:
            return _of_value(folded[field.casefold()], "", words)
        exact = [words.exactly(one) for one in value.values() if isinstance(one, str)]
        return [label for label in exact if label is not None]
    if isinstance(value, list):
        return [label for one in value for label in _of_value(one, field, words)]
    if isinstance(value, bool) or value is None:
        return []
    exact_label = words.exactly(str(value))
    return [exact_label] if exact_label is not None else words.all_in(str(value))


def _decided(route: str, found: Sequence[str], first: bool) -> Parsed:
    distinct = list(dict.fromkeys(found))
    if not distinct:
        return Parsed(None, route, "invalid_label")
    if len(distinct) > 1 and not first:
        return Parsed(None, route, "ambiguous")
    return Parsed(distinct[0], route)


@dataclass(frozen=True, slots=True)
class _Words:
    """The synonyms of all labels, ready to be looked for."""

    label_of: Mapping[str, str]
    pattern: re.Pattern[str]

    @staticmethod
    def of(labels: Mapping[str, Sequence[str]]) -> _Words:
        return _words(tuple((label, *synonyms) for label, synonyms in labels.items()))

    def exactly(self, text: str) -> str | None:
        """Return the label that a text is, but for its case and the marks around it."""
        folded = _folded(text)
        return self.label_of.get(folded) or self.label_of.get(folded.strip(" \t\r\n.,;:!?\"'`*_()[]<>“”‘’«»"))

    def all_in(self, text: str) -> list[str]:
        """Return the labels of all whole words in a text that are one; of overlapping synonyms the longest counts."""
        folded = _folded(text)
        found = []
        start = 0
        while match := self.pattern.search(folded, start):
            whole = next((word for word in self._fitting(match[0]) if _is_whole(folded, match.start(), word)), None)
            if whole is not None:
                found.append(self.label_of[whole])
            start = match.start() + (len(whole) if whole is not None else 1)
        return found

    def _fitting(self, longest: str) -> list[str]:
        return sorted((word for word in self.label_of if longest.startswith(word)), key=len, reverse=True)


@lru_cache(maxsize=64)
def _words(groups: tuple[tuple[str, ...], ...]) -> _Words:
    label_of: dict[str, str] = {}
    for label, *synonyms in groups:
        for word in (label, *synonyms):
            folded = _folded(word).strip()
            if not folded:
                raise InputError.one("labels", f"an empty name of the label {label!r}", "names with letters")
            if label_of.setdefault(folded, label) != label:
                raise InputError.one(
                    "labels", f"{word!r} for both {label_of[folded]!r} and {label!r}", "names of one label each"
                )
    if not label_of:
        raise InputError.one("labels", "none", "at least one label")
    longest_first = sorted(label_of, key=len, reverse=True)
    return _Words(label_of, re.compile("|".join(re.escape(word) for word in longest_first)))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_whole(text: str, start: int, word: str) -> bool:
    """Say whether no letter, digit or mark continues a word on either side."""
    end = start + len(word)
    left = start == 0 or not _joins(text[start - 1]) or not _joins(word[0]) or bool(_SPACELESS.match(word[0]))
    right = end == len(text) or not _joins(text[end]) or not _joins(word[-1]) or bool(_SPACELESS.match(word[-1]))
    return left and right


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M")

"""Cut the written form of a measure, ``Name(param=value, …)@k``, into its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rerankers._base.errors import ConfigError

FORM = "a measure such as nDCG@10, EEL or EED(umodel='rbp', p=0.5)@20"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")
_BARE = re.compile(r"[^,()'\"=@]+")
_DIGITS = re.compile(r"[0-9]+")
_BLANK = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Parts:
    """A name, the parameters as written (name, text, quoted) and the cutoff, nothing interpreted yet."""

    name: str
    params: tuple[tuple[str, str], ...]
    cutoff: int | None


def scan(text: str) -> Parts:
    """Return the parts of one written measure.

    Values may be quoted with ``'`` or ``"`` (a backslash keeps the next character as it is) or bare.

    Raises
    ------
    ConfigError
        saying at which character the text stops being a measure.
    """
    reader = _Reader(text)
    name = reader.match(_NAME, "a name")
    params: list[tuple[str, str]] = []
    if reader.take("("):
        while not reader.take(")"):
            if params:
                reader.expect(",")
            key = reader.match(_NAME, "a parameter name")
            reader.expect("=")
            params.append((key, reader.value()))
    cutoff = int(reader.match(_DIGITS, "a whole number after @")) if reader.take("@") else None
    if not reader.done:
        raise reader.error("the end")
    return Parts(name, tuple(params), cutoff)


def split(text: str) -> list[str]:
    """Split a list of measures at the commas and blanks that are outside brackets and quotes."""
    pieces: list[str] = []
    current = ""
    depth = 0
    quote = ""
    escaped = False
    for character in text:
        if quote:
            ends = character == quote and not escaped
            escaped = character == "\\" and not escaped
            quote = "" if ends else quote
        elif character in "'\"":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif depth == 0 and (character == "," or character.isspace()):
            pieces.append(current)
            current = ""
            continue
        current += character
    return [piece for piece in [*pieces, current] if piece]


def quoted(text: str) -> str:
    """Return text in single quotes, so that `scan` reads it back."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._skip()

    @property
    def done(self) -> bool:
        return self.at == len(self.text)

    def error(self, expected: str) -> ConfigError:
        found = repr(self.text[self.at]) if not self.done else "the end"
        return ConfigError(
            f"measure {self.text!r}: found {found} at character {self.at + 1}; expected {expected}. Write {FORM}."
        )

    def take(self, character: str) -> bool:
        if not self.text.startswith(character, self.at):
            return False
        self.at += 1
        self._skip()
        return True

    def expect(self, character: str) -> None:
        if not self.take(character):
            raise self.error(repr(character))

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.error(what)
        self.at = found.end()
        self._skip()
        return found.group()

    def value(self) -> str:
        quote = self.text[self.at : self.at + 1]
        if quote not in ("'", '"'):
            return self.match(_BARE, "a value").strip()
        self.at += 1
        out = ""
        while not self.done and self.text[self.at] != quote:
            self.at += self.text[self.at] == "\\"
            out += self.text[self.at : self.at + 1]
            self.at += 1
        if not self.take(quote):
            raise self.error(f"the closing {quote}")
        return out

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        if blank is not None:
            self.at = blank.end()

"""Keys stay where they are: what servers and libraries say is cleaned before it is kept or shown."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

HIDDEN = "[hidden]"
_SHORTEST = 4  # shorter keys are no secrets, and would be found inside of words
_LONG = 12  # keys of local servers, such as "ollama", are words that a reply may hold
_PART = 8  # letters and digits of a key in a row that are no accident in an error
_OTHER = re.compile("[^A-Za-z0-9]+")
_PLAIN = re.compile("[A-Za-z0-9]")
_NAMES = re.compile(
    "(?:x[-_])?(?:api|subscription|access|auth|secret|client)?[-_]?(?:key|token|secret|sig|signature)|"
    "password|authorization|bearer|code",
    re.IGNORECASE,
)
_PATTERNS = (
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{4,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai)[-_][\w*.-]{4,}"), HIDDEN),
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/?#@]*@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    (
        re.compile(
            r"((?:api[-_ ]?key|authorization|access[-_ ]?token)[\"']?\s*[:=]\s*[\"']?)(?!bearer|basic)[^\s\"',;&}]{4,}",
            re.I,
        ),
        rf"\1{HIDDEN}",
    ),
)


class Secrets:
    """Knows the keys of a session and takes them out of texts.

    A key is known in other spellings too: encoded for addresses, pages or headers, in capitals, cut by blanks or marks.
    """

    __slots__ = ("_all", "_long", "_parts", "_whole")

    def __init__(self, keys: Iterable[str]) -> None:
        forms = {form for key in keys if len(key) >= _SHORTEST for form in _forms(key)}
        # The longest first: one form may be part of another.
        self._all = sorted(forms, key=len, reverse=True)
        self._long = [form for form in self._all if len(form) >= _LONG]
        bare = {_bare(form) for form in self._all}
        self._whole = sorted((one for one in bare if len(one) >= _LONG), key=len, reverse=True)
        self._parts = {one[i : i + _PART] for one in bare for i in range(len(one) - _PART + 1)}

    def __repr__(self) -> str:
        return "Secrets()"

    def from_reply(self, text: str) -> str:
        """Return what a model wrote without the session's own keys; anything else stays word for word."""
        for form in self._long:
            text = text.replace(form, HIDDEN)
        return _without(text, [one for one in self._whole if one in _bare(text)])

    def from_message(self, text: str) -> str:
        """Return an error's text without the keys or parts of them, and without whatever looks like one."""
        for form in self._all:
            text = text.replace(form, HIDDEN)
        bare = _bare(text) if self._parts else ""
        found = {bare[i : i + _PART] for i in range(len(bare) - _PART + 1)} & self._parts
        text = _without(text, found)
        for pattern, clean in _PATTERNS:
            text = pattern.sub(clean, text)
        return text


def split_address(address: str) -> tuple[str, str, tuple[str, ...]]:
    """Return (an address without name and password, the header that stands for them or ``""``, what is secret)."""
    parts = urlsplit(address)
    user, password = parts.username, parts.password
    asked = tuple(value for name, value in parse_qsl(parts.query) if is_name_of_secret(name))
    if user is None:
        return address, "", asked
    host = parts.netloc.rpartition("@")[2]
    given = f"{unquote(user)}:{unquote(password or '')}"
    token = base64.b64encode(given.encode()).decode()
    secret = unquote(password) if password else unquote(user)
    return urlunsplit(parts._replace(netloc=host)), f"Basic {token}", (token, secret, *asked)


def shown_address(address: str) -> str:
    """Return an address for messages: keys behind its question mark are hidden."""
    parts = urlsplit(address)
    fields = [one.partition("=") for one in parts.query.split("&")]
    query = "&".join(f"{name}{cut}{HIDDEN if is_name_of_secret(name) else value}" for name, cut, value in fields)
    return urlunsplit(parts._replace(query=query))


def is_name_of_secret(name: str) -> bool:
    """Say whether a field of that name holds a key: ``api_key``, ``Authorization``."""
    return _NAMES.fullmatch(name.strip()) is not None


def names_of_secrets(fields: Mapping[str, Any]) -> list[str]:
    """Return the names in a mapping, and in mappings inside it, whose values are keys."""
    inside = [name for value in fields.values() if isinstance(value, Mapping) for name in names_of_secrets(value)]
    return sorted({str(name) for name in fields if is_name_of_secret(str(name))} | set(inside))


def _forms(key: str) -> set[str]:
    raw = key.encode()
    forms = {key, quote(key, safe=""), quote_plus(key), quote(key), html.escape(key), raw.hex()}
    forms |= {base64.b64encode(raw).decode(), key.encode("unicode_escape").decode()}
    if len(key) >= _LONG:
        for before in range(3):  # inside of a longer text, such as a whole header, three encodings are possible
            token = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")[(4 * before + 2) // 3 : -1]
            forms |= {token, token.translate(str.maketrans("+/", "-_"))}
    return forms


def _bare(text: str) -> str:
    """Return the letters and digits of a text, which are what its spellings have in common."""
    return _OTHER.sub("", text).lower()


def _without(text: str, bare: Iterable[str]) -> str:
    """Return a text without the places whose letters and digits are these."""
    wanted = list(bare)
    if not wanted:
        return text
    place = [match.start() for match in _PLAIN.finditer(text)]
    letters = "".join(text[at] for at in place).lower()
    covered = bytearray(len(place))
    for one in wanted:
        at = letters.find(one)
        while at >= 0:
            covered[at : at + len(one)] = b"\1" * len(one)
            at = letters.find(one, at + 1)
    parts, end = [], 0
    for run in re.finditer(b"\1+", bytes(covered)):
        parts += [text[end : place[run.start()]], HIDDEN]
        end = place[run.end() - 1] + 1
    return "".join((*parts, text[end:]))

"""Keys stay where they are: what servers and libraries say is cleaned before it is kept or shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit, urlunsplit

HIDDEN = "[hidden]"
_SHORTEST = 4  # shorter keys are no secrets, and would be found inside of words
_LONG = 12  # keys of local servers, such as "ollama", are words that a reply may hold
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
    """Knows the keys of a session and takes them out of texts."""

    __slots__ = ("_all", "_long")

    def __init__(self, keys: Iterable[str]) -> None:
        forms = {form for key in keys if len(key) >= _SHORTEST for form in _forms(key)}
        # The longest first: one form may be part of another.
        self._all = sorted(forms, key=len, reverse=True)
        self._long = [form for form in self._all if len(form) >= _LONG]

    def __repr__(self) -> str:
        return "Secrets()"

    def from_reply(self, text: str) -> str:
        """Return what a model wrote without the session's own keys; anything else stays word for word."""
        for form in self._long:
            text = text.replace(form, HIDDEN)
        return text

    def from_message(self, text: str) -> str:
        """Return an error's text without the keys, and without whatever looks like one."""
        for form in self._all:
            text = text.replace(form, HIDDEN)
        for pattern, clean in _PATTERNS:
            text = pattern.sub(clean, text)
        return text


def split_address(address: str) -> tuple[str, str, tuple[str, ...]]:
    """Return (an address without name and password, the header that stands for them or ``""``, what is secret)."""
    parts = urlsplit(address)
    user, password = parts.username, parts.password
    if user is None:
        return address, "", ()
    host = parts.netloc.rpartition("@")[2]
    given = f"{unquote(user)}:{unquote(password or '')}"
    token = base64.b64encode(given.encode()).decode()
    secret = unquote(password) if password else unquote(user)
    return urlunsplit(parts._replace(netloc=host)), f"Basic {token}", (token, secret)


def _forms(key: str) -> set[str]:
    return {key, quote(key, safe=""), base64.b64encode(key.encode()).decode(), key.encode("unicode_escape").decode()}

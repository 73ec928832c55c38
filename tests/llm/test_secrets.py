"""What is taken out of texts, and what stays."""

from __future__ import annotations

import base64
import time
from email.utils import formatdate

import pytest

from rerankers.llm.completions import retry_after
from rerankers.llm.secrets import Secrets, split_address

KEY = "v3ry+secret/key=1"


@pytest.mark.parametrize(
    "text",
    [
        f"bad key {KEY}",
        "bad key v3ry%2Bsecret%2Fkey%3D1",
        base64.b64encode(KEY.encode()).decode(),
        "Authorization: Bearer abcdefgh.ijkl",
        '{"authorization": "Basic YWRhOm9wZW4="}',
        "Incorrect API key provided: sk-proj-ab12cd34",
        "Incorrect key sk-ab***********34",
        '{"api_key": "0123456789"}',
        "x-api-key=0123456789",
        "https://ada:open@host/v1",
        "redirected to HTTP://:0123456789@host:80/",
    ],
)
def test_what_looks_like_a_key_is_hidden(text: str) -> None:
    clean = Secrets([KEY]).from_message(text)
    assert "[hidden]" in clean
    assert not any(
        word in clean for word in (KEY, "secret", "abcdefgh", "YWRh", "ab12", "sk-ab", "0123456789", "open@")
    )


@pytest.mark.parametrize(
    "text",
    [
        "429: rate limit of 5 a minute",
        "the bearer of this",
        "task-force",
        "http://host/a@b",
        "write to ada@host.org",
        "no key",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Secrets([KEY, "", "k"]).from_message(text) == text


def test_replies_lose_the_own_key_and_nothing_else() -> None:
    text = f"ollama said: sk-abcdefgh, Bearer abcdefgh, {KEY}"
    # A local server's key is a word that a reply may hold.
    assert Secrets([KEY, "ollama"]).from_reply(text) == "ollama said: sk-abcdefgh, Bearer abcdefgh, [hidden]"
    assert KEY not in repr(Secrets([KEY]))


def test_addresses_with_a_name_and_a_password() -> None:
    assert split_address("http://host:8000/v1") == ("http://host:8000/v1", "", ())
    plain, header, secrets = split_address("https://ada:o%40pen@[::1]:8000/v1?x=1")
    assert plain == "https://[::1]:8000/v1?x=1"
    assert base64.b64decode(header.removeprefix("Basic ")) == b"ada:o@pen"
    assert "o@pen" in secrets


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after": formatdate(time.time() - 100, usegmt=True)}, 0.0),
    ],
)
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_to_wait_for() -> None:
    found = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert found is not None
    assert 95 < found <= 100

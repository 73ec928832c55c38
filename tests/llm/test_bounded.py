"""Answers that never end, unpack to gigabytes or spell the key in another way."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from rerankers._base.errors import ConfigError, MissingError
from rerankers.llm import Message, Reply, Request
from rerankers.llm.openai_compatible import OpenAICompatible
from rerankers.llm.secrets import Secrets, shown_address
from tests.llm.stub_server import completion, failure, serving

KEY = 'zz-My"Key%1234_abcdefgh+/x'


@contextmanager
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve one answer a connection, byte for byte."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.recv(65536)
                answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()


def asked(address: str, tmp_path: Path, text: str = "a text", timeout: float = 5.0) -> Reply:
    model = OpenAICompatible("m", base_url=address, retries=0, concurrency=1, timeout=timeout, structured=False)
    with model.session(tmp_path) as session:
        return session.ask([Request((Message("user", text),))])[0]


def test_an_answer_that_drips_is_given_up(tmp_path: Path) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b" ")
            time.sleep(0.1)

    start = time.monotonic()
    with raw_server(drip) as address:
        reply = asked(address, tmp_path, timeout=0.5)
    assert (reply.error, reply.text) == ("timeout", "")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("status", [b"200 OK", b"500 No"])
def test_an_answer_that_unpacks_to_gigabytes_is_not_read(tmp_path: Path, status: bytes) -> None:
    packed = gzip.compress(b" " * 50_000_000, 1)

    def bomb(connection: socket.socket) -> None:
        head = b"HTTP/1.1 " + status + b"\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        connection.sendall(head + packed)

    with raw_server(bomb) as address:
        reply = asked(address, tmp_path)
    assert (reply.error, reply.detail) == ("http_error", "an answer of more than 16 MiB")


def test_an_answer_packed_in_another_way(tmp_path: Path) -> None:
    def twice(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n{}")

    with raw_server(twice) as address:
        assert "packed as gzip, gzip" in asked(address, tmp_path).detail


@pytest.mark.parametrize("target", [b"http://host:99999999/", b"http://127.0.0.1:9/v1/chat/completions", b"/v2"])
def test_redirects_are_not_followed(target: bytes, tmp_path: Path) -> None:
    """The key would stay behind, but texts would travel to where nobody sent them."""

    def elsewhere(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 307 Go\r\nLocation: " + target + b"\r\nContent-Length: 0\r\n\r\n")

    with raw_server(elsewhere) as address, pytest.raises(MissingError, match="elsewhere"):
        asked(address, tmp_path)


def test_half_a_surrogate_pair_is_sent_as_a_replacement(tmp_path: Path) -> None:
    with serving(lambda *_: completion("male")) as stub:
        assert asked(stub.url, tmp_path, "x \ud800 man \0").text == "male"
    assert stub.bodies[0]["messages"][0]["content"] == "x \ufffd man \0"


SPELLINGS = {
    "address": quote(KEY, safe=""),
    "address_lower": quote(KEY, safe="").lower(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64_address": base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "base64_header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "capitals": KEY.upper(),
    "blank": f"{KEY[:13]} {KEY[13:]}",
    "line": f"{KEY[:13]}\n{KEY[13:]}",
    "hyphens": "-".join(KEY[i : i + 4] for i in range(0, len(KEY), 4)),
    "json": json.dumps(KEY),
    "hex": KEY.encode().hex(),
    "masked": f"{KEY[:14]}****{KEY[-3:]}",
    "cut": "y" * 280 + KEY,
    "tag": f"<{KEY}>",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_the_key_are_hidden(spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = SPELLINGS[spelling]
    hidden = Secrets([KEY]).from_message(said)
    parts = ("key1234", "abcdefgh", base64.b64encode(KEY.encode())[:10].decode().lower(), KEY.encode().hex()[:12])
    assert not any(part in hidden.lower().replace("-", "") for part in parts)
    with serving(lambda number, *_: failure(400, said) if number else completion(f"male {said}")) as stub:
        kept = asked(stub.url, tmp_path).text
        failed = asked(stub.url, tmp_path, "another").detail
    assert not any(part in failed.lower() for part in parts)
    if spelling != "masked":  # half a key in a reply may be a word
        assert kept.startswith("male")
        assert "abcdefgh" not in kept.lower()


def test_keys_in_an_address_or_a_body_are_refused_or_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"^llm.base_url: found a password or key in the address"):
        OpenAICompatible("m", base_url="http://127.0.0.1:1/v1?api_key=0123456789")
    with pytest.raises(ConfigError, match=r"^llm.extra: found api_key, which results would show"):
        OpenAICompatible("m", extra={"more": {"api_key": "0123456789"}})
    OpenAICompatible("m", base_url="http://127.0.0.1:1/v1?api-version=2024", extra={"max_completion_tokens": 3})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1?v=2&token=0123456789")
    with (
        OpenAICompatible("m", retries=0).session(tmp_path) as session,
        pytest.raises(MissingError, match=r"v=2&token=\[hidden\]: no connection") as caught,
    ):
        session.ask([Request((Message("user", "a text"),))])
    assert "0123456789" not in str(caught.value)
    assert shown_address("http://host/v1") == "http://host/v1"


def test_headers_that_echo_the_key_are_not_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with serving(lambda *_: (200, {"X-Echo": KEY}, completion("male")[2])) as stub:
        asked(stub.url, tmp_path)
    assert not any("abcdefgh" in record.getMessage() for record in caplog.records if "httpcore" in record.name)


def test_long_replies_stay_word_for_word() -> None:
    text = "my key 1234 abc, defgh " * 10_000
    assert Secrets([KEY]).from_reply(text) == text

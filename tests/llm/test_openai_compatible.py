"""The real client against a server on this machine: what is sent, what is tried again, what is hidden."""

from __future__ import annotations

import json
import logging
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError, MissingError
from rerankers.llm import Message, Reply, Request, parse_label, parse_lines
from rerankers.llm.openai_compatible import OpenAICompatible
from rerankers.llm.server import GIVES_UP
from tests.llm.stub_server import Answer, Stub, completion, failure, serving

LABELS = {"neutral": [], "female": ["woman"], "male": ["man"]}
SCHEMA = {"type": "object", "properties": {"label": {"enum": list(LABELS)}}, "required": ["label"]}
KEY = "sk-Tg7secret0123456789abcd"


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def request(text: str = "a text", **fields: Any) -> Request:
    return Request((Message("system", "Label it."), Message("user", text)), about=text, **fields)


def asked(
    tmp_path: Path,
    answers: list[Answer] | Callable[[int, dict[str, Any], dict[str, str]], Answer],
    requests: list[Request] | None = None,
    **options: Any,
) -> tuple[list[Reply], Stub, dict[str, float]]:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        return answers[min(number, len(answers) - 1)] if isinstance(answers, list) else answers(number, body, headers)

    with serving(play) as stub:
        provider = OpenAICompatible("m", **{"base_url": stub.url, "first_wait": 0.01, **options})
        with provider.session(tmp_path / "cache") as session:
            replies = session.ask([request()] if requests is None else requests)
            return replies, stub, dict(session.account)


def test_what_is_sent_and_no_key_is_needed(tmp_path: Path) -> None:
    options = {"temperature": 0.7, "top_p": 0.9, "seed": 5, "max_tokens": 9, "extra": {"min_p": 0.1}}
    requests = [request(schema=SCHEMA), request(schema=SCHEMA, sample=2)]
    replies, stub, account = asked(tmp_path, [completion('{"label": "male"}')], requests, **options)
    assert parse_label(replies[0], LABELS).value == "male"
    bodies = sorted(stub.bodies, key=lambda body: body["seed"])
    assert [body["seed"] for body in bodies] == [5, 7]  # equal seeds would give equal completions
    body = bodies[0]
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["min_p"]) == (0.7, 0.9, 9, 0.1)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["messages"] == [{"role": "system", "content": "Label it."}, {"role": "user", "content": "a text"}]
    assert all("authorization" not in headers for headers in stub.headers)
    assert account["prompt_tokens"] == 22
    assert account["completion_tokens"] == 6
    assert replies[0].model == "stub-1"


def test_what_is_none_is_left_to_the_server(tmp_path: Path) -> None:
    none = {"temperature": None, "seed": None, "max_tokens": None}
    _, stub, _ = asked(tmp_path, [completion()], **none)
    assert set(stub.bodies[0]) == {"model", "messages"}


def test_address_and_key_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda *_: completion()) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("MY_KEY", KEY)
        with OpenAICompatible("m", key_env="MY_KEY").session(tmp_path) as session:
            session.ask([request()])
    assert stub.headers[0]["authorization"] == f"Bearer {KEY}"


def test_hosted_service_needs_a_key(tmp_path: Path) -> None:
    with OpenAICompatible("m").session(tmp_path) as session, pytest.raises(MissingError, match="export OPENAI_API_KEY"):
        session.ask([request()])


def test_retry_after_is_waited_for_and_tries_are_counted(tmp_path: Path) -> None:
    start = time.monotonic()
    answers = [failure(429, Retry_After="0.3"), failure(500), failure(503), completion("female")]
    replies, stub, account = asked(tmp_path, answers)
    assert time.monotonic() - start >= 0.3
    assert (replies[0].text, replies[0].attempts, len(stub.bodies)) == ("female", 4, 4)
    assert (account["calls"], account["attempts"]) == (1, 4)


def test_waits_have_a_longest(tmp_path: Path) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    start = time.monotonic()
    answers = [failure(429, Retry_After=later), failure(429, Retry_After="3600"), completion()]
    replies, _, _ = asked(tmp_path, answers, longest_wait=0.1)
    assert replies[0].error == ""
    assert 0.2 <= time.monotonic() - start < 5


def test_gives_up_after_the_retries(tmp_path: Path) -> None:
    replies, stub, account = asked(tmp_path, [failure(500, "overloaded")], retries=2)
    assert replies[0] == Reply("", "", attempts=3, error="http_error", detail="500: overloaded")
    assert len(stub.bodies) == 3
    assert account["error:http_error"] == 1
    again, _, _ = asked(tmp_path, [completion()])  # a failure is not kept
    assert again[0].text == "neutral"


def test_wrong_requests_are_not_tried_again(tmp_path: Path) -> None:
    replies, stub, _ = asked(tmp_path, [failure(400, "maximum context length is 8")])
    assert (replies[0].error, replies[0].attempts, len(stub.bodies)) == ("http_error", 1, 1)
    assert "context length" in replies[0].detail


def test_time_out(tmp_path: Path) -> None:
    def slow(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        time.sleep(0.6 if number == 0 else 0)
        return completion()

    replies, _, _ = asked(tmp_path, slow, timeout=0.2, retries=0)
    assert (replies[0].error, replies[0].text) == ("timeout", "")
    replies, _, _ = asked(tmp_path, slow, timeout=0.2, retries=1)
    assert (replies[0].text, replies[0].attempts) == ("neutral", 2)


def test_no_server(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    provider = OpenAICompatible("m", base_url=f"http://127.0.0.1:{port}/v1", first_wait=0.01, retries=1)
    with provider.session(tmp_path) as session, pytest.raises(MissingError, match="Start the server") as caught:
        session.ask([request()])
    assert caught.value.__context__ is None  # the client's exception holds the request and its key


@pytest.mark.parametrize(
    ("answer", "message"),
    [(failure(401, "bad key"), "export OPENAI_API_KEY"), (failure(404, "no model m"), "does not know the model 'm'")],
)
def test_what_no_request_survives_ends_the_job(tmp_path: Path, answer: Answer, message: str) -> None:
    with pytest.raises(MissingError, match=message):
        asked(tmp_path, [answer])


def test_a_server_that_goes_down_ends_the_job_and_replies_stay(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        return completion() if number < 5 else failure(503, "down")

    requests = [request(f"text {number}") for number in range(35)]
    with pytest.raises(MissingError, match=f"failed {GIVES_UP} requests in a row"):
        asked(tmp_path, play, requests, retries=0, concurrency=2)
    _, stub, account = asked(tmp_path, [completion()], requests, concurrency=2)
    assert (account["cached"], len(stub.bodies)) == (5, 30)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"choices": [', "no JSON"),
        ("[" * 5000, "no JSON"),
        ("<html><body>Bad gateway</body></html>", "Bad gateway"),
        ("{}", "no chat completion"),
        ('{"choices": []}', "no chat completion"),
        ('{"choices": [{"message": null}]}', "no chat completion"),
        ('{"error": {"message": "provider fell over"}}', "provider fell over"),
    ],
)
def test_bodies_that_cannot_be_read(tmp_path: Path, body: str, detail: str) -> None:
    replies, _, _ = asked(tmp_path, [(200, {}, body)], retries=1)
    assert (replies[0].error, replies[0].attempts) == ("http_error", 2)
    assert detail in replies[0].detail
    replies, _, _ = asked(tmp_path, [(200, {}, body), completion("male")], retries=1)
    assert (replies[0].text, replies[0].attempts) == ("male", 2)


@pytest.mark.parametrize(
    ("answer", "value", "route", "reason"),
    [
        (completion('```json\n{"label": "female", "confidence": 0.9}\n```'), "female", "fenced", ""),
        (completion('{"label": "fem', "length"), None, "", "truncated"),
        (completion(""), None, "", "empty"),
        (completion(None), None, "", "empty"),
        (completion(None, refusal="I will not."), None, "", "refusal"),
        (completion("", "content_filter"), None, "", "refusal"),
        (completion([{"type": "text", "text": "ma"}, {"type": "text", "text": "le"}]), "male", "word", ""),
        (completion("Etikett: «Woman» – größtenteils"), "female", "word", ""),
    ],
)
def test_replies_as_servers_give_them(
    tmp_path: Path, answer: Answer, value: str | None, route: str, reason: str
) -> None:
    replies, stub, _ = asked(tmp_path, [answer])
    parsed = parse_label(replies[0], LABELS)
    assert (parsed.value, parsed.route, parsed.reason) == (value, route, reason)
    assert len(stub.bodies) == 1
    kept, stub, account = asked(tmp_path, [failure(500)], retries=0)  # refusals and cut replies are replies
    assert kept == [replace(replies[0], attempts=0, cached=True)]
    assert (len(stub.bodies), account["cached"]) == (0, 1)


def test_repeated_lines(tmp_path: Path) -> None:
    replies, _, _ = asked(
        tmp_path, [completion("1. nurse pay\n2. Nurse pay\n3) nurses' wages\n" + "4. nurse pay\n" * 50)]
    )
    lines = parse_lines(replies[0], echo="nurse pay", most=3)
    assert lines.kept == ("nurses' wages",)
    assert lines.counts["echo"] == 52


def test_plain_mode_after_a_rejected_schema(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        return failure(400, "response_format is not supported") if "response_format" in body else completion("female")

    requests = [request(f"text {number}", schema=SCHEMA) for number in range(4)]
    replies, stub, account = asked(tmp_path, play, requests, concurrency=1)
    assert [reply.text for reply in replies] == ["female"] * 4
    assert ["response_format" in body for body in stub.bodies] == [True, False, False, False, False]
    assert [reply.attempts for reply in replies] == [2, 1, 1, 1]
    assert account["schema_rejected"] == 1


def test_a_schema_that_was_not_at_fault_is_sent_again(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        return failure(400, "too long") if number < 2 else completion()

    requests = [request(f"text {number}", schema=SCHEMA) for number in range(2)]
    replies, stub, account = asked(tmp_path, play, requests, concurrency=1)
    assert [reply.error for reply in replies] == ["http_error", ""]
    assert "response_format" in stub.bodies[2]
    assert "schema_rejected" not in account


def test_the_limit_of_tokens_goes_by_its_new_name(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        return failure(400, "Use 'max_completion_tokens' instead.") if "max_tokens" in body else completion()

    replies, stub, _ = asked(tmp_path, play, max_tokens=7)
    assert (replies[0].error, stub.bodies[1]["max_completion_tokens"]) == ("", 7)


def test_garbage_a_third_of_the_time(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        chance = random.Random(number).random()
        text = body["messages"][-1]["content"]
        return (200, {}, "\x00garbage{") if chance < 0.3 else completion(f"label of {text}")

    requests = [request(f"text {number}") for number in range(40)]
    replies, stub, account = asked(tmp_path, play, requests, retries=8)
    assert [reply.text for reply in replies] == [f"label of text {number}" for number in range(40)]
    assert account["attempts"] == len(stub.bodies) > 40


def test_several_at_a_time_and_no_more(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        time.sleep(0.05)
        return completion()

    _, stub, _ = asked(tmp_path, play, [request(f"text {number}") for number in range(12)], concurrency=3)
    assert 1 < stub.most_at_once <= 3


def test_equal_requests_are_asked_once(tmp_path: Path) -> None:
    replies, stub, account = asked(tmp_path, [completion()], [request(), request(), request(sample=1)])
    assert len(stub.bodies) == 2
    assert (account["repeated"], [reply.cached for reply in replies]) == (1, [False, True, False])


INTERRUPTED = """
import sys
from pathlib import Path
from rerankers.llm import Message, OpenAICompatible, Request
requests = [Request((Message("user", f"text {number}"),)) for number in range(30)]
with OpenAICompatible("m", base_url=sys.argv[1], concurrency=2).session(Path(sys.argv[2])) as session:
    session.ask(requests)
"""


def test_an_interrupted_job_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def play(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        time.sleep(0.05)
        return completion()

    with serving(play) as stub:
        command = [sys.executable, "-c", INTERRUPTED, stub.url, str(tmp_path / "cache")]
        job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while len(stub.bodies) < 8:
            time.sleep(0.02)
        job.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in job.communicate(timeout=10)[1]
        asked_before = len(stub.bodies)
    requests = [Request((Message("user", f"text {number}"),)) for number in range(30)]
    _, stub, account = asked(tmp_path, [completion()], requests, concurrency=2)
    assert asked_before - 2 <= account["cached"] <= asked_before < 30
    assert len(stub.bodies) == 30 - account["cached"]


def everything(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_the_key_is_nowhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    status: int,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)

    def echo(number: int, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        said = f"your headers: {json.dumps(headers)}; Incorrect key {KEY}"
        return completion(said) if status == 200 else failure(status, said)

    shown: list[object] = []
    with serving(echo) as stub:
        provider = OpenAICompatible("m", base_url=stub.url, retries=0)
        with provider.session(tmp_path) as session:
            try:
                shown += session.ask([request()])
            except MissingError as error:
                shown += [error, repr(error), error.__context__, error.__cause__]
            shown += [provider, session, vars(session), dict(session.account), session._asker, vars(session._asker)]
    assert stub.headers[0]["authorization"] == f"Bearer {KEY}"
    texts = [repr(one) for one in shown] + [str(one) for one in shown] + [caplog.text, *capfd.readouterr()]
    assert all(KEY not in text for text in texts)
    assert "[hidden]" in "".join(texts)
    assert all(KEY.encode() not in content for content in everything(tmp_path))


def test_name_and_password_of_an_address_are_sent_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(lambda *_: failure(401, "no")) as stub:
        address = stub.url.replace("//", "//ada:open%40sesame@")
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        with OpenAICompatible("m").session(tmp_path) as session, pytest.raises(MissingError) as caught:
            session.ask([request()])
    assert stub.headers[0]["authorization"].startswith("Basic YWRhOm9wZW5Ac2VzYW1l")
    assert all("sesame" not in text for text in (str(caught.value), caplog.text))
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL") as refused:
        OpenAICompatible("m", base_url=address)
    assert "sesame" not in str(refused.value)


def test_a_key_that_cannot_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret\u2019s value")
    provider = OpenAICompatible("m", base_url="http://127.0.0.1:9/v1")
    with provider.session(tmp_path) as session, pytest.raises(MissingError, match="no key") as caught:
        session.ask([request()])
    assert "secret" not in str(caught.value)


def test_budget(tmp_path: Path) -> None:
    requests = [request(f"text {number}") for number in range(12)]
    prices = {"prompt_price": 10.0, "completion_price": 100.0, "max_tokens": 20}
    # A request costs 11 * 10 + 3 * 100 = 410 millionths, and is let in with 20 * 100 for its completion at most.
    replies, stub, account = asked(tmp_path, [completion()], requests, concurrency=4, max_cost=0.004, **prices)
    assert [reply.error for reply in replies] == [""] * len(stub.bodies) + ["budget"] * (12 - len(stub.bodies))
    assert account["cost"] == pytest.approx(len(stub.bodies) * 410e-6)
    assert account["cost"] <= 0.004 < account["cost"] + 20 * 100e-6 + 30 * 10e-6
    assert "0.004" in replies[-1].detail
    replies, stub, account = asked(tmp_path, [completion()], requests, **prices)  # the rest, another day
    assert len(stub.bodies) == 12 - account["cached"]
    assert {reply.error for reply in replies} == {""}


def test_dry_run_asks_nothing_and_needs_nothing(tmp_path: Path) -> None:
    requests = [request(f"text {number}") for number in range(3)]
    options = {"prompt_price": 1.0, "completion_price": 2.0, "max_tokens": 10}
    replies, stub, account = asked(tmp_path, [completion()], [*requests, requests[0]], dry_run=True, **options)
    assert {reply.error for reply in replies} == {"dry_run"}
    assert not stub.bodies
    assert not (tmp_path / "cache").exists()
    assert (account["requests"], account["would_ask"], account["most_completion_tokens"]) == (4, 3, 30)
    assert account["most_cost"] == pytest.approx((account["estimated_prompt_tokens"] + 2 * 30) / 1e6)
    asked(tmp_path, [completion()], requests[:2], **options)
    _, _, account = asked(tmp_path, [completion()], requests, dry_run=True, **options)
    assert (account["cached"], account["would_ask"]) == (2, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": " "}, "llm.model"),
        ({"temperature": -1.0}, "llm.temperature"),
        ({"temperature": float("nan")}, "llm.temperature"),
        ({"top_p": 0.0}, "llm.top_p"),
        ({"max_tokens": 0}, "llm.max_tokens"),
        ({"concurrency": 0}, "llm.concurrency"),
        ({"retries": -1}, "llm.retries"),
        ({"timeout": 0.0}, "llm.timeout"),
        ({"longest_wait": -1.0}, "llm.longest_wait"),
        ({"base_url": "localhost:8000"}, "llm.base_url"),
        ({"base_url": "http://host:port"}, "llm.base_url"),
        ({"extra": {"messages": []}}, "llm.extra"),
        ({"max_cost": 1.0}, "llm.prompt_price"),
        ({"prompt_price": 1.0}, "expected both"),
        ({"prompt_price": -1.0, "completion_price": 1.0}, "llm.prompt_price"),
        ({"max_cost": 1.0, "prompt_price": 1.0, "completion_price": 1.0, "max_tokens": None}, "llm.max_tokens"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        OpenAICompatible(**{"model": "m", **options})


def test_a_key_in_place_of_its_variable_is_not_repeated() -> None:
    with pytest.raises(ConfigError, match=r"llm\.key_env") as caught:
        OpenAICompatible("m", key_env=KEY)
    assert KEY not in str(caught.value)

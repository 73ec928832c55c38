"""The scripted provider and the engine behind all of them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.llm import Answering, Message, NoModel, Record, Reply, Request, Scripted, open_replies, parse_label
from rerankers.llm.account import in_words
from rerankers.llm.cost import Prices, estimated_tokens
from rerankers.llm.identity import Identity
from rerankers.llm.scripted import Function
from rerankers.llm.session import Engine


def request(text: str, sample: int = 0) -> Request:
    return Request((Message("system", "nurse"), Message("user", text)), sample, about=f"d-{text}")


def texts(replies: Sequence[Reply]) -> list[str]:
    return [reply.text for reply in replies]


def test_the_first_expression_that_fits_the_last_message(tmp_path: Path) -> None:
    provider = Scripted(replies={"nurse": "female", r"\bman\b": "male"}, otherwise="neutral")
    with provider.session(tmp_path) as session:
        replies = session.ask([request("A NURSE and a man"), request("a\nman"), request("human")])
    assert texts(replies) == ["female", "male", "neutral"]
    assert (session.name, session.dry_run) == ("scripted", False)
    assert not list(tmp_path.iterdir())


def test_samples_pick_from_a_list(tmp_path: Path) -> None:
    session = Scripted(replies={"x": ["a", "b"]}).session(tmp_path)
    assert texts(session.ask([request("x", 2), request("x", 1), request("x", 0)])) == ["a", "b", "a"]


def test_replies_in_turn(tmp_path: Path) -> None:
    session = Scripted(
        cycle=["a", {"error": "timeout", "detail": "slow"}, {"text": "c", "finish_reason": "length"}]
    ).session(tmp_path)
    replies = session.ask([request(str(number)) for number in range(4)])
    assert texts(replies) == ["a", "", "c", "a"]
    assert (replies[1].error, replies[1].detail, replies[2].finish_reason) == ("timeout", "slow", "length")
    assert session.account["error:timeout"] == 1


def test_a_script_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text('replies:\n  nurse: {text: \'{"label": "female"}\'}\notherwise: {error: refusal}\n')
    session = Scripted(path=str(path)).session(tmp_path)
    first, second = session.ask([request("a nurse"), request("b")])
    assert parse_label(first, {"female": []}).value == "female"
    assert parse_label(second, {"female": []}).reason == "refusal"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, ConfigError, "without replies"),
        ({"replies": {"(": "a"}}, InputError, "no regular expression"),
        ({"replies": {"a": 3}}, InputError, "the reply 3"),
        ({"replies": {"a": []}}, InputError, r"the reply \[\]"),
        ({"cycle": [{"txt": "a"}]}, InputError, "expected a text, or a mapping with text"),
        ({"path": "script.yaml", "otherwise": "a"}, ConfigError, "expected one of them"),
        ({"path": "absent.yaml"}, MissingError, "no such file"),
        ({"otherwise": "a", "replay_only": True}, ConfigError, "llm.cache"),
    ],
)
def test_scripts_that_cannot_be_played(
    tmp_path: Path, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        Scripted(**options).session(tmp_path)


def test_a_gap_in_the_script(tmp_path: Path) -> None:
    with Scripted(replies={"a": "b"}).session(tmp_path) as session, pytest.raises(InputError, match=r"'d-x'.*no reply"):
        session.ask([request("x")])


def test_no_model() -> None:
    with pytest.raises(ConfigError, match="expected llm=openai"):
        NoModel().session(Path("cache"))


def test_a_function_answers(tmp_path: Path) -> None:
    provider = Answering(lambda asked: asked.messages[-1].content.upper(), "shout")
    with provider.session(tmp_path) as session:
        assert texts(session.ask([request("a"), request("b")])) == ["A", "B"]
    assert session.name == "shout"


@pytest.mark.parametrize("name", ["c.sqlite", "c.jsonl"])
def test_hit_and_miss_in_replay(tmp_path: Path, name: str) -> None:
    options: dict[str, Any] = {"replies": {"x": "1"}, "otherwise": "2", "cache": str(tmp_path / name)}
    with Scripted(**options).session(tmp_path) as session:
        session.ask([request("x"), request("y")])
        assert (session.account["calls"], session.account["cached"]) == (2, 0)
    with Scripted(**options, replay_only=True).session(tmp_path) as session:
        replies = session.ask([request("y"), request("x"), request("y")])
        assert texts(replies) == ["2", "1", "2"]
        assert all(reply.cached and reply.attempts == 0 for reply in replies)
        changed = Request((Message("system", "nurse!"), Message("user", "x")), about="d-x")
        with pytest.raises(MissingError) as caught:
            session.ask([request("x"), changed, request("z"), request("x", 1)])
    key = session.identity.key(changed)
    assert "3 of 4 requests have no reply" in str(caught.value)
    assert f"{key} (about d-x)" in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    other = Scripted(**{**options, "otherwise": "3"}, replay_only=True)  # another script is another model
    with other.session(tmp_path) as session, pytest.raises(MissingError):
        session.ask([request("x")])


def test_damaged_records_are_in_the_account(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with Scripted(otherwise="2", cache=str(path)).session(tmp_path) as session:
        session.ask([request("x"), request("y")])
    path.write_bytes(path.read_bytes()[:-3])
    with Scripted(otherwise="2", cache=str(path)).session(tmp_path) as session:
        session.ask([request("x"), request("y")])
        assert (session.account["damaged_records"], session.account["cached"]) == (1, 1)


class Slow:
    """Answers in threads; the request named ``stop`` fails, once the others are done."""

    workers = 3
    batch = 2

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.stopped = False
        self.others = threading.Event()

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        self.batches.append(len(requests))
        for one in requests:
            if one.messages[-1].content == "stop":
                self.others.wait(5)
                raise MissingError("gone")
        if len(self.batches) == 3:
            self.others.set()
        return [Reply(one.messages[-1].content, prompt_tokens=1, completion_tokens=1) for one in requests]

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        pass


def test_batches_in_threads_keep_their_order(tmp_path: Path) -> None:
    asker = Slow()
    session = Engine("slow", Identity("test", "m", {}), asker, None)
    names = [str(number) for number in range(21)]
    assert texts(session.ask([request(name) for name in names])) == names
    assert sorted(asker.batches) == [1, *[2] * 10]


def test_what_came_before_a_failure_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    asker = Slow()
    session = Engine("slow", Identity("test", "m", {}), asker, open_replies(path))
    with pytest.raises(MissingError, match="gone"):
        session.ask([request(name) for name in ("stop", "a", "b", "c", "d", "e")])
    session.close()
    assert asker.stopped
    assert {record.text for record in open_replies(path, read_only=True).every()} >= {"b", "c"}


class Late(Slow):
    """One request fails while another is under way, which comes back once the job has been told to stop."""

    workers = 2
    batch = 1

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        if requests[0].messages[-1].content == "stop":
            self.others.wait(5)
            raise MissingError("gone")
        self.others.set()
        while not self.stopped:
            time.sleep(0.01)
        return [Reply("late")]


def test_what_is_under_way_at_a_failure_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    session = Engine("late", Identity("test", "m", {}), Late(), open_replies(path))
    with session, pytest.raises(MissingError, match="gone"):
        session.ask([request("stop"), request("late")])
    assert [record.text for record in open_replies(path, read_only=True).every()] == ["late"]


def test_another_job_was_answered_first(tmp_path: Path) -> None:
    """Two jobs ask the same at the same time: both get what is kept, so that both can be repeated."""
    path = tmp_path / "c.sqlite"
    asked = request("x")

    def answer(one: Request) -> str:
        other = open_replies(path)
        other.add([Record(engine.identity.key(asked), "theirs")])
        other.close()
        return "mine"

    engine = Engine("f", Identity("test", "m", {}), Function(answer), open_replies(path))
    with engine:
        reply = engine.ask([asked])[0]
    assert (reply.text, reply.attempts) == ("theirs", 1)


def test_budget_without_counted_tokens_goes_by_the_estimate(tmp_path: Path) -> None:
    prices = Prices(1e6, 0.0, most=estimated_tokens(request("a")) * 2.5, most_tokens=1)
    session = Engine("f", Identity("test", "m", {}), Function(lambda one: "x"), None, prices=prices)
    replies = session.ask([request(name) for name in "abcd"])
    assert [reply.error for reply in replies] == ["", "", "budget", "budget"]
    assert session.account["usage_unknown"] == 2
    assert session.account["cost"] == 2 * estimated_tokens(request("a"))


def test_nobody_is_asked_nothing(tmp_path: Path) -> None:
    with Scripted(otherwise="x").session(tmp_path) as session:
        assert session.ask([]) == []


def test_importing_costs_no_client_and_no_torch() -> None:
    code = "import sys, rerankers.llm; print(sorted({'openai', 'torch', 'transformers', 'tqdm'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("package", "extra"), [("openai", "llm"), ("transformers", "local-llm")])
def test_without_a_package_its_extra_is_named(tmp_path: Path, package: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{package!r}] = None
from pathlib import Path
from rerankers._base.errors import MissingError
from rerankers.llm import Message, OpenAICompatible, Request, Transformers
asked = [Request((Message("user", "x"),))]
provider = OpenAICompatible("m", base_url="http://127.0.0.1:9/v1") if {package!r} == "openai" else Transformers("m")
with provider.session(Path({str(tmp_path)!r})) as session:
    try:
        session.ask(asked)
    except MissingError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'fair-rerankers[{extra}]'" in done.stdout


def test_an_account_in_words_leaves_out_what_is_nothing() -> None:
    counts = {"requests": 1200, "repeated": 0, "cached": 1000, "calls": 200, "attempts": 203, "prompt_tokens": 9000}
    counts |= {"completion_tokens": 400, "usage_unknown": 0, "damaged_records": 0, "error:too_long": 2}
    assert in_words(counts) == (
        "1,200 requests, 1,000 found in the cache, 200 asked, 3 tried again, 9,000 tokens of prompts and 400 of "
        "answers, 2 without an answer (too long)"
    )

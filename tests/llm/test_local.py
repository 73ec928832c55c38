"""A local model through the normal path: completions, draws, likelihoods."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.llm import Message, Reply, Request, Transformers
from rerankers.llm.local_text import drawn_token, plain_text, token_stream
from tests.llm.tiny_model import save_tiny_model

WORDS = ["neutral", "female", "male"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def request(text: str, **fields: Any) -> Request:
    return Request((Message("system", "label the text"), Message("user", text)), about=text, **fields)


REQUESTS = [request(text) for text in ("a nurse", "the man and the woman met", "nobody at all, she said", "x")]


def asked(folder: Path, cache: Path, requests: list[Request], **options: Any) -> list[Reply]:
    provider = Transformers(str(folder), **{"max_tokens": 6, "offline": True, **options})
    with provider.session(cache) as session:
        return session.ask(requests)


def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoTokenizer, LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def chat_tokens(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(f"<|system|>label the text</s><|user|>{text}</s><|assistant|>", add_special_tokens=False)


def by_hand(model: Any, ids: list[int], count: int) -> list[int]:
    """Take the likeliest token, one forward pass each, without padding, cache or batch."""
    import torch

    new: list[int] = []
    while len(new) < count and (not new or new[-1] != 1):
        with torch.no_grad():
            new.append(int(model(torch.tensor([ids + new])).logits[0, -1].argmax()))
    return new


def test_greedy_is_the_likeliest_token_each_time(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = loaded(folder)
    replies = asked(folder, tmp_path, REQUESTS)
    for one, reply in zip(REQUESTS, replies, strict=True):
        prompt = chat_tokens(tokenizer, one.about)
        tokens = by_hand(model, prompt, 6)
        assert reply.text == tokenizer.decode(tokens, skip_special_tokens=True)
        assert (reply.prompt_tokens, reply.completion_tokens) == (len(prompt), len(tokens))
        assert reply.finish_reason == ("stop" if tokens[-1] == 1 else "length")


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_neither_batch_nor_order_matters(folder: Path, tmp_path: Path, temperature: float) -> None:
    options = {"temperature": temperature, "top_p": 0.9}
    texts = [reply.text for reply in asked(folder, tmp_path / "a", REQUESTS, batch=4, **options)]
    assert [reply.text for reply in asked(folder, tmp_path / "b", REQUESTS, batch=1, **options)] == texts
    backward = asked(folder, tmp_path / "c", REQUESTS[::-1], batch=3, **options)
    assert [reply.text for reply in backward] == texts[::-1]
    assert len(set(texts)) > 1


def test_samples_and_seeds_differ_and_repeat(folder: Path, tmp_path: Path) -> None:
    samples = [request("a nurse", sample=number) for number in range(4)]
    first = [reply.text for reply in asked(folder, tmp_path / "a", samples, temperature=1.0)]
    assert len(set(first)) > 1
    assert [reply.text for reply in asked(folder, tmp_path / "b", samples, temperature=1.0)] == first
    assert [reply.text for reply in asked(folder, tmp_path / "a", samples, temperature=1.0, seed=1)] != first


def test_likelihoods_are_sums_of_log_softmax(folder: Path, tmp_path: Path) -> None:
    import torch

    model, tokenizer = loaded(folder)
    expected = np.zeros((len(REQUESTS), len(WORDS)))
    for row, one in enumerate(REQUESTS):
        for column, word in enumerate(WORDS):
            ids = chat_tokens(tokenizer, one.about)
            for token in tokenizer.encode(word, add_special_tokens=False):
                with torch.no_grad():
                    logits = model(torch.tensor([ids])).logits[0, -1].double()
                expected[row, column] += float(logits[token] - logits.exp().sum().log())
                ids.append(token)
    tables = []
    for batch in (1, 2, 8):
        provider = Transformers(str(folder), batch=batch, offline=True)
        with provider.session(tmp_path / str(batch)) as session:
            tables.append(session.likelihoods([*REQUESTS, REQUESTS[0]], WORDS))
            assert session.account["calls"] == len(REQUESTS)
    for table in tables:
        assert (table.dtype, table.shape) == (np.float64, (5, 3))
        np.testing.assert_allclose(table[:4], expected, rtol=0, atol=2e-5)
        np.testing.assert_array_equal(table[4], table[0])
    # Found again to the last bit, without the model, and only for these answers.
    name = session.name.removeprefix("local:")
    replay = Transformers("gone/away", known_as=name, cache=str(tmp_path / "8" / "replies.sqlite"), replay_only=True)
    with replay.session(tmp_path) as session:
        np.testing.assert_array_equal(session.likelihoods(REQUESTS, WORDS), tables[2][:4])
        with pytest.raises(MissingError, match="4 of 4 requests have no reply"):
            session.likelihoods(REQUESTS, WORDS[:2])
        assert session.likelihoods([], WORDS).shape == (0, 3)


@pytest.mark.parametrize("answers", [[], ["a", "a"], ["a", ""]])
def test_answers_that_are_none(folder: Path, tmp_path: Path, answers: list[str]) -> None:
    with Transformers(str(folder)).session(tmp_path) as session, pytest.raises(InputError, match="answers"):
        session.likelihoods(REQUESTS, answers)


def test_half_a_surrogate_pair_is_read_as_a_replacement(folder: Path, tmp_path: Path) -> None:
    texts = ["a \ud800 nurse", "a \ufffd nurse"]
    first, second = asked(folder, tmp_path, [request(text) for text in texts])
    assert first.text == second.text
    # One at a time: the rows of one product of matrices may differ in their last bits.
    with Transformers(str(folder), offline=True, template="plain", batch=1).session(tmp_path) as session:
        found = session.likelihoods([request(text) for text in texts], WORDS)
    assert np.array_equal(found[0], found[1])


def test_dry_run_loads_nothing(tmp_path: Path) -> None:
    with Transformers("some/model", dry_run=True).session(tmp_path) as session:
        assert session.ask(REQUESTS)[0].error == "dry_run"
        assert np.isneginf(session.likelihoods(REQUESTS, WORDS)).all()
        assert session.account["would_ask"] == 8


def test_plain_text_where_there_is_no_chat_template(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "plain", template=None)
    model, tokenizer = loaded(folder)
    text = "label the text\n\na nurse\n"
    assert plain_text(REQUESTS[0].messages) == text
    reply = asked(folder, tmp_path, REQUESTS[:1])[0]
    assert reply.text == tokenizer.decode(by_hand(model, tokenizer.encode(text), 6), skip_special_tokens=True)


def test_a_template_without_system_messages(tmp_path: Path) -> None:
    refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    folder = save_tiny_model(tmp_path / "strict", template=refusing + "{{ messages[0]['content'] }}>")
    model, tokenizer = loaded(folder)
    reply = asked(folder, tmp_path, REQUESTS[:1])[0]
    ids = tokenizer.encode("label the text\n\na nurse>", add_special_tokens=False)
    assert reply.text == tokenizer.decode(by_hand(model, ids, 6), skip_special_tokens=True)
    folder = save_tiny_model(tmp_path / "broken", template="{{ raise_exception('never') }}")
    with pytest.raises(InputError, match=r"never.*llm\.template=plain"):
        asked(folder, tmp_path, REQUESTS[:1])


def test_requests_that_are_too_long(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "short", positions=40)
    long = request("the nurse met the man " * 20)
    replies = asked(folder, tmp_path, [REQUESTS[0], long, REQUESTS[3]])
    assert [reply.error for reply in replies] == ["", "too_long", ""]
    with Transformers(str(folder), max_tokens=6).session(tmp_path) as session:
        table = session.likelihoods([REQUESTS[0], long], WORDS)
        assert np.isneginf(table).tolist() == [[False] * 3, [True] * 3]
        assert session.account["error:too_long"] == 1


def test_other_weights_are_another_model(folder: Path, tmp_path: Path) -> None:
    def name(model: str, **options: Any) -> str:
        with Transformers(model, **options).session(tmp_path) as session:
            return session.name

    other = save_tiny_model(tmp_path / "tiny", seed=1)
    assert name(str(folder)).startswith("local:tiny@")
    assert name(str(folder)) == name(str(folder))
    assert name(str(folder)) != name(str(other))
    assert name("a/b", revision="v1") == "local:a/b@v1"


def test_what_cannot_be_loaded(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="found no folder"):
        Transformers(str(tmp_path / "nothing")).session(tmp_path)
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(MissingError, match="cannot be loaded"):
        asked(bare, tmp_path, REQUESTS)
    pickled = save_tiny_model(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(MissingError, match="safetensors"):
        asked(pickled, tmp_path, REQUESTS)


def test_code_of_a_model_is_never_run(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "coded")
    config = (folder / "config.json").read_text()
    mark = tmp_path / "ran"
    (folder / "modeling_own.py").write_text(f"open({str(mark)!r}, 'w')\n")
    own = (
        '{"auto_map": {"AutoConfig": "modeling_own.C", "AutoModelForCausalLM": "modeling_own.M"}, "model_type": "own", '
    )
    (folder / "config.json").write_text(own + config.replace('"model_type": "llama"', '"x": 1').lstrip()[1:])
    with pytest.raises(MissingError, match="no code of its own"):
        asked(folder, tmp_path, REQUESTS)
    assert not mark.exists()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_weights_that_overflow(tmp_path: Path, temperature: float) -> None:
    import torch

    folder = save_tiny_model(tmp_path / "hot")
    model, _ = loaded(folder)
    with torch.no_grad():
        model.model.norm.weight.fill_(float("inf"))
    model.save_pretrained(folder)
    with pytest.raises(InputError, match=r"llm\.dtype=float32"):
        asked(folder, tmp_path, REQUESTS, temperature=temperature)
    with Transformers(str(folder)).session(tmp_path) as session, pytest.raises(InputError, match="not finite"):
        session.likelihoods(REQUESTS, WORDS)


def test_draws_follow_the_softmax() -> None:
    logits = np.array([0.0, 1.0, 2.0, -1.0])
    shares = np.exp(logits / 0.8) / np.exp(logits / 0.8).sum()
    stream = token_stream(3, "key")
    drawn = np.bincount([drawn_token(logits, 0.8, 1.0, stream, step) for step in range(8_000)], minlength=4) / 8_000
    assert np.abs(drawn - shares).max() < 4 * math.sqrt(0.25 / 8_000)
    cut = [drawn_token(logits, 0.8, shares[2] + 0.01, stream, step) for step in range(500)]
    assert set(cut) == {1, 2}  # the token that reaches the share is kept
    assert {drawn_token(logits, 0.8, 0.1, stream, step) for step in range(100)} == {2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "llm.device"),
        ({"dtype": "int8"}, "llm.dtype"),
        ({"template": "none"}, "llm.template"),
        ({"batch": 0}, "llm.batch"),
        ({"max_tokens": 0}, "llm.max_tokens"),
    ],
)
def test_local_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Transformers("m", **options)


def test_devices_and_packages_that_are_missing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(MissingError, match=r"llm\.device=cpu"):
            asked(folder, tmp_path, REQUESTS, device="cuda")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingError, match="pip install gguf"):
        asked(folder, tmp_path, REQUESTS, gguf_file="config.json")


def test_replies_are_kept(folder: Path, tmp_path: Path) -> None:
    first = asked(folder, tmp_path, REQUESTS)
    assert asked(folder, tmp_path, REQUESTS, replay_only=True) == [
        replace(reply, attempts=0, cached=True) for reply in first
    ]

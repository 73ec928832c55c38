"""What a local model needs besides: a name by its content, messages as one text, draws that repeat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers._base.streams import query_streams, stream_key, uniforms
from rerankers.llm.base import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = (".safetensors", ".json", ".jinja", ".model", ".txt")
_ENDS = {"system": "\n\n", "user": "\n", "assistant": "\n\n"}


def folder_name(folder: Path, gguf_file: str | None) -> str:
    """Return a model's name that no other has: its folder's, and the fingerprint of its weights and tokenizer.

    Everything is read, about one second a gigabyte: other weights under an old name would be answered by old replies.
    """
    names = sorted(path.name for path in folder.iterdir() if path.suffix in _PARTS and path.is_file())
    if gguf_file is not None:
        names = [name for name in names if not name.endswith(".safetensors")] + [gguf_file]
    return f"{folder.resolve().name}@{fingerprint([(name, file_fingerprint(folder / name)) for name in names])}"


def plain_text(messages: Sequence[Message]) -> str:
    """Return messages as one text, for models that know no turns: each question on a line, its answer below it."""
    return "".join(message.content.rstrip() + _ENDS[message.role] for message in messages)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return messages whose system messages are part of the first one of the user, for models that know none."""
    system = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not system or not others:
        return list(messages)
    return [Message(others[0].role, "\n\n".join([*system, others[0].content])), *others[1:]]


def token_stream(seed: int, key: str) -> NDArray[np.uint64]:
    """Return the stream, shape (2,), of a request's draws: a function of its name, not of its place in a job."""
    return stream_key(seed, query_streams([key])[0], "completion")


def drawn_token(
    logits: NDArray[np.float64], temperature: float, top_p: float, stream: NDArray[np.uint64], step: int
) -> int:
    """Return a token drawn from softmax(logits / temperature), cut to the likeliest that reach ``top_p`` together.

    Drawn by the largest of logit + Gumbel noise, which has the softmax distribution (Yellott 1977).

    Parameters
    ----------
    logits
        float64 (V,).
    temperature
        above 0.
    top_p
        above 0, up to 1; the token that reaches it is kept.
    stream
        uint64 (2,), of `token_stream`.
    step
        number of the token in the completion, from 0.
    """
    scaled = logits / temperature
    if top_p < 1:
        order = np.argsort(-scaled, kind="stable")
        shares = np.exp(scaled[order] - scaled[order[0]])
        before = np.cumsum(shares) - shares
        scaled[order[before >= top_p * shares.sum()]] = -np.inf
    noise = -np.log(-np.log(uniforms(stream, step, 1, len(logits))[0]))
    return int(np.argmax(scaled + noise))

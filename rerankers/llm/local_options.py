"""The options of a model on this machine, by transformers: a folder, or one of the hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import ConfigError, MissingError, choose
from rerankers.llm.identity import Identity
from rerankers.llm.local import LocalModel
from rerankers.llm.local_session import LocalSession
from rerankers.llm.local_text import folder_name
from rerankers.llm.openai_compatible import check_sampling
from rerankers.llm.replay import open_replies, replay_place

DTYPES = ("auto", "float32", "float16", "bfloat16")
TEMPLATES = ("auto", "chat", "plain")
_HUB = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class Transformers:
    """A causal language model.

    Attributes
    ----------
    model
        folder with config, tokenizer and safetensors weights, or its name at the hub.
    revision
        commit or tag of the hub; None takes the newest, which may change.
    known_as
        name in the replay cache; None takes the hub's, or for a folder its name and the fingerprint of its files. To
        replay without the folder, give the name that the results show after ``local:``.
    gguf_file
        file of quantised weights in the folder, instead of safetensors; needs the gguf package.
    device
        ``cpu``, ``cuda`` or ``cuda:1`` and so on.
    dtype
        of the weights: ``auto`` (as stored), ``float32``, ``float16``, ``bfloat16``.
    template
        ``chat`` (the model's own form of turns), ``plain`` (one text), ``auto`` (chat where the model has it).
    temperature
        0 takes the likeliest token; above, tokens are drawn.
    top_p
        tokens are drawn among the likeliest that have this share together.
    seed
        of the draws. They depend on it and on the request, not on the batch or the order of requests.
    max_tokens
        of one completion.
    batch
        requests that are computed at a time. In another batch the last bits of the model's numbers may differ.
    offline
        never ask the hub: take what is on this machine.
    cache, replay_only, dry_run
        as for servers.
    """

    model: str
    revision: str | None = None
    known_as: str | None = None
    gguf_file: str | None = None
    device: str = "cpu"
    dtype: str = "auto"
    template: str = "auto"
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 256
    batch: int = 8
    offline: bool = False
    cache: str | None = None
    replay_only: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        check_sampling(self.model, self.temperature, self.top_p, self.max_tokens)
        choose("llm.dtype", self.dtype, DTYPES)
        choose("llm.template", self.template, TEMPLATES)
        if self.batch < 1:
            raise ConfigError(f"llm.batch: found {self.batch}; expected at least 1")
        if re.fullmatch(r"cpu|cuda(:\d+)?", self.device) is None:
            raise ConfigError(f"llm.device: found {self.device!r}; expected cpu, cuda or cuda:NUMBER")

    def session(self, cache: Path) -> LocalSession:
        """Open it; the model is loaded for the first request that the cache has no reply to.

        Raises
        ------
        MissingError
            for a folder that is not there, unless ``known_as`` names the model.
        InputError, ConfigError
            as `rerankers.llm.replay.open_replies`.
        """
        name = self.known_as or self._name()
        place = replay_place(self.cache, cache)
        read_only = self.replay_only or self.dry_run
        replies = None if self.dry_run and not place.is_file() else open_replies(place, read_only=read_only)
        parameters = {
            "temperature": float(self.temperature),
            "top_p": float(self.top_p),
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "dtype": self.dtype,
            "template": self.template,
        }
        identity = Identity("local", name, parameters)
        model = LocalModel(self, name)
        return LocalSession(
            f"local:{name}", identity, model, replies, dry_run=self.dry_run, replay_only=self.replay_only
        )

    def _name(self) -> str:
        folder = Path(self.model).expanduser()
        if folder.is_dir():
            return folder_name(folder, self.gguf_file)
        if _HUB.fullmatch(self.model) is None:
            raise MissingError(f"{self.model}: found no folder; expected a model's folder, or its name at the hub")
        return self.model if self.revision is None else f"{self.model}@{self.revision}"

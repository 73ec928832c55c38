"""Any server that speaks the chat completions protocol: hosted ones, and local ones without a key."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rerankers._base.errors import ConfigError, MissingError
from rerankers.llm.bounded import bounding
from rerankers.llm.cost import Prices
from rerankers.llm.identity import Identity
from rerankers.llm.replay import open_replies, replay_place
from rerankers.llm.secrets import Secrets, names_of_secrets, shown_address, split_address
from rerankers.llm.server import Connection, Manner, Server
from rerankers.llm.session import Engine

DEFAULT_ADDRESS = "https://api.openai.com/v1"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
OURS = frozenset(("messages", "model", "temperature", "top_p", "seed", "max_tokens", "response_format", "stream", "n"))
"""What ``extra`` may not hold: it has options of its own, or would change what comes back."""


@dataclass(frozen=True, slots=True)
class OpenAICompatible:
    """The ``openai`` client against one address: hosted services, vLLM, llama-server, Ollama, LM Studio, any proxy.

    Attributes
    ----------
    model
        its name at the server.
    base_url
        address that ends where ``/chat/completions`` begins, often in ``/v1``; None takes the variable
        ``OPENAI_BASE_URL``, else the address of OpenAI.
    key_env
        name of the environment variable that holds the key. Local servers need none.
    temperature, top_p, max_tokens
        of sampling; None leaves it to the server.
    seed
        of sampling; completion number s of the same messages is asked with ``seed + s``. Servers need not honour it.
    structured
        send the JSON schema of a request along. A server that rejects it is asked in plain words from then on.
    extra
        further fields of the body, for servers that have some.
    concurrency
        requests under way at a time.
    retries
        tries after the first, where trying again may help: 408, 409, 425, 429, 500 and above, time-outs, broken
        connections and bodies that cannot be read.
    first_wait, longest_wait
        seconds before the second try, doubled with every further one; a server's Retry-After counts instead. None is
        longer than ``longest_wait``.
    timeout
        seconds for one try, from the request to the end of the answer.
    prompt_price, completion_price
        of a million tokens, in any currency; None where unknown.
    max_cost
        requests that could pass it are not asked, and have the error ``budget``.
    cache
        file of the replay cache (``.sqlite`` or ``.jsonl``); None takes the one in the job's cache folder.
    replay_only
        answer from the cache alone; neither client nor key is needed.
    dry_run
        ask nothing, count what would be asked.
    """

    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = 0
    max_tokens: int | None = 512
    structured: bool = True
    extra: dict[str, Any] | None = None
    concurrency: int = 8
    retries: int = 5
    first_wait: float = 0.5
    longest_wait: float = 60.0
    timeout: float = 60.0
    prompt_price: float | None = None
    completion_price: float | None = None
    max_cost: float | None = None
    cache: str | None = None
    replay_only: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        check_sampling(self.model, self.temperature, self.top_p, self.max_tokens)
        if not self.key_env.isidentifier():
            # Not shown: whoever gets this wrong has typed the key itself.
            raise ConfigError(
                "llm.key_env: found no name of a variable; expected one such as OPENAI_API_KEY, not the key"
            )
        for name, value, least in (("concurrency", self.concurrency, 1), ("retries", self.retries, 0)):
            if value < least:
                raise ConfigError(f"llm.{name}: found {value}; expected at least {least}")
        for name, seconds in (("first_wait", self.first_wait), ("longest_wait", self.longest_wait)):
            if not (math.isfinite(seconds) and seconds >= 0):
                raise ConfigError(f"llm.{name}: found {seconds}; expected seconds from 0")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ConfigError(f"llm.timeout: found {self.timeout}; expected seconds above 0")
        if taken := sorted(OURS & set(self.extra or ())):
            raise ConfigError(f"llm.extra: found {', '.join(taken)}; expected fields that are no options of their own")
        if found := names_of_secrets(self.extra or {}):
            raise ConfigError(
                f"llm.extra: found {', '.join(found)}, which results would show; expected no key in it. "
                f"The key stands in the variable {self.key_env}, which llm.key_env names"
            )
        if self.base_url is not None:
            _check_address(self.base_url, "llm.base_url")
            if split_address(self.base_url)[2]:
                raise ConfigError(
                    "llm.base_url: found a password or key in the address, which results would show; "
                    f"expected the variable {ADDRESS_VARIABLE} to hold such an address"
                )
        self._prices()

    def session(self, cache: Path) -> Engine:
        """Open it; the server is not looked for before the first request that the cache has no reply to.

        Raises
        ------
        MissingError, InputError, ConfigError
            as `rerankers.llm.replay.open_replies`.
        """
        place = replay_place(self.cache, cache)
        read_only = self.replay_only or self.dry_run
        replies = None if self.dry_run and not place.is_file() else open_replies(place, read_only=read_only)
        return Engine(
            f"openai:{self.model}",
            self._identity(),
            Server(self._manner(), self._connection),
            replies,
            dry_run=self.dry_run,
            replay_only=self.replay_only,
            prices=self._prices(),
        )

    def _identity(self) -> Identity:
        parameters: dict[str, Any] = {
            "temperature": None if self.temperature is None else float(self.temperature),
            "top_p": None if self.top_p is None else float(self.top_p),
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "extra": dict(self.extra or {}),
        }
        if not self.structured:
            parameters["structured"] = False
        return Identity("openai", self.model, parameters)

    def _prices(self) -> Prices:
        return Prices(self.prompt_price, self.completion_price, self.max_cost, self.max_tokens)

    def _manner(self) -> Manner:
        body = {"temperature": self.temperature, "top_p": self.top_p}
        return Manner(
            self.model,
            {name: value for name, value in body.items() if value is not None},
            self.seed,
            self.max_tokens,
            self.structured,
            self.extra or {},
            self.concurrency,
            self.retries,
            self.first_wait,
            self.longest_wait,
        )

    def _connection(self) -> Connection:
        """Connect; `MissingError` for what it takes."""
        try:
            import openai
        except ImportError:
            raise MissingError("llm=openai needs the openai package. Type: pip install 'fair-rerankers[llm]'") from None
        address = self.base_url or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS
        _check_address(address, ADDRESS_VARIABLE)
        plain, basic, hidden = split_address(address)
        key = os.environ.get(self.key_env, "").strip()
        if not key and not basic and plain == DEFAULT_ADDRESS:
            raise MissingError(
                f"{plain} needs a key. Type: export {self.key_env}=… (the variable is llm.key_env; "
                "local servers need llm.base_url instead)"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise MissingError(f"{self.key_env}: found a value that is no key. Type: export {self.key_env}=…")
        _quiet(["httpx", "httpx2"] if plain != shown_address(plain) else [])
        client = openai.OpenAI(
            api_key=key or "none",
            base_url=plain,
            timeout=self.timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(
                timeout=self.timeout, event_hooks=bounding(self.timeout), follow_redirects=False
            ),
            default_headers={"Authorization": basic} if basic else None,
        )
        # Without a key no header is sent: some servers refuse a wrong one where they need none.
        headers = {} if key or basic else {"Authorization": openai.Omit()}
        return Connection(openai, client, headers, Secrets([key, *hidden]), shown_address(plain), self.key_env)


def _quiet(others: Sequence[str]) -> None:
    """Keep libraries from logging headers as they came, and addresses that hold a key, however verbose the job is."""
    for name in ("httpcore", "httpcore2", *others):
        logging.getLogger(name).setLevel(logging.WARNING)


def check_sampling(model: str, temperature: float | None, top_p: float | None, max_tokens: int | None) -> None:
    """Raise `ConfigError` for what no model can be sampled with."""
    if not model.strip():
        raise ConfigError("llm.model: found nothing; expected the name of a model")
    if temperature is not None and not (math.isfinite(temperature) and temperature >= 0):
        raise ConfigError(f"llm.temperature: found {temperature}; expected a number from 0")
    if top_p is not None and not 0 < top_p <= 1:
        raise ConfigError(f"llm.top_p: found {top_p}; expected a number above 0 and up to 1")
    if max_tokens is not None and max_tokens < 1:
        raise ConfigError(f"llm.max_tokens: found {max_tokens}; expected at least 1")


def _check_address(address: str, where: str) -> None:
    try:
        parts = urlsplit(address)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or (parts.port or 1) < 1
    except ValueError:
        wrong = True
    if wrong:
        shown = Secrets(()).from_message(address)
        raise ConfigError(f"{where}: found {shown!r}; expected an address such as http://localhost:8000/v1")

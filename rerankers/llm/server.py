"""Asking a server until it answers: what is tried again, what ends the job, what is remembered of the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any

from rerankers._base.errors import MissingError
from rerankers.llm.base import Reply, Request
from rerankers.llm.bounded import TooLargeError, TooSlowError
from rerankers.llm.completions import NO_SCHEMA, Failure, failure_of, reply_of, response_format, shortened, turns
from rerankers.llm.secrets import Secrets

GIVES_UP = 20
"""Requests in a row that a server fails for good, all of their tries, after which the job ends: what was answered is
kept, and the job goes on from there."""
OF_REQUEST = frozenset((400, 413, 422))
"""Answers that are about one request, and say nothing about the next."""
_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class Connection:
    """A client and what goes with it.

    Attributes
    ----------
    library, client
        of the protocol: the package, and its client.
    headers
        of every request, besides its own.
    secrets
        what must not be shown.
    address
        without secrets.
    key_env
        name of the variable that holds the key.
    """

    library: Any
    client: Any
    headers: Mapping[str, Any]
    secrets: Secrets
    address: str
    key_env: str


@dataclass(frozen=True, slots=True)
class Manner:
    """How a server is asked; the fields are options of `rerankers.llm.openai_compatible.OpenAICompatible`."""

    model: str
    body: Mapping[str, Any]
    seed: int | None
    max_tokens: int | None
    structured: bool
    extra: Mapping[str, Any]
    concurrency: int
    retries: int
    first_wait: float
    longest_wait: float


class Server:
    """A `rerankers.llm.session.Asker` over HTTP. The client is made when the first request is asked."""

    batch = 1

    def __init__(self, manner: Manner, connect: Callable[[], Connection]) -> None:
        self.workers = manner.concurrency
        self.notes: dict[str, int] = {}
        self._manner = manner
        self._connect = connect
        self._connection: Connection | None = None
        self._stopping = Event()
        self._lock = Lock()
        self._schema = manner.structured
        self._limit = _LIMIT
        self._reached = False
        self._failed_in_a_row = 0

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        """Return replies, trying again where that may help.

        Raises
        ------
        MissingError
            when the client is not installed or has no key, the server rejects the key or does not know the model, is
            not there at all, or fails `GIVES_UP` requests in a row.
        """
        return [self._one(request, key) for request, key in zip(requests, keys, strict=True)]

    def stop(self) -> None:
        """End all waiting and trying again."""
        self._stopping.set()

    def close(self) -> None:
        """Close the connections."""
        self.stop()
        if self._connection is not None:
            self._connection.client.close()

    def _one(self, request: Request, key: str) -> Reply:
        with self._lock:
            if self._connection is None:
                self._connection = self._connect()
        connection = self._connection
        attempts = failed = 0
        while True:
            attempts += 1
            schema, limit = request.schema is not None and self._schema, self._limit
            outcome = self._try(connection, self._body(request, schema, limit), attempts)
            if isinstance(outcome, Failure) and schema and outcome.status in NO_SCHEMA:
                attempts += 1
                plain = self._try(connection, self._body(request, False, limit), attempts)
                if isinstance(plain, Reply):
                    self._remember_plain()
                outcome = plain
            if isinstance(outcome, Reply):
                return self._settled(outcome)
            if outcome.status == 400 and _NEW_LIMIT in outcome.detail and limit == _LIMIT:
                self._limit = _NEW_LIMIT
                continue
            failed += 1
            if not outcome.again or failed > self._manner.retries or self._pause(outcome, failed, key):
                return self._failed(outcome, attempts, connection)

    def _body(self, request: Request, schema: bool, limit: str) -> dict[str, Any]:
        """Return the arguments of the client. Completion s has a seed of its own, else all would be the same."""
        body: dict[str, Any] = {"model": self._manner.model, "messages": turns(request), **self._manner.body}
        if self._manner.seed is not None:
            body["seed"] = self._manner.seed + request.sample
        if self._manner.max_tokens is not None:
            body[limit] = self._manner.max_tokens
        if schema and request.schema is not None:
            body["response_format"] = response_format(request.schema)
        if self._manner.extra:
            body["extra_body"] = dict(self._manner.extra)
        return body

    def _try(self, connection: Connection, body: Mapping[str, Any], attempts: int) -> Reply | Failure:
        """Return what one call gives. No exception of the client leaves: its request holds the key."""
        openai = connection.library
        secrets = connection.secrets
        try:
            raw = connection.client.chat.completions.with_raw_response.create(**body, extra_headers=connection.headers)
            outcome = reply_of(bytes(raw.content).decode("utf-8", errors="replace"), attempts)
        except openai.APITimeoutError:
            return Failure("timeout", "no answer in time", again=True)
        except openai.APIStatusError as error:
            outcome = failure_of(error.status_code, error.response.text, error.response.headers)
        except openai.APIConnectionError as error:
            outcome = _broken_off(error.__cause__ or error)
        except openai.OpenAIError as error:
            outcome = Failure("http_error", f"{type(error).__name__}: {error}")
        except Exception as error:  # of the HTTP client, as the version of the library lets them through
            outcome = _broken_off(error)
        self._reached |= not isinstance(outcome, Failure) or outcome.status is not None
        if isinstance(outcome, Failure):
            return replace(outcome, detail=shortened(secrets.from_message(outcome.detail)))
        return replace(
            outcome,
            text=secrets.from_reply(outcome.text),
            finish_reason=secrets.from_message(outcome.finish_reason),
            model=secrets.from_message(outcome.model),
            detail=shortened(secrets.from_message(outcome.detail)),
        )

    def _pause(self, failure: Failure, failed: int, key: str) -> bool:
        """Wait before the next try; return whether the job breaks off meanwhile."""
        seconds = failure.wait
        if seconds is None:
            # Requests that failed together do not come back together; which one comes when changes no reply.
            spread = 1 - int(key[:4], 16) / 0xFFFF / 4
            seconds = self._manner.first_wait * 2.0 ** min(failed - 1, 30) * spread
        return self._stopping.wait(min(seconds, self._manner.longest_wait))

    def _remember_plain(self) -> None:
        with self._lock:
            self._schema = False
            self.notes["schema_rejected"] = 1

    def _settled(self, reply: Reply) -> Reply:
        with self._lock:
            self._failed_in_a_row = 0
        return reply

    def _failed(self, failure: Failure, attempts: int, connection: Connection) -> Reply:
        address, stopping = connection.address, self._stopping.is_set()
        if failure.status == 401:
            raise MissingError(f"{address} rejects the key ({failure.detail}). Type: export {connection.key_env}=…")
        if failure.status == 404:
            raise MissingError(
                f"{address} does not know the model {self._manner.model!r}, or is no such address ({failure.detail}). "
                "Check llm.model, and llm.base_url, which often ends in /v1"
            )
        if failure.status is not None and 300 <= failure.status < 400:
            raise MissingError(
                f"{address} sends requests elsewhere ({failure.status}), where texts go only if you say so. Type the "
                "final address: llm.base_url=…"
            )
        if failure.error == "http_error" and failure.status is None and not self._reached and not stopping:
            raise MissingError(f"{address}: {failure.detail}. Start the server, or name another with llm.base_url")
        with self._lock:
            self._failed_in_a_row += failure.status not in OF_REQUEST
            given_up = self._failed_in_a_row >= GIVES_UP
        if given_up and not stopping:
            raise MissingError(
                f"{address} failed {GIVES_UP} requests in a row, the last with: {failure.detail}. Replies that came "
                "are in the replay cache: the same command goes on from there"
            )
        return Reply("", "", attempts=attempts, error=failure.error, detail=failure.detail)


def _broken_off(error: BaseException) -> Failure:
    """Return what a call without a complete answer says."""
    if isinstance(error, TooSlowError):
        return Failure("timeout", "no complete answer in time", 200, again=True)
    if isinstance(error, TooLargeError):
        return Failure("http_error", str(error), 200, again=True)
    return Failure("http_error", f"no connection ({error or type(error).__name__})", again=True)

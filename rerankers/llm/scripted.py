"""A provider that answers from a script: for tests, demonstrations and examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.fingerprint import fingerprint
from rerankers.llm.base import Reply, Request, Session
from rerankers.llm.identity import Identity, check_request
from rerankers.llm.replay import open_replies, replay_place
from rerankers.llm.session import Engine
from rerankers.llm.yaml_text import read_yaml

REPLY_KEYS = ("text", "finish_reason", "error", "detail")
SCRIPT_KEYS = ("replies", "cycle", "otherwise")


@dataclass(frozen=True, slots=True)
class Scripted:
    """Replies by rule. Nothing is kept unless ``cache`` names a file, since the script is there to be changed.

    A reply is a text, a mapping of `REPLY_KEYS` (to play errors, refusals and cut texts), or a list of these, of which
    the request's sample number picks one, from the start again at the end.

    Attributes
    ----------
    path
        YAML file with the keys ``replies``, ``cycle`` and ``otherwise``, in place of those given here.
    replies
        regular expression -> reply. The first that is found in the last message counts, in any case of letters.
    cycle
        replies that are given one after the other, from the start again at the end, where no expression fits. Unlike
        the rest of the script they depend on the order of the requests.
    otherwise
        the reply where nothing else fits; None makes that an error.
    cache
        file of a replay cache, for the sake of one that can be shown; None keeps nothing.
    replay_only
        answer from that file alone.
    dry_run
        ask nothing, count what would be asked.
    """

    path: str | None = None
    replies: dict[str, Any] | None = None
    cycle: list[Any] | None = None
    otherwise: Any = None
    cache: str | None = None
    replay_only: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        if self.path is not None and (self.replies or self.cycle or self.otherwise is not None):
            raise ConfigError("llm.path: found a file and replies beside it; expected one of them")
        if self.replay_only and self.cache is None:
            raise ConfigError("llm.replay_only: found true without llm.cache; expected llm.cache=FILE with it")

    def session(self, cache: Path) -> Engine:
        """Open it. ``cache`` is not used: see the class.

        Raises
        ------
        ConfigError
            for a script without replies.
        InputError
            for a file, an expression or a reply that cannot be read.
        """
        place = None if self.cache is None else replay_place(self.cache, cache)
        script = self._script()
        read_only = self.replay_only or self.dry_run
        replies = None
        if place is not None and (place.is_file() or not self.dry_run):
            replies = open_replies(place, read_only=read_only)
        identity = Identity("scripted", script.name, {})
        return Engine("scripted", identity, script, replies, dry_run=self.dry_run, replay_only=self.replay_only)

    def _script(self) -> Script:
        where = "llm"
        content: Mapping[str, Any] = {"replies": self.replies, "cycle": self.cycle, "otherwise": self.otherwise}
        if self.path is not None:
            where = self.path
            content = read_yaml(Path(self.path).expanduser(), SCRIPT_KEYS).value
        rules, cycle = content.get("replies") or {}, content.get("cycle") or []
        if not isinstance(rules, Mapping) or not isinstance(cycle, Sequence) or isinstance(cycle, str):
            raise InputError.one(where, "replies or cycle of another kind", "a mapping of replies, a list of cycle")
        otherwise = content.get("otherwise")
        if not rules and not cycle and otherwise is None:
            raise ConfigError(
                "llm: found a script without replies; expected llm.path=FILE, or replies, cycle, otherwise"
            )
        return Script(
            [(_expression(str(rule), where), _choices(reply, where)) for rule, reply in rules.items()],
            [_choices(reply, where)[0] for reply in cycle],
            None if otherwise is None else _choices(otherwise, where),
            fingerprint(repr([list(rules.items()), list(cycle), otherwise])),
        )


@dataclass(frozen=True, slots=True)
class Answering:
    """A provider that calls a function of the user's own: request -> reply, or its text.

    Attributes
    ----------
    function
        called in the thread of the job, once for equal requests of one call of `ask`.
    name
        of the session, for results.
    """

    function: Callable[[Request], Reply | str]
    name: str = "scripted"

    def session(self, cache: Path) -> Session:
        """Open it. Nothing is kept in ``cache``."""
        return Engine(self.name, Identity("scripted", self.name, {}), Function(self.function), None)


class Script:
    """Answers by rule; see `Scripted`."""

    workers = 1
    batch = 1

    def __init__(
        self,
        rules: Sequence[tuple[re.Pattern[str], Sequence[Reply]]],
        cycle: Sequence[Reply],
        otherwise: Sequence[Reply] | None,
        name: str,
    ) -> None:
        self.name = name
        self._rules = rules
        self._cycle = cycle
        self._otherwise = otherwise
        self._given = 0

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        """Return what the script says."""
        return [self._one(request) for request in requests]

    def stop(self) -> None:
        """Do nothing: it never waits."""

    def close(self) -> None:
        """Do nothing: it holds nothing."""

    def _one(self, request: Request) -> Reply:
        last = request.messages[-1].content
        for expression, choices in self._rules:
            if expression.search(last):
                return choices[request.sample % len(choices)]
        if self._cycle:
            self._given += 1
            return self._cycle[(self._given - 1) % len(self._cycle)]
        if self._otherwise is None:
            check_request(request)
            raise InputError.one(
                f"request about {request.about!r}", f"no reply in the script for {last[-80:]!r}", "one, or otherwise"
            )
        return self._otherwise[request.sample % len(self._otherwise)]


class Function:
    """Answers by a function; see `Answering`."""

    workers = 1
    batch = 1

    def __init__(self, function: Callable[[Request], Reply | str]) -> None:
        self._function = function

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        """Return what the function says."""
        given = [self._function(request) for request in requests]
        return [one if isinstance(one, Reply) else Reply(one, model="scripted") for one in given]

    def stop(self) -> None:
        """Do nothing: it never waits."""

    def close(self) -> None:
        """Do nothing: it holds nothing."""


def _expression(rule: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(rule, re.IGNORECASE | re.DOTALL)
    except re.error as error:
        raise InputError.one(where, f"{rule!r}, which is no regular expression ({error})", "one") from None


def _choices(reply: Any, where: str) -> list[Reply]:
    if isinstance(reply, list | tuple) and reply:
        return [_choices(one, where)[0] for one in reply]
    if isinstance(reply, str):
        return [Reply(reply, model="scripted")]
    if isinstance(reply, Mapping) and set(reply) <= set(REPLY_KEYS) and all(isinstance(v, str) for v in reply.values()):
        return [Reply(**{"text": "", "model": "scripted", **{str(key): value for key, value in reply.items()}})]
    raise InputError.one(where, f"the reply {reply!r}", f"a text, or a mapping with {', '.join(REPLY_KEYS)}, of texts")

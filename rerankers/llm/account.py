"""What a session was asked, and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rerankers.llm.base import Reply, Request
from rerankers.llm.cost import Prices, estimated_tokens


class Account:
    """Counts of a session.

    Always there: ``requests``, ``repeated`` (equal to another of the same call), ``cached`` (found in the replay
    cache), ``calls`` (requests that the provider was asked), ``attempts`` (tries that these took), ``prompt_tokens``
    and ``completion_tokens`` (of the calls, as counted by who answers), ``usage_unknown`` (calls of which they are
    unknown), ``damaged_records`` (of the cache). With prices ``cost``. For each error ``error:NAME``, counted over all
    replies.
    A dry run adds what would be: ``would_ask``, ``estimated_prompt_tokens``, ``most_completion_tokens`` (with a limit
    of tokens) and, with prices, ``most_cost``.
    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._counts: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._plan: Counter[str] | None = None
        self._most_cost = 0.0

    def asked(self, requests: int, repeated: int, cached: int) -> None:
        """Note one call of `ask`."""
        self._counts.update(requests=requests, repeated=repeated, cached=cached)

    def answered(self, reply: Reply) -> None:
        """Note what the provider was really asked."""
        unknown = reply.error in ("", "refusal") and (reply.prompt_tokens is None or reply.completion_tokens is None)
        self._counts.update(
            calls=1,
            attempts=reply.attempts,
            prompt_tokens=reply.prompt_tokens or 0,
            completion_tokens=reply.completion_tokens or 0,
            usage_unknown=int(unknown),
        )

    def scored(self, requests: int, too_long: int) -> None:
        """Note requests whose answers' likelihoods were computed."""
        self._counts.update(calls=requests, attempts=requests)
        if too_long:
            self._errors.update(too_long=too_long)

    def planned(self, requests: Iterable[Request]) -> None:
        """Note what a dry run would ask."""
        plan = self._plan = self._plan if self._plan is not None else Counter()
        for request in requests:
            tokens = estimated_tokens(request)
            plan.update(
                would_ask=1, estimated_prompt_tokens=tokens, most_completion_tokens=self._prices.most_tokens or 0
            )
            self._most_cost += self._prices.most_of(request)

    def returned(self, replies: Iterable[Reply]) -> None:
        """Note how the replies ended."""
        self._errors.update(reply.error for reply in replies if reply.error)

    def shown(self, spent: float, damaged: int, notes: Mapping[str, int]) -> dict[str, int | float]:
        """Return all counts, in a fixed order."""
        names = (
            "requests",
            "repeated",
            "cached",
            "calls",
            "attempts",
            "prompt_tokens",
            "completion_tokens",
            "usage_unknown",
        )
        shown: dict[str, int | float] = {name: self._counts[name] for name in names}
        shown["damaged_records"] = damaged
        shown.update(notes)
        if self._prices.known:
            shown["cost"] = spent
        if self._plan is not None:
            shown["would_ask"] = self._plan["would_ask"]
            shown["estimated_prompt_tokens"] = self._plan["estimated_prompt_tokens"]
            if self._prices.most_tokens is not None:
                shown["most_completion_tokens"] = self._plan["most_completion_tokens"]
            if self._prices.known:
                shown["most_cost"] = self._most_cost
        shown.update((f"error:{name}", self._errors[name]) for name in sorted(self._errors))
        return shown


_FURTHER = {
    "usage_unknown": "answers of unknown length",
    "damaged_records": "damaged records in the cache, asked again",
    "would_ask": "requests would be made",
    "estimated_prompt_tokens": "tokens of prompts at a guess",
    "most_completion_tokens": "tokens of answers at most",
}
_KNOWN = ("requests", "repeated", "cached", "calls", "attempts", "prompt_tokens", "completion_tokens")


def in_words(counts: Mapping[str, int | float]) -> str:
    """Return what an account says as one sentence; what is 0 is left out."""
    said = [f"{_amount(counts.get('requests', 0))} requests"]
    for name, words in (("repeated", "equal to another"), ("cached", "found in the cache"), ("calls", "asked")):
        if counts.get(name):
            said.append(f"{_amount(counts[name])} {words}")
    again = counts.get("attempts", 0) - counts.get("calls", 0)
    if again > 0:
        said.append(f"{_amount(again)} tried again")
    tokens = [counts.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
    if any(tokens):
        said.append(f"{_amount(tokens[0])} tokens of prompts and {_amount(tokens[1])} of answers")
    for name, value in counts.items():
        if not value or name in _KNOWN:
            continue
        if name.startswith("error:"):
            said.append(f"{_amount(value)} without an answer ({name.removeprefix('error:').replace('_', ' ')})")
        else:
            said.append(
                f"{_amount(value)} {_FURTHER[name]}" if name in _FURTHER else f"{_words(name)} {_amount(value)}"
            )
    return ", ".join(said)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _amount(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"

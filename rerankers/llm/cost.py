"""What requests cost: tokens as they are counted or estimated, prices, and a limit that is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rerankers._base.errors import ConfigError
from rerankers.llm.base import Reply, Request
from rerankers.llm.identity import canonical

BYTES_A_TOKEN = 3.0
"""UTF-8 bytes a token, for estimates: English has about four, so that estimates are rather too high than too low."""
TOKENS_A_TURN = 8
_MILLION = 1_000_000


def estimated_tokens(request: Request) -> int:
    """Return about how many tokens the messages of a request are, rather too many than too few."""
    size = sum(len(message.content.encode("utf-8", errors="replace")) for message in request.messages)
    if request.schema is not None:
        size += len(canonical(request.schema))
    return math.ceil(size / BYTES_A_TOKEN) + TOKENS_A_TURN * len(request.messages)


@dataclass(frozen=True, slots=True)
class Prices:
    """What tokens cost, in any currency.

    Attributes
    ----------
    prompt, completion
        of a million tokens; None where unknown, and then nothing is said of cost.
    most
        that a job may cost; None for no limit.
    most_tokens
        of one completion, which is what a request may cost at most; None where the server has no limit set.

    Raises
    ------
    ConfigError
        for a negative price, a limit without prices, or one without a limit of tokens.
    """

    prompt: float | None = None
    completion: float | None = None
    most: float | None = None
    most_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("prompt_price", self.prompt),
            ("completion_price", self.completion),
            ("max_cost", self.most),
        ):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"llm.{name}: found {value}; expected a number from 0, or null")
        if (self.prompt is None) != (self.completion is None):
            raise ConfigError("llm.prompt_price, llm.completion_price: found one of them; expected both or neither")
        if self.most is not None and (self.prompt is None or self.most_tokens is None):
            raise ConfigError(
                f"llm.max_cost: found {self.most} without what it takes to keep it; "
                "expected llm.prompt_price, llm.completion_price and llm.max_tokens too"
            )

    @property
    def known(self) -> bool:
        """Whether there are prices."""
        return self.prompt is not None

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what so many tokens cost; 0 without prices."""
        if self.prompt is None or self.completion is None:
            return 0.0
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / _MILLION

    def most_of(self, request: Request) -> float:
        """Return what a request may cost, rather too much than too little."""
        return self.of(estimated_tokens(request), self.most_tokens or 0)


class Budget:
    """Keeps the limit: what was spent and what those under way may cost never pass it together."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._spent = 0.0
        self._set_aside = 0.0
        self._under_way = 0

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self._spent

    @property
    def under_way(self) -> bool:
        """Whether requests are under way: once they are settled, there may be room again."""
        return self._under_way > 0

    def admits(self, request: Request) -> bool:
        """Set aside what a request may cost, or say that there is not enough left for it."""
        cost = self._prices.most_of(request)
        if self._prices.most is not None and self._spent + self._set_aside + cost > self._prices.most:
            return False
        self._set_aside += cost
        self._under_way += 1
        return True

    def settle(self, request: Request, reply: Reply) -> None:
        """Book what a request did cost: by the tokens that were counted, else by the estimate."""
        self._under_way -= 1
        self._set_aside = self._set_aside - self._prices.most_of(request) if self._under_way else 0.0
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            self._spent += self._prices.of(reply.prompt_tokens, reply.completion_tokens)
        elif reply.error in ("", "refusal"):
            self._spent += self._prices.most_of(request)

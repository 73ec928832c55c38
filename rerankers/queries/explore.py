"""Exploration: candidates of candidates, from the nearest or the oldest on, until the budget is spent.

As we read BalancedQR (ECML-PKDD 2023): the neighbours of the query are put in a queue; a candidate is taken from it,
its documents are retrieved and scored, and its own neighbours join the queue. Here all neighbours of a step are
retrieved together, so that ``best_first`` knows their relevance; ``fifo`` meets candidates in the published order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rerankers._base.errors import ConfigError, choose
from rerankers.queries.generators.base import Query, same
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Context, Generator

    Relevance = Callable[[Query, Sequence[str]], Sequence[float]]

ORDERS: Final = ("best_first", "fifo")


@dataclass(frozen=True, slots=True)
class Exploring:
    """How candidates are explored.

    Attributes
    ----------
    order
        ``best_first``: of the candidates whose neighbours were not looked at, the most relevant one; ``fifo``: the
        oldest; None: no exploration, generators are asked once.
    neighbours
        candidates that are asked of a generator at each step, at least 1.
    max_iter
        steps at most, the query itself is the first; None: until the budget is spent or nothing is left.

    Raises
    ------
    ConfigError
        for other words, or numbers below 1.
    """

    order: str | None = None
    neighbours: int = 10
    max_iter: int | None = None

    def __post_init__(self) -> None:
        if self.order is not None:
            choose("explore.order", self.order, ORDERS)
        if self.neighbours < 1:
            raise ConfigError(f"explore.neighbours: found {self.neighbours}; expected at least 1")
        if self.max_iter is not None and self.max_iter < 1:
            raise ConfigError(f"explore.max_iter: found {self.max_iter}; expected at least 1, or null")


@dataclass(slots=True)
class _Walk:
    """The exploration of one query: what is evaluated, and what waits for its neighbours to be looked at."""

    query: Query
    evaluated: list[Candidate] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    queue: list[tuple[float, int, str]] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        self.seen |= {"", same(self.query.text)}
        self.queue.append((-1.0, -1, self.query.text))

    def over(self, budget: int, options: Exploring) -> bool:
        spent = options.max_iter is not None and self.steps >= options.max_iter
        return spent or not self.queue or len(self.evaluated) >= budget

    def push(self, candidates: Sequence[Candidate], relevance: Sequence[float], order: str) -> None:
        for candidate, value in zip(candidates, relevance, strict=True):
            number = len(self.evaluated)
            self.evaluated.append(candidate)
            heapq.heappush(self.queue, (-value if order == "best_first" else 0.0, number, candidate.text))


def explore(
    generator: Generator,
    queries: Sequence[Query],
    context: Context,
    budget: int,
    seed: int,
    options: Exploring,
    relevance: Relevance,
) -> dict[str, list[Candidate]]:
    """Return the evaluated candidates of each query, by its id, in the order in which they were met.

    All queries walk side by side and what they meet is searched together; no query's candidates depend on another's.

    Parameters
    ----------
    generator
        asked for ``options.neighbours`` candidates at each step.
    budget
        evaluated candidates a query at most; all of them are returned, however bad.
    relevance
        of texts, which have been searched, to a query.
    """
    walks = [_Walk(query) for query in queries]
    while active := [walk for walk in walks if not walk.over(budget, options)]:
        asked = [Query(walk.query.id, heapq.heappop(walk.queue)[2]) for walk in active]
        context.searcher.search(query.text for query in asked)
        generator.prepare(asked, context, options.neighbours, seed)
        found = [
            _new(walk, generator.generate(query, context, options.neighbours, seed), budget)
            for walk, query in zip(active, asked, strict=True)
        ]
        context.searcher.search(one.text for new in found for one in new)
        for walk, new in zip(active, found, strict=True):
            walk.steps += 1
            walk.push(new, relevance(walk.query, [one.text for one in new]), str(options.order))
    context.count(
        generator.name,
        exploration_steps=sum(walk.steps for walk in walks),
        explored_to_the_end=sum(not walk.queue for walk in walks),
    )
    return {walk.query.id: walk.evaluated for walk in walks}


def _new(walk: _Walk, candidates: Sequence[Candidate], budget: int) -> list[Candidate]:
    new = list[Candidate]()
    for candidate in candidates:
        key = same(candidate.text)
        if key not in walk.seen and len(walk.evaluated) + len(new) < budget:
            walk.seen.add(key)
            new.append(candidate)
        elif key in walk.seen and candidate.calls and new:
            new[-1] = replace(new[-1], calls=new[-1].calls + candidate.calls)  # what it cost is not forgotten
    return new

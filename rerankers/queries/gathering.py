"""The candidates of all generators for all queries, each text once, with everybody who came up with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers.queries.explore import Exploring, explore
from rerankers.queries.generators.base import ORIGINAL, distinct, same
from rerankers.queries.scored import Candidate

if TYPE_CHECKING:
    from rerankers.queries.explore import Relevance
    from rerankers.queries.generators.base import Context, Generator, Query


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """What generators came up with.

    Attributes
    ----------
    candidates
        query id -> the original, then distinct candidates in the order of the generators.
    by_generator
        generator -> query id -> how many distinct candidates it had, the original excluded.
    """

    candidates: Mapping[str, tuple[Candidate, ...]]
    by_generator: Mapping[str, Mapping[str, int]]


def gather(
    queries: Sequence[Query],
    generators: Sequence[Generator],
    context: Context,
    budget: int,
    seed: int,
    exploring: Exploring,
    relevance: Relevance,
    shown: Callable[[Sequence[Any], str], Iterator[Any]] | None = None,
) -> Gathered:
    """Ask every generator for the same number of candidates, and search all of them.

    Parameters
    ----------
    queries
        with distinct ids.
    generators
        with distinct names.
    budget
        distinct candidates a query and generator that are retrieved, at least 1; the original is not counted.
    relevance
        see `explore`.
    shown
        wraps a sequence that is worked off, with its name, to show progress.

    Raises
    ------
    ConfigError
        for a budget below 1, no generator, or the same one twice.
    """
    names = [generator.name for generator in generators]
    if budget < 1:
        raise ConfigError(f"budget: found {budget}; expected at least 1")
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"generator: found [{', '.join(names)}]; expected at least one, each once")
    context.searcher.search(query.text for query in queries)
    merged = {query.id: {same(query.text): Candidate(query.text, (ORIGINAL,))} for query in queries}
    numbers: dict[str, dict[str, int]] = {}
    for generator in generators:
        found = _ask(generator, queries, context, budget, seed, exploring, relevance, shown)
        numbers[generator.name] = {query.id: len(found[query.id]) for query in queries}
        short = sum(number < budget for number in numbers[generator.name].values())
        context.count(generator.name, queries_short_of_the_budget=short)
        for query in queries:
            for candidate in found[query.id]:
                _merge(merged[query.id], candidate)
    context.searcher.search(one.text for own in merged.values() for one in own.values())
    return Gathered({query: tuple(own.values()) for query, own in merged.items()}, numbers)


def _ask(
    generator: Generator,
    queries: Sequence[Query],
    context: Context,
    budget: int,
    seed: int,
    exploring: Exploring,
    relevance: Relevance,
    shown: Callable[[Sequence[Any], str], Iterator[Any]] | None,
) -> dict[str, list[Candidate]]:
    if exploring.order is not None:
        return explore(generator, queries, context, budget, seed, exploring, relevance)
    generator.prepare(queries, context, budget, seed)
    each = iter(queries) if shown is None else shown(queries, generator.name)
    # The rules of a list hold for generators of a user's own too.
    return {query.id: distinct(generator.generate(query, context, budget, seed), query, budget) for query in each}


def _merge(own: dict[str, Candidate], candidate: Candidate) -> None:
    key = same(candidate.text)
    there = own.setdefault(key, candidate)
    if there is not candidate:
        own[key] = Candidate(
            there.text,
            tuple(dict.fromkeys([*there.generators, *candidate.generators])),
            tuple(dict.fromkeys([*there.parents, *candidate.parents])),
            there.calls + candidate.calls,
        )

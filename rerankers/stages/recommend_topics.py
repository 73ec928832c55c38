"""Which queries others are sought for: topics of the collection, or queries that were typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError, Problem
from rerankers.queries.generators.base import Query, same
from rerankers.queries.topic_names import by_name
from rerankers.stages.config_parts import texts

if TYPE_CHECKING:
    from rerankers.values import Collection

SHOWN = 5


def chosen_queries(collection: Collection, query: Any, topics: Any) -> list[Query]:
    """Return the queries of a job.

    Parameters
    ----------
    collection
        with its topics.
    query
        a text or several, None for topics.
    topics
        ``all``, or ids; UQV100.001 is topic 201.

    Raises
    ------
    ConfigError
        for an empty or repeated query, or queries and topics at once.
    InputError
        for topics that are not there, have no text, or a collection without topics.
    """
    if query is not None:
        if topics != "all":
            raise ConfigError("topics: found topics beside a query; expected one of them")
        return _typed(texts(query))
    ids = collection.topics.ids.take(range(len(collection.topics)))
    if not ids:
        raise InputError.one(f"collection {collection.name!r}", "no topic", 'topics, or query="…" on the command line')
    text = dict(zip(ids, collection.topics.text, strict=True))
    chosen = ids if topics in ("all", None) else _named(texts(topics), ids, collection.name)
    empty = [Problem(f"topic {qid!r}", "an empty query", "words") for qid in chosen if not text[qid].strip()]
    if empty and (len(empty) == len(chosen) or topics != "all"):
        raise InputError(empty[:SHOWN])
    return [Query(qid, text[qid]) for qid in chosen if text[qid].strip()]


def _typed(typed: list[str]) -> list[Query]:
    if not typed:
        raise ConfigError("query: found an empty list; expected a query, or topics=all")
    if any(not one.strip() for one in typed):
        raise ConfigError("query: found an empty text; expected words")
    seen = [same(one) for one in typed]
    if len(set(seen)) < len(seen):
        twice = next(one for one, key in zip(typed, seen, strict=True) if seen.count(key) > 1)
        raise ConfigError(f"query: found {twice!r} more than once; expected each query once")
    return [Query(f"query-{number}", one) for number, one in enumerate(typed, start=1)]


def _named(wanted: list[str], ids: list[str], name: str) -> list[str]:
    if not wanted:
        raise ConfigError("topics: found an empty list; expected ids, or all")
    known = by_name(ids)
    found = [known.get(one, known.get(f"{one}")) for one in wanted]
    shown = ", ".join(ids[:SHOWN]) + (" …" if len(ids) > SHOWN else "")
    problems = [
        Problem("topics", repr(one), f"a topic of the collection {name!r}: {shown}")
        for one, own in zip(wanted, found, strict=True)
        if own is None
    ]
    if problems:
        raise InputError(problems)
    return list(dict.fromkeys(one for one in found if one is not None))

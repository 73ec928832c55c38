"""Topics that go by several names: the variants of a file brought under the topic ids of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rerankers._base.errors import ConfigError, InputError, Problems
from rerankers.collections.delimited import Table
from rerankers.queries.variant_files import VariantFile
from rerankers.values.qrels import met

UQV100_OFFSET = 200
"""UQV100.001 is topic 201 of the Web tracks (Bailey, Moffat, Scholer and Thomas 2016)."""

_UQV100 = re.compile(r"UQV100\.0*([0-9]+)", re.IGNORECASE)
_NUMBER = re.compile(r".*?0*([0-9]+)", re.DOTALL)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TopicNames:
    """How topic ids of variant files become those of a job, where they are not the same already.

    Attributes
    ----------
    names
        own id -> id of the job; looked up first.
    offset
        added to the number at the end of an id: with 200, ``UQV100.001`` and ``1`` are both topic 201. None: ids of
        the form ``UQV100.001`` are the topics from 201, and others stay as they are.
    """

    names: Mapping[str, str]
    offset: int | None = None

    def known(self, topic: str, of: Mapping[str, str]) -> str | None:
        """Return the id of the job, None where there is none; ``of``: see `by_name`."""
        if topic in self.names:
            topic = self.names[topic]
        if topic in of:
            return of[topic]
        if self.offset is not None:
            number = _NUMBER.fullmatch(topic)
            return None if number is None else of.get(str(int(number[1]) + self.offset))
        return of.get(official(topic))


def official(topic: str) -> str:
    """Return the number of a UQV100 topic in the Web tracks; any other id as it stands."""
    match = _UQV100.fullmatch(topic)
    return topic if match is None else str(int(match[1]) + UQV100_OFFSET)


def by_name(topics: Iterable[str]) -> dict[str, str]:
    """Return every name that a job's topics go by -> their id: themselves, and UQV100 topics their official number."""
    listed = list(dict.fromkeys(topics))
    return {official(topic): topic for topic in listed} | {topic: topic for topic in listed}


def read_topic_names(path: Path) -> dict[str, str]:
    """Read ``name,topic`` rows of a CSV or TSV file with that header.

    Raises
    ------
    InputError
        with every problem of the file and its line, a name with two topics among them.
    MissingError
        when the file is not there.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    name, topic = table.column("name"), table.column("topic")
    names: dict[str, str] = {}
    if (name is None or topic is None) and not problems:
        problems.add(1, f"a header of {', '.join(table.header)}", "name,topic")
    if name is not None and topic is not None:
        for number, row in table:
            own, to = row[name].strip(), row[topic].strip()
            if not own or not to or names.get(own, to) != to:
                problems.add(number, f"{own!r} as {to!r}", "a name, and one topic for it")
            names[own] = to
    problems.raise_if_any()
    return names


def matched(file: VariantFile, topics: Sequence[str], names: TopicNames, where: str, of: str) -> VariantFile:
    """Return the variants under the topic ids of a job.

    Parameters
    ----------
    file
        under its own ids.
    topics
        ids of the job.
    names
        how own ids become those.
    where, of
        the file, and whose topics these are, for messages.

    Returns
    -------
    VariantFile
        in the order of ``topics``; counted besides: ``topics_renamed``, ``topics_unknown`` and, with them left out,
        ``variants_of_unknown_topics``.

    Raises
    ------
    InputError
        when no id matches; the message shows both sides.
    """
    known = by_name(topics)
    texts: dict[str, tuple[str, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    renamed = unknown = lost = 0
    for own, variants in file.variants.texts.items():
        topic = names.known(own, known)
        if topic is None:
            unknown, lost = unknown + 1, lost + len(variants)
            continue
        renamed += topic != own
        texts[topic] = (*texts.get(topic, ()), *variants)
        ids[topic] = (*ids.get(topic, ()), *file.ids[own])
    if not texts:
        mend = "Say how they belong together: topics_offset=NUMBER, or topic_names=FILE with rows name,topic."
        raise InputError.one(
            where, f"topics {_some(file.variants.texts)}", f"those of {of}: {_some(topics)}", mend=mend
        )
    counts = met(topics_renamed=renamed, topics_unknown=unknown, variants_of_unknown_topics=lost)
    order = [topic for topic in dict.fromkeys(topics) if topic in texts]
    variants_of = replace(
        file.variants, texts={topic: texts[topic] for topic in order}, counts={**file.variants.counts, **counts}
    )
    return VariantFile(variants_of, {topic: ids[topic] for topic in order})


def kept_topics(topics: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """Return the topics that are not excluded; each of ``excluded`` is a topic, under any of its names.

    Raises
    ------
    ConfigError
        for one that is no topic: a misspelt exclusion would go unnoticed.
    """
    known = by_name(topics)
    left_out = set()
    for name in excluded:
        found = known.get(name, known.get(official(name)))
        if found is None:
            raise ConfigError(f"exclude_topics: found {name!r}; expected topics, such as {_some(topics)}")
        left_out.add(found)
    return [topic for topic in topics if topic not in left_out]


def capped(file: VariantFile, most: int | None) -> VariantFile:
    """Return the set with at most so many distinct variants a topic, the first ones (counted: ``beyond_most``)."""
    if most is None:
        return file
    texts: dict[str, tuple[str, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    beyond = 0
    for topic, variants in file.variants.texts.items():
        distinct = file.variants.distinct(topic)
        first = set(distinct[:most])
        beyond += max(len(distinct) - most, 0)
        rows = [(text, own) for text, own in zip(variants, file.ids[topic], strict=True) if text in first]
        texts[topic], ids[topic] = tuple(text for text, _ in rows), tuple(own for _, own in rows)
    counts = {**file.variants.counts, **met(beyond_most=beyond)}
    return VariantFile(replace(file.variants, texts=texts, counts=counts), ids)


def _some(topics: Iterable[str]) -> str:
    listed = list(topics)
    return ", ".join(listed[:_SHOWN]) + (" …" if len(listed) > _SHOWN else "")

"""The sets of variants of a job: what ``sets=[…]`` names, brought under the topics that they are about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.queries.topic_names import TopicNames, capped, kept_topics, matched
from rerankers.queries.variant_files import VariantFile, of_rows, read_variants

if TYPE_CHECKING:
    from rerankers.queries.sets import VariantSet
    from rerankers.values import Collection, Topics

TOPICS = "topics"
TEXT_FIELDS = ("query", "text")
"""What the text of the queries is called where a collection does not let it be chosen."""
_NAME = r"[A-Za-z_][\w.+-]*"
_BUILT_IN = re.compile(rf"(?:({_NAME}):)?{TOPICS}:([\w.-]+(?:\+[\w.-]+)*)")
_FILE = re.compile(rf"({_NAME}):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Spec:
    """One entry of ``sets``: its name, and the file (and a source in it), or the fields of the collection's queries."""

    name: str
    file: str = ""
    source: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How sets are read and compared.

    Attributes
    ----------
    reference
        name of the set that the others are held against, the human one; None: the first.
    forms
        name of a set -> form of its file, where that is not to be found (`rerankers.queries.variant_forms.FORMS`).
    exclude_topics
        topics that are left out of everything, such as the example in a prompt.
    names
        how topic ids of files become those of the job.
    most
        distinct variants kept a topic and set, the first ones; None: all.
    """

    reference: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    exclude_topics: tuple[str, ...] = ()
    names: TopicNames = field(default_factory=lambda: TopicNames({}))
    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise ConfigError(f"most: found {self.most}; expected at least 1 variant a topic, or null for all")


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """The sets under one naming of topics.

    Attributes
    ----------
    topics
        ids of the topics, in the order of the collection or of the reference set.
    files
        name -> the set, in the order in which they were named.
    reference
        name of the set that the others are held against.
    names
        how topic ids of files become those of the job; queries of a topic are among them.
    excluded
        how many topics were left out on request.
    """

    topics: tuple[str, ...]
    files: Mapping[str, VariantFile]
    reference: str
    names: TopicNames = field(default_factory=lambda: TopicNames({}))
    excluded: int = 0

    @property
    def variants(self) -> list[VariantSet]:
        """The sets."""
        return [file.variants for file in self.files.values()]


def described(one: VariantSet) -> dict[str, Any]:
    """Return how large a set is: over all topics, and distinct variants a topic."""
    distinct = [len(one.distinct(topic)) for topic in one.texts]
    return {
        "topics": len(distinct),
        "variants": sum(map(len, one.texts.values())),
        "distinct": sum(distinct),
        "distinct_per_topic": sum(distinct) / len(distinct) if distinct else None,
        "least": min(distinct, default=None),
        "most": max(distinct, default=None),
        "counts": dict(one.counts),
    }


def specs_of(entries: Sequence[str]) -> list[Spec]:
    """Return what ``sets=[…]`` names.

    An entry is ``NAME:FILE``, ``NAME:FILE#SOURCE`` (the rows of one source), ``topics:FIELD`` or
    ``NAME:topics:FIELD+FIELD`` (one variant from each text field of the collection's queries).

    Raises
    ------
    ConfigError
        for another form, and for a name that comes twice.
    """
    specs = [_spec(entry) for entry in entries]
    for name, times in Counter(spec.name for spec in specs).items():
        if times > 1:
            raise ConfigError(f"sets: found the name {name!r} {times} times; expected each set under its own name")
    return specs


def _spec(entry: str) -> Spec:
    built_in = _BUILT_IN.fullmatch(entry)
    if built_in is not None:
        return Spec(built_in[1] or built_in[2], fields=tuple(built_in[2].split("+")))
    match = _FILE.fullmatch(entry)
    if match is None:
        raise ConfigError(f"sets: found {entry!r}; expected NAME:FILE, NAME:FILE#SOURCE or NAME:{TOPICS}:FIELD")
    name, file = match[1], str(Path(match[2]).expanduser())
    if "#" in file and not Path(file).exists():
        file, _, source = file.rpartition("#")
        return Spec(name, file, source)
    return Spec(name, file)


def topic_ids(topics: Topics) -> tuple[list[str], list[int]]:
    """Return the ids of topics and, for each query, the number of its topic; queries may be variants of one topic.

    The id of a topic is that of its first query.
    """
    number: dict[int, int] = {}
    ids: list[str] = []
    for qid, code in zip(topics.ids.names.to_pylist(), topics.topic.tolist(), strict=True):
        if code not in number:
            number[code] = len(ids)
            ids.append(qid)
    return ids, [number[code] for code in topics.topic.tolist()]


def gather(
    specs: Sequence[Spec],
    expected: Sequence[str],
    options: SetOptions,
    part: Any,
    collection: Collection | None,
) -> Sets:
    """Read the sets and bring them under the topics of the collection or, without one, of the reference set.

    Parameters
    ----------
    specs
        of sets that are read.
    expected
        names of sets that a model will write.
    options
        how they are compared.
    part, collection
        the config object of the collection and what it loads; both None without one.

    Raises
    ------
    ConfigError
        for a reference or an excluded topic that does not exist, and for text fields without a collection.
    FairRerankersError
        of the readers.
    """
    names = [*(spec.name for spec in specs), *expected]
    if not names:
        raise ConfigError("sets: found none; expected at least one, for instance sets=[human:FILE,model:FILE]")
    for name, times in Counter(names).items():
        if times > 1:
            raise ConfigError(f"generate: found the name {name!r}, which a set has already; expected another name")
    reference = names[0] if options.reference is None else options.reference
    choose("reference", reference, names)
    for name in options.forms:
        choose("forms", name, [spec.name for spec in specs])
    files = {spec.name: _read(spec, options, part, collection) for spec in specs}
    if collection is None and reference not in files:
        raise ConfigError(f"reference: found {reference}, which a model writes; expected a set that is read first")
    names_of = options.names
    if collection is None:
        topics, of = list(files[reference].variants.texts), f"the reference set {reference}"
    else:
        topics, number = topic_ids(collection.topics)
        of = f"the collection {collection.name}"
        queries = zip(collection.topics.ids.names.to_pylist(), number, strict=True)
        names_of = replace(names_of, names={qid: topics[at] for qid, at in queries} | dict(names_of.names))
    kept = kept_topics(topics, options.exclude_topics)
    paths = {spec.name: spec.file or spec.name for spec in specs}
    out = {}
    for name, file in files.items():
        under = matched(file, topics, names_of, paths[name], of)
        out[name] = capped(_of_topics(under, kept, paths[name]), options.most)
    return Sets(tuple(kept), out, reference, names_of, len(topics) - len(kept))


def _of_topics(file: VariantFile, topics: Sequence[str], where: str) -> VariantFile:
    keep = [topic for topic in topics if topic in file.variants.texts]
    if not keep:
        raise InputError.one(where, "no variant of a topic that is not excluded", "at least one")
    texts = {topic: file.variants.texts[topic] for topic in keep}
    return VariantFile(replace(file.variants, texts=texts), {topic: file.ids[topic] for topic in keep})


def _read(spec: Spec, options: SetOptions, part: Any, collection: Collection | None) -> VariantFile:
    if not spec.fields:
        return read_variants(spec.name, Path(spec.file), options.forms.get(spec.name), spec.source)
    if collection is None:
        raise ConfigError(f"sets: found {TOPICS}:{'+'.join(spec.fields)} without a collection; expected collection=…")
    ids, number = topic_ids(collection.topics)
    fields = [texts_of(name, part, collection) for name in spec.fields]
    rows = [(ids[topic], texts[query]) for query, topic in enumerate(number) for texts in fields]
    return of_rows(spec.name, rows)


def texts_of(name: str, part: Any, collection: Collection) -> tuple[str, ...]:
    """Return a text field of the collection's queries, a text a query.

    Raises
    ------
    ConfigError
        when the queries have no such field, or the collection has one text a query and lets none be chosen.
    """
    chosen = getattr(part, "query_field", None)
    if name == chosen or (not hasattr(part, "query_field") and name in TEXT_FIELDS):
        return collection.topics.text
    if not hasattr(part, "query_field"):
        raise ConfigError(f"sets: found {TOPICS}:{name}; expected {TOPICS}:query, the one text of {collection.name}")
    return tuple(replace(part, query_field=name).load().topics.text)

"""The sets that a language model writes for a job: what it is told of each topic, who is asked, what is kept."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.generate_variants import Generated, Generation, generate
from rerankers.queries.topic_names import capped, matched
from rerankers.queries.variant_files import read_variants
from rerankers.stages.variants_sets import Sets, texts_of, topic_ids

if TYPE_CHECKING:
    from rerankers.llm import Prompt
    from rerankers.values import Collection

_SPEC = re.compile(r"([A-Za-z_][\w.+-]*?)(?::([0-9]+(?:\.[0-9]+)?))?")


@dataclass(frozen=True, slots=True)
class Setting:
    """One entry of ``generate``: the name of the set, and the temperature, None for that of ``llm``."""

    name: str
    temperature: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What a model wrote.

    Attributes
    ----------
    sets
        the sets of the job with those that were written.
    of
        name of a setting -> `Generated`.
    completions
        name of a set -> name of its setting, where a setting has several.
    account
        what was asked and answered, over all settings.
    dry_run
        True where nobody was really asked: there are no new sets then.
    """

    sets: Sets
    of: Mapping[str, Generated] = field(default_factory=dict)
    completions: Mapping[str, str] = field(default_factory=dict)
    account: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)
    dry_run: bool = False


def settings_of(entries: Sequence[str]) -> list[Setting]:
    """Return what ``generate=[…]`` names: ``NAME`` or ``NAME:TEMPERATURE``.

    Raises
    ------
    ConfigError
        for another form, and for a name that comes twice.
    """
    out: list[Setting] = []
    for entry in entries:
        match = _SPEC.fullmatch(entry)
        if match is None:
            raise ConfigError(f"generate: found {entry!r}; expected NAME or NAME:TEMPERATURE, such as warm:0.7")
        if any(one.name == match[1] for one in out):
            raise ConfigError(f"generate: found the name {match[1]!r} again; expected each once")
        out.append(Setting(match[1], None if match[2] is None else float(match[2])))
    return out


def names_of(settings: Sequence[Setting], how: Generation) -> list[str]:
    """Return the names of the sets that will be written."""
    turns = range(1, how.completions + 1)
    return [one.name if how.completions == 1 else f"{one.name}.{turn}" for one in settings for turn in turns]


def write_sets(
    sets: Sets,
    settings: Sequence[Setting],
    how: Generation,
    provider: Any,
    most: int | None,
    part: Any,
    collection: Collection | None,
    cache: Path,
) -> Written:
    """Ask a model for the variants of the topics of a job.

    Parameters
    ----------
    sets
        what is there already.
    settings, how
        what is asked for.
    provider
        of ``llm``.
    most
        distinct variants kept a topic.
    part, collection
        the config object of the collection and what it loads; None without one.
    cache
        folder of the replay cache.

    Raises
    ------
    ConfigError
        for a temperature where the provider has none, and for a source of texts that is not there.
    FairRerankersError
        as `rerankers.queries.generate_variants.generate`.
    """
    if not settings:
        return Written(sets)
    prompt = how.read_prompt()
    topics = _about(prompt, sets, how, part, collection)
    files = dict(sets.files)
    of: dict[str, Generated] = {}
    completions: dict[str, str] = {}
    account: dict[str, Mapping[str, int | float]] = {}
    dry_run = False
    for setting in settings:
        with _at(provider, setting).session(cache) as session:
            made = generate(setting.name, topics, prompt, session, how)
            account[setting.name], dry_run = dict(session.account), session.dry_run
        of[setting.name] = made
        files |= {name: capped(file, most) for name, file in made.sets.items()}
        if len(made.sets) > 1:
            completions |= dict.fromkeys(made.sets, setting.name)
    return Written(sets if dry_run else replace(sets, files=files), of, completions, account, dry_run)


def _at(provider: Any, setting: Setting) -> Any:
    if setting.temperature is None:
        return provider
    if not any(one.name == "temperature" for one in dataclasses.fields(provider)):
        raise ConfigError(
            f"generate: found {setting.name}:{setting.temperature:g}; expected {setting.name} alone, since "
            f"{type(provider).__name__} has no temperature"
        )
    return replace(provider, temperature=setting.temperature)


def _about(
    prompt: Prompt, sets: Sets, how: Generation, part: Any, collection: Collection | None
) -> dict[str, dict[str, str]]:
    """Return the texts that the prompt asks for, by topic; an empty one is an error that names the topics."""
    out: dict[str, dict[str, str]] = {topic: {} for topic in sets.topics}
    for place in sorted(prompt.placeholders & {"query", "backstory"}):
        source = getattr(how, place)
        if source is None and place == "backstory":
            raise ConfigError(
                f"generation.backstory: no value, but the prompt {prompt.name} shows it; expected a file topic:text, "
                "or a text field of the collection's queries"
            )
        texts = _texts(source, sets, part, collection)
        empty = [topic for topic in sets.topics if not texts.get(topic, "").strip()]
        if empty:
            shown = ", ".join(empty[:5])
            where = f"generation.{place}"
            raise InputError.one(where, f"no text for {len(empty)} topics ({shown})", "one for every topic")
        for topic in sets.topics:
            out[topic][place] = texts[topic]
    return out


def _texts(source: str | None, sets: Sets, part: Any, collection: Collection | None) -> dict[str, str]:
    if source is not None and Path(source).expanduser().is_file():
        path = Path(source).expanduser()
        file = matched(read_variants("texts", path), sets.topics, sets.names, source, "the topics compared")
        return {topic: texts[0] for topic, texts in file.variants.texts.items()}
    if collection is None:
        if source is not None:
            raise ConfigError(f"generation: found {source!r}, which is no file; expected one, or a collection=…")
        return {topic: texts[0] for topic, texts in sets.files[sets.reference].variants.texts.items()}
    ids, number = topic_ids(collection.topics)
    listed = collection.topics.text if source is None else texts_of(source, part, collection)
    out: dict[str, str] = {}
    for query, topic in enumerate(number):
        out.setdefault(ids[topic], listed[query])
    return out

"""Query variants written by a language model: a prompt file, several samples, what failed counted by reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, InputError
from rerankers.llm.lines import parse_lines
from rerankers.llm.prompts import Prompt
from rerankers.queries.topic_names import official
from rerankers.queries.variant_files import VariantFile, of_rows
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.llm import Reply, Request, Session

PROMPTS = Path(__file__).parent / "prompts"
PLACES = ("query", "backstory", "number", "id")
"""Placeholders of a prompt: the query as it was typed, the story behind it, how many are asked for, the topic's id."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How variants are asked for. The options are those of ``generation`` in ``conf/variants.yaml``.

    Attributes
    ----------
    prompt
        a prompt file, or the name of one that comes with the package: ``variants`` (from the query),
        ``variants_backstory`` (from the story behind it).
    number
        variants that one reply is asked for, as the prompt says it.
    samples
        replies a topic whose variants make up a set.
    completions
        how often the whole set is made, as NAME.1, NAME.2, …: one set is no estimate of what a setting gives.
    most
        variants kept of a reply; a model that loops writes hundreds. None keeps all.
    query, backstory
        where those texts come from: a text field of the collection's queries, or a file of any form of variants, of
        which the first text of a topic counts. None: the text of the collection's queries or, without a collection,
        the first variant of the reference set; and no stories.
    """

    prompt: str = "variants"
    number: int = 10
    samples: int = 1
    completions: int = 1
    most: int | None = 100
    query: str | None = None
    backstory: str | None = None

    def __post_init__(self) -> None:
        for name in ("number", "samples", "completions", "most"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"generation.{name}: found {value}; expected at least 1")

    def read_prompt(self) -> Prompt:
        """Read the prompt.

        Raises
        ------
        MissingError, InputError
            when there is no such file, or it is no prompt with a place for the query or the story.
        """
        own = PROMPTS / f"{self.prompt}.yaml"
        path = own if own.is_file() else Path(self.prompt)
        prompt = Prompt.read(path, known=PLACES)
        if not prompt.placeholders & {"query", "backstory"}:
            expected = "{{query}} or {{backstory}} in a message"
            raise InputError.one(str(path), "a prompt that would ask the same of every topic", expected)
        return prompt


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """Sets that a model wrote.

    Attributes
    ----------
    sets
        name -> the set; topics of which nothing came are not in it. Its counts say why: ``replies``, ``failed:REASON``,
        ``dropped:REASON`` for lines that are no variants, ``topics_without_variants``.
    prompt, model
        fingerprint of the prompt, and who answered.
    """

    sets: Mapping[str, VariantFile]
    prompt: str
    model: str


def check_example(prompt: Prompt, topics: Sequence[str]) -> None:
    """Raise `ConfigError` where an example of the prompt is a topic that is compared: it would be its own answer."""
    shown = {official(one) for one in prompt.example_ids}
    both = [topic for topic in topics if official(topic) in shown]
    if both:
        raise ConfigError(
            f"exclude_topics: the prompt {prompt.name} shows {', '.join(both)} as an example; expected it left out: "
            f"exclude_topics=[{','.join(both)}]"
        )


def generate(
    name: str, topics: Mapping[str, Mapping[str, str]], prompt: Prompt, session: Session, how: Generation
) -> Generated:
    """Ask for variants of topics.

    Parameters
    ----------
    name
        of the set.
    topics
        id -> the texts of the placeholders ``query`` and ``backstory``, as far as there are any.
    prompt
        what is asked.
    session
        whom; every reply is in its replay cache, so that a job repeats without asking.
    how
        how often and how many.

    Returns
    -------
    Generated
        one set, or ``how.completions`` of them, named ``NAME.1`` and so on.

    Raises
    ------
    InputError
        for a place without a text, and when no reply holds a variant; the reasons are told.
    MissingError
        of the session: nobody answers, or a reply is missing where only the cache may answer.
    """
    check_example(prompt, list(topics))
    requests: list[Request] = []
    each = how.samples * how.completions
    for topic, texts in topics.items():
        values = {**texts, "number": str(how.number), "id": topic}
        requests += [prompt.request(values, about=topic, sample=sample) for sample in range(each)]
    replies = session.ask(requests)
    sets = {}
    for turn in range(how.completions):
        own = name if how.completions == 1 else f"{name}.{turn + 1}"
        chosen = [place for place in range(len(requests)) if place % each // how.samples == turn]
        sets[own] = _set(own, topics, [(requests[place].about, replies[place]) for place in chosen], how.most)
    if not session.dry_run and not any(one.variants.texts for one in sets.values()):
        counts = next(iter(sets.values())).variants.counts
        told = ", ".join(f"{key} {value}" for key, value in counts.items() if key.startswith(("failed", "dropped")))
        raise InputError.one(f"generate: {name}", f"no variant in {len(replies)} replies ({told})", "at least one")
    return Generated(sets, prompt.fingerprint, session.name)


def _set(
    name: str, topics: Mapping[str, Mapping[str, str]], replies: Sequence[tuple[str, Reply]], most: int | None
) -> VariantFile:
    rows: list[tuple[str, str]] = []
    failed: Counter[str] = Counter()
    for topic, reply in replies:
        lines = parse_lines(reply, echo=topics[topic].get("query", ""), most=most)
        if lines.reason:
            failed[f"failed:{lines.reason}"] += 1
        failed.update({f"dropped:{reason}": count for reason, count in lines.counts.items() if count})
        rows += [(topic, text) for text in lines.kept]
    without = len(topics) - len({topic for topic, _ in rows})
    counts = {**met(replies=len(replies)), **dict(sorted(failed.items())), **met(topics_without_variants=without)}
    return of_rows(name, rows, counts)


def as_json_lines(file: VariantFile, prompt: str, model: str) -> str:
    """Return a set as JSON lines, to be read again: ``sets=[NAME:FILE]``."""
    return "".join(
        json.dumps({"qid": topic, "variants": list(texts), "source": model, "prompt": prompt}, ensure_ascii=False)
        + "\n"
        for topic, texts in file.variants.texts.items()
    )

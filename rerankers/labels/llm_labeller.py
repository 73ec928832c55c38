"""Labels by a language model: a few examples, a text, and the word that comes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.labels.base import Labelled
from rerankers.labels.label_sets import LabelSet, read_label_set
from rerankers.labels.likelihoods import likelihood_scores
from rerankers.labels.votes import AGREEMENT, TIE, winner
from rerankers.llm.parse import parse_label
from rerankers.llm.prompts import Prompt

if TYPE_CHECKING:
    from rerankers.labels.base import Text
    from rerankers.llm.base import Reply, Request, Session

PROMPTS = Path(__file__).parent / "prompts"
METHODS = ("reply", "likelihood")
PLACES = ("title", "text", "labels")
EXCLUDED = "excluded"
UNPARSED = "unparsed"


@dataclass(frozen=True)
class LlmLabeller:
    """Options of labelling by a language model; `asking` gives the labeller, once there is somebody to ask.

    Attributes
    ----------
    prompt
        ``gender_presence`` or a file (`rerankers.llm.Prompt`) with ``{{text}}`` and perhaps ``{{title}}`` and
        ``{{labels}}``.
    label_set
        ``gender_presence`` or a file of labels and their synonyms (`read_label_set`).
    reply_field
        of the JSON object that a reply is asked to be.
    method
        ``reply`` (what the model writes) or ``likelihood`` (the label that it finds likeliest as its answer; local
        models only; nothing to be parsed).
    samples
        completions for each text; the label with strictly most of them is given, a tie is none.
    exclude_ids
        texts that are not labelled (``excluded``), for instance those that the examples were taken from.
    most_characters
        longer titles and texts are cut, and counted.
    batch
        texts that are asked about at a time.
    """

    prompt: str = "gender_presence"
    label_set: str = "gender_presence"
    reply_field: str = "label"
    method: str = "reply"
    samples: int = 1
    exclude_ids: list[str] = field(default_factory=list)
    most_characters: int = 8000
    batch: int = 64

    def __post_init__(self) -> None:
        choose("method", self.method, METHODS)
        for key, value in (
            ("samples", self.samples),
            ("most_characters", self.most_characters),
            ("batch", self.batch),
        ):
            if value < 1:
                raise ConfigError(f"{key}: found {value}; expected at least 1")
        if self.method == "likelihood" and self.samples > 1:
            raise ConfigError(f"samples: found {self.samples}; expected 1, for likelihoods are the same every time")

    @cached_property
    def label_names(self) -> LabelSet:
        """The labels, read when they are first asked for."""
        return read_label_set(self.label_set)

    @cached_property
    def messages(self) -> Prompt:
        """The prompt, read when it is first asked for."""
        shipped = PROMPTS / f"{self.prompt}.yaml"
        return Prompt.read(shipped if shipped.is_file() else self.prompt, known=PLACES, required=("text",))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        return self.label_names.names

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Refuse: there is nobody to ask yet."""
        raise ConfigError("llm: found none, but labeller=llm needs a language model; expected llm=openai, for instance")

    def asking(self, session: Session) -> LlmLabels:
        """Return the labeller that asks a model.

        Raises
        ------
        InputError, MissingError
            for a prompt or a set of labels that cannot be read.
        ConfigError
            for ``method=likelihood`` where the model cannot be asked for it.
        """
        if self.method == "likelihood" and not callable(getattr(session, "likelihoods", None)):
            raise ConfigError(
                f"method: found likelihood, which {session.name} cannot give; expected reply, or llm=local"
            )
        return LlmLabels(self, session, self.messages, self.label_names)


@dataclass(frozen=True)
class LlmLabels:
    """A labeller that asks a language model.

    Attributes
    ----------
    counts
        what was met: ``texts_cut``, ``excluded``, replies by how they were read (``read_as_json``, …), and samples that
        gave no label by reason (``sample_refusal``, …).
    """

    options: LlmLabeller
    session: Session
    prompt: Prompt
    label_set: LabelSet
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The source of its labels."""
        return f"llm:{self.session.name}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        return self.label_set.names

    def refuse_examples(self, ids: Iterable[str]) -> None:
        """Raise `InputError` where a text to be labelled is an example of the prompt: its label was given away.

        Texts of ``exclude_ids`` are not labelled, and so may be examples.
        """
        given = sorted((self.prompt.example_ids - set(self.options.exclude_ids)) & set(ids))
        if given:
            raise InputError.one(
                "input",
                f"the texts {', '.join(given)}, which are examples of the prompt {self.prompt.name}",
                "texts that the model was not told the label of",
                mend=f"Leave them without a label with labeller.exclude_ids=[{','.join(given)}].",
            )

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Yield one `Labelled` a text, in their order; ``batch`` texts are asked about at a time.

        Raises
        ------
        InputError
            for a text that is an example of the prompt.
        """
        source = iter(texts)
        left_out = set(self.options.exclude_ids)
        while batch := list(islice(source, self.options.batch)):
            self.refuse_examples(text.id for text in batch)
            asked = [text for text in batch if text.id not in left_out]
            said = {one.id: one for one in self._asked(asked)}
            for text in batch:
                if text.id in said:
                    yield said[text.id]
                else:
                    self._note(EXCLUDED)
                    yield Labelled(text.id, None, {}, self.name, EXCLUDED)

    def _asked(self, texts: Sequence[Text]) -> Iterator[Labelled]:
        samples = range(self.options.samples)
        requests = [self._request(text, sample) for text in texts for sample in samples]
        if self.options.method == "likelihood":
            found = likelihood_scores(self.session, requests, self.labels, self._answers)
            for text, (label, reason, scores) in zip(texts, found, strict=True):
                yield Labelled(text.id, label, scores, self.name, reason)
            return
        replies = self.session.ask(requests) if requests else []
        for row, text in enumerate(texts):
            yield self._voted(text.id, replies[row * len(samples) : (row + 1) * len(samples)])

    @property
    def _answers(self) -> list[str]:
        """Return the labels in the form of the examples' replies: JSON, or bare words."""
        examples = self.prompt.examples
        if examples and all(example.reply.lstrip().startswith("{") for example in examples):
            return [json.dumps({self.options.reply_field: label}, ensure_ascii=False) for label in self.labels]
        return list(self.labels)

    def _request(self, text: Text, sample: int) -> Request:
        most = self.options.most_characters
        if sample == 0 and max(len(text.title), len(text.text)) > most:
            self._note("texts_cut")
        values = {"title": text.title[:most], "text": text.text[:most], "labels": ", ".join(self.labels)}
        schema = None
        if self.options.method == "reply" and self.prompt.schema is None:
            schema = self.label_set.schema(self.options.reply_field)
        return self.prompt.request(values, text.id, sample, schema)

    def _voted(self, id_: str, replies: Sequence[Reply]) -> Labelled:
        parsed = [parse_label(reply, self.label_set.labels, field=self.options.reply_field) for reply in replies]
        for one in parsed:
            self._note(f"sample_{one.reason}" if one.reason else f"read_as_{one.route}")
        label, reason, scores = winner([one.value for one in parsed])
        reasons = [one.reason for one in parsed if one.value is None]
        if label is None and reason != TIE:  # no sample has a label: the reason that most of them give
            reason = max(reasons, key=reasons.count)
        if reasons and scores:
            scores[UNPARSED] = float(len(reasons))
        return Labelled(id_, label, scores, self.name, reason, tuple(reply.text for reply in replies))

    def _note(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


__all__ = ["AGREEMENT", "EXCLUDED", "METHODS", "PLACES", "UNPARSED", "LlmLabeller", "LlmLabels"]

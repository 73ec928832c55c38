"""What a labeller is given and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

NEUTRAL = "neutral"
"""The label of a text that speaks of no group more than of others. An unlabelled text has no label: None."""

NEUTRALITY = "neutrality"
TOKENS = "tokens"
"""Keys of `Labelled.scores` beside the groups' names: neutrality (0 to 1) and the number of tokens."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document to be labelled; ``title`` may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """What is said of one text.

    Attributes
    ----------
    id
        of the text.
    label
        ``neutral``, the name of a group, or None where there is none.
    scores
        what it rests on. Lexical labellers give the number of words of each group under the group's name, `TOKENS` and
        `NEUTRALITY`; models give the votes for each label.
    source
        who says so, such as ``lexical_majority`` or ``llm:…``.
    reason
        why there is no label, such as ``ambiguous`` or ``refusal``; empty where there is one.
    replies
        what a model wrote, word for word.
    """

    id: str
    label: str | None
    scores: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    reason: str = ""
    replies: tuple[str, ...] = ()


class Labeller(Protocol):
    """Gives labels; its dataclass fields are the options of ``conf/labeller/<name>.yaml``."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        ...

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Yield one `Labelled` a text, in their order, without holding all texts in memory."""
        ...

"""Labels by majority of several labellers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError
from rerankers.labels.base import Labelled
from rerankers.labels.file_labels import FileLabels, label_order
from rerankers.labels.lexical import LexicalMajority, LexicalNeutrality

if TYPE_CHECKING:
    from rerankers.labels.base import Labeller, Text

AGREEMENT = "agreement"
"""Score of a vote: share of the votes that the winner has (the leading share where none wins)."""
TIE, NO_VOTES = "tie", "no_votes"
OWN = {"lexical_majority": LexicalMajority, "lexical_neutrality": LexicalNeutrality}
_BATCH = 4096


def winner(votes: Sequence[str | None]) -> tuple[str | None, str, dict[str, float]]:
    """Return (the label with strictly most votes or None, reason, votes for each label and `AGREEMENT`).

    Parameters
    ----------
    votes
        None is no vote: it is left out of the share.
    """
    counts: dict[str, int] = {}
    for vote in votes:
        if vote is not None:
            counts[vote] = counts.get(vote, 0) + 1
    if not counts:
        return None, NO_VOTES, {}
    most = max(counts.values())
    leading = [label for label in counts if counts[label] == most]
    scores = {label: float(counts[label]) for label in label_order(counts) if label in counts}
    scores[AGREEMENT] = most / sum(counts.values())
    return (leading[0], "", scores) if len(leading) == 1 else (None, TIE, scores)


@dataclass(frozen=True)
class Votes:
    """The label that most of several labellers give; a tie is no label.

    Attributes
    ----------
    voters
        at least two: label files, or ``lexical_majority`` and ``lexical_neutrality`` with their usual options. Language
        models vote through the files that ``fair-rerank label labeller=llm`` wrote.
    least
        votes that a text needs; with fewer it has no label (``no_votes``).
    """

    voters: list[str] = field(default_factory=list)
    least: int = 1

    def __post_init__(self) -> None:
        if self.least < 1:
            raise ConfigError(f"least: found {self.least}; expected at least 1")

    @property
    def name(self) -> str:
        """The source of its labels."""
        return "votes"

    @cached_property
    def labellers(self) -> list[Labeller]:
        """Those who vote; `ConfigError` where there are fewer than two."""
        if len(self.voters) < 2:
            raise ConfigError(
                f"labeller.voters: found {len(self.voters)} labellers; expected at least two. "
                "Type: labeller.voters=[lexical_majority,FILE]"
            )
        return [OWN[one]() if one in OWN else FileLabels(one) for one in self.voters]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        return label_order(label for one in self.labellers for label in one.labels)

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Yield the vote on each text, in their order; some thousands are held at a time."""
        source = iter(texts)
        while batch := list(islice(source, _BATCH)):
            said = [one.label(batch) for one in self.labellers]
            for text, votes in zip(batch, zip(*said, strict=True), strict=True):
                label, reason, scores = winner([vote.label for vote in votes])
                if sum(vote.label is not None for vote in votes) < self.least:
                    label, reason = None, NO_VOTES
                yield Labelled(text.id, label, scores, self.name, reason)

"""Labels by counting words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.labels.base import NEUTRAL, NEUTRALITY, TOKENS, Labelled
from rerankers.labels.counting import Counted, WordCounter, utf8
from rerankers.labels.lexicon import Lexicon, load_lexicon
from rerankers.labels.neutrality import neutrality, target_shares
from rerankers.labels.tokens import tokens_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.labels.base import Text
    from rerankers.labels.counting import Utf8

FIELDS = ("title", "text")
_BATCH = 4096


class Columns(NamedTuple):
    """What is said of n texts.

    ``label`` int64 (n,), 0 for neutral and g + 1 for group g; ``counts`` int64 (n, G), words of the groups; ``tokens``
    int64 (n,); ``neutrality`` float64 (n,).
    """

    label: NDArray[np.int64]
    counts: NDArray[np.int64]
    tokens: NDArray[np.int64]
    neutrality: NDArray[np.float64]


@dataclass(frozen=True)
class _Lexical(ABC):
    lexicon: str = "gender_163"
    names: str = "keep"
    overlap: str = "error"
    tokens: str = "regex"
    fields: list[str] = field(default_factory=lambda: list(FIELDS))

    def __post_init__(self) -> None:
        tokens_named(self.tokens)
        if not self.fields:
            raise ConfigError(f"fields: found none; expected one or more of {', '.join(FIELDS)}")
        for one in self.fields:
            choose("fields", one, FIELDS)

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name of the labeller, which is the source of its labels."""

    @cached_property
    def words(self) -> Lexicon:
        """The word list, read when it is first asked for."""
        return load_lexicon(self.lexicon, self.names, self.overlap, self.tokens)

    @cached_property
    def counter(self) -> WordCounter:
        """What counts them."""
        return WordCounter.of(self.words, tokens_named(self.tokens))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        return (NEUTRAL, *self.words.groups)

    def columns(self, texts: Mapping[str, Utf8]) -> Columns:
        """Label many texts, whose fields (``title``, ``text``) are counted one by one: no word spans two of them."""
        parts = [self.counter.count_utf8(texts[one]) for one in dict.fromkeys(self.fields)]
        first, *others = parts
        for one in others:
            first = Counted(first.counts + one.counts, first.tokens + one.tokens)
        return self._columns(first)

    @abstractmethod
    def _columns(self, counted: Counted) -> Columns: ...

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Yield one `Labelled` a text, in their order; some thousands are held at a time."""
        source = iter(texts)
        while batch := list(islice(source, _BATCH)):
            fields = {one: utf8([getattr(text, one) for text in batch]) for one in self.fields}
            yield from self._records([text.id for text in batch], self.columns(fields))

    def _records(self, ids: Sequence[str], found: Columns) -> Iterator[Labelled]:
        labels, groups = self.labels, self.words.groups
        parts = (found.label.tolist(), found.counts.tolist(), found.tokens.tolist(), found.neutrality.tolist())
        for id_, label, counts, tokens, neutral in zip(ids, *parts, strict=True):
            scores = {**dict(zip(groups, counts, strict=True)), TOKENS: tokens, NEUTRALITY: neutral}
            yield Labelled(id_, labels[label], scores, self.name)


def leading_group(counts: NDArray[np.int64], margin: int = 1, least: int = 1) -> NDArray[np.int64]:
    """Return the group with strictly most words, int64 (n,): 0 where there is none, g + 1 for group g.

    Parameters
    ----------
    counts
        int64 (n, G), G at least 2.
    margin
        words that the leading group must be ahead of the next one, at least 1.
    least
        words that it must have, at least 1.
    """
    ordered = np.sort(counts, axis=1)
    leads = (ordered[:, -1] - ordered[:, -2] >= max(margin, 1)) & (ordered[:, -1] >= max(least, 1))
    found: NDArray[np.int64] = np.where(leads, counts.argmax(axis=1) + 1, 0)
    return found


@dataclass(frozen=True)
class LexicalMajority(_Lexical):
    """The group with strictly most words; neutral for a tie or without any.

    It tells of whom a text speaks (presence), not whether it is biased.

    Attributes
    ----------
    lexicon
        ``gender_163``, ``gender_32``, or a file ``word,group`` (`load_lexicon`).
    names
        ``keep`` or ``drop`` capitalised words of the list, which are first names in ``gender_163``.
    overlap
        for a word in two groups: ``error``, ``both`` or ``drop``.
    tokens
        ``regex`` (runs of letters) or ``whitespace`` (lower case, cut at single blanks).
    fields
        ``title``, ``text`` or both.
    margin
        words that the leading group must be ahead, at least 1.
    least
        words that the leading group must have, at least 1.
    """

    margin: int = 1
    least: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, value in (("margin", self.margin), ("least", self.least)):
            if value < 1:
                raise ConfigError(f"{key}: found {value}; expected at least 1")

    @property
    def name(self) -> str:
        """The source of its labels."""
        return "lexical_majority"

    def _columns(self, counted: Counted) -> Columns:
        label = leading_group(counted.counts, self.margin, self.least)
        return Columns(label, *counted, neutrality(counted.counts))


@dataclass(frozen=True)
class LexicalNeutrality(_Lexical):
    """Neutral where the document's neutrality is 1 (Rekabsaz, Kopeinik & Schedl 2021), else the majority.

    Attributes
    ----------
    lexicon, names, overlap, tokens, fields
        as for `LexicalMajority`.
    tau
        texts with no more gendered words than this are neutral.
    target
        group -> its share of words in a neutral text; null for equal shares.
    clip
        raise neutralities below 0 to 0.
    """

    tau: float = 1.0
    target: dict[str, float] | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.tau < np.inf:
            raise ConfigError(f"tau: found {self.tau}; expected a number of words of at least 0")

    @property
    def name(self) -> str:
        """The source of its labels."""
        return "lexical_neutrality"

    @cached_property
    def _target(self) -> list[float] | None:
        if self.target is None:
            return None
        groups = self.words.groups
        if set(self.target) != set(groups):
            raise ConfigError(
                f"target: found shares of {', '.join(self.target) or 'no group'}; "
                f"expected one for each of {', '.join(groups)}"
            )
        shares = [float(self.target[group]) for group in groups]
        target_shares(len(groups), shares)  # refuses what is no distribution
        return shares

    def _columns(self, counted: Counted) -> Columns:
        values = neutrality(counted.counts, self.tau, self._target, self.clip)
        label = np.where(values == 1, 0, leading_group(counted.counts))
        return Columns(label, *counted, values)

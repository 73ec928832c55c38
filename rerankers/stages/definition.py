"""What a definition of fairness is: its name, and sentences that say what is meant and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import choose

TITLES = {
    "merit": "merit",
    "parity": "parity",
    "proportional": "proportionality",
    "worst_off": "the worst off",
    "none": "no definition of fairness",
    "unknown": "a definition of yours",
}
"""Name -> what it is called in a sentence."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What "fair" means in a config.

    Attributes
    ----------
    name
        ``merit``: exposure by relevance, equal where relevance is (Diaz et al. 2020); ``parity``: equal exposure of
        groups, whatever is relevant; ``proportional``: exposure by stated or counted shares, whatever is relevant;
        ``worst_off``: nobody is left too far behind; ``none``: the config stands for no definition (anchors, baselines
        of diversification and fusion); ``unknown``: a class of the user's own, of which nothing is known here.
    sentence
        one or two sentences: what the config aims at.
    caveat
        what it does not do, or needs to be believed; may be empty.
    """

    name: str
    sentence: str
    caveat: str = ""

    def __post_init__(self) -> None:
        choose("definition", self.name, TITLES)

    def __str__(self) -> str:
        """Return name, sentence and caveat as one line for a report."""
        text = f"{TITLES[self.name]}. {self.sentence}"
        return f"{text} {self.caveat}" if self.caveat else text


@dataclass(frozen=True, slots=True)
class Setting:
    """What a method's definition depends on besides its own options.

    Attributes
    ----------
    target
        the target spec, None where there is none.
    groups
        the attributes that a job measures.
    browsing
        how users look at a ranking, in words.
    beliefs
        where relevance comes from, in words.
    """

    target: Any = None
    groups: Sequence[str] = ()
    browsing: str = "the browsing model"
    beliefs: str = "the scores of the first stage"

    @property
    def exposure(self) -> str:
        """The sentence about what exposure is."""
        return f"Exposure is what readers give who browse as {self.browsing}."

    @property
    def believed(self) -> str:
        """The sentence about whose relevance it is."""
        return f"Relevance is what {self.beliefs} say: where they are wrong about a group, so is this."

    def believed_if(self, used: bool) -> str:
        """Return `believed` where beliefs decide what is due; nothing where they do not."""
        return self.believed if used else ""

    def whose(self, method: Any) -> str:
        """Return the groups that a method is given, in words."""
        one, several = getattr(method, "attribute", None), getattr(method, "attributes", None)
        names = [str(one)] if one else [str(name) for name in several or self.groups]
        return f"groups of {' and '.join(names)}" if names else "groups"


def percent(share: float) -> str:
    """Return a share as a percentage: 0.125 is 12.5 %."""
    return f"{100.0 * share:.3g} %"


def joined(*sentences: str) -> str:
    """Return sentences as one text; empty ones are left out."""
    return " ".join(sentence for sentence in sentences if sentence)

"""The evaluation of TREC Fair Ranking 2019 (Biega, Diaz, Ekstrand and Kohlmeier 2020): amortised over sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers.tracks.amortised2019 import Rules
from rerankers.tracks.preset import departures

if TYPE_CHECKING:
    from rerankers.tracks.preset import Inputs, Outcome

WORDS: Mapping[str, Sequence[str]] = {
    "exposure_weight": ("attention", "attention_times_satisfaction"),
    "unannotated_continuation": ("update", "skip"),
    "label_multiplicity": ("set", "per_author"),
    "empty_label": ("drop", "count"),
    "duplicates": ("error", "accumulate"),
    "run_qid": ("checked", "ignored"),
    "undefined": ("missing", "error"),
}


@dataclass(frozen=True, slots=True)
class Trec2019:
    """A preset of 2019; the defaults are the corrected form.

    Parameters
    ----------
    name
        what it is called in results.
    gamma
        factor of attention from rank to rank, in [0, 1].
    stop
        f(r) = stop · r, the probability that a document of relevance r ends the search, in [0, 1].
    exposure_weight
        exposure of a document for its groups: ``attention``, as the guidelines have it, or
        ``attention_times_satisfaction``, as the official code has it, where only relevant documents get any.
    unannotated_continuation
        whether documents without labels end searches (``update``) or not (``skip``), for the groups' exposure.
    label_multiplicity
        a label that several authors of a document share: ``set``: it counts once; ``per_author``: as often.
    empty_label
        the empty label: ``drop``: it is none; ``count``: a group of its own.
    duplicates
        documents twice in a ranking: ``error`` or ``accumulate``.
    run_qid
        whether the query of a line of the run must be that of its entry (``checked``), and the line be an entry, or
        only the sequence file says so (``ignored``).
    undefined
        the unfairness of a sequence where no labelled document is exposed or relevant: ``missing`` or ``error``.

    Raises
    ------
    ConfigError
        for other words or numbers.
    """

    name: str = "trec2019_corrected"
    gamma: float = 0.5
    stop: float = 0.7
    exposure_weight: str = "attention"
    unannotated_continuation: str = "update"
    label_multiplicity: str = "set"
    empty_label: str = "drop"
    duplicates: str = "error"
    run_qid: str = "checked"
    undefined: str = "missing"

    def __post_init__(self) -> None:
        for option, words in WORDS.items():
            choose(f"preset.{option}", getattr(self, option), words)
        for option in ("gamma", "stop"):
            value = getattr(self, option)
            if not 0 <= value <= 1:
                raise ConfigError(f"preset.{option}: found {value}; expected a number from 0 to 1")

    @property
    def rules(self) -> Rules:
        """How sequences are scored."""
        return Rules(
            gamma=self.gamma,
            stop=self.stop,
            times_satisfaction=self.exposure_weight == "attention_times_satisfaction",
            skips=self.unannotated_continuation == "skip",
        )

    @property
    def differences(self) -> tuple[str, ...]:
        """One sentence for each option that is not that of the corrected form."""
        return departures(self, CORRECTED, ABOUT)

    def evaluate(self, inputs: Inputs) -> Outcome:
        """Judge runs of JSON lines with ``q_num``; anchors stand beside them.

        Raises
        ------
        InputError
            with every problem of a file: entries without ranking, documents that are no candidates, and so on.
        ConfigError
            where there are no judgments or no sequence, or there are targets, which have no use here.
        """
        from rerankers.tracks.evaluate2019 import evaluate

        return evaluate(self, inputs)


CORRECTED = Trec2019()
OFFICIAL: Mapping[str, Any] = {
    "exposure_weight": "attention_times_satisfaction",
    "unannotated_continuation": "skip",
    "label_multiplicity": "per_author",
    "empty_label": "count",
    "duplicates": "accumulate",
    "run_qid": "ignored",
    "undefined": "error",
}
"""What the official form does differently."""

ABOUT: Mapping[str, str] = {
    "gamma": "attention from rank to rank",
    "stop": "probability that a relevant document ends the search",
    "exposure_weight": "exposure for groups; times satisfaction only relevant documents get any",
    "unannotated_continuation": "whether documents without labels lower the exposure of those below them",
    "label_multiplicity": "a label that several authors share",
    "empty_label": "the empty label",
    "duplicates": "documents twice in a ranking",
    "run_qid": "the query ids in the run",
    "undefined": "sequences without any labelled document that is relevant",
}


def preset(name: str) -> Trec2019:
    """Return ``trec2019_official`` or ``trec2019_corrected``."""
    built = replace(CORRECTED, name=name)
    return replace(built, **OFFICIAL) if name.endswith("_official") else built

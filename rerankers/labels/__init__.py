"""Labels of texts: which groups a text speaks about, by word lists, language models, files or votes.

What is labelled is presence (whom a text speaks of), not bias. A text without a label has None and a reason; None is
never neutral.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rerankers.labels.base import NEUTRAL, Labelled, Labeller, Text

if TYPE_CHECKING:
    from rerankers.labels.agreement import cohen_kappa, confusion, krippendorff_alpha
    from rerankers.labels.file_labels import FileLabels, read_labels
    from rerankers.labels.kappa_intervals import kappa_difference, kappa_interval
    from rerankers.labels.lexical import LexicalMajority, LexicalNeutrality
    from rerankers.labels.lexicon import Lexicon, load_lexicon
    from rerankers.labels.llm_labeller import LlmLabeller
    from rerankers.labels.neutrality import neutralities
    from rerankers.labels.votes import Votes

_LATER = {
    "FileLabels": "file_labels",
    "Lexicon": "lexicon",
    "LexicalMajority": "lexical",
    "LexicalNeutrality": "lexical",
    "LlmLabeller": "llm_labeller",
    "Votes": "votes",
    "cohen_kappa": "agreement",
    "confusion": "agreement",
    "kappa_difference": "kappa_intervals",
    "kappa_interval": "kappa_intervals",
    "krippendorff_alpha": "agreement",
    "load_lexicon": "lexicon",
    "neutralities": "neutrality",
    "read_labels": "file_labels",
}
"""Name -> its module, loaded when it is first asked for: a label file needs no compiled loops."""

__all__ = [
    "NEUTRAL",
    "FileLabels",
    "Labelled",
    "Labeller",
    "LexicalMajority",
    "LexicalNeutrality",
    "Lexicon",
    "LlmLabeller",
    "Text",
    "Votes",
    "cohen_kappa",
    "confusion",
    "kappa_difference",
    "kappa_interval",
    "krippendorff_alpha",
    "load_lexicon",
    "neutralities",
    "read_labels",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)

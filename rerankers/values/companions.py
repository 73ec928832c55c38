"""What documents carry besides the groups of an attribute: measures look it up by the attribute's name and a kind."""

from __future__ import annotations

from typing import Final

NEUTRALITY: Final = "neutrality"
"""One column: how neutral a document is (Rekabsaz, Kopeinik and Schedl 2021); unknown where nobody said."""

WORDS: Final = "words"
"""A column a group: how many words of that group a document has."""

SHARES: Final = "shares"
"""A column a group: the same, divided by the number of tokens of the document; 0 for one without tokens."""

KINDS: Final = (NEUTRALITY, WORDS, SHARES)


def companion(attribute: str, kind: str) -> str:
    """Return the key of a companion of an attribute, such as ``gender:neutrality``.

    Its value is a `rerankers.values.GroupAlignment` of kind ``value`` that is not resolved: ``unknown`` is 1 for a
    document about which nothing is known, and a document without an entry that is not unknown carries 0.
    """
    return f"{attribute}:{kind}"

"""Measure keys: taken apart, put in reading order, explained in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rerankers._base.errors import ConfigError

PARTS = ("", "placebo", "excess", "excess_p", "systematic", "systematic_share")
UTILITIES = ("utility", "nDCG")
LOSSES = ("EEL", "unfairness")

# Reading order: what a user gains first, then the summary scores, then expected exposure. Others stand between.
_FIRST = ("utility", "nDCG", "AWRF", "score", "unfairness")
_LAST = ("EEL", "EED", "EER", "EET")

_KEY = re.compile(
    r"(?P<level>group_)?(?P<base>.+?)(?:\(group=(?P<quote>['\"])(?P<attribute>.*)(?P=quote)\))?"
    r"(?P<cutoff>@\d+)?(?:_(?P<part>placebo|excess_p|excess|systematic_share|systematic))?",
    re.DOTALL,
)

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

_BETTER = {
    "utility": "higher",
    "nDCG": "higher",
    "AWRF": "higher",
    "score": "higher",
    "AP": "higher",
    "RR": "higher",
    "P": "higher",
    "R": "higher",
    "unfairness": "lower",
    "EEL": "lower",
    "EEL_l2": "lower",
}

_WORDS = {
    "utility": "Expected number of satisfying documents a user meets: the sum of exposure times satisfaction over "
    "the relevant documents.",
    "EEL_l2": "The expected-exposure loss without its square: the distance of exposure and target.",
    "nDCG": "Normalised discounted cumulative gain.",
    "AP": "Average precision.",
    "RR": "Reciprocal rank of the first relevant document.",
    "P": "Precision.",
    "R": "Recall.",
    "Judged": "Share of the ranked documents that are judged.",
    "AWRF": "Attention-weighted rank fairness: 1 minus the Jensen-Shannon divergence between the groups' shares of "
    "attention and their target shares.",
    "score": "The product of nDCG and AWRF.",
    "unfairness": "Distance between the groups' shares of exposure and of relevance over a sequence of queries.",
    "EEL": "Expected-exposure loss: squared distance between the exposure given and the target exposure; "
    "equal to EED - 2 EER + EET.",
    "EED": "Expected-exposure disparity: squared norm of the exposure given. Low when exposure is spread; "
    "neither high nor low is good by itself.",
    "EER": "Expected-exposure relevance: inner product of given and target exposure. It is not utility: "
    "read it beside utility.",
    "EET": "Squared norm of the target exposure, a constant of the queries.",
}

_PART_WORDS = {
    "placebo": "What the measure would be if the group labels were shuffled among the documents of each query.",
    "excess": "The measure minus its placebo: the part that has to do with the groups. Near 0 means that it "
    "says nothing of groups, whatever its own value.",
    "excess_p": "The share of shuffles of the labels under which the mean is as far from the placebo, on either side, "
    "as under the real ones: where it is not small, chance explains the excess.",
    "systematic": "The part of the loss that does not cancel out over the queries.",
    "systematic_share": "The same divided by the loss.",
}

_OWN: dict[str, Mapping[str, str]] = {}
"""Name -> ``description`` and ``better`` of measures of users' own, as results tell them."""

ANCHOR_WORDS = {
    "random": "every order of the candidates is equally likely",
    "worst_first": "the relevant documents last, otherwise random; uses judgments",
    "deterministic": "the method's input scores, always in the same order",
    "plackett_luce": "orders drawn from a Plackett-Luce model of the input scores at temperature 1",
    "ideal": "documents of higher grades first, random within a grade; uses judgments",
}

TIER_WORDS = {
    "blind": "query, text and first-stage scores",
    "metadata": "query, text, scores, and fields of documents and authors other than the evaluated attribute",
    "predicted_groups": "fields of documents and authors, and group labels that a model predicted",
    "given_groups": "fields of documents and authors, and the group labels that the measures go by",
    "judged": "everything, including judgments of the ranked queries",
}


@dataclass(frozen=True, slots=True)
class Key:
    """A measure key taken apart.

    Attributes
    ----------
    text
        the key as it stands in ``measures.json``.
    base, cutoff
        ``nDCG`` and ``@10`` of ``nDCG@10``.
    attribute
        None for measures of documents, ``""`` for the one chosen attribute (``group_EEL``), else its name.
    part
        ``""``, ``placebo``, ``excess``, ``excess_p``, ``systematic`` or ``systematic_share``.
    """

    text: str
    base: str
    cutoff: str
    attribute: str | None
    part: str

    @property
    def label(self) -> str:
        """The key without its attribute, for a column whose table names the attribute."""
        return f"{self.base}{self.cutoff} {self.part.replace('_', ' ')}".strip()

    @property
    def main(self) -> bool:
        """Whether the measure is one that reports are about: utility, scores of the tracks, expected exposure."""
        return self.base in (*_FIRST, *_LAST)

    @property
    def better(self) -> str:
        """``higher``, ``lower``, or ``""`` where neither is better by itself."""
        if self.part not in ("", "excess"):
            return ""
        if self.base in _WORDS:
            return _BETTER.get(self.base, "")
        own = _OWN.get(self.base.partition("(")[0])
        return _direction(self.text) if own is None else own.get("better", "")

    @property
    def words(self) -> str:
        """What the measure says, one or two sentences."""
        if self.part:
            return _PART_WORDS[self.part]
        return _WORDS.get(self.base) or _described(self.base)


def learn(own: Mapping[str, Mapping[str, str]]) -> None:
    """Take in what results say of measures of users' own: their classes need not be there to read them."""
    _OWN.update(own)


def _described(base: str) -> str:
    """Return what the table of measures says of one; others come from run files judged elsewhere."""
    from rerankers.measures.name_table import TABLE
    from rerankers.measures.names import definition

    name = base.partition("(")[0]
    if name in _OWN:
        text = _OWN[name].get("description", "")
        return f"{text[:1].upper()}{text[1:]}."
    if name not in TABLE:
        return "As the library ir_measures defines it."
    text = definition(name).description
    return f"{text[:1].upper()}{text[1:]}."


def _direction(text: str) -> str:
    """Return which way a measure of the table is better; ``""`` for keys of others, which say nothing of it."""
    from rerankers.measures.direction import better
    from rerankers.measures.names import parse as parse_measure

    try:
        return better(parse_measure(text))
    except ConfigError:  # a key of a track's own
        return ""


def parse(text: str) -> Key:
    """Take a key apart. Every text parses: what is not understood is a base of its own."""
    match = _KEY.fullmatch(text)
    if match is None:
        return Key(text, text, "", None, "")
    attribute = "" if match["level"] else None
    if match["attribute"] is not None:
        attribute = _ESCAPED.sub(r"\1", match["attribute"])
    return Key(text, match["base"], match["cutoff"] or "", attribute, match["part"] or "")


def _place(key: Key) -> tuple[int, int, str]:
    if key.base in _FIRST:
        return _FIRST.index(key.base), PARTS.index(key.part), ""
    if key.base in _LAST:
        return len(_FIRST) + 1 + _LAST.index(key.base), PARTS.index(key.part), ""
    return len(_FIRST), 0, ""


def in_order(texts: Iterable[str]) -> list[Key]:
    """Return the keys in reading order; measures without a place of their own keep their given order."""
    return sorted((parse(text) for text in texts), key=_place)


def attributes(keys: Iterable[Key]) -> list[str]:
    """Return the attributes that group measures speak of, in order of appearance."""
    return list(dict.fromkeys(key.attribute for key in keys if key.attribute is not None))


def find(keys: Iterable[Key], base: str, attribute: str | None) -> Key | None:
    """Return the plain key of a measure for one attribute (None: documents), or None where it was not asked for."""
    for key in keys:
        if key.base == base and key.attribute == attribute and not key.part:
            return key
    return None


def explained(keys: Sequence[Key]) -> list[tuple[str | None, list[Key]]]:
    """Return (attribute, keys) of the measures of groups that have a placebo or another part, those parts included.

    Attributes are in order of appearance, None last: measures of the one attribute that do not name it.
    """
    out = []
    for attribute in [*attributes(keys), None]:
        mine = [key for key in keys if key.attribute == attribute]
        bases = {(key.base, key.cutoff, _bare(key)) for key in mine if key.part}
        shown = [key for key in mine if (key.base, key.cutoff, _bare(key)) in bases]
        if shown:
            out.append((attribute, shown))
    return out


def _bare(key: Key) -> str:
    return key.text.removesuffix(f"_{key.part}") if key.part else key.text


def bare_is_group_loss(keys: Iterable[Key]) -> bool:
    """Whether ``EEL`` without a prefix is a loss over groups, as in the 2021 and 2022 tracks (nDCG, AWRF, score)."""
    return {"AWRF", "score"} <= {key.base for key in keys}

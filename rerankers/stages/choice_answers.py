"""The questions of ``fair-rerank choose``, what can be answered, and what the answers have to fit together for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, choose

QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "definition": (
        "What is fair?",
        {
            "merit": "equal exposure for equal relevance (Diaz et al. 2020): who is as relevant is seen as much",
            "parity": "every group the same exposure, whatever is relevant",
            "proportional": "groups exposed by their share of the candidates or of a population, whatever is relevant",
            "worst_off": "nobody too far behind: a floor for each document under what uncertain relevance gives it",
        },
    ),
    "unit": (
        "Who is to be treated so?",
        {
            "documents": "each document by itself, no labels needed (merit, worst_off; their default)",
            "groups": "the groups of an attribute together (merit; all of parity and proportional)",
        },
    ),
    "labels": (
        "What is known of the groups?",
        {
            "none": "nothing: only documents can be treated fairly",
            "predicted": "labels of a classifier, in a file (groups=FILE), maybe with a column weight",
            "given": "labels of the collection, or of a file (groups=FILE)",
        },
    ),
    "judgments": (
        "Are there judged queries besides those that are evaluated?",
        {
            "none": "no: options stay as they come, relevance is what the first stage says",
            "train": "yes, in the training split of the collection: they choose options, and can train a model",
        },
    ),
    "sequence": (
        "Do the same queries come again and again, so that fairness may add up over time?",
        {
            "false": "no: each query has a distribution over rankings (the default)",
            "true": "yes: a ledger of what was served and what is due (merit only)",
        },
    ),
    "utility_floor": (
        "How much of the static ranking's utility must be kept?",
        {
            "null": "fairness decides alone (the default)",
            "0.9": "at least nine tenths, or another number above 0 and up to 1",
        },
    ),
    "proportional_to": (
        "In proportion to what (definition=proportional)?",
        {
            "candidates": "how many candidates a group has in the query (the default)",
            "first_stage": "the exposure that the first stage's order gives the group",
            "population": "shares that you state: shares={A:0.6,B:0.4}",
        },
    ),
}
"""Answer -> question, and what can be answered with what it means."""

OWN_GROUPS = ("generated", "grep_biasir", "jsonl", "trec_fair_2019", "trec_fair_2020")
"""Collections that bring groups along."""
WITH_TRAINING = ("generated", "grep_biasir", "jsonl", "trec_fair_2019", "trec_fair_2020")
"""Collections whose training queries can be set apart (collection.split=eval)."""
MAIN_ATTRIBUTE = {"generated": "economy", "grep_biasir": "gender", "trec_fair_2020": "level"}
_NAME = re.compile(r"[A-Za-z0-9][\w-]*")


@dataclass(frozen=True, slots=True)
class Answers:
    """What somebody has answered; the options of ``conf/choose.yaml``."""

    definition: str
    unit: str | None = None
    labels: str | None = None
    judgments: str = "none"
    sequence: bool = False
    utility_floor: float | None = None
    proportional_to: str = "candidates"
    shares: Mapping[str, float] | None = None
    attribute: str | None = None
    collection: str = "generated"
    retriever: str | None = None
    groups: str | None = None
    output: str = "."
    name: str = "fair"

    def __post_init__(self) -> None:
        for key in ("definition", "unit", "labels", "judgments", "proportional_to"):
            value = getattr(self, key)
            if value is not None:
                choose(key, value, QUESTIONS[key][1])
        if not isinstance(self.sequence, bool):
            raise ConfigError(f"sequence: found {self.sequence!r}; expected true or false")
        floor = self.utility_floor
        if floor is not None and (isinstance(floor, bool) or not isinstance(floor, float | int) or not 0 < floor <= 1):
            raise ConfigError(f"utility_floor: found {floor!r}; expected a share above 0 and up to 1, or null")
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"name: found {self.name!r}; expected letters, digits, _ and -")

    def completed(self) -> Answers:
        """Return the answers with those that follow from others, all of which fit together.

        Raises
        ------
        ConfigError
            where they do not; it says what would be possible.
        """
        by_documents = self.definition in ("merit", "worst_off")
        unit = self.unit or ("documents" if by_documents else "groups")
        labels = self.labels or ("given" if unit == "groups" or self.groups else "none")
        attribute = self.attribute
        if attribute is None and labels != "none" and self.groups is None:
            attribute = MAIN_ATTRIBUTE.get(self.collection)
        retriever = self.retriever or ("candidates" if self.collection.startswith("trec_fair_20") else "bm25")
        full = replace(self, unit=unit, labels=labels, attribute=attribute, retriever=retriever)
        for check in (_units, _labels, _judgments, _sequence, _shares):
            check(full)
        return full


def _units(answers: Answers) -> None:
    if answers.unit == "documents" and answers.definition in ("parity", "proportional"):
        raise ConfigError(
            f"unit: found documents with definition={answers.definition}; expected groups: all documents alike, "
            "relevant or not, is a shuffle (method=uniform), an anchor. Possible: unit=groups, or definition=merit"
        )
    if answers.unit == "groups" and answers.definition == "worst_off":
        raise ConfigError(
            "unit: found groups with definition=worst_off; expected documents: no method of run lifts the group that "
            "is worst off (in Python, rerankers.exposure.optimal has NashWelfare and GeneralisedGini). Possible: "
            "unit=documents, or definition=merit with unit=groups"
        )


def _labels(answers: Answers) -> None:
    if answers.labels == "none":
        if answers.unit == "groups":
            raise ConfigError(
                "labels: found none with unit=groups; expected given or predicted, since groups that are not known "
                "cannot be treated fairly as groups. Possible: labels=predicted groups=FILE, or unit=documents with "
                "definition=merit or worst_off"
            )
        if answers.groups is not None:
            raise ConfigError("labels: found none with groups=FILE; expected given or predicted, or no file")
        return
    if answers.groups is None and answers.labels == "predicted":
        raise ConfigError("groups: found no file with labels=predicted; expected groups=FILE, a CSV docno,group")
    if answers.groups is None and answers.collection not in OWN_GROUPS:
        raise ConfigError(
            f"labels: found {answers.labels}, but collection={answers.collection} brings no groups; expected "
            "groups=FILE, a CSV docno,group"
        )
    if answers.groups is not None and not Path(answers.groups).expanduser().is_file():
        raise ConfigError(f"groups: found {answers.groups}, which is no file; expected a CSV docno,group")


def _judgments(answers: Answers) -> None:
    if answers.judgments == "train" and answers.collection not in WITH_TRAINING:
        raise ConfigError(
            f"judgments: found train, but collection={answers.collection} has no training queries set apart; expected "
            f"none, or a collection of {', '.join(WITH_TRAINING)}"
        )
    needs_fit = answers.definition != "merit" and answers.utility_floor is not None
    if needs_fit and answers.judgments == "none":
        raise ConfigError(
            f"utility_floor: found {answers.utility_floor:g} with definition={answers.definition} and judgments=none; "
            "expected null: the methods for it keep no floor by themselves. Possible: judgments=train, whose queries "
            "choose options that keep it, utility_floor=null, or definition=merit"
        )


def _sequence(answers: Answers) -> None:
    if answers.sequence and answers.definition != "merit":
        raise ConfigError(
            f"sequence: found true with definition={answers.definition}; expected false: ledgers hold what is due by "
            "relevance. Possible: definition=merit, or sequence=false"
        )
    if answers.sequence and answers.unit == "groups" and answers.attribute is None:
        raise ConfigError("attribute: found null with sequence=true; expected the attribute whose groups have accounts")


def _shares(answers: Answers) -> None:
    wanted = answers.definition == "proportional" and answers.proportional_to == "population"
    if wanted and not answers.shares:
        raise ConfigError("shares: found none with proportional_to=population; expected shares={A:0.6,B:0.4}")
    if answers.shares and not wanted:
        raise ConfigError(
            "shares: found some; expected none without definition=proportional proportional_to=population"
        )
    if answers.proportional_to != "candidates" and answers.definition != "proportional":
        raise ConfigError(
            f"proportional_to: found {answers.proportional_to} with definition={answers.definition}; expected it left "
            "out, or definition=proportional"
        )


def of_config(config: Mapping[str, Any]) -> Answers:
    """Return the answers in a config of the form of ``conf/choose.yaml``.

    Raises
    ------
    ConfigError
        for values out of range.
    """
    plain = {key: config[key] for key in config if key not in ("collection", "retriever", "groups")}
    for key, part in (("collection", "name"), ("retriever", "name"), ("groups", "path")):
        node = config[key]
        plain[key] = node[part] if isinstance(node, Mapping) else node
    plain = {key: str(plain[key]) if key in ("output", "name", "collection") else plain[key] for key in plain}
    # elsewhere sequence= names a file, and so it comes as a text
    plain["sequence"] = {"true": True, "false": False}.get(str(plain["sequence"]).lower(), plain["sequence"])
    return Answers(**plain)

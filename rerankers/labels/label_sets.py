"""Sets of labels: their names, and other words for them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerankers._base.errors import Problems
from rerankers.labels.base import NEUTRAL
from rerankers.llm.yaml_text import read_yaml

SHIPPED = Path(__file__).parent / "label_sets"


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels that a model chooses from.

    Attributes
    ----------
    name
        of the set, which says what is labelled.
    labels
        label -> its synonyms, neutral first.
    """

    name: str
    labels: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The labels."""
        return tuple(self.labels)

    def schema(self, field: str) -> dict[str, Any]:
        """Return the JSON schema of a reply: an object whose only field is one of the labels."""
        choice = {"type": "string", "enum": list(self.labels)}
        return {"type": "object", "properties": {field: choice}, "required": [field], "additionalProperties": False}


def read_label_set(source: str) -> LabelSet:
    """Read a set of labels, one of the package by its name or a file.

    The file is YAML: ``name``, and ``labels`` with label -> list of synonyms. ``neutral`` must be among them.

    Raises
    ------
    InputError
        with lines, for what is no such file, fewer than two labels, or a word for two labels.
    MissingError
        when there is no such file.
    """
    path = SHIPPED / f"{source}.yaml"
    path = path if path.is_file() else Path(source).expanduser()
    file = read_yaml(path, ("name", "labels"))
    problems = Problems(str(path))
    name, given = file.value.get("name"), file.value.get("labels")
    if not isinstance(name, str) or not name:
        problems.add(file.line("name"), f"the name {name!r}", "text")
    if not isinstance(given, dict) or len(given) < 2 or NEUTRAL not in given:
        problems.add(file.line("labels"), "other labels", f"at least two, {NEUTRAL} among them, each with its synonyms")
        given = {}
    of_word: dict[str, str] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for label, words in given.items():
        line = file.line("labels", str(label))
        synonyms = [] if words is None else words
        if (
            not isinstance(label, str)
            or not isinstance(synonyms, list)
            or not all(isinstance(w, str) for w in synonyms)
        ):
            problems.add(line, f"{label!r}: {words!r}", "a label and a list of words. Quote words like no and 1")
            continue
        labels[label] = tuple(synonyms)
        for word in (label, *synonyms):
            other = of_word.setdefault(" ".join(unicodedata.normalize("NFKC", word).casefold().split()), label)
            if other != label:
                problems.add(line, f"{word!r} for {label} as well as for {other}", "words that mean one label")
    problems.raise_if_any()
    ordered = {NEUTRAL: labels[NEUTRAL], **labels}
    return LabelSet(str(name), ordered)

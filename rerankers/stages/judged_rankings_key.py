"""The key of pairs of rankings: what each of them is, not for those who judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.errors import MissingError, Problems
from rerankers._base.files import read_lines
from rerankers._base.json_text import parse_json
from rerankers.labels.base import NEUTRALITY, TOKENS
from rerankers.measures.presence_lists import GENDERS, Groups
from rerankers.measures.presence_single import Listed

KEY_SUFFIX = ".key.jsonl"
FORM = "judged_rankings"


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two rankings side by side: ``name``, ``kind`` (how it was made, or query and runs), and the documents of each."""

    name: str
    kind: str
    a: Listed
    b: Listed


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """The pairs of a template and what it says about itself."""

    about: Mapping[str, Any]
    pairs: Sequence[Pair]


def key_path(template: Path) -> Path:
    """Return where the key of a template stands: ``pairs.key.jsonl`` beside ``pairs.csv``."""
    return template.with_name(template.name.removesuffix(".csv") + KEY_SUFFIX)


def read_key(template: Path) -> Key:
    """Read the key of a template.

    Raises
    ------
    MissingError
        when it is not there.
    InputError
        for a file that is no key, with the line.
    """
    path = key_path(template)
    if not path.is_file():
        raise MissingError(f"{path}: no such file. The key stands beside the template: name that by template=pairs.csv")
    problems = Problems(str(path))
    about: dict[str, Any] = {}
    pairs = []
    for number, record in _records(path, problems):
        if number == 1:
            about = record
            if record.get("form") != FORM:
                problems.add(1, "no key of pairs", f"a file that fair-rerank kit study=template wrote (form {FORM})")
                break
            continue
        try:
            pairs.append(Pair(str(record["pair"]), str(record["kind"]), _listed(record["a"]), _listed(record["b"])))
        except (KeyError, TypeError, ValueError) as error:
            problems.add(number, f"no pair ({error})", "pair, kind, a and b")
    if not problems and about.get("pairs") != len(pairs):
        problems.add(
            None, f"{len(pairs)} pairs", f"{about.get('pairs')}, as its first line says: it was cut or changed"
        )
    problems.raise_if_any()
    return Key(about, pairs)


def _records(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, text in read_lines(path):
        try:
            record = parse_json(text)
        except ValueError as error:
            problems.add(number, f"no JSON ({error})", "one object a line")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            problems.add(number, "no object", "one object a line")


def _listed(side: Mapping[str, Any]) -> Listed:
    Groups.of(None).code(side["label"])
    words = np.array([side[name] for name in GENDERS], dtype=np.float64).T  # null becomes NaN
    tokens = np.array(side[TOKENS], dtype=np.float64)
    counted = not np.all(np.isnan(words))
    neutrality = [
        float(label == "neutral") if value is None and label is not None else value
        for label, value in zip(side["label"], side[NEUTRALITY], strict=True)
    ]
    return Listed(side["label"], words if counted else None, tokens if counted else None, neutrality)

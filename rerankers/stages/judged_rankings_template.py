"""Pairs of rankings for people to judge, and the key that says what they are."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import write_text
from rerankers._base.streams import generator
from rerankers.labels.base import NEUTRALITY, TOKENS, Labelled
from rerankers.labels.label_records import label_records
from rerankers.labels.texts import TextReader
from rerankers.measures.presence_lists import GENDERS, SHORT
from rerankers.measures.presence_made import Labels, known_lists, mirrored, orders
from rerankers.measures.presence_single import Listed
from rerankers.stages.judged_rankings_answers import holds_answers
from rerankers.stages.judged_rankings_key import FORM, key_path
from rerankers.stages.judged_rankings_runs import Drawn, pairs_of_runs

QUESTION = "Which list represents the genders more fairly: A, B, equal, cannot say?"
COLUMNS = ("pair", "judge", "question", "a", "b", "answer")
NOT_KNOWN = "not known"
KINDS = ("two orders", "two lists", "mirrored", "neutral or balanced")
_LETTER = {name: letter for letter, name in SHORT.items()}


@dataclass(frozen=True, slots=True)
class Template:
    """What is written; see ``conf/kit.yaml`` for what each is."""

    labels: Path | None = None
    texts: Path | None = None
    runs: Sequence[Path] = ()
    pairs: int = 30
    depth: int = 10
    judges: int = 1
    characters: int = 300
    seed: int = 0


def written(template: Template, output: Path) -> tuple[int, Path]:
    """Write the pairs and their key; the same seed and files give the same bytes.

    Returns
    -------
    int, Path
        number of pairs, and where the key is.

    Raises
    ------
    InputError
        for texts without labels, files that are wrong, labels that are too few, a depth below 2, and where answers or
        the key of other pairs would be overwritten.
    """
    if (template.texts is not None or template.runs) and template.labels is None:
        raise InputError.one("labels", "null", "the labels of the documents", mend="Type: labels=FILE")
    if template.depth < 2:
        raise InputError.one("depth", str(template.depth), "at least 2 documents a ranking")
    if template.runs and template.labels is not None:
        made = pairs_of_runs(template.runs, template.labels, template.pairs, template.depth, template.seed)
    else:
        known = None if template.labels is None else _by_label(template.labels, template.depth)
        made = [_drawn(template, number, known) for number in range(1, template.pairs + 1)]
    ids = {one.id for _, _, *sides in made for side in sides for one in side}
    shown = {} if template.texts is None else _texts(template.texts, ids, template.characters)
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(COLUMNS)
    for judge in range(1, template.judges + 1):
        order = generator(template.seed, "judged rankings", "rows", judge).permutation(len(made))
        for number in order.tolist():
            name, _, a, b = made[number]
            rows.writerow([name, judge, QUESTION, _shown(a, shown), _shown(b, shown), ""])
    about = {"form": FORM, "seed": template.seed, "depth": template.depth, "pairs": len(made)}
    lines = [about, *({"pair": n, "kind": kind, "a": _record(a), "b": _record(b)} for n, kind, a, b in made)]
    key, text = (
        key_path(output),
        "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines),
    )
    _keep_what_people_need(output, key, text)
    write_text(key, text)
    write_text(output, table.getvalue())
    return len(made), key


def _keep_what_people_need(output: Path, key: Path, text: str) -> None:
    """Raise InputError before answers are overwritten, or the key of other pairs, without which answers say nothing."""
    if holds_answers(output):
        raise InputError.one(
            str(output), "a file with answers, or of another kind", "none, or a template without", mend="Name another."
        )
    if key.exists() and key.read_bytes() != text.encode():
        raise InputError.one(
            str(key),
            "the key of other pairs",
            "none: without it the answers to those pairs say nothing",
            mend="Name another output, or remove the key.",
        )


def _drawn(template: Template, number: int, known: Mapping[str, list[Labelled]] | None) -> Drawn:
    """Return name, kind and the two sides of a pair; which side is which is drawn as well."""
    kind, rng = KINDS[(number - 1) % len(KINDS)], generator(template.seed, "judged rankings", "pair", number)
    sides = _lists(kind, template.depth, rng)
    while sides[0] == sides[1]:  # two equal lists ask nothing
        sides = _lists(kind, template.depth, rng)
    first = _documents(sides[0], known, rng)
    second = _documents(sides[1], known, rng, first if kind == "two orders" else ())
    turned = bool(rng.integers(2))
    return str(number), kind, *((second, first) if turned else (first, second))


def _lists(kind: str, depth: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Return the labels of both sides as they are drawn."""
    random = [one.labels for one in known_lists(depth, int(rng.integers(2**62)), 2)[-2:]]
    if kind == "two orders":
        counts = {letter: random[0].count(letter) for letter in "NMF"}
        alike = orders(counts, 2, int(rng.integers(2**62)))
        return alike[0], alike[-1]
    if kind == "two lists":
        return random[0], random[1]
    if kind == "mirrored":
        return random[0], mirrored(random[0])
    letters = np.array(["M", "F"])[rng.permutation(2)]
    places = rng.permutation(depth) < depth // 2
    one, other = (tuple(np.where(places, letters[0], rest).tolist()) for rest in ("N", letters[1]))
    return one, other


def _documents(
    labels: Sequence[str],
    known: Mapping[str, list[Labelled]] | None,
    rng: np.random.Generator,
    same: Sequence[Labelled] = (),
) -> list[Labelled]:
    """Return documents that have these labels; those of ``same`` in another order where they are given."""
    if known is None:
        return [_made(label) for label in labels]
    stock = {
        letter: list(rng.permutation(np.array(rest, dtype=object))) if rest else []
        for letter, rest in (
            {letter: [one for one in same if _LETTER[str(one.label)] == letter] for letter in "NMF"} if same else known
        ).items()
    }
    return [stock[label].pop() for label in labels]


def _made(letter: str) -> Labelled:
    listed = Listed.made([letter])
    words = np.zeros((1, 2)) if listed.words is None else listed.words
    scores = {"male": float(words[0, 0]), "female": float(words[0, 1]), TOKENS: 10.0}
    return Labelled("", SHORT[letter], {**scores, NEUTRALITY: float(letter == "N")})


def _by_label(path: Path, depth: int) -> dict[str, list[Labelled]]:
    problems = Problems(str(path))
    out: dict[str, list[Labelled]] = {letter: [] for letter in "NMF"}
    for _, one in label_records(path, problems):
        name = _LETTER.get(str(one.label), str(one.label))
        if name in out:
            out[name].append(Labelled(one.id, SHORT[name], one.scores))
    problems.raise_if_any()
    for letter, rest in out.items():
        if len(rest) < depth:
            problems.add(
                None,
                f"{len(rest)} documents labelled {SHORT[letter]}",
                f"at least {depth}, the depth: depth=N asks for fewer",
            )
    problems.raise_if_any()
    return out


def _texts(path: Path, ids: set[str], characters: int) -> dict[str, str]:
    reader = TextReader([path])
    shown = {}
    for one in reader.texts():
        if one.id in ids:
            whole = " ".join(f"{_ended(one.title)} {one.text}".split())
            shown[one.id] = whole if len(whole) <= characters else f"{whole[: characters - 1]}…"
    reader.check()
    lacking = sorted(ids - set(shown))
    if lacking:
        raise InputError.one(
            str(path), f"no text of {len(lacking)} documents, such as {lacking[0]}", "one for each label"
        )
    return shown


def _ended(title: str) -> str:
    """Return a title with a full stop, unless it ends in a sign of its own."""
    title = title.strip()
    return f"{title}." if title and not unicodedata.category(title[-1]).startswith("P") else title


def _shown(side: Sequence[Labelled], texts: Mapping[str, str]) -> str:
    return "\n".join(f"{rank}. {texts.get(one.id) or one.label or NOT_KNOWN}" for rank, one in enumerate(side, start=1))


def _record(side: Sequence[Labelled]) -> dict[str, Any]:
    scores = {name: [one.scores.get(name) for one in side] for name in (*GENDERS, TOKENS, NEUTRALITY)}
    return {"id": [one.id for one in side], "label": [one.label for one in side], **scores}

"""Query variants in files: read, counted, with ids under which runs may name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import InputError, Problems
from rerankers.queries.sets import VariantSet
from rerankers.queries.variant_forms import Row, form_of, read_rows
from rerankers.values.qrels import met


@dataclass(frozen=True, slots=True, eq=False)
class VariantFile:
    """A set of variants with the ids of its rows.

    Attributes
    ----------
    variants
        the set, under the topic ids of the file.
    ids
        topic id -> id of each text, in the same order: that of the file, or ``TOPIC-N`` for row N of the topic, from 0.
    """

    variants: VariantSet
    ids: Mapping[str, tuple[str, ...]]

    def names_of(self, topic: str) -> dict[str, str]:
        """Return id -> text of the variants of a topic; repeats of one text have several ids."""
        return dict(zip(self.ids.get(topic, ()), self.variants.texts.get(topic, ()), strict=True))


def read_variants(name: str, path: Path, form: str | None = None, source: str | None = None) -> VariantFile:
    """Read the variants of a file.

    Parameters
    ----------
    name
        of the set.
    path
        plain, ``.gz`` or ``.zst``: lines ``topic-i:text``, ``topic-i-j:text`` or ``topic:text``; CSV or TSV with a
        header (a topic under ``topic``, ``qid`` or ``UQV100Id``, a text under ``text``, ``query`` or ``variant``,
        perhaps ``variant_id`` and ``source``; other columns are ignored); JSON lines with a topic and a list
        ``variants`` or one text.
    form
        one of `rerankers.queries.variant_forms.FORMS`; None finds it.
    source
        take the rows of this source only; None takes all.

    Returns
    -------
    VariantFile
        White space around variants is taken away and runs of it are one blank. Empty ones are left out. ``counts``,
        where there are any: ``rows``, ``empty``, ``repeated`` (rows that repeat a variant of their topic),
        ``most_rows_of_a_topic`` (where it has repeats: a model that loops), ``blank_lines``, ``sources``.

    Raises
    ------
    MissingError
        when the file is not there.
    InputError
        with every problem of the file and its line; and for a file without any variant.
    ConfigError
        for an unknown form.
    """
    problems, blank = Problems(str(path)), [0]
    rows = list(read_rows(path, form_of(path) if form is None else form, problems, blank))
    for row in rows:
        if any("\ud800" <= letter <= "\udfff" for letter in row.text):
            problems.add(row.line, "a text with half of a surrogate pair", "text that UTF-8 can hold")
    sources = sorted({row.source for row in rows} - {""})
    if source is not None:
        rows = [row for row in rows if row.source == source]
        if not rows and not problems:
            listed = ", ".join(sources[:10]) or "none"
            raise InputError.one(str(path), f"no row of the source {source!r}", f"one of its sources: {listed}")
    if not any(row.text.strip() for row in rows) and not problems:
        problems.add(None, f"{len(rows)} rows without a variant", "at least one variant")
    problems.raise_if_any()
    return _file(name, rows, met(blank_lines=blank[0], sources=len(sources) if source is None else 0))


def of_rows(name: str, rows: Iterable[tuple[str, str]], counts: Mapping[str, int] | None = None) -> VariantFile:
    """Return a set of (topic, text) rows, as if they were read from a file."""
    return _file(name, [Row(0, topic, text) for topic, text in rows], counts or {})


def _file(name: str, rows: Iterable[Row], counts: Mapping[str, int]) -> VariantFile:
    texts: dict[str, list[str]] = {}
    ids: dict[str, list[str]] = {}
    seen: Counter[str] = Counter()
    total = 0
    for row in rows:
        total += 1
        number = seen[row.topic]
        seen[row.topic] += 1
        text = " ".join(row.text.split())
        if text:
            texts.setdefault(row.topic, []).append(text)
            ids.setdefault(row.topic, []).append(row.variant or f"{row.topic}-{number}")
    kept = sum(len(of) for of in texts.values())
    loops = [len(of) for of in texts.values() if len(set(of)) < len(of)]
    repeated = kept - sum(len(set(of)) for of in texts.values())
    found = met(rows=total, empty=total - kept, repeated=repeated, most_rows_of_a_topic=max(loops, default=0))
    variants = VariantSet(name, {topic: tuple(of) for topic, of in texts.items()}, {**found, **counts})
    return VariantFile(variants, {topic: tuple(of) for topic, of in ids.items()})

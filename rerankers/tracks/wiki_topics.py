"""Topics and relevant pages of 2021 and 2022: JSON lines with ``rel_docs``, or qrels."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import read_lines
from rerankers.collections.json_records import json_records, kind_of, take_id
from rerankers.tracks.page_files import page_number
from rerankers.values.collection import Counts, Topics
from rerankers.values.qrels import met, read_qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOPIC_KEYS = ("id", "topic_id", "qid", "query_id")
TEXT_FIELDS = ("title", "keywords")
NO_TIER = -1


@dataclass(frozen=True, slots=True, eq=False)
class RelevantPages:
    """The relevant pages of topics.

    Attributes
    ----------
    topics
        topic ids in the order of the file.
    indptr, page
        int64 (Q + 1,), int64 (pairs,): topic q has the pages page[indptr[q]:indptr[q + 1]], ascending, each once.
    tier
        int64 (Q,), how deep the topic was judged (``max_tier`` of 2021), `NO_TIER` where the file does not say.
    counts
        ``topics``, ``relevant_pages``; where there are any, ``duplicate_relevant_pages``, ``topics_without_relevant``,
        ``blank_topic_lines``.
    """

    topics: tuple[str, ...]
    indptr: NDArray[np.int64]
    page: NDArray[np.int64]
    tier: NDArray[np.int64]
    counts: Counts = field(default_factory=dict)

    def of(self, row: int) -> NDArray[np.int64]:
        """Return the pages of topic ``row``, int64, ascending."""
        return self.page[self.indptr[row] : self.indptr[row + 1]]


def read_relevant_pages(path: str | Path) -> RelevantPages:
    """Read the relevant pages of each topic (plain, ``.gz`` or ``.zst``).

    JSON lines with the topic under ``id`` or ``topic_id`` and a list ``rel_docs``, perhaps ``max_tier``: the topic
    files of 2021 and the relevance files of 2022; or a qrels file, in which positive grades are relevant.

    Raises
    ------
    InputError
        with every problem of the file and its line: a topic twice, lists that hold anything but page numbers.
    MissingError
        when there is no such file.
    """
    path = Path(path)
    return _of_json(path)[0] if _is_json(path) else _of_qrels(path)


def read_wiki_topics(path: str | Path, fields: tuple[str, ...] = TEXT_FIELDS) -> tuple[Topics, RelevantPages]:
    """Read topics of 2021 or 2022 with their texts: the ``fields`` joined by blanks, lists included.

    Topics of an evaluation file without judgments have no relevant pages.

    Raises
    ------
    InputError
        with every problem of the file and its line.
    MissingError
        when there is no such file.
    """
    relevant, records = _of_json(Path(path))
    texts = [" ".join(filter(None, (_text(record.get(name)) for name in fields))) for record in records]
    return Topics.of(list(relevant.topics), texts), relevant


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _is_json(path: Path) -> bool:
    """Whether the first line that is not blank begins with a curly bracket."""
    return next((text.lstrip() for _, text in read_lines(path) if text.strip()), "").startswith("{")


def _of_json(path: Path) -> tuple[RelevantPages, list[dict[str, Any]]]:
    problems, blank = Problems(str(path)), [0]
    seen: dict[str, int] = {}
    pages, tiers, records, repeated = [], array("q"), [], 0
    for number, _, record in json_records(path, problems, blank):
        topic = take_id(record, TOPIC_KEYS, number, problems)
        if topic is None:
            continue
        if topic in seen:
            problems.add(number, f"topic {topic!r} again, as in line {seen[topic]}", "each one once")
            continue
        seen[topic] = number
        listed = _pages(number, record, problems)
        unique = np.unique(listed)
        repeated += len(listed) - len(unique)
        pages.append(unique)
        tier = record.get("max_tier")
        tiers.append(tier if type(tier) is int else int(tier) if isinstance(tier, float) and tier >= 0 else NO_TIER)
        records.append({key: value for key, value in record.items() if key not in ("rel_docs", "assessed_docs")})
    if not seen and not problems:
        problems.add(None, "no topic", "at least one JSON object with an id and rel_docs")
    problems.raise_if_any()
    found = _relevant(tuple(seen), pages, tiers, {"duplicate_relevant_pages": repeated, "blank_topic_lines": blank[0]})
    return found, records


def _pages(number: int, record: Mapping[str, Any], problems: Problems) -> NDArray[np.int64]:
    value = record.get("rel_docs")
    if value is not None and not isinstance(value, list):
        problems.add(number, f"rel_docs that is {kind_of(value)}", "a list of page numbers, or null")
        return np.zeros(0, np.int64)
    numbers = [page_number(one) for one in value or ()]
    wrong = next((one for one, page in zip(value or (), numbers, strict=True) if page is None), None)
    if None in numbers:
        problems.add(number, f"{wrong!r} in rel_docs", "page numbers only")
    return np.array([page for page in numbers if page is not None], np.int64)


def _of_qrels(path: Path) -> RelevantPages:
    table = read_qrels(path)
    names = table.docno.to_pylist()
    wrong = next((name for name in names if page_number(name) is None), None)
    if wrong is not None:
        raise InputError.one(str(path), f"document {wrong!r}", "page numbers, as in the track's files")
    pages: dict[str, list[int]] = {}
    for topic, name, grade in zip(table.qid.to_pylist(), names, table.grade.tolist(), strict=True):
        own = pages.setdefault(topic, [])
        if grade > 0:
            own.append(int(name))
    lists = [np.unique(np.array(own, np.int64)) for own in pages.values()]
    return _relevant(tuple(pages), lists, array("q", [NO_TIER]) * len(pages), table.counts)


def _relevant(
    topics: tuple[str, ...], pages: list[NDArray[np.int64]], tiers: array[int], counts: Mapping[str, int]
) -> RelevantPages:
    lengths = np.array([len(one) for one in pages], np.int64)
    found = met(
        topics=len(topics),
        relevant_pages=int(lengths.sum()),
        topics_without_relevant=int(np.sum(lengths == 0)),
    )
    return RelevantPages(
        topics,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *pages]),
        np.array(tiers, np.int64),
        {**found, **{name: count for name, count in counts.items() if count}},
    )

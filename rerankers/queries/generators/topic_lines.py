"""Files that name texts for topics: ``topic``, tab, text, one a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import MissingError, Problems
from rerankers._base.files import collect_lines
from rerankers._base.fingerprint import file_fingerprint
from rerankers.queries.generators.base import same
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Query
    from rerankers.values.collection import Counts

ANY = "*"
HEADERS = ("topic", "qid", "query_id", "topic_id")


@dataclass(frozen=True, slots=True, eq=False)
class TopicLines:
    """Texts by topic.

    Attributes
    ----------
    texts
        topic -> texts in their order, each once.
    counts
        what was met: ``empty``, ``repeated``, ``topics_not_asked``.
    fingerprint
        of the file.
    """

    texts: Mapping[str, tuple[str, ...]]
    counts: Counts
    fingerprint: str


def topic_lines(path: str, queries: Sequence[Query], option: str) -> TopicLines:
    """Read texts of topics; a file that has not changed is not read again.

    Parameters
    ----------
    path
        ``topic``, tab, text, perhaps under a header that begins with ``topic`` or ``qid``, perhaps ``.gz`` or
        ``.zst``. A topic is an id, the text of a query, or ``*`` for all.
    queries
        of the job, to count lines of other topics.
    option
        the option that names the file, for messages.

    Raises
    ------
    InputError
        with every line that is wrong, or when no line is of a query of the job.
    MissingError
        when there is no such file.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise MissingError(f"{place}: no such file. Check {option}; relative paths start at {Path.cwd()}")
    state = place.stat()
    texts, counts, name = _read(str(place), state.st_mtime_ns, state.st_size)
    asked = {ANY, *(query.id for query in queries), *(same(query.text) for query in queries)}
    others = [topic for topic in texts if topic not in asked and same(topic) not in asked]
    if len(others) == len(texts):
        problems = Problems(str(place))
        known = ", ".join(query.id for query in list(queries)[:5])
        problems.add(None, f"the topics {', '.join(others[:5]) or '(none)'}", f"topics of the job ({known} …), or *")
        problems.raise_if_any()
    return TopicLines(texts, {**counts, **met(topics_not_asked=len(others))}, name)


def lines_of(lines: TopicLines, query: Query) -> list[str]:
    """Return the texts of a query: those of its id, else those under its text, and those for all."""
    by_text = {same(topic): texts for topic, texts in lines.texts.items()}
    own = lines.texts.get(query.id) or by_text.get(same(query.text), ())
    return list(dict.fromkeys([*own, *lines.texts.get(ANY, ())]))


@lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> tuple[Mapping[str, tuple[str, ...]], Counts, str]:
    problems = Problems(path)
    found: dict[str, dict[str, None]] = {}
    empty = repeated = 0
    for number, _, line in collect_lines(Path(path), problems):
        topic, tab, text = line.partition("\t")
        topic, text = topic.strip(), " ".join(text.split())
        if not line.strip() or (number == 1 and topic.lower() in HEADERS):
            continue
        if not tab or not topic:
            problems.add(number, f"{line[:60]!r}", "topic, tab, text")
        elif not text:
            empty += 1
        elif text in found.setdefault(topic, {}):
            repeated += 1
        else:
            found[topic][text] = None
    problems.raise_if_any()
    texts = {topic: tuple(own) for topic, own in found.items()}
    return texts, met(empty=empty, repeated=repeated), file_fingerprint(Path(path))

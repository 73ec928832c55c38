"""Bias-sensitive queries in three forms: without a gender, with the one that is expected, with the other one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rerankers._base.errors import Problems
from rerankers._base.files import collect_lines
from rerankers._base.json_text import parse_json
from rerankers.collections.json_records import kind_of
from rerankers.values.collection import Topics
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.collection import Counts

FORMS: Final = ("neutral", "prototypical", "counter_prototypical")
"""The order in which the file writes them."""
_TOPIC: Final = re.compile(r"(\d+)_([FM])")
_EXPECTED: Final = {"F": "female", "M": "male"}


@dataclass(frozen=True, slots=True, eq=False)
class QueryForms:
    """Queries, three forms each.

    Attributes
    ----------
    topics
        ids ``TOPIC-NUMBER-FORM``, form a word of `FORMS`; the three forms of a query are variants of one topic.
    form
        a word of `FORMS` a query.
    expected
        ``female`` or ``male``: the gender that the topic is expected to be about, which the prototypical form names.
    counts
        ``topics``, ``queries`` (of three forms); where there are any, ``queries_whose_forms_are_equal``.
    """

    topics: Topics
    form: tuple[str, ...]
    expected: tuple[str, ...]
    counts: Counts

    def of(self, form: str) -> Topics:
        """Return the queries of one form, in their order."""
        rows = [row for row, word in enumerate(self.form) if word == form]
        return Topics.of(self.topics.ids.take(rows), [self.topics.text[row] for row in rows])


def read_query_forms(path: str | Path) -> QueryForms:
    """Read the queries of the repository CPJKU/search-result-bias-metrics.

    The file, one JSON object over several lines whatever its name ends with: topic (``0_F``, ``5_M``: a number and the
    expected gender) -> number -> [neutral, prototypical, counter-prototypical]. The published one has 8 topics of 35.

    Raises
    ------
    InputError
        with every problem: no JSON object, topics of another form, entries that are not three texts.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    lines = [text for _, _, text in collect_lines(Path(path), problems)]
    problems.raise_if_any()
    found = _parsed("\n".join(lines), problems)
    qids: list[str] = []
    texts: list[str] = []
    forms: list[str] = []
    expected: list[str] = []
    number: list[int] = []
    equal = count = 0
    for topic, entries in found.items():
        match = _TOPIC.fullmatch(topic)
        if match is None or not isinstance(entries, dict):
            problems.add(None, f"topic {topic!r} with {kind_of(entries)}", "a topic such as 0_F with an object")
            continue
        for name, three in entries.items():
            if not _is_three(three) or not name.strip() or len(name.split()) != 1:
                problems.add(None, f"{topic}: {name!r}: {json.dumps(three)[:80]}", f"[{', '.join(FORMS)}], three texts")
                continue
            equal += len(set(three)) < len(FORMS)
            for form, text in zip(FORMS, three, strict=True):
                qids.append(f"{topic}-{name}-{form}")
                texts.append(" ".join(text.split()))
                forms.append(form)
                expected.append(_EXPECTED[match[2]])
                number.append(count)
            count += 1
    if not qids and not problems:
        problems.add(None, "no query", "topics with queries in three forms")
    problems.raise_if_any()
    counts = met(topics=len(found), queries=count, queries_whose_forms_are_equal=equal)
    return QueryForms(Topics.of(qids, texts, number), tuple(forms), tuple(expected), counts)


def _parsed(text: str, problems: Problems) -> dict[str, Any]:
    try:
        found = parse_json(text)
    except json.JSONDecodeError as error:
        problems.add(error.lineno, f"broken JSON ({error.msg} at character {error.colno})", "one JSON object")
    except (ValueError, RecursionError) as error:
        problems.add(None, f"JSON that cannot be read ({error})", "one JSON object")
    else:
        if isinstance(found, dict):
            return found
        problems.add(None, f"JSON that is {kind_of(found)}", "an object in curly brackets")
    problems.raise_if_any()
    return {}


def _is_three(value: Any) -> bool:
    return isinstance(value, list) and len(value) == len(FORMS) and all(isinstance(v, str) and v.strip() for v in value)
